// SPDX-License-Identifier: Apache-2.0
// Loads behind stores through main memory: the verifier asks for the distance that order.h derives, at this distance
// the engine reads what was stored, and without it it does not, so that the rule is needed.
#include "compiler/command/order.h"

#include "base/alloc.h"
#include "base/test.h"
#include "runner/program.h"

enum { FILLERS_MAX = 64 };

// What stands between the store and the load: stores of so many rows, moves to the scratchpad, or a fence.
typedef struct between {
  int fillers, rows, moves;
  bool fence;
} between;

// x goes to t and from there to y.
static command_program *copy_over(const hw_array *array, const between *b) {
  const unsigned dim = hw_derive(array).dim;
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  fprintf(out, "program copy\ntensor x i8 %u read\ntensor t i8 %u read written\ntensor y i8 %u written\n", dim * dim,
          dim * dim, dim * dim);
  fprintf(out, "tensor z i8 %u written\n", dim * dim);
  fprintf(out, "config_ld state=0 shrink=1 scale=1 stride=%u block_stride=%u pixel_repeats=1\n", dim, dim);
  fprintf(out, "config_ld state=1 scale=1 stride=%u block_stride=%u pixel_repeats=1\n", dim, dim);
  fprintf(out, "config_st stride=%u acc_scale=1\n", dim);
  fprintf(out, "mvin dram=x local=acc:0 cols=%u rows=%u\n", dim, dim);
  fprintf(out, "mvout dram=t local=acc:0 cols=%u rows=%u\n", dim, dim);
  for (int n = 0; n < b->fillers; n++) fprintf(out, "mvout dram=z local=acc:0 cols=%u rows=%d\n", dim, b->rows);
  for (int n = 0; n < b->moves; n++)
    fprintf(out, "mvout_spad dest=sp:0x%x stride=1 local=acc:0 cols=%u rows=1\n", 2 * dim, dim);
  if (b->fence) fputs("fence\n", out);
  fprintf(out, "mvin2 dram=t local=sp:0 cols=%u rows=%u\nmvout dram=y local=sp:0 cols=%u rows=%u\nfence\n", dim, dim,
          dim, dim);
  fclose(out);
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = command_parse("copy", text, size, array, &diag);
  assert_non_null(program);
  free(text);
  return program;
}

static command_program *copy_twice(const hw_array *array, int fillers, int rows, bool fence) {
  return copy_over(array, &(between){.fillers = fillers, .rows = rows, .fence = fence});
}

static bool is_ordered(const command_program *program) {
  wf_diag silent = wf_diag_to(NULL);
  return command_check_order(program, &silent);
}

// The fewest stores of so many rows that are enough.
static int fewest(const hw_array *array, int rows) {
  for (int fillers = 0; fillers < FILLERS_MAX; fillers++) {
    command_program *program = copy_twice(array, fillers, rows, false);
    const bool good = is_ordered(program);
    command_destroy(program);
    if (good) return fillers;
  }
  return -1;
}

static bool copies(const hw_array *array, const char *engine, command_program *program) {
  const unsigned dim = hw_derive(array).dim;
  const size_t bytes = (size_t)dim * dim;
  uint8_t *tensors[4];
  for (int t = 0; t < 4; t++) {
    tensors[t] = wf_calloc(bytes, 1);
    for (size_t i = 0; i < bytes && t == 0; i++) tensors[t][i] = (uint8_t)(1 + i % 100);
  }
  wf_diag diag = wf_diag_to(stderr);
  const run_config config = {.engine = sim_engine_find(engine)};
  run_result result;
  assert_true(run_commands_on(program, &config, (void *const *)tensors, &result, &diag));
  const bool same = memcmp(tensors[0], tensors[2], bytes) == 0;
  for (int t = 0; t < 4; t++) wf_free(tensors[t]);
  command_destroy(program);
  return same;
}

static hw_array array_of(const char *name, unsigned delay, unsigned latency) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  assert_true(hw_array_load(&array, name, &diag));
  if (delay != 0) array.scratchpad.read_delay = delay;
  if (latency != 0) array.accumulator.scale_latency = latency;
  return array;
}

static void test_distance(void **state) {
  (void)state;
  static const struct {
    const char *name;
    unsigned delay, latency;
  } arrays[] = {{"gemmini-default", 0, 0}, {"dim4", 0, 0}, {"dim8", 0, 0}, {"dim32", 0, 0}, {"gemmini-default", 8, 8}};
  bool stale = false;
  for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
    const hw_array array = array_of(arrays[a].name, arrays[a].delay, arrays[a].latency);
    const int dim = (int)hw_derive(&array).dim;
    for (int rows = 1; rows <= dim; rows *= 2) {
      const int fillers = fewest(&array, rows);
      const arch_settling d = arch_settling_of(&array);
      assert_int_equal(fillers, (int)(d.stores + (d.rows + (unsigned)rows - 1) / (unsigned)rows));
      assert_true(copies(&array, "ref", copy_twice(&array, fillers, rows, false)));
      assert_true(copies(&array, "cycle", copy_twice(&array, fillers, rows, false)));
    }
    stale |= !copies(&array, "cycle", copy_twice(&array, 0, 1, false));
    assert_true(copies(&array, "cycle", copy_twice(&array, 0, 1, true)));
  }
  assert_true(stale);
}

static bool is_enough(const hw_array *array, const between *b) {
  command_program *program = copy_over(array, b);
  const bool good = is_ordered(program);
  command_destroy(program);
  return good;
}

// Moves to the scratchpad take places in the station, so older stores are done; but they push no rows to the bus.
static void test_moves(void **state) {
  (void)state;
  hw_array array = array_of("gemmini-default", 0, 0);
  array.isa.revision = 2;
  const arch_settling d = arch_settling_of(&array);
  const int dim = (int)hw_derive(&array).dim, pushing = ((int)d.rows + dim - 1) / dim;
  const between enough = {.fillers = pushing, .rows = dim, .moves = (int)d.stores},
                near = {.fillers = pushing, .rows = dim, .moves = (int)d.stores - 1},
                dry = {.fillers = pushing - 1, .rows = dim, .moves = FILLERS_MAX};
  assert_true(is_enough(&array, &enough));
  assert_false(is_enough(&array, &near));
  assert_false(is_enough(&array, &dry));
  assert_true(copies(&array, "ref", copy_over(&array, &enough)));
  assert_true(copies(&array, "cycle", copy_over(&array, &enough)));
}

static void test_fence(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  command_program *with = copy_twice(&array, 0, 1, true), *without = copy_twice(&array, 0, 1, false);
  wf_diag silent = wf_diag_to(NULL);
  assert_true(is_ordered(with) && command_verify(with, &silent));
  assert_false(is_ordered(without) || command_verify(without, &silent));
  command_destroy(with);
  command_destroy(without);
}

// A part of an image is stored, then the one beside it; then a load.
static bool is_ordered_behind_images(const char *config, const char *load) {
  char text[1024];
  const int size = snprintf(text, sizeof text,
                            "program images\ntensor t i8 64 read written\n"
                            "config_ld state=0 scale=1 stride=4 block_stride=16 pixel_repeats=1\nconfig_st %s\n"
                            "mvout dram=t local=acc:0 cols=4 rows=1\nfence\n"
                            "mvout dram=t+8 local=acc:0 cols=4 rows=1\nmvin dram=%s local=sp:0 cols=4 rows=1\nfence\n",
                            config, load);
  const hw_array array = array_of("gemmini-default", 0, 0);
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = command_parse("images", text, (size_t)size, &array, &diag);
  assert_non_null(program);
  const bool good = is_ordered(program);
  command_destroy(program);
  return good;
}

// Parts of 2 x 2 pixels of an image of 4 x 4, as they are and pooled: bytes between the rows of a part are not stored.
static void test_images(void **state) {
  (void)state;
  static const char *const configs[] = {
      "stride=4 acc_scale=1 pool_size=1 pool_out_dim=4 orows=2 ocols=2",
      "stride=4 acc_scale=1 pool_stride=2 pool_size=2 pool_out_dim=4 pool_orows=2 pool_ocols=2 orows=4 ocols=4"};
  for (int c = 0; c < 2; c++) {
    assert_true(is_ordered_behind_images(configs[c], "t"));
    assert_true(is_ordered_behind_images(configs[c], "t+16"));
    assert_true(is_ordered_behind_images(configs[c], "t+20"));
    assert_false(is_ordered_behind_images(configs[c], "t+8"));
    assert_false(is_ordered_behind_images(configs[c], "t+12"));
    assert_false(is_ordered_behind_images(configs[c], "t+24"));
    assert_false(is_ordered_behind_images(configs[c], "t+28"));
    assert_true(is_ordered_behind_images(configs[c], "t+32"));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_distance), cmocka_unit_test(test_moves),
                                     cmocka_unit_test(test_fence), cmocka_unit_test(test_images)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
