// SPDX-License-Identifier: Apache-2.0
// What programs without a mapping leave out: operands that no loop changes are loaded once, parts behind each other
// have all rows of the memories, and of rows that nothing multiplies the next ones are loaded while these are stored.
#include <string.h>

#include "base/test.h"
#include "compiler/compile.h"
#include "compiler/layer/kernel_files.h"
#include "isa/isa.h"
#include "isa/isa_fields.h"

typedef struct compiled {
  wf_arena *arena;
  hw_array array;
  compile_result result;
} compiled;

// Commands point to the array: it stays where it is.
static void compile_kernel(const char *file, const char *arguments, compiled *c) {
  wf_diag diag = wf_diag_to(stderr);
  *c = (compiled){.arena = wf_arena_create()};
  const char *text = NULL;
  for (size_t n = 0; n < layer_kernel_file_count; n++)
    if (strcmp(layer_kernel_files[n].name, file) == 0) text = layer_kernel_files[n].text;
  assert_non_null(text);
  assert_true(hw_array_load(&c->array, "transformer-16", &diag));
  compile_request request = {.file = file, .text = text, .length = strlen(text), .array = &c->array, .straight = true};
  assert_true(lang_read_args(arguments, c->arena, &request.arguments, &diag));
  assert_true(compile(&request, &c->result, &diag));
}

static void release(compiled *c) {
  compile_release(&c->result);
  wf_arena_destroy(c->arena);
}

static bool is_named(const command_program *p, const command_node *node, const char *stem) {
  if (node->kind != COMMAND_INSN) return false;
  const isa_insn *insn = isa_find(p->array->isa.revision, node->insn.funct, node->insn.rs1);
  return insn != NULL && strncmp(insn->name, stem, strlen(stem)) == 0;
}
static bool is_load(const command_program *p, const command_node *node) { return is_named(p, node, "mvin"); }
static bool is_store(const command_program *p, const command_node *node) { return is_named(p, node, "mvout"); }

static uint64_t loaded_elements(const command_program *p, const char *tensor) {
  uint64_t elements = 0;
  for (size_t n = 0; n < p->count; n++) {
    const command_insn *insn = &p->nodes[n].insn;
    if (!is_load(p, &p->nodes[n]) || insn->tensor_rs1 == COMMAND_NO_TENSOR) continue;
    if (strcmp(p->tensors[insn->tensor_rs1].name, tensor) == 0)
      elements += isa_get_mvin_rows(insn->rs1, insn->rs2) * isa_get_mvin_cols(insn->rs1, insn->rs2);
  }
  return elements;
}

static void operands_are_loaded_once(void **state) {
  (void)state;
  compiled c;
  compile_kernel("attention.py", "H=2,M=80,L=48,D=32,N=16,scale=0.001", &c);
  const command_program *p = c.result.commands;
  assert_int_equal(loaded_elements(p, "q_ptr"), 2 * 80 * 32);
  assert_int_equal(loaded_elements(p, "k_ptr"), 2 * 48 * 32);
  assert_int_equal(loaded_elements(p, "v_ptr"), 2 * 48 * 16);
  release(&c);
}

// Two slots of sixteen rows of 512 columns are the whole accumulator; the results of the second product have it, too.
static void parts_share_the_memories(void **state) {
  (void)state;
  compiled c;
  compile_kernel("attention.py", "H=1,M=64,L=512,D=64,N=64,scale=0.001", &c);
  assert_int_equal(c.result.commands->fences, 2);
  release(&c);
}

// Two groups fit; the third one's loads come before the last store of the second one.
static void rows_are_loaded_ahead(void **state) {
  (void)state;
  compiled c;
  compile_kernel("softmax.py", "M=128,N=512,scale=0.01,BLOCK=512", &c);
  const command_program *p = c.result.commands;
  uint64_t loaded = 0, stored = 0, behind = 0;
  for (size_t n = 0; n < p->count; n++) {
    const command_insn *insn = &p->nodes[n].insn;
    if (is_load(p, &p->nodes[n]))
      loaded += isa_get_mvin_rows(insn->rs1, insn->rs2) * isa_get_mvin_cols(insn->rs1, insn->rs2);
    if (!is_store(p, &p->nodes[n]) || insn->tensor_rs1 == COMMAND_NO_TENSOR) continue;
    stored += isa_get_mvout_rows(insn->rs1, insn->rs2) * isa_get_mvout_cols(insn->rs1, insn->rs2);
    behind += loaded < UINT64_C(128) * 512 && loaded < stored + UINT64_C(16) * 512;
  }
  assert_int_equal(loaded, 128 * 512);
  assert_int_equal(stored, 128 * 512);
  assert_true(behind < 64);  // of 1,024 stores: those of the first rows of each group
  release(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(operands_are_loaded_once),
                                     cmocka_unit_test(parts_share_the_memories),
                                     cmocka_unit_test(rows_are_loaded_ahead)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
