// SPDX-License-Identifier: Apache-2.0
// Programs that the RISC-V compiler built, from their ELF files: one with the C library and semihosting, one bare.
#include "base/test.h"
#include "sim/elf/elf.h"
#include "sim/host/host.h"

enum { MEMORY_BYTES = 64 << 20, ILLEGAL = 2 };

typedef struct {
  arch_memory *memory;
  sim_elf *elf;
  FILE *console;
  char *text;
  size_t length;
  host_config config;
} loaded;

static loaded load(const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  loaded l = {.memory = arch_memory_create(MEMORY_BYTES), .elf = sim_elf_open(path, &diag)};
  assert_non_null(l.elf);
  assert_true(sim_elf_load(l.elf, l.memory, &diag));
  l.config = (host_config){.memory = l.memory, .entry = sim_elf_entry(l.elf), .max_instructions = 1000000};
  sim_elf_find(l.elf, "tohost", &l.config.tohost);
  sim_elf_find(l.elf, "fromhost", &l.config.fromhost);
  return l;
}

static host_result run(loaded *l) {
  l->console = open_memstream(&l->text, &l->length);
  l->config.console = l->config.console_error = l->console;
  host *h = host_create(&l->config);
  host_result r = host_run(h, NULL, NULL);
  host_destroy(h);
  fclose(l->console);
  return r;
}

static void unload(loaded *l) {
  free(l->text);
  sim_elf_close(l->elf);
  arch_memory_destroy(l->memory);
}

static void with_library(void **state) {
  (void)state;
  loaded l = load(HELLO_ELF);
  host_result r = run(&l);
  assert_int_equal(r.end, HOST_EXITED);
  assert_int_equal(r.exit_code, 7);
  assert_string_equal(l.text,
                      "root 1.414213562373095 third 0.333333343 hex 0x1.5555555555555p-1\n"
                      "sin 0.909297426825682 -42 1234567890123456789\n");
  unload(&l);
}

static host_port_result answer(void *context, arch_command *command, uint64_t *cycle, uint64_t *response) {
  const sim_elf *elf = context;
  assert_int_equal(command->funct, 126);
  assert_int_equal(command->rs1, 5);
  assert_string_equal(sim_elf_symbol_at(elf, command->pc)->name, "main");
  *cycle += 10;
  *response = 33;
  return HOST_PORT_DONE;
}

static void bare(void **state) {
  (void)state;
  loaded l = load(BARE_ELF);
  host_result r = run(&l);  // no accelerator: its trap handler ends it
  assert_int_equal(r.end, HOST_EXITED);
  assert_int_equal(r.exit_code, 0x100 + ILLEGAL);
  assert_int_equal(r.traps, 1);
  assert_int_equal(r.last_trap.cause, ILLEGAL);
  assert_int_equal(r.last_trap.instruction & 0x7f, 0x7b);
  assert_string_equal(sim_elf_symbol_at(l.elf, r.last_trap.pc)->name, "main");
  assert_string_equal(l.text, "steps 111\n");
  unload(&l);

  l = load(BARE_ELF);
  l.config.port = (host_port){.context = l.elf, .command = answer};
  r = run(&l);
  assert_int_equal(r.end, HOST_EXITED);
  assert_int_equal(r.exit_code, 33);
  assert_int_equal(r.cycles, r.instructions + 10);
  unload(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(with_library), cmocka_unit_test(bare)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
