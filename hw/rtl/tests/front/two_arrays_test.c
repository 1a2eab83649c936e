// SPDX-License-Identifier: Apache-2.0
// Two arrays in one elaboration work side by side: each runs its own programs while the other runs, and takes as many
// cycles for them as it takes when the other rests.
// Usage: two_arrays_test ARRAY_OF_SIDE_4 ARRAY_OF_SIDE_8
#include "hw/rtl/tests/front/two_arrays.h"

#include <inttypes.h>
#include <stdio.h>

#include "hw/rtl/tests/front/accel_programs.h"

typedef void program(machine *m);

// Cycles until each is idle; a machine without commands only keeps the clock going.
static void run(machine *machines[2], uint64_t cycles[2]) {
  bool going[2] = {true, true};
  for (int n = 0; n < 2; n++) {
    machine_start(machines[n]);
    cycles[n] = 0;
  }
  while (going[0] || going[1]) {
    for (int n = 0; n < 2; n++) {
      going[n] = machine_step(machines[n]) && going[n];
      cycles[n] += going[n];
    }
  }
  machines[0]->count = machines[1]->count = 0;
}

// The program alone on each machine, then on both at once.
static bool same_cycles(machine *machines[2], program *put, uint32_t tiles) {
  uint64_t alone[2], together[2], ignored[2];
  for (int n = 0; n < 2; n++) {
    put(machines[n]);
    run(machines, n == 0 ? alone : ignored);
  }
  alone[1] = ignored[1];
  put(machines[0]);
  put(machines[1]);
  run(machines, together);
  bool good = true;
  for (int n = 0; n < 2; n++) {
    uint32_t dim = machines[n]->derived.dim;
    good = good && !machines[n]->failed && program_check(machines[n], tiles * dim);
    printf("side %" PRIu32 ": %" PRIu64 " cycles alone, %" PRIu64 " beside the other\n", dim, alone[n], together[n]);
    good = good && alone[n] == together[n] && alone[n] > dim;
  }
  return good;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  accel_dut *duts[2];
  two_arrays_create(duts);
  machine *machines[2] = {machine_create_on(argv[1], duts[0]), machine_create_on(argv[2], duts[1])};
  if (machines[0] == NULL || machines[1] == NULL) return 2;
  bool good = machines[0]->derived.dim == 4 && machines[1]->derived.dim == 8;
  good = good && same_cycles(machines, program_tile, 1) && same_cycles(machines, program_loop, PROGRAM_TILES);
  machine_destroy(machines[0]);
  machine_destroy(machines[1]);
  return good ? 0 : 1;
}
