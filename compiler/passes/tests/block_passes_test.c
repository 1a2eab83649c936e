// SPDX-License-Identifier: Apache-2.0
// Fuse, tile and scope on random programs: the results stay the same bit by bit, the program stays well formed and its
// text reads back; and what fuse refuses, by name and place.
#include "base/alloc.h"
#include "base/test.h"
#include "compiler/block/build.h"
#include "compiler/block/random.h"
#include "compiler/passes/passes.h"

enum { PROGRAMS = 400 };

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int64_t between(uint64_t *seed, int64_t min, int64_t max) {
  return min + (int64_t)((next(seed) >> 33) % (uint64_t)(max - min + 1));
}

static char *text_of(const block_program *program) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  block_print(program, out);
  fclose(out);
  return text;
}

static void reads_back(const block_program *program) {
  wf_diag diag = wf_diag_to(stderr);
  char *text = text_of(program);
  block_program *again = block_parse("again", text, strlen(text), &diag);
  assert_non_null(again);
  char *second = text_of(again);
  assert_string_equal(text, second);
  block_destroy(again);
  free(text);
  free(second);
}

static void **results(const block_program *program, uint64_t seed) {
  wf_diag diag = wf_diag_to(stderr);
  void **tensors = block_random_tensors(program, seed);
  if (!block_run(program, tensors, &diag)) fail_msg("%s", text_of(program));
  return tensors;
}

// The program after a pass: well formed, readable, with the results that it had before.
static void check_same(const block_program *program, void **expected, uint64_t seed, const char *pass_name) {
  wf_diag diag = wf_diag_to(stderr);
  if (!block_verify(program, &diag)) fail_msg("after %s:\n%s", pass_name, text_of(program));
  reads_back(program);
  void **tensors = results(program, seed);
  for (int t = 0; t < program->tensor_count; t++) {
    const block_tensor *tensor = &program->tensors[t];
    size_t bytes = (size_t)tensor->elements * block_type_bytes(tensor->type);
    if (memcmp(tensors[t], expected[t], bytes) != 0)
      fail_msg("'%s' differs after %s:\n%s", tensor->name, pass_name, text_of(program));
  }
  block_random_free(tensors);
}

static int64_t trips_over(const block_program *program, int dim) {
  for (int l = 0; l < program->loop_count; l++)
    if ((int)program->loops[l].dim == dim) return program->loops[l].trips;
  return 1;
}

// Dimensions of results in any order, then those of the sum in any order.
static void random_order(uint64_t *seed, uint8_t *order) {
  for (int d = 0; d < BLOCK_DIMS; d++) order[d] = (uint8_t)d;
  for (int d = BLOCK_DIMS - 1; d > 0; d--) {
    int first = d >= BLOCK_DIM_C ? BLOCK_DIM_C : 0, other = (int)between(seed, first, d);
    uint8_t kept = order[d];
    order[d] = order[other];
    order[other] = kept;
  }
}

// Loops over the sum are inside of all others: outer or inner, not both of them with others between.
static map_mapping random_mapping(const block_program *program, uint64_t *seed) {
  map_mapping mapping = {.style = (uint8_t)between(seed, 0, 1)};
  bool inner_results = between(seed, 0, 1) == 1;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    int64_t trips = trips_over(program, d);
    mapping.tile[d] = 1;
    mapping.sp[d] = between(seed, 1, trips);
    if (inner_results && d >= BLOCK_DIM_C) mapping.sp[d] = trips;
    if (!inner_results && d < BLOCK_DIM_C) mapping.sp[d] = 1;
    mapping.dram[d] = (trips + mapping.sp[d] - 1) / mapping.sp[d];
  }
  random_order(seed, mapping.outer);
  random_order(seed, mapping.inner);
  return mapping;
}

static bool has_elementwise(const block_statement *list) {
  for (; list != NULL; list = list->next)
    if (list->kind == BLOCK_ELEMENTWISE || (list->kind == BLOCK_FOR && has_elementwise(list->loop.body))) return true;
  return false;
}

static bool is_in_order(const block_program *program, const map_mapping *mapping, const block_statement *list,
                        int last) {
  for (; list != NULL; list = list->next) {
    if (list->kind != BLOCK_FOR) continue;
    const block_loop *loop = &program->loops[list->loop.loop];
    bool inner = loop->split_of != BLOCK_NONE || mapping->dram[loop->dim] == 1;
    int position = map_position(mapping, loop->dim, inner);
    bool after = loop->trips == 1 || position > last;
    if (!after || !is_in_order(program, mapping, list->loop.body, position)) return false;
  }
  return true;
}

static void run_passes(uint64_t seed, const block_random_options *options) {
  wf_diag diag = wf_diag_to(stderr);
  uint64_t state = seed;
  block_program *program = block_random(&state, options);
  void **expected = results(program, seed);
  check_same(program, expected, seed, "the front end");
  if (!pass_fuse(program, NULL, NULL, &diag)) fail_msg("%s", text_of(program));
  assert_false(has_elementwise(program->body));
  check_same(program, expected, seed, "fuse");
  assert_true(pass_fuse(program, NULL, NULL, &diag));
  check_same(program, expected, seed, "fuse, again");
  const map_mapping mapping = random_mapping(program, &state);
  if (!pass_tile(program, &mapping, NULL, &diag)) fail_msg("%s", text_of(program));
  assert_true(is_in_order(program, &mapping, program->body, -1));
  check_same(program, expected, seed, "tile");
  assert_true(pass_scope(program, &mapping, NULL, &diag));
  check_same(program, expected, seed, "scope");
  block_random_free(expected);
  block_destroy(program);
}

static void random_programs_keep_their_results(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
    const block_random_options options = {.kind = BLOCK_RANDOM_KINDS, .dim = (int64_t)(seed % 3) + 1, .size_max = 14};
    run_passes(seed, &options);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_programs_keep_their_results),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
