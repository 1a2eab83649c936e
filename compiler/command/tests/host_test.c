// SPDX-License-Identifier: Apache-2.0
// C and ELF programs give the commands of their program: the ELF leaves on every engine what the commands leave, and
// the host costs next to nothing.
#include <inttypes.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "compiler/command/elf.h"
#include "compiler/command/private.h"
#include "compiler/command/tests/sample.h"
#include "driver/include/weft/data.h"
#include "runner/program.h"
#include "sim/run.h"

static hw_array array;
static char folder[] = "/tmp/weft-host-test-XXXXXX", elf[64];

static int setup(void **state) {
  (void)state;
  hw_array_default(&array);
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(elf, sizeof elf, "%s/x.elf", folder);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  unlink(elf);
  return rmdir(folder);
}

// What the program prints.
static char *run_elf(const char *engine, uint64_t *code) {
  char *text;
  size_t size;
  FILE *console = open_memstream(&text, &size);
  wf_diag diag = wf_diag_to(stderr);
  const sim_run_config config = {
      .array = &array, .engine = sim_engine_find(engine), .console = console, .console_error = stderr};
  sim_run_result result = sim_run_elf(&config, elf, &diag);
  fclose(console);
  assert_int_equal(result.status, SIM_RUN_OK);
  *code = result.host.exit_code;
  return text;
}

static command_program *compiled(const sample_gemm *gemm) {
  command_program *straight = sample_gemm_program(&array, gemm), *folded = command_fold_config(straight);
  command_program *rolled = command_roll(folded);
  command_destroy(straight);
  command_destroy(folded);
  return rolled;
}

// Tensors as the ELF fills them.
static void fill(const command_program *program, uint64_t seed, void *tensors[3]) {
  for (int t = 0; t < 3; t++) {
    size_t bytes = command_tensor_bytes(&program->tensors[t]);
    tensors[t] = wf_calloc(bytes, 1);
    if (program->tensors[t].read) weft_fill(tensors[t], bytes, program->tensors[t].element_bytes, seed + (unsigned)t);
  }
}

static void test_elf_results(void **state) {
  (void)state;
  static const sample_gemm shapes[] = {{16, 16, 16, 0.02f, false}, {33, 47, 70, 0.0134f, true}, {64, 80, 96, 1, true}};
  for (size_t i = 0; i < 3; i++) {
    wf_diag diag = wf_diag_to(stderr);
    command_program *program = compiled(&shapes[i]);
    void *tensors[3];
    fill(program, 5, tensors);
    int8_t *want = wf_alloc((size_t)shapes[i].m * shapes[i].n, 1);
    sample_gemm_plain(&shapes[i], tensors[0], tensors[1], want);
    const uint8_t *given[] = {tensors[0], NULL, NULL};
    const command_elf_config config = {.bytes = i == 1 ? given : NULL, .seed = 5, .times = 2};
    assert_int_equal(command_write_elf(program, &config, elf, &diag), COMMAND_ELF_DONE);
    char line[64];
    snprintf(line, sizeof line, "tensor c digest %016" PRIx64 "\n",
             weft_digest(want, (size_t)shapes[i].m * shapes[i].n));
    for (int engine = 0; engine < 2; engine++) {
      uint64_t code;
      char *text = run_elf(engine == 0 ? "ref" : "cycle", &code);
      assert_int_equal(code, 0);
      if (strstr(text, line) == NULL) fail_msg("%s has no %s", text, line);
      assert_non_null(strstr(text, "run 1 cycles"));
      free(text);
    }
    for (int t = 0; t < 3; t++) wf_free(tensors[t]);
    wf_free(want);
    command_destroy(program);
  }
}

// The host against the same commands without one. The schedule waits for loads, so what the host costs is at the ends.
static void test_host_costs_little(void **state) {
  (void)state;
  static const sample_gemm gemm = {256, 256, 256, 0.01f, true};
  wf_diag diag = wf_diag_to(stderr);
  command_program *program = compiled(&gemm);
  void *tensors[3];
  fill(program, 0, tensors);
  const run_config config = {.engine = sim_engine_find("cycle"), .times = 2};
  run_result alone;
  assert_true(run_commands_on(program, &config, tensors, &alone, &diag));
  assert_int_equal(command_write_elf(program, &(command_elf_config){.times = 2}, elf, &diag), COMMAND_ELF_DONE);
  uint64_t code, cycles = 0;
  char *text = run_elf("cycle", &code), *run = strstr(text, "run 1 cycles ");
  assert_non_null(run);
  cycles = strtoull(run + strlen("run 1 cycles "), NULL, 10);
  print_message("256x256x256: %" PRIu64 " cycles alone, %" PRIu64 " with host\n", alone.cycles, cycles);
  assert_true(cycles < alone.cycles * 103 / 100 && cycles > alone.cycles * 97 / 100);
  free(text);
  for (int t = 0; t < 3; t++) wf_free(tensors[t]);
  command_destroy(program);
}

static void test_missing_compiler(void **state) {
  (void)state;
  char *messages;
  size_t size;
  FILE *out = open_memstream(&messages, &size);
  wf_diag diag = wf_diag_to(out);
  command_program *program = compiled(&(sample_gemm){16, 16, 16, 1, false});
  char *path = wf_strdup(getenv("PATH"));
  setenv("PATH", "/nonexistent", 1);
  assert_int_equal(command_write_elf(program, &(command_elf_config){0}, elf, &diag), COMMAND_ELF_NO_COMPILER);
  setenv("PATH", path, 1);
  assert_int_equal(command_write_elf(program, &(command_elf_config){0}, "/nonexistent/x.elf", &diag),
                   COMMAND_ELF_FAILED);
  setenv("TMPDIR", "/nonexistent", 1);
  assert_int_equal(command_write_elf(program, &(command_elf_config){0}, elf, &diag), COMMAND_ELF_FAILED);
  unsetenv("TMPDIR");
  fclose(out);
  assert_non_null(strstr(messages, "riscv64-unknown-elf-gcc not found\n"));
  assert_non_null(strstr(messages, "apt-get install gcc-riscv64-unknown-elf"));
  assert_non_null(strstr(messages, "riscv64-unknown-elf-gcc failed:\n"));
  assert_non_null(strstr(messages, "cannot write the file"));
  wf_free(path);
  free(messages);
  command_destroy(program);
}

static void test_unrolled_is_the_same(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    command_program *program = sample_random_program(&array, seed), *unrolled = command_unroll(program);
    if (!sample_same(program, unrolled)) fail_msg("seed %u", (unsigned)seed);
    command_destroy(unrolled);
    command_destroy(program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unrolled_is_the_same),
      cmocka_unit_test(test_elf_results),
      cmocka_unit_test(test_host_costs_little),
      cmocka_unit_test(test_missing_compiler),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
