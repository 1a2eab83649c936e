// Co-simulation: a random program on two engines, the memory and the event records they leave, and shrinking a program
// that tells them apart.
#ifndef SIM_TESTS_COSIM_COSIM_H
#define SIM_TESTS_COSIM_COSIM_H

#include "sim/engine.h"
#include "sim/gen/gen.h"

enum { COSIM_TEXT = 512 };

typedef struct cosim_setup {
  const sim_engine_ops *engine, *against;
  uint64_t disturb;  // of timed engines
  uint64_t garbage;
} cosim_setup;

typedef struct cosim_totals {
  uint64_t programs, commands, primitives, cycles;
} cosim_totals;

// True if the engines agree; else `text` says on what they do not. `totals` may be NULL.
bool cosim_agree(const cosim_setup *setup, const gen_program *program, cosim_totals *totals, char text[COSIM_TEXT]);

// The smallest program found that the engines still disagree on, and its text. The setup loses what is not needed for
// it.
gen_program *cosim_shrink(cosim_setup *setup, const gen_program *program, char text[COSIM_TEXT]);

// Writes the program as a command trace (recorded on ref) and its array as YAML. False: could not.
bool cosim_write(const gen_program *program, const char *trace_path, const char *array_path);

// ref with a planted bug: a load that follows a compute_accumulated within three commands forgets to accumulate.
extern const sim_engine_ops cosim_faulty_engine;
// ref with rubbish in its memories before the first command: shows that the judge knows what is well defined.
extern const sim_engine_ops cosim_poisoned_engine;

#endif
