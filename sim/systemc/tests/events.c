// SPDX-License-Identifier: Apache-2.0
// Runs a program and prints what a timed engine tells of it: every record of the reservation station, the cycles, the
// bytes moved. usage: systemc_events ENGINE ACCELERATOR|- QUANTUM ARRAY PROG.elf
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/run.h"

enum { ARGUMENTS = 6 };

static void print_event(void *context, const sim_event *event) {
  static const char *const kinds[] = {"alloc", "issue", "done"};
  fprintf(context, "%s %u of unit %u in cycle %" PRIu64 "\n", kinds[event->kind], event->index, (unsigned)event->unit,
          event->cycle);
}

int main(int argc, char **argv) {
  hw_array array;
  wf_diag diag = wf_diag_to(stderr);
  if (argc != ARGUMENTS || !hw_array_load(&array, argv[4], &diag)) return 2;
  const sim_engine_options options = {.accelerator = strcmp(argv[2], "-") == 0 ? NULL : argv[2],
                                      .quantum = strtoull(argv[3], NULL, 10)};
  const sim_events events = {.context = stdout, .event = print_event};
  const sim_run_config config = {.array = &array,
                                 .engine = sim_engine_find(argv[1]),
                                 .engine_options = &options,
                                 .console = stdout,
                                 .console_error = stderr,
                                 .events = &events};
  sim_run_result result = sim_run_elf(&config, argv[5], &diag);
  printf("status %d, exit code %" PRIu64 ", %" PRIu64 " instructions, %" PRIu64 " cycles, %" PRIu64
         " of them waited, %" PRIu64 " bytes read, %" PRIu64 " written\n",
         (int)result.status, result.host.exit_code, result.host.instructions, result.host.cycles,
         result.port.wait_cycles, result.read_bytes, result.written_bytes);
  return result.status == SIM_RUN_OK ? 0 : 1;
}
