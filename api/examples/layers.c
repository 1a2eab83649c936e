// SPDX-License-Identifier: Apache-2.0
// The steps of a network on an array, as a table:
//   cc layers.c $(pkg-config --cflags --libs weft) -o layers && ./layers resnet18
#include <inttypes.h>
#include <stdio.h>
#include <weft/weft.h>

static bool show(void *context, const weft_progress *progress) {
  fprintf(context, "\r%s: %" PRIu64 " of %" PRIu64, progress->what, progress->done, progress->total);
  return true;  // false ends the run
}

int main(int argc, char **argv) {
  weft_session *session = weft_session_create();
  weft_session_watch(session, show, stderr);
  weft_array *array = weft_array_load(session, "gemmini-default");
  weft_array_set(session, array, "scratchpad.capacity_kib", "512");

  const weft_network_options options = {.size = sizeof options, .image = 64, .divisor = 4};
  weft_network *network = weft_network_compile(session, array, argc > 1 ? argv[1] : "resnet18", &options);
  const weft_run_options with = {.size = sizeof with, .engine = "cycle", .check = true};
  weft_run *run = network == NULL ? NULL : weft_network_run(session, network, &with, NULL);
  if (run == NULL) fputs(weft_session_messages(session), stderr);

  for (size_t i = 0; i < weft_run_steps(run); i++) {
    weft_step step = {.size = sizeof step};
    weft_run_step(run, i, &step);
    printf("%-32s %-6s %10" PRIu64 " cycles %9.2f uJ\n", step.name, step.kind, step.cycles, step.energy_uj);
  }
  weft_totals totals = {.size = sizeof totals};
  weft_run_totals(run, &totals);
  printf("%" PRIu64 " cycles, %" PRIu64 " bytes wrong\n", totals.cycles, totals.wrong);
  const int code = (int)weft_session_status(session);
  weft_run_destroy(run);
  weft_network_destroy(network);
  weft_array_destroy(array);
  weft_session_destroy(session);
  return code;
}
