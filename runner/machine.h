// SPDX-License-Identifier: Apache-2.0
// The machine that a network runs on: one memory, one engine, and the hart for steps of the host.
#ifndef RUNNER_MACHINE_H
#define RUNNER_MACHINE_H

#include "runner/network.h"
#include "runner/session.h"
#include "sim/elf/elf.h"

// driver/host/step.c as an ELF, carried in the library (hart.c).
extern const unsigned char run_host_step_elf[], run_host_step_elf_end[];

// The hart of a machine: it lives from the first of its steps to the end (hart.c).
typedef struct run_machine_hart run_machine_hart;

typedef struct run_machine {
  const network *net;
  const run_network_config *config;
  wf_diag *diag;
  arch_memory *memory;
  run_session *session;
  sim_cycle_report before;  // of the session, at the start of a step
  sim_elf *hart_program;    // NULL: host steps are carried out by this machine
  run_machine_hart *hart;   // NULL: it has not run yet
  bool array_ran;           // since the hart did
  uint64_t batch;           // address of weft_host_batch
} run_machine;

// False after an error was reported; close it in any case.
bool run_machine_open(run_machine *m, const network *net, const run_network_config *config, wf_diag *diag);
void run_machine_close(run_machine *m);

static inline void *run_machine_at(const run_machine *m, network_place place, uint64_t bytes) {
  return arch_memory_at(m->memory, network_address(m->net, place), (size_t)bytes);
}

// Between memory, where rows of a tensor may lie apart, and its elements one behind the other.
void run_machine_put(const run_machine *m, int tensor, const void *from);
void run_machine_take(const run_machine *m, int tensor, void *to);

// Carries out a step.
bool run_machine_step(run_machine *m, const network_step *step, run_step_result *result);

// Multiply-accumulates of the array's parts of a step.
uint64_t run_machine_macs(const run_machine *m, const network_step *step);

// A host step on the hart (hart.c).
bool run_hart_open(run_machine *m);
bool run_hart_step(run_machine *m, const network_step *step, run_step_result *result);
void run_hart_close(run_machine *m);

// Compares the results of a node with the interpreter's values (by tensor), which become those of the hart where they
// are numbers of floating point.
void run_check_node(const run_machine *m, const graph_node *node, int step, void *const *values,
                    run_network_result *result);

#endif
