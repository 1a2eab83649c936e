// SPDX-License-Identifier: Apache-2.0
// How fast the host is: millions of instructions per second on a few loops, best of several runs.
//   host_bench NAME=ELF...
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/elf/elf.h"
#include "sim/host/host.h"

enum { RUNS = 5, MEMORY_BYTES = 16 << 20 };

// One run from a fresh memory; the time includes decoding, not loading.
static bool measure(const sim_elf *elf, wf_diag *diag, double *time, uint64_t *instructions) {
  arch_memory *memory = arch_memory_create(MEMORY_BYTES);
  bool ok = sim_elf_load(elf, memory, diag);
  if (ok) {
    host_config config = {.memory = memory, .entry = sim_elf_entry(elf)};
    sim_elf_find(elf, "tohost", &config.tohost);
    host *h = host_create(&config);
    double start = wf_seconds();
    host_result r = host_run(h, NULL, NULL);
    *time = wf_seconds() - start;
    *instructions = r.instructions;
    ok = r.end == HOST_EXITED && r.exit_code == 0;
    if (!ok) fprintf(stderr, "end %d, exit code %" PRIu64 "\n", (int)r.end, r.exit_code);
    host_destroy(h);
  }
  arch_memory_destroy(memory);
  return ok;
}

static bool bench(const char *name, const char *path) {
  wf_diag diag = wf_diag_to(stderr);
  sim_elf *elf = sim_elf_open(path, &diag);
  if (elf == NULL) return false;
  double best = 0;
  uint64_t instructions = 0;
  bool ok = true;
  for (int i = 0; ok && i < RUNS; i++) {
    double time = 0;
    ok = measure(elf, &diag, &time, &instructions);
    if (i == 0 || time < best) best = time;
  }
  if (ok) printf("%-10s %12" PRIu64 " %9.3f %8.0f\n", name, instructions, best, (double)instructions / best / 1e6);
  sim_elf_close(elf);
  return ok;
}

int main(int argc, char **argv) {
  bool ok = argc > 1;
  printf("%-10s %12s %9s %8s\n", "loop", "instructions", "seconds", "MIPS");
  for (int i = 1; i < argc; i++) {
    char name[64];
    const char *equals = strchr(argv[i], '=');
    if (equals == NULL || (size_t)(equals - argv[i]) >= sizeof name) return EXIT_FAILURE;
    snprintf(name, sizeof name, "%.*s", (int)(equals - argv[i]), argv[i]);
    ok = bench(name, equals + 1) && ok;
  }
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
