// SPDX-License-Identifier: Apache-2.0
// Differential test: random programs on the host and on QEMU, compared state by state.
//   qemu_test [PROGRAMS [SEED]]   with 1000 blocks of instructions in every program
// A mismatch prints the block's first differing registers and its instructions, and leaves the ELF behind.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/test.h"
#include "sim/elf/elf.h"
#include "sim/host/host.h"
#include "sim/host/rv64.h"
#include "sim/host/tests/random_program.h"

#define QEMU "qemu-system-riscv64"
// Only what the host has, so that both find the same instructions illegal.
#define QEMU_CPU "rv64,zba=off,zbb=off,zbc=off,zbs=off,h=off,v=off,Zfh=off,Zfhmin=off"

enum { BLOCKS = 1000, MEMORY_MIB = 64, MAX_SHOWN = 8 };
static const char elf_path[] = "qemu_test_program.elf", output_path[] = "qemu_test_output.bin";

typedef struct {
  unsigned programs;
  uint64_t seed;
} request;

static void write_file(const char *path, const void *bytes, size_t length) {
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(bytes, 1, length, f), length);
  assert_int_equal(fclose(f), 0);
}

static uint64_t *read_output(const char *path, size_t expected, uint64_t seed) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  uint64_t *bytes = wf_calloc(expected + 8, 1);
  size_t got = fread(bytes, 1, expected + 8, f);
  fclose(f);
  if (got != expected) fail_msg("seed %" PRIu64 ": QEMU printed %zu bytes, not %zu", seed, got, expected);
  return bytes;
}

static void run_qemu(void) {
  pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Its console is its standard output.
    int output = open(output_path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (output < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(126);
    execlp(QEMU, QEMU, "-M", "virt", "-cpu", QEMU_CPU, "-m", "64", "-display", "none", "-serial", "none", "-monitor",
           "none", "-bios", "none", "-semihosting-config", "enable=on,target=native", "-kernel", elf_path,
           (char *)NULL);
    _exit(errno == ENOENT ? 127 : 126);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    fail_msg(QEMU " not found; install it with: apt-get install qemu-system-misc");
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_msg(QEMU " ended with status 0x%x", (unsigned)status);
}

static uint64_t *run_host(const random_program *p) {
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create(UINT64_C(1048576) * MEMORY_MIB);
  sim_elf *elf = sim_elf_parse("random program", p->elf, p->elf_length, &diag);
  assert_non_null(elf);
  assert_true(sim_elf_load(elf, memory, &diag));
  char *text = NULL;
  size_t length = 0;
  FILE *console = open_memstream(&text, &length);
  host_config config = {.memory = memory, .entry = sim_elf_entry(elf), .console = console};
  host *h = host_create(&config);
  host_result r = host_run(h, NULL, NULL);
  fclose(console);
  if (r.end != HOST_EXITED || r.exit_code != 0) fail_msg("the host ended with %d at 0x%" PRIx64, (int)r.end, r.pc);
  if (length != p->output_bytes) fail_msg("the host printed %zu bytes, not %zu", length, p->output_bytes);
  host_destroy(h);
  sim_elf_close(elf);
  arch_memory_destroy(memory);
  return (uint64_t *)text;
}

static const char *word_name(size_t word, char name[16]) {
  if (word < 64) {
    snprintf(name, 16, "%c%zu", word < 32 ? 'x' : 'f', word % 32);
  } else {
    snprintf(name, 16, "%s", word == 64 ? "fcsr" : "traps");
  }
  return name;
}

static void show_code(const random_program *p, size_t block) {
  arch_memory memory = {.bytes = (uint8_t *)p->code, .size = p->block_end[block] - ARCH_MEMORY_BASE};
  host view = {.memory = &memory};
  for (uint64_t pc = p->block_pc[block]; pc < p->block_end[block];) {
    rv64_op op;
    rv64_decoded d = rv64_decode(&view, pc, &op);
    const char *name = d.index < RV64_OP_SELF_JUMP ? "illegal" : rv64_op_name(d.index);
    print_error("  %08" PRIx64 "  %0*x  %s\n", pc, (int)d.length * 2, rv64_fetch(&view, pc), name);
    pc += d.length;
  }
}

static void show_block(const random_program *p, size_t block, const uint64_t *ours, const uint64_t *theirs) {
  char name[16];
  unsigned shown = 0;
  for (size_t i = 0; i < RANDOM_STATE_WORDS && shown < MAX_SHOWN; i++) {
    size_t at = block * RANDOM_STATE_WORDS + i;
    if (ours[at] == theirs[at]) continue;
    print_error("  %-5s host %016" PRIx64 "  QEMU %016" PRIx64 "\n", word_name(i, name), ours[at], theirs[at]);
    shown++;
  }
  show_code(p, block);
}

static void compare(const random_program *p, uint64_t seed, const uint64_t *ours, const uint64_t *theirs) {
  if (memcmp(ours, theirs, p->output_bytes) == 0) return;
  for (size_t i = 0; i < p->blocks; i++) {
    size_t at = i * RANDOM_STATE_WORDS;
    if (memcmp(ours + at, theirs + at, RANDOM_STATE_WORDS * sizeof *ours) == 0) continue;
    print_error("seed %" PRIu64 ", block %zu of %s:\n", seed, i, elf_path);
    show_block(p, i, ours, theirs);
    fail_msg("the host and QEMU differ");
  }
  fail_msg("seed %" PRIu64 ": registers agree, memory differs", seed);
}

static void host_equals_qemu(void **state) {
  const request *r = *state;
  for (unsigned i = 0; i < r->programs; i++) {
    random_program p = random_program_make(r->seed + i, BLOCKS);
    write_file(elf_path, p.elf, p.elf_length);
    run_qemu();
    uint64_t *theirs = read_output(output_path, p.output_bytes, r->seed + i), *ours = run_host(&p);
    compare(&p, r->seed + i, ours, theirs);
    free(ours);
    wf_free(theirs);
    random_program_free(&p);
  }
  print_message("%u programs of %d blocks of %d instructions agree\n", r->programs, BLOCKS, RANDOM_BLOCK_INSTRUCTIONS);
  remove(elf_path);
  remove(output_path);
}

int main(int argc, char **argv) {
  request r = {.programs = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 0) : 20,
               .seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(host_equals_qemu, &r)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
