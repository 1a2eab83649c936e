// SPDX-License-Identifier: Apache-2.0
// Command programs as text, in the syntax that parse.c reads:
//
//   program NAME
//   array NAME HASH isa REVISION
//   tensor NAME TYPE ELEMENTS [read] [written]        TYPE: i or f and the bits of an element, i8 i32 f32
//   mvin dram=a+0x40 local=sp:0x0 cols=64 rows=16     a command in the form of isa_print, addresses by tensor
//   loop TRIPS {
//     mvin ... | rs1+0x400 rs2+0x10 | rs1-0x40        its steps, a group for each loop around, outermost first
//   }
//   fence
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "compiler/command/private.h"

bool command_name_ok(const char *name, bool of_program) {
  if (!isalpha((unsigned char)name[0]) && name[0] != '_') return false;
  for (const char *c = name; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c) && *c != '_' && *c != '.' && !(of_program && *c == '-')) return false;
  return true;
}

// The register of the memory address that `item` (FIELD=VALUE) gives, 0 if it gives none.
static unsigned address_register(const isa_insn *insn, const char *item, size_t length) {
  const char *equals = memchr(item, '=', length);
  if (equals == NULL) return 0;
  size_t name = (size_t)(equals - item);
  for (size_t i = 0; i < insn->field_count; i++) {
    const isa_field *field = &insn->fields[i];
    if (field->type != ISA_TYPE_DRAM || strlen(field->name) != name) continue;
    if (memcmp(field->name, item, name) == 0) return field->reg;
  }
  return 0;
}

static int put_address(const command_program *program, int tensor, uint64_t offset, const char *item, char *text,
                       size_t size) {
  int name = (int)strcspn(item, "=");
  bool before = (int64_t)offset < 0;
  return snprintf(text, size, "%.*s=%s%c0x%" PRIx64, name, item, program->tensors[tensor].name, before ? '-' : '+',
                  before ? -offset : offset);
}

void command_print_insn(const command_program *program, const command_insn *insn, char *text, size_t size) {
  const isa_insn *found = command_isa(program, insn);
  if (insn->tensor_rs1 == COMMAND_NO_TENSOR && insn->tensor_rs2 == COMMAND_NO_TENSOR) {
    isa_print(found, insn->rs1, insn->rs2, text, size);
    return;
  }
  char plain[ISA_TEXT_MAX];
  isa_print(found, insn->rs1, insn->rs2, plain, sizeof plain);
  size_t used = 0;
  for (const char *item = plain; *item != '\0' && used < size;) {
    size_t length = strcspn(item, " ");
    unsigned reg = address_register(found, item, length);
    int tensor = reg == 1 ? insn->tensor_rs1 : reg == 2 ? insn->tensor_rs2 : COMMAND_NO_TENSOR;
    const char *gap = item == plain ? "" : " ";
    used += (size_t)snprintf(text + used, size - used, "%s", gap);
    if (used >= size) break;
    if (tensor == COMMAND_NO_TENSOR)
      used += (size_t)snprintf(text + used, size - used, "%.*s", (int)length, item);
    else
      used += (size_t)put_address(program, tensor, reg == 1 ? insn->rs1 : insn->rs2, item, text + used, size - used);
    item += length;
    if (*item == ' ') item++;
  }
}

static void print_step(const char *name, uint64_t step, FILE *out) {
  bool down = (int64_t)step < 0;
  if (step != 0) fprintf(out, " %s%c0x%" PRIx64, name, down ? '-' : '+', down ? -step : step);
}

static void print_steps(const command_step *steps, int depth, FILE *out) {
  for (int i = 0; steps != NULL && i < depth; i++) {
    fputs(" |", out);
    print_step("rs1", steps[i].rs1, out);
    print_step("rs2", steps[i].rs2, out);
  }
}

static void print_node(const command_program *program, const command_node *node, int depth, FILE *out) {
  char text[COMMAND_TEXT_MAX];
  fprintf(out, "%*s", 2 * depth, "");
  switch (node->kind) {
    case COMMAND_INSN:
      command_print_insn(program, &node->insn, text, sizeof text);
      fputs(text, out);
      print_steps(node->steps, depth, out);
      break;
    case COMMAND_LOOP:
      fprintf(out, "loop %" PRIu64 " {", node->trips);
      break;
    case COMMAND_END:
      fputc('}', out);
      break;
    case COMMAND_FENCE:
      fputs("fence", out);
      break;
  }
  fputc('\n', out);
}

// Equal elements one behind the other as VALUE*COUNT.
static void print_contents(const command_tensor *tensor, FILE *out) {
  fputs(" =", out);
  for (uint64_t first = 0, end; first < tensor->elements; first = end) {
    for (end = first; end < tensor->elements && tensor->contents[end] == tensor->contents[first];) end++;
    fprintf(out, " %d", tensor->contents[first]);
    if (end - first > 1) fprintf(out, "*%" PRIu64, end - first);
  }
}

static void print_tensor(const command_tensor *tensor, FILE *out) {
  fprintf(out, "tensor %s %c%u %" PRIu64 "%s%s", tensor->name, tensor->is_float ? 'f' : 'i', 8 * tensor->element_bytes,
          tensor->elements, tensor->read ? " read" : "", tensor->written ? " written" : "");
  if (tensor->contents != NULL) print_contents(tensor, out);
  fputc('\n', out);
}

void command_print(const command_program *program, FILE *out) {
  fprintf(out, "program %s\narray %s %016" PRIx64 " isa %u\n", program->name, program->array->name,
          hw_array_hash(program->array), program->array->isa.revision);
  for (int t = 0; t < program->tensor_count; t++) print_tensor(&program->tensors[t], out);
  int depth = 0;
  for (size_t n = 0; n < program->count; n++) {
    const command_node *node = &program->nodes[n];
    if (node->kind == COMMAND_END) depth--;
    print_node(program, node, depth, out);
    if (node->kind == COMMAND_LOOP) depth++;
  }
}
