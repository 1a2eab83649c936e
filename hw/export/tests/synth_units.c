// SPDX-License-Identifier: Apache-2.0
// Synthesises units of the smallest array: the registers around the mesh, and with the argument `long`, which takes
// minutes, a PE, a scratchpad bank and the execute controller. Exit code 77 (skipped) without the tools. The bounds are
// wide: a multiplier and an adder of that width fit no smaller, and a wrong unit or a lost result lies outside.
#include <stdlib.h>
#include <string.h>

#include "hw/export/synth.h"

enum { SKIPPED = 77 };

#define CHECK(condition)                                                \
  do {                                                                  \
    if (!(condition)) {                                                 \
      fprintf(stderr, "line %d: " #condition " is not so\n", __LINE__); \
      exit(EXIT_FAILURE);                                               \
    }                                                                   \
  } while (0)

static hw_synth_result synthesise(const hw_array *array, const char *unit) {
  wf_diag diag = wf_diag_to(stderr);
  const hw_synth_options options = {.unit = unit};
  hw_synth_result result;
  if (!hw_synth(array, &options, &result, &diag)) exit(EXIT_FAILURE);
  return result;
}

static void check_pe(const hw_array *array) {
  const hw_synth_result result = synthesise(array, "pe");
  CHECK(result.count == 1);
  const hw_synth_unit *pe = &result.units[0];
  CHECK(strcmp(pe->part, "mesh") == 0 && pe->instances == 4);
  CHECK(pe->area_um2 > 20e3 && pe->area_um2 < 500e3 && pe->cells > 300);
  CHECK(pe->path_ns > 2 && pe->path_ns < 40);
  CHECK(pe->power_mw > 0.2 && pe->power_mw < 100);
  CHECK(result.area_um2 == 4 * pe->area_um2 && result.memory_bits == 0);
}

// Skew registers: mostly flip-flops, of which none is smaller than 80 um2, and no path of many gates. What many read is
// buffered: a path of more than 4 ns were one that is not.
static void check_delays(const hw_array *array) {
  const hw_synth_result result = synthesise(array, "mesh_with_delays");
  CHECK(result.count == 1);
  const hw_synth_unit *delays = &result.units[0];
  CHECK(strcmp(delays->part, "mesh") == 0 && delays->instances == 1 && result.memory_bits == 0);
  CHECK(delays->cells > 50 && delays->area_um2 > 80.0 * 50 && delays->area_um2 < 500e3);
  CHECK(delays->path_ns > 0.1 && delays->path_ns < 4);
  CHECK(delays->power_mw > 0.05 && delays->power_mw < 100);
}

static void check_bank(const hw_array *array) {
  const hw_synth_result result = synthesise(array, "scratchpad_bank");
  CHECK(result.count == 1 && result.units[0].instances == array->scratchpad.banks);
  CHECK(result.memory_bits == array->scratchpad.capacity_kib * 1024ull * 8);
  // Far less than its memory would be as flip-flops.
  CHECK(result.units[0].area_um2 > 0 && result.units[0].area_um2 < 10.0 * (double)result.units[0].memory_bits);
}

// Outputs of which bits are constant or repeated: its netlist assigns parts of ports.
static void check_controller(const hw_array *array) {
  const hw_synth_result result = synthesise(array, "execute_controller");
  CHECK(result.count == 1 && result.units[0].cells > 1000);
  CHECK(result.units[0].path_ns > 2 && result.units[0].power_mw > 1);
}

static void check_refusals(const hw_array *array) {
  FILE *out = tmpfile();
  wf_diag diag = wf_diag_to(out);
  const hw_synth_options options = {.unit = "nosuch"};
  hw_synth_result result;
  CHECK(!hw_synth(array, &options, &result, &diag) && diag.errors == 1);
  hw_array large;
  hw_array_default(&large);
  CHECK(!hw_synth(&large, &options, &result, &diag) && diag.errors == 2);
  fclose(out);
}

int main(int argc, char **argv) {
  if (hw_synth_missing() != NULL) return SKIPPED;
  wf_diag diag = wf_diag_to(stderr);
  hw_array array;
  CHECK(hw_array_load(&array, "dim2", &diag));
  check_refusals(&array);
  if (argc == 2 && strcmp(argv[1], "long") == 0) {
    check_pe(&array);
    check_bank(&array);
    check_controller(&array);
  } else {
    check_delays(&array);
  }
  return EXIT_SUCCESS;
}
