// SPDX-License-Identifier: Apache-2.0
// A product written as commands gives the right result on the engines, with the cycles that its trace has.
#include "runner/program.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/command/tests/sample.h"
#include "isa/isa_fields.h"
#include "runner/session.h"
#include "sim/flow/flow.h"
#include "sim/run.h"

typedef struct operands {
  int8_t *a, *b, *c, *want;
} operands;

static int8_t *random_bytes(size_t count, uint64_t *random) {
  int8_t *bytes = wf_alloc(count, 1);
  for (size_t i = 0; i < count; i++) bytes[i] = (int8_t)(sample_random(random) >> 17);
  return bytes;
}

static operands operands_of(const sample_gemm *gemm) {
  uint64_t random = gemm->m * 7919u + gemm->n * 31u + gemm->k;
  operands o = {.a = random_bytes((size_t)gemm->m * gemm->k, &random),
                .b = random_bytes((size_t)gemm->k * gemm->n, &random),
                .c = wf_calloc((size_t)gemm->m * gemm->n, 1),
                .want = wf_calloc((size_t)gemm->m * gemm->n, 1)};
  sample_gemm_plain(gemm, o.a, o.b, o.want);
  return o;
}

static void free_operands(operands *o) { wf_free(o->a), wf_free(o->b), wf_free(o->c), wf_free(o->want); }

static const sample_gemm shapes[] = {
    {1, 1, 1, 1, false}, {16, 16, 16, 0.02f, false}, {33, 47, 70, 0.0134f, false}, {64, 64, 64, 0.01f, true}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void test_result(void **state) {
  (void)state;
  static const char *const arrays[] = {"gemmini-default", "dim4", "dim32"};
  static const char *const engines[] = {"ref", "cycle"};
  wf_diag diag = wf_diag_to(stderr);
  for (size_t n = 0; n < 3 * 2 * SHAPES; n++) {
    hw_array array;
    assert_true(hw_array_load(&array, arrays[n % 3], &diag));
    const sample_gemm *gemm = &shapes[n / 6];
    operands o = operands_of(gemm);
    command_program *program = sample_gemm_program(&array, gemm);
    assert_true(command_verify(program, &diag));
    const run_config config = {.engine = sim_engine_find(engines[n / 3 % 2])};
    void *const tensors[] = {o.a, o.b, o.c};
    run_result result;
    assert_true(run_commands_on(program, &config, tensors, &result, &diag));
    assert_int_equal(result.commands, command_executions(program));
    assert_memory_equal(o.c, o.want, (size_t)gemm->m * gemm->n);
    assert_true((result.cycles != 0) == config.engine->timed);
    command_destroy(program);
    free_operands(&o);
  }
}

static void test_faults_are_reported(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  const char text[] = "program bad\nmvin dram=0x10 local=sp:0 cols=1 rows=1\n";
  char *messages;
  size_t size;
  FILE *out = open_memstream(&messages, &size);
  wf_diag diag = wf_diag_to(out);
  command_program *program = command_parse("t", text, sizeof text - 1, &array, &diag);
  const run_config config = {.engine = sim_engine_find("ref")};
  run_result result;
  assert_false(run_commands_on(program, &config, NULL, &result, &diag));
  fclose(out);
  assert_int_equal(result.fault.kind, ARCH_FAULT_MEMORY);
  assert_non_null(strstr(messages, "bad: error: command 0: mvin: reads bytes 0x10..0x10 outside main memory"));
  free(messages);
  command_destroy(program);
}

static void test_huge_tensors_are_refused(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(NULL);
  command_program *program = command_create("huge", &array);
  command_add_tensor(program,
                     &(command_tensor){"a", 1, false, (uint64_t)array.memory.capacity_mib << 20, true, true, NULL});
  const run_config config = {.engine = sim_engine_find("ref")};
  run_result result;
  void *const tensors[] = {NULL, NULL};
  assert_true(run_commands_on(program, &config, tensors, &result, &diag));
  command_add_tensor(program, &(command_tensor){"b", 1, false, 1, true, true, NULL});
  assert_false(run_commands_on(program, &config, tensors, &result, &diag));
  assert_int_equal(diag.errors, 1);
  command_destroy(program);
}

// ---- traces

static sim_run_result replay(const char *path, const hw_array *array, const char *engine, bool timing_only) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.timing_only = timing_only};
  const sim_run_config config = {.array = array, .engine = sim_engine_find(engine), .engine_options = &options};
  return sim_run_trace(&config, path, &diag);
}

// Stops itself at the first look.
static void stop_at_once(void *context, uint64_t commands) {
  assert_int_equal(commands, 0);
  wf_stop_set(context, true);
}

static void test_stops_when_wanted(void **state) {
  (void)state;
  const sample_gemm gemm = shapes[0];
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = sample_gemm_program(&array, &gemm);
  operands o = operands_of(&gemm);
  void *tensors[] = {o.a, o.b, o.c};
  wf_stop stop = {false};
  const run_config config = {.engine = &sim_cycle_engine, .stop = &stop, .progress = stop_at_once, .context = &stop};
  run_result result;
  assert_false(run_commands_on(program, &config, tensors, &result, &diag));
  assert_true(result.stopped);
  assert_int_equal(result.commands, 0);
  assert_int_equal(diag.errors, 0);
  free_operands(&o);
  command_destroy(program);
}

// ---- verified programs, whose commands flow does not check again

static bool run_on_flow(const command_program *program, bool checked, run_result *result) {
  wf_diag diag = wf_diag_to(NULL);
  void *const tensors[] = {NULL, NULL, NULL};
  const sim_engine_options options = {.checked = checked};
  const run_config config = {.engine = &sim_flow_engine, .options = &options};
  const bool good = run_commands_on(program, &config, tensors, result, &diag);
  assert_int_equal(diag.errors, good ? 0 : 1);
  return good;
}

static void test_trust_changes_no_cycle(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = sample_gemm_program(&array, &shapes[2]);
  run_result checked, trusted;
  assert_false(command_is_proved(program) || run_session_may_trust(program));
  assert_true(run_on_flow(program, false, &checked));
  assert_true(command_prove(program, &diag) && command_is_proved(program));
  assert_true(run_session_may_trust(program));
  assert_true(run_on_flow(program, false, &trusted));
  assert_int_equal(checked.cycles, trusted.cycles);
  assert_true(trusted.cycles != 0);
  command_destroy(program);
}

// A program that was changed, or whose array is or became another one, is as one that was never verified: its commands
// are checked.
static void test_others_are_not_trusted(void **state) {
  (void)state;
  hw_array array, other;
  hw_array_default(&array);
  hw_array_default(&other);
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = sample_gemm_program(&array, &shapes[1]);
  assert_true(command_prove(program, &diag));
  other.dma.bus_bits /= 2;
  command_program moved = *program;
  moved.array = &other;
  assert_false(command_is_proved(&moved));
  array.dma.bus_bits /= 2;  // in place
  assert_false(command_is_proved(program));
  array.dma.bus_bits *= 2;
  assert_true(command_is_proved(program));
  const command_node bad = command_plain(ISA_FUNCT_MVIN, 0, (UINT64_C(16) << 48) | (UINT64_C(16) << 32) | 0x3ff8);
  command_add(program, &bad.insn);
  assert_false(command_is_proved(program));
  run_result result;
  assert_false(run_on_flow(program, false, &result));
  assert_int_equal(result.fault.kind, ARCH_FAULT_LOCAL);
  assert_false(run_on_flow(program, true, &result));
  assert_int_equal(result.commands, 0);
  command_destroy(program);
}

// Commands that come besides those of verified programs are refused.
static void test_flow_refuses_what_was_not_checked(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(1 << 20);
  const sim_engine_options options = {.checked = true};
  sim_engine *engine = sim_engine_create(&sim_flow_engine, &array, memory, &options, &diag);
  arch_command flush = {.insn = isa_find(array.isa.revision, ISA_FUNCT_FLUSH, 0), .funct = ISA_FUNCT_FLUSH};
  uint64_t response;
  assert_int_equal(engine->ops->push(engine, 0, &flush, &response), SIM_PUSH_FAULT);
  assert_int_equal(engine->ops->fault(engine)->kind, ARCH_FAULT_ILLEGAL);
  engine->ops->destroy(engine);
  arch_memory_destroy(memory);
}

static void test_trace_is_the_program(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  const sample_gemm *gemm = &shapes[2];
  operands o = operands_of(gemm);
  command_program *program = sample_gemm_program(&array, gemm);
  char path[] = "/tmp/weft-trace-XXXXXX";
  FILE *out = fdopen(mkstemp(path), "w");
  uint64_t address[3];
  assert_true(command_place(program, ARCH_MEMORY_BASE, address, &diag));
  const uint8_t *bytes[] = {(const uint8_t *)o.a, (const uint8_t *)o.b, NULL};
  assert_true(command_write_trace(program, &(command_layout){address}, bytes, out, &diag));
  fclose(out);
  const run_config config = {.engine = sim_engine_find("cycle")};
  run_result result;
  assert_true(run_commands_on(program, &config, (void *const[]){o.a, o.b, o.c}, &result, &diag));
  sim_run_result moved = replay(path, &array, "cycle", false), timed = replay(path, &array, "cycle", true);
  sim_run_result ref = replay(path, &array, "ref", false);
  assert_int_equal(moved.status, SIM_RUN_OK);
  assert_int_equal(moved.host.cycles, result.cycles);
  assert_int_equal(timed.host.cycles, result.cycles);
  assert_false(moved.compared);
  assert_int_equal(moved.replay_digest, ref.replay_digest);
  assert_int_equal(moved.written_bytes, gemm->m * gemm->n);
  unlink(path);
  command_destroy(program);
  free_operands(&o);
}

static void test_trace_refuses(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(NULL);
  command_program *program = sample_gemm_program(&array, &shapes[1]);
  uint64_t address[3] = {ARCH_MEMORY_BASE, ARCH_MEMORY_BASE - 1, UINT64_MAX};
  FILE *out = fopen("/dev/null", "w");
  assert_false(command_write_trace(program, &(command_layout){address}, NULL, out, &diag));
  assert_int_equal(diag.errors, 2);
  fclose(out);
  address[1] = address[2] = ARCH_MEMORY_BASE;
  out = fopen("/dev/full", "w");
  assert_false(command_write_trace(program, &(command_layout){address}, NULL, out, &diag));
  fclose(out);
  assert_int_equal(diag.errors, 3);
  command_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_result),
      cmocka_unit_test(test_faults_are_reported),
      cmocka_unit_test(test_huge_tensors_are_refused),
      cmocka_unit_test(test_stops_when_wanted),
      cmocka_unit_test(test_trust_changes_no_cycle),
      cmocka_unit_test(test_others_are_not_trusted),
      cmocka_unit_test(test_flow_refuses_what_was_not_checked),
      cmocka_unit_test(test_trace_is_the_program),
      cmocka_unit_test(test_trace_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
