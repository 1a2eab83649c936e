// SPDX-License-Identifier: Apache-2.0
// The native side of the port: commands go straight to an engine, and main memory is this process. The engine's memory
// is given the process's whole address space at its own addresses, so that a pointer is a memory address in both
// builds; what is lost is the bounds check, which the RISC-V build has.
//
// The one mutable object is the machine that stands for the hardware: there is one accelerator, as on the chip. The
// engine is the first of the build, or the one that the environment variable WEFT_ENGINE names.
#include <stdio.h>
#include <stdlib.h>

#include "hw/array.h"
#include "isa/isa_fields.h"
#include "sim/engine.h"
#include "weft/console.h"
#include "weft/port.h"
#include "weft_array.h"

enum { EXIT_NO_MACHINE = 70 };

static struct machine {
  hw_array array;
  arch_memory memory;
  sim_engine *engine;
  uint64_t cycle, commands;
} machine;

static _Noreturn void stop(const char *what) {
  fflush(stdout);
  fprintf(stderr, "native: %s\n", what);
  exit(EXIT_NO_MACHINE);
}

static sim_engine *create(void) {
  wf_diag diag = wf_diag_to(stderr);
  if (!hw_array_load(&machine.array, WEFT_ARRAY_NAME, &diag)) stop("no such array");
  machine.array.isa.revision = WEFT_ISA_REVISION;
  if (hw_array_hash(&machine.array) != WEFT_ARRAY_HASH) stop("the program was built for another array");
  const char *name = getenv("WEFT_ENGINE");
  const sim_engine_ops *ops = name == NULL ? sim_engine_at(0) : sim_engine_find(name);
  if (ops == NULL) stop("no such engine");
  machine.memory = (arch_memory){.bytes = (uint8_t *)(uintptr_t)ARCH_MEMORY_BASE, .size = UINT64_C(1) << 47};
  sim_engine *engine = ops->create(&machine.array, &machine.memory, &diag);
  if (engine == NULL) stop("the engine cannot simulate this array");
  return engine;
}

static sim_engine *the_engine(void) {
  if (machine.engine == NULL) machine.engine = create();
  return machine.engine;
}

static void check_fault(sim_engine *engine) {
  const arch_fault *fault = engine->ops->fault(engine);
  if (fault->kind == ARCH_FAULT_NONE) return;
  fprintf(stderr, "native: command %llu: ", (unsigned long long)fault->command.index);
  stop(fault->text);
}

uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2);  // declared by isa/weft_isa.h for programs

uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2) {
  sim_engine *engine = the_engine();
  arch_command command = {.rs1 = rs1,
                          .rs2 = rs2,
                          .index = machine.commands++,
                          .funct = (uint8_t)funct,
                          .returns = funct == ISA_FUNCT_COUNTER};
  arch_command_find(&command, machine.array.isa.revision);
  uint64_t response = 0;
  for (;; machine.cycle++) {
    engine->ops->advance(engine, machine.cycle);
    sim_push_result result = engine->ops->push(engine, machine.cycle, &command, &response);
    check_fault(engine);
    if (result == SIM_PUSH_DONE) return response;
  }
}

void weft_fence(void) {
  sim_engine *engine = the_engine();
  machine.cycle = engine->ops->drain(engine, machine.cycle);
  check_fault(engine);
}

uint64_t weft_cycles(void) { return machine.cycle; }
uint64_t weft_instructions(void) { return machine.commands; }

void weft_write(const char *text, size_t length) { fwrite(text, 1, length, stdout); }

_Noreturn void weft_exit(int code) { exit(code); }
