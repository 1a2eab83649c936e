// SPDX-License-Identifier: Apache-2.0
// The host: one RV64IMAFDC_Zicsr_Zicntr hart in machine mode, with HTIF and semihosting, and a RoCC port.
// It runs a program until it exits, faults or reaches its limit. It knows neither engine nor trace: only the port.
#ifndef SIM_HOST_HOST_H
#define SIM_HOST_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "arch/memory.h"
#include "sim/engine.h"

// What the port answers to a custom instruction.
typedef enum {
  HOST_PORT_DONE,     // taken; *response holds rd
  HOST_PORT_ILLEGAL,  // not an instruction of this accelerator: the hart takes an illegal-instruction trap
  HOST_PORT_FAULT,    // the accelerator stopped: the run ends
} host_port_result;

typedef struct host_port {
  void *context;
  // A custom instruction at *cycle; the port finds command->insn. The port may move *cycle on when the accelerator made
  // the hart wait. With timing the hart does not wait here: there is room in that cycle, and *cycle becomes that of the
  // response, if there is one.
  host_port_result (*command)(void *context, arch_command *command, uint64_t *cycle, uint64_t *response);
  // A fence at *cycle: returns when the accelerator is idle. False: the accelerator stopped with a fault.
  bool (*fence)(void *context, uint64_t *cycle);
  // With timing only. The first cycle from `cycle` on in which the port has room for a command.
  uint64_t (*room)(void *context, uint64_t cycle);
  // A line of the caches that the hart asks for at `cycle`, or writes back: the cycle in which all of it is there.
  // Requests come in the order of their cycles, but for a few cycles.
  uint64_t (*memory)(void *context, uint64_t cycle, uint64_t address, bool write);
  // Without timing only; NULL: not told. Each load, store and atomic of the program, at `pc`, before it happens.
  void (*touch)(void *context, uint64_t pc, uint64_t address, unsigned bytes, bool write);
} host_port;

typedef struct host_config {
  arch_memory *memory;
  host_port port;  // command NULL: custom instructions are illegal
  uint64_t entry;
  uint64_t tohost, fromhost;  // addresses; 0: the program has none
  FILE *console;              // what the program writes
  FILE *console_error;        // what it writes to file descriptor 2
  uint64_t max_instructions;  // 0: no limit
  const hw_array *timing;     // the hart of this array, with its times; NULL: a cycle per instruction. Borrowed
} host_config;

typedef enum {
  HOST_EXITED,        // by tohost or semihosting: exit_code
  HOST_TRAPPED,       // a trap without handler (mtvec never written): cause, value, pc
  HOST_LIMIT,         // max_instructions reached
  HOST_PORT_STOPPED,  // the port reported a fault
  HOST_STUCK,         // wfi or a jump to itself with nothing that could end it
} host_end;

// The traps that the program took itself, for the report: the last one and how many.
typedef struct host_trap {
  uint64_t pc, cause, value;
  uint32_t instruction;  // raw bits, 16 or 32
} host_trap;

// What instructions are for those who count them, in the order of the hart's timing classes (rv64_class).
typedef enum {
  HOST_INTEGER,
  HOST_MULTIPLY,
  HOST_DIVIDE,
  HOST_LOAD,
  HOST_STORE,
  HOST_BRANCH,
  HOST_JUMP,
  HOST_FLOAT_ADD,
  HOST_FLOAT_MULTIPLY,
  HOST_FLOAT_DIVIDE,
  HOST_CONTROL,
  HOST_COMMAND,
  HOST_KINDS
} host_kind;

// Counts of a hart with time of its own; without, all are 0. Instructions count when they leave decode.
typedef struct host_counts {
  uint64_t instructions[HOST_KINDS];
  uint64_t fetches;                    // blocks of 4 bytes asked of the instruction cache
  uint64_t fetch_misses, data_misses;  // lines asked of the memory system
  uint64_t written_back;               // lines
} host_counts;

static inline void host_counts_add(host_counts *to, const host_counts *one, uint64_t times) {
  uint64_t *sum = (uint64_t *)to;
  const uint64_t *what = (const uint64_t *)one;
  for (unsigned i = 0; i < sizeof *to / sizeof *sum; i++) sum[i] += what[i] * times;
}

static inline host_counts host_counts_between(const host_counts *before, const host_counts *after) {
  host_counts between = *after;
  uint64_t *counts = (uint64_t *)&between;
  const uint64_t *less = (const uint64_t *)before;
  for (unsigned i = 0; i < sizeof between / sizeof *counts; i++) counts[i] -= less[i];
  return between;
}

typedef struct host_result {
  host_end end;
  uint64_t exit_code;
  uint64_t instructions;  // retired
  uint64_t cycles;
  uint64_t pc;          // where it stopped
  uint64_t traps;       // taken
  host_trap last_trap;  // valid when traps > 0 or end is HOST_TRAPPED
  host_counts counts;
} host_result;

typedef struct host host;
host *host_create(const host_config *config);
void host_destroy(host *h);
// Runs to the end. `progress` (may be NULL) is called about every 2^24 instructions with the counts so far; false stops
// the run as HOST_LIMIT.
host_result host_run(host *h, bool (*progress)(void *context, uint64_t instructions, uint64_t cycles), void *context);

// After a run that exited: the next one begins at the entry, on the clock, with the registers and the decoded code of
// the last. Instruction cache and branch prediction stay, and the data cache if nobody else wrote to memory.
void host_restart(host *h, bool keeps_data);

const char *host_cause_name(uint64_t cause);  // "illegal instruction"

#endif
