// SPDX-License-Identifier: Apache-2.0
// The C of random programs, compiled for this machine, gives their commands: same order, same operands.
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/test.h"
#include "compiler/command/private.h"
#include "compiler/command/tests/sample.h"

enum { PROGRAMS = 40, TABLED = 6 };  // the last ones take their moves from a table
#define TENSOR_DISTANCE (UINT64_C(1) << 40)

typedef struct sum {
  uint64_t hash, count;
} sum;

static void add(sum *s, uint64_t funct, uint64_t rs1, uint64_t rs2) {
  const uint64_t words[] = {funct, rs1, rs2};
  s->hash = wf_hash(s->hash, words, sizeof words);
  s->count++;
}

// What is summed of a program that is walked.
typedef struct listing {
  const command_program *program;
  sum *sum;
} listing;

static bool note(void *context, const command_insn *insn) {
  static const uint64_t address[] = {TENSOR_DISTANCE, 2 * TENSOR_DISTANCE, 3 * TENSOR_DISTANCE};
  if (insn == NULL) {
    add(((const listing *)context)->sum, 255, 0, 0);
    return true;
  }
  const listing *l = context;
  const arch_command command = command_placed(l->program, insn, &(command_layout){address}, 0);
  add(l->sum, command.funct, command.rs1, command.rs2);
  return true;
}

static const char head[] =
    "#include <stdio.h>\n"
    "#include \"base/hash.h\"\n"
    "#include \"weft/weft.h\"\n"
    "static uint64_t hash, count;\n"
    "uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2) {\n"
    "  const uint64_t words[] = {funct, rs1, rs2};\n"
    "  hash = wf_hash(hash, words, sizeof words);\n"
    "  count++;\n"
    "  return 0;\n"
    "}\n"
    "void weft_fence(void) { weft_native_command(255, 0, 0); }\n";

static void write_calls(FILE *out) {
  fputs("int main(void) {\n", out);
  for (int n = 0; n < PROGRAMS; n++)
    fprintf(out,
            "  hash = WF_HASH_START, count = 0;\n"
            "  program%d((void *)(1ul << 40), (void *)(2ul << 40), (void *)(3ul << 40));\n"
            "  printf(\"%d %%016lx %%lu\\n\", (unsigned long)hash, (unsigned long)count);\n",
            n, n);
  fputs("  return 0;\n}\n", out);
}

static FILE *create(const char *folder, const char *name) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  return file;
}

// Builds and runs; what it printed.
static char *run(const char *folder) {
  char source[256], binary[256], log[256], include[256];
  snprintf(source, sizeof source, "%s/all.c", folder);
  snprintf(binary, sizeof binary, "%s/all", folder);
  snprintf(include, sizeof include, "-I%s", folder);
  snprintf(log, sizeof log, "%s/log", folder);
  const char *const build[] = {"cc",     "-std=gnu17", "-O1", "-DWEFT_NATIVE", include,
                               INCLUDES, source,       "-o",  binary,          NULL};
  const char *const start[] = {binary, NULL};
  const wf_process_argv commands[] = {build, start};
  const wf_process_result result = wf_process_run(commands, 2, 1, log);
  char *text = wf_calloc(1 << 16, 1);
  FILE *file = fopen(log, "r");
  assert_non_null(file);
  size_t length = fread(text, 1, (1 << 16) - 1, file);
  fclose(file);
  if (result != WF_PROCESS_DONE) fail_msg("%.*s", (int)length, text);
  return text;
}

static void remove_files(const char *folder) {
  static const char *const names[] = {"all.c", "all", "log", "weft_array.h"};
  char path[256];
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    unlink(path);
  }
  rmdir(folder);
}

static command_insn command(unsigned funct, int tensor, uint64_t rs1, uint64_t rs2) {
  return (command_insn){
      .funct = (uint8_t)funct, .tensor_rs1 = (int16_t)tensor, .tensor_rs2 = COMMAND_NO_TENSOR, .rs1 = rs1, .rs2 = rs2};
}

// One nest of products goes through the whole program.
static void add_products(command_program *program, uint64_t count, uint64_t seed, uint64_t *products) {
  for (uint64_t n = *products; n < *products + count; n++) {
    const uint64_t row = n % 64 * 16;
    const command_insn preload = command(ISA_FUNCT_PRELOAD, COMMAND_NO_TENSOR, seed << 32 | row, n / 64 % 8);
    const bool fresh = n % 8 == 0;
    const command_insn compute =
        command(fresh ? ISA_FUNCT_COMPUTE_PRELOADED : ISA_FUNCT_COMPUTE_ACCUMULATED, COMMAND_NO_TENSOR, 2 * row, 7);
    command_add(program, &preload);
    command_add(program, &compute);
  }
  *products += count;
}

// Loads, stores and configuration at places without order, addresses on both sides of the tensors, some moves before
// the first product and behind the last, and stretches of products that are longer than the table counts at once.
static command_program *tabled_program(const hw_array *array, uint64_t seed) {
  static const unsigned functs[] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVOUT, ISA_FUNCT_CONFIG_LD};
  command_program *program = command_create("tabled", array);
  for (int t = 0; t < 3; t++)
    command_add_tensor(program, &(command_tensor){t == 0   ? "a"
                                                  : t == 1 ? "b"
                                                           : "c",
                                                  1, false, 1 << 20, true, true, NULL});
  uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, products = 0;
  add_products(program, seed % 2 * 3, seed, &products);
  for (int n = 0; n < 2000; n++) {
    random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
    const unsigned funct = functs[random >> 60 & 3];
    const bool config = funct == ISA_FUNCT_CONFIG_LD;
    const uint64_t offset =
        (random >> 20 & 0xfffff) - (n % 7 == 0 ? 0x1000 : 0) + (n % 11 == 0 ? UINT64_C(3) << 33 : 0);
    const command_insn insn = config ? command(funct, COMMAND_NO_TENSOR, 1 | (random >> 58 & 3) << 3, random & 0xffff)
                                     : command(funct, (int)(random >> 50) % 3, offset, random >> 8);
    command_add(program, &insn);
    add_products(program, n == 1500 && seed % 4 == 0 ? 140000 : random >> 45 & 3, seed, &products);
  }
  add_products(program, seed % 3 * 40000, seed, &products);
  if (seed % 2 == 0) command_add_fence(program);
  return program;
}

static command_program *test_program(const hw_array *array, int n) {
  return n < PROGRAMS - TABLED ? sample_random_program(array, 1000 + (uint64_t)n) : tabled_program(array, (uint64_t)n);
}

static void write_program(const command_program *program, bool tabled, FILE *out, wf_diag *diag) {
  char *text;
  size_t length;
  FILE *memory = open_memstream(&text, &length);
  assert_non_null(memory);
  assert_true(command_write_c(program, memory, diag));
  fclose(memory);
  assert_int_equal(strstr(text, "WEFT_PRODUCT(") != NULL, tabled);
  fputs(text, out);
  free(text);
}

static void test_commands_are_the_same(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  wf_diag diag = wf_diag_to(stderr);
  char folder[] = "/tmp/weft-emit-test-XXXXXX";
  assert_non_null(mkdtemp(folder));
  FILE *header = create(folder, "weft_array.h"), *out = create(folder, "all.c");
  assert_true(hw_write_c_header(&array, header));
  fclose(header);
  fputs(head, out);
  sum want[PROGRAMS];
  for (int n = 0; n < PROGRAMS; n++) {
    command_program *program = test_program(&array, n), *rolled = command_roll(program);
    want[n] = (sum){WF_HASH_START, 0};
    command_walk(program, note, &(listing){program, &want[n]});
    command_program *chosen = n % 2 == 0 ? program : rolled;
    chosen->name = wf_arena_format(chosen->arena, "program%d", n);
    write_program(chosen, n >= PROGRAMS - TABLED, out, &diag);
    command_destroy(rolled);
    command_destroy(program);
  }
  write_calls(out);
  fclose(out);
  char *text = run(folder), line[64];
  for (int n = 0; n < PROGRAMS; n++) {
    snprintf(line, sizeof line, "%d %016" PRIx64 " %" PRIu64 "\n", n, want[n].hash, want[n].count);
    if (strstr(text, line) == NULL) fail_msg("no %s in\n%s", line, text);
  }
  wf_free(text);
  remove_files(folder);
}

// Names of tensors that C or the file itself has a meaning for.
static void test_names(void **state) {
  (void)state;
  hw_array array;
  hw_array_default(&array);
  command_program *program = command_create("a.b-c", &array);
  static const char *const names[] = {"int", "r0", "n", "weft_fence", "_x", "a.b", "a_b", "a_b_c", "main", "x"};
  for (size_t i = 0; i < 10; i++)
    command_add_tensor(program, &(command_tensor){names[i], 1, false, 1, true, false, NULL});
  char **c = command_c_tensor_names(program->arena, program);
  assert_string_equal(command_c_name(program->arena, program), "a_b_c");
  static const char *const want[] = {"int_", "r0_", "n_", "weft_fence_", "t_x_", "a_b", "a_b_", "a_b_c_", "main_", "x"};
  for (size_t i = 0; i < 10; i++) assert_string_equal(c[i], want[i]);
  command_destroy(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_names), cmocka_unit_test(test_commands_are_the_same)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
