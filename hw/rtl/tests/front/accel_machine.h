// SPDX-License-Identifier: Apache-2.0
// weft_accel with a simple AXI memory: commands in, one per cycle at most, a measured window out.
//
// The memory answers reads in order, the first beat READ_LATENCY cycles after the address and one beat per cycle; a
// write burst is acknowledged WRITE_LATENCY cycles after its first beat. One request beat per cycle is taken (an AR or
// a W; an AW together with the first W), as on the shared port of the reference system with a warm cache.
#ifndef HW_RTL_TESTS_FRONT_ACCEL_MACHINE_H
#define HW_RTL_TESTS_FRONT_ACCEL_MACHINE_H

#include "hw/array.h"
#include "hw/rtl/tests/front/dut.h"

enum { MACHINE_BYTES = 1 << 20, MACHINE_COMMANDS = 4096 };
#define MACHINE_BASE UINT64_C(0x80000000)

typedef struct machine_command {
  uint8_t funct;
  bool returns;
  uint64_t rs1, rs2;
  uint64_t earliest;  // cycle after the first command of the program in which it is offered
} machine_command;

typedef enum { MACHINE_CMD, MACHINE_ALLOC, MACHINE_ISSUE, MACHINE_DONE, MACHINE_IDLE } machine_kind;
typedef struct machine_event {
  machine_kind kind;
  unsigned unit;   // of issue and done: 0 load, 1 execute, 2 store
  uint64_t cycle;  // from the first command of the program
} machine_event;
enum { MACHINE_EVENTS = 8192 };

typedef struct machine {
  hw_array array;
  hw_derived derived;
  accel_dut *dut;
  accel_pins pins;
  uint8_t *memory;  // MACHINE_BYTES from MACHINE_BASE up
  uint64_t cycle;
  machine_event events[MACHINE_EVENTS];  // of the last run
  size_t event_count;
  uint8_t unit_of[MACHINE_EVENTS];  // of a command by its index modulo this
  bool failed;
  struct machine_bus *bus;
  machine_command program[MACHINE_COMMANDS];
  size_t count;
  uint64_t responses[64];
  size_t response_count;
  // of the run
  size_t next;     // command
  uint64_t first;  // cycle in which the first command was taken
  uint64_t quiet;  // cycles since anything happened
  bool was_busy;
} machine;

machine *machine_create(const char *array);
machine *machine_create_on(const char *array, accel_dut *dut);  // owns the dut
void machine_destroy(machine *m);
// Adds a command to the program; the second form offers it `earliest` cycles after the first one is taken.
void machine_put_at(machine *m, uint64_t earliest, uint8_t funct, uint64_t rs1, uint64_t rs2);
void machine_put(machine *m, uint8_t funct, uint64_t rs1, uint64_t rs2);
void machine_put_returning(machine *m, uint8_t funct, uint64_t rs1);
// Runs the program until the accelerator is idle and empties it. Returns the window as the reference measures it:
// (busy falls) - (first command taken) + 6.
uint64_t machine_run(machine *m);
// The same cycle by cycle, for machines that share a clock: false when the program is over. More cycles may follow.
void machine_start(machine *m);
bool machine_step(machine *m);

#endif
