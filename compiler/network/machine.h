// The machine that a network runs on: one memory, one engine, and the hart for steps of the host.
#ifndef COMPILER_NETWORK_MACHINE_H
#define COMPILER_NETWORK_MACHINE_H

#include "compiler/command/session.h"
#include "compiler/network/private.h"
#include "sim/elf/elf.h"

typedef struct network_machine {
  const network *net;
  const network_run_config *config;
  wf_diag *diag;
  arch_memory *memory;
  command_session *session;
  sim_cycle_report before;  // of the session, at the start of a step
  sim_elf *hart_program;    // NULL: host steps are carried out by this machine
  uint64_t batch;           // address of weft_host_batch
} network_machine;

// False after an error was reported; close it in any case.
bool network_machine_open(network_machine *m, const network *net, const network_run_config *config, wf_diag *diag);
void network_machine_close(network_machine *m);

static inline void *network_machine_at(const network_machine *m, network_place place, uint64_t bytes) {
  return arch_memory_at(m->memory, network_address(m->net, place), (size_t)bytes);
}

// Carries out a step.
bool network_machine_step(network_machine *m, const network_step *step, network_step_result *result);

// A host step on the hart (hart.c).
bool network_hart_open(network_machine *m);
bool network_hart_step(network_machine *m, const network_step *step, network_step_result *result);

// Compares the results of a node with the interpreter's values (by tensor), which become those of the hart where they
// are numbers of floating point.
void network_check(const network_machine *m, const graph_node *node, int step, void *const *values,
                   network_result *result);

#endif
