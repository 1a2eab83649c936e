// SPDX-License-Identifier: Apache-2.0
// Expanded programs on the functional engine against block_run: the same bytes for random data that saturates, ragged
// sizes, every residency, several arrays.
#include "base/alloc.h"
#include "base/test.h"
#include "compiler/schedule/tests/shapes.h"
#include "runner/program.h"

static uint64_t random_next(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

static void **make_tensors(const block_program *program, uint64_t seed) {
  void **tensors = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  for (int t = 0; t < program->tensor_count; t++) {
    size_t bytes = block_type_bytes(program->tensors[t].type), count = (size_t)program->tensors[t].elements;
    tensors[t] = wf_calloc(count, bytes);
    for (size_t n = 0; n < count && program->tensors[t].read; n++) {
      if (bytes == 1) ((int8_t *)tensors[t])[n] = (int8_t)random_next(&seed);
      if (bytes == 4) ((int32_t *)tensors[t])[n] = (int32_t)(random_next(&seed) % 20001) - 10000;
    }
  }
  return tensors;
}

static void free_tensors(const block_program *program, void **tensors) {
  for (int t = 0; t < program->tensor_count; t++) wf_free(tensors[t]);
  wf_free(tensors);
}

static void assert_same(const block_program *program, void **want, void **got) {
  for (int t = 0; t < program->tensor_count; t++)
    if (program->tensors[t].written)
      assert_memory_equal(want[t], got[t],
                          (size_t)program->tensors[t].elements * block_type_bytes(program->tensors[t].type));
}

// The unroller reads whole tiles of rows, so a tensor of its commands may be longer than the program's.
static void make_room(const block_program *program, const command_program *commands, void **tensors) {
  for (int t = 0; t < program->tensor_count; t++) {
    const size_t bytes = block_type_bytes(program->tensors[t].type), has = (size_t)program->tensors[t].elements * bytes;
    const size_t needs = (size_t)commands->tensors[t].elements * bytes;
    if (needs <= has) continue;
    tensors[t] = wf_realloc(tensors[t], needs, 1);
    memset((uint8_t *)tensors[t] + has, 0, needs - has);
  }
}

static bool has_unrolled_loop(const command_program *commands) {
  for (size_t n = 0; n < commands->count; n++)
    if (commands->nodes[n].kind == COMMAND_INSN && commands->nodes[n].insn.funct == ISA_FUNCT_LOOP_WS) return true;
  return false;
}

// Compiles the program and compares what it does with what it meant before. Destroys it.
static void check(block_program *program, const map_mapping *mapping, const char *array_name) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  assert_non_null(program);
  assert_true(hw_array_load(&array, array_name, &diag));
  void **want = make_tensors(program, 1), **got = make_tensors(program, 1);
  assert_true(block_run(program, want, &diag));
  command_program *commands = shapes_compile(program, mapping, &array, &diag);
  assert_non_null(commands);
  assert_true(block_verify(program, &diag));
  assert_true(command_verify(commands, &diag));
  assert_int_equal(has_unrolled_loop(commands), program->style == BLOCK_STYLE_LOOP);
  void **again = make_tensors(program, 1);
  assert_true(block_run(program, again, &diag));
  assert_same(program, want, again);
  run_config config = {.engine = sim_engine_find("ref")};
  run_result result;
  make_room(program, commands, got);
  assert_true(run_commands_on(commands, &config, got, &result, &diag));
  assert_same(program, want, got);
  free_tensors(program, want);
  free_tensors(program, got);
  free_tensors(program, again);
  command_destroy(commands);
  block_destroy(program);
}

static void check_gemm(const shapes_gemm *shape, const char *array) {
  wf_diag diag = wf_diag_to(stderr);
  map_mapping mapping;
  block_program *program = shapes_make_gemm(shape, &mapping, &diag);
  check(program, &mapping, array);
}

static void check_conv(const shapes_conv *shape, const char *array) {
  wf_diag diag = wf_diag_to(stderr);
  map_mapping mapping;
  block_program *program = shapes_make_conv(shape, &mapping, &diag);
  check(program, &mapping, array);
}

static const char *const arrays[] = {"dim4", "dim8", "gemmini-default", "dim32", "dim64"};
enum { ARRAYS = sizeof arrays / sizeof arrays[0] };

static void gemm_with_every_residency(void **state) {
  (void)state;
  for (int inputs = 0; inputs <= 3; inputs++)
    for (int weights = 0; weights <= 3; weights++)
      for (int n_outside = 0; n_outside < 2; n_outside++) {
        shapes_gemm shape = {.m = 100,
                             .n = 90,
                             .k = 75,
                             .tile = {32, 64, 32},
                             .n_outside = n_outside != 0,
                             .inputs_outside = inputs,
                             .weights_outside = weights,
                             .depth = {1 + weights % 2, 2, 2},
                             .scale = 0.002F,
                             .bias = inputs == 1,
                             .relu = weights == 1};
        check_gemm(&shape, "gemmini-default");
      }
}

static void gemm_of_ragged_sizes(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 16, 17, 31, 49, 197};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  uint64_t seed = 7;
  for (int n = 0; n < 40; n++) {
    shapes_gemm shape = {.m = sizes[random_next(&seed) % SIZES],
                         .n = sizes[random_next(&seed) % SIZES],
                         .k = sizes[random_next(&seed) % SIZES],
                         .tile = {64, 64, 64},
                         .inputs_outside = (int)(random_next(&seed) % 4),
                         .weights_outside = (int)(random_next(&seed) % 4),
                         .depth = {2, 2, n % ARRAYS < 2 ? 1 : 2},
                         .scale = 0.01F,
                         .bias = n % 3 == 0,
                         .full = n % 5 == 0};
    check_gemm(&shape, arrays[n % ARRAYS]);
  }
}

static void gemm_transposed(void **state) {
  (void)state;
  for (int n = 0; n < ARRAYS; n++) {
    shapes_gemm shape = {.m = 97,
                         .n = 70,
                         .k = 81,
                         .tile = {64, 64, 64},
                         .a_transposed = true,
                         .inputs_outside = 2,
                         .weights_outside = 1,
                         .depth = {1, 2, 1},
                         .scale = 0.01F};
    check_gemm(&shape, arrays[n]);
    shape.a_transposed = false;
    shape.b_transposed = true;
    check_gemm(&shape, arrays[n]);
  }
}

static void conv_with_every_residency(void **state) {
  (void)state;
  for (int inputs = 0; inputs <= 6; inputs++)
    for (int weights = 0; weights <= 6; weights += 2) {
      shapes_conv shape = {.n = 2,
                           .p = 9,
                           .q = 10,
                           .k = 40,
                           .c = 24,
                           .window = 3,
                           .stride = 1 + weights % 4 / 2,
                           .padding = inputs % 2,
                           .tile_p = 4,
                           .tile_k = 32,
                           .tile_c = 16,
                           .k_outside = inputs % 3 == 0,
                           .inputs_outside = inputs,
                           .weights_outside = weights,
                           .depth = {1, 2, 2},
                           .scale = 0.004F};
      check_conv(&shape, "gemmini-default");
    }
}

static void conv_on_every_array(void **state) {
  (void)state;
  for (int n = 0; n < ARRAYS; n++) {
    shapes_conv shape = {.n = 1,
                         .p = 14,
                         .q = 14,
                         .k = 80,
                         .c = 70,
                         .window = 3,
                         .stride = 1,
                         .padding = 1,
                         .tile_p = 7,
                         .tile_k = 64,
                         .tile_c = 64,
                         .inputs_outside = 2,
                         .weights_outside = 3,
                         .depth = {1, 1, 1},
                         .scale = 0.004F};
    if (n < 2) shape.tile_k = shape.tile_c = 16;
    check_conv(&shape, arrays[n]);
  }
}

static void gemm_output_stationary(void **state) {
  (void)state;
  static const char *const os_arrays[] = {"dim4", "dim8", "gemmini-default", "dim32",
                                          WEFT_SOURCE_DIR "/sim/tests/cosim/arrays/a4-os.yaml"};
  for (int n = 0; n < 20; n++) {
    shapes_gemm shape = {.m = 33 + n,
                         .n = 49,
                         .k = 40 - n,
                         .tile = {16, 16, 16},
                         .inputs_outside = 3,
                         .weights_outside = 2,
                         .depth = {1, 2, 1},
                         .scale = 0.01F,
                         .bias = n % 3 == 0,
                         .a_transposed = n % 4 == 2,
                         .output_stationary = true};
    check_gemm(&shape, os_arrays[n % 5]);
  }
}

static void gemm_by_loop_unroller(void **state) {
  (void)state;
  static const int64_t sizes[] = {1, 3, 16, 17, 31, 49, 197};
  enum { SIZES = sizeof sizes / sizeof sizes[0] };
  uint64_t seed = 11;
  for (int n = 0; n < 40; n++) {
    shapes_gemm shape = {.m = sizes[random_next(&seed) % SIZES],
                         .n = sizes[random_next(&seed) % SIZES],
                         .k = sizes[random_next(&seed) % SIZES],
                         .tile = {32, 32, 64},
                         .scale = 0.01F,
                         .bias = n % 3 == 0,
                         .relu = n % 4 == 0 && n % 5 != 0,
                         .full = n % 5 == 0,
                         .b_transposed = n % 7 == 0,
                         .a_transposed = n % 7 == 3,
                         .loop = true};
    check_gemm(&shape, arrays[n % ARRAYS]);
  }
}

// Loads and stores hide behind the products: the array works in nine of ten cycles even in a product this small.
static void products_wait_for_nothing(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  map_mapping mapping;
  const shapes_gemm shape = {.m = 256,
                             .n = 256,
                             .k = 256,
                             .tile = {128, 64, 64},
                             .inputs_outside = 1,
                             .weights_outside = 3,
                             .depth = {2, 2, 2},
                             .scale = 0.01F};
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  block_program *program = shapes_make_gemm(&shape, &mapping, &diag);
  command_program *commands = shapes_compile(program, &mapping, &array, &diag);
  assert_non_null(commands);
  const sim_engine_options options = {.timing_only = true};
  run_config config = {.engine = sim_engine_find("cycle"), .options = &options, .times = 2};
  run_result result;
  assert_true(run_commands_on(commands, &config, (void *[4]){NULL}, &result, &diag));
  uint64_t ideal = (uint64_t)(shape.m * shape.n * shape.k) / (16 * 16);
  assert_true(ideal * 10 >= result.cycles * 9);
  command_destroy(commands);
  block_destroy(program);
}

// Rows of the tallest store of a program, and how often a store leaves the columns of the one before.
typedef struct stores_seen {
  uint64_t rows, turns, count;
} stores_seen;

static stores_seen stores_of(const shapes_gemm *shape) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  map_mapping mapping;
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  block_program *program = shapes_make_gemm(shape, &mapping, &diag);
  command_program *commands = shapes_compile(program, &mapping, &array, &diag);
  assert_non_null(commands);
  stores_seen seen = {0};
  uint64_t column = 0;
  for (size_t n = 0; n < commands->count; n++) {
    const command_insn *insn = &commands->nodes[n].insn;
    if (commands->nodes[n].kind != COMMAND_INSN || insn->funct != ISA_FUNCT_MVOUT) continue;
    const uint64_t rows = isa_get_mvout_rows(insn->rs1, insn->rs2), at = insn->rs1 % (uint64_t)shape->n;
    if (rows > seen.rows) seen.rows = rows;
    seen.turns += seen.count++ != 0 && at != column;
    column = at;
  }
  command_destroy(commands);
  block_destroy(program);
  return seen;
}

// Rows of 256 bytes lie in two banks. Where stores take main memory's time, two rows of each piece follow each other;
// where products take much longer, whole tiles do.
static void stores_take_turns(void **state) {
  (void)state;
  shapes_gemm shape = {
      .m = 128, .n = 256, .k = 32, .tile = {64, 128, 32}, .inputs_outside = 1, .depth = {1, 2, 2}, .scale = 0.01F};
  stores_seen seen = stores_of(&shape);
  assert_int_equal(seen.rows, 2);
  assert_int_equal(seen.count, 128 / 2 * 256 / 64);
  assert_int_equal(seen.turns, seen.count - 1);
  check_gemm(&shape, "gemmini-default");
  shape.m = 77;
  shape.n = 256 - 16;
  check_gemm(&shape, "gemmini-default");
  shape.n = 256;
  shape.k = 512;
  assert_int_equal(stores_of(&shape).rows, 16);
}

// Of the second block of rows of A the pieces of at most 64 columns, in the order in which they are loaded.
static void pieces_of(int64_t depth, char pieces[16]) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  map_mapping mapping;
  const shapes_gemm shape = {.m = 128,
                             .n = 32,
                             .k = depth,
                             .tile = {64, 32, 32},
                             .inputs_outside = 1,
                             .weights_outside = 0,
                             .depth = {1, 2, 2},
                             .scale = 0.01F};
  check_gemm(&shape, "gemmini-default");
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  block_program *program = shapes_make_gemm(&shape, &mapping, &diag);
  command_program *commands = shapes_compile(program, &mapping, &array, &diag);
  assert_non_null(commands);
  size_t count = 0;
  for (size_t n = 0; n < commands->count; n++) {
    const command_insn *insn = &commands->nodes[n].insn;
    if (commands->nodes[n].kind != COMMAND_INSN || insn->tensor_rs1 == COMMAND_NO_TENSOR) continue;
    if (strcmp(commands->tensors[insn->tensor_rs1].name, "a") != 0 || insn->rs1 < 64 * (uint64_t)depth) continue;
    assert_true(count < 15);
    pieces[count++] = (char)('0' + insn->rs1 % (uint64_t)depth / 64);
  }
  pieces[count] = '\0';
  command_destroy(commands);
  block_destroy(program);
}

// Loads come in the order in which products need them, but pieces of rows that share lines of the cache stay together:
// the second one a run behind the first.
static void pieces_of_lines_stay_together(void **state) {
  (void)state;
  char pieces[16];
  pieces_of(128, pieces);
  assert_string_equal(pieces, "00001111");
  pieces_of(96, pieces);
  assert_string_equal(pieces, "00101011");
}

// Rows of operands in all products of a convolution of 3 x 3 with 64 channels, over those of a block of weights.
static uint64_t product_rows(int64_t size, int64_t padding, int64_t batch) {
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  map_mapping mapping;
  const shapes_conv shape = {.n = batch,
                             .p = size,
                             .q = size,
                             .k = 64,
                             .c = 64,
                             .window = 3,
                             .stride = 1,
                             .padding = padding,
                             .tile_p = size,
                             .tile_k = 64,
                             .tile_c = 64,
                             .inputs_outside = 1,
                             .weights_outside = 4,
                             .depth = {1, 1, 1},
                             .scale = 0.004F};
  check_conv(&shape, "gemmini-default");
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  block_program *program = shapes_make_conv(&shape, &mapping, &diag);
  command_program *commands = shapes_compile(program, &mapping, &array, &diag);
  assert_non_null(commands);
  uint64_t rows = 0;
  for (size_t n = 0; n < commands->count; n++) {
    const command_insn *insn = &commands->nodes[n].insn;
    if (commands->nodes[n].kind != COMMAND_INSN) continue;
    if (insn->funct == ISA_FUNCT_COMPUTE_PRELOADED || insn->funct == ISA_FUNCT_COMPUTE_ACCUMULATED)
      rows += isa_get_compute_preloaded_a_rows(insn->rs1, insn->rs2);
  }
  command_destroy(commands);
  block_destroy(program);
  return rows / (64 / 16 * 64 / 16);
}

// Rows of padding are left out: all results have a bias, to which products add.
static void padding_is_left_out(void **state) {
  (void)state;
  const uint64_t side = 14, taps = 13 + 14 + 13;
  assert_int_equal(product_rows((int64_t)side, 0, 1), 9 * side * side);
  assert_int_equal(product_rows((int64_t)side, 1, 1), taps * taps);
}

// What does not fit is refused with the numbers.
static void capacity_is_checked(void **state) {
  (void)state;
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  wf_diag quiet = wf_diag_to(out), diag = wf_diag_to(stderr);
  hw_array array;
  map_mapping mapping;
  assert_true(hw_array_load(&array, "gemmini-default", &diag));
  shapes_gemm shape = {.m = 1024,
                       .n = 1024,
                       .k = 512,
                       .tile = {128, 64, 64},
                       .inputs_outside = 0,
                       .weights_outside = 3,
                       .depth = {1, 1, 1},
                       .scale = 1};
  block_program *program = shapes_make_gemm(&shape, &mapping, &diag);
  assert_null(shapes_compile(program, &mapping, &array, &quiet));
  fclose(out);
  assert_non_null(strstr(text, "scratchpad: needs 33024 rows of 16384"));
  free(text);
  block_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gemm_with_every_residency), cmocka_unit_test(gemm_of_ragged_sizes),
      cmocka_unit_test(gemm_transposed),           cmocka_unit_test(conv_with_every_residency),
      cmocka_unit_test(conv_on_every_array),       cmocka_unit_test(gemm_output_stationary),
      cmocka_unit_test(gemm_by_loop_unroller),     cmocka_unit_test(products_wait_for_nothing),
      cmocka_unit_test(padding_is_left_out),       cmocka_unit_test(capacity_is_checked),
      cmocka_unit_test(stores_take_turns),         cmocka_unit_test(pieces_of_lines_stay_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
