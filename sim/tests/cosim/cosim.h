// SPDX-License-Identifier: Apache-2.0
// Co-simulation: a random program on two engines, the memory and the event records they leave, and shrinking a program
// that tells them apart.
#ifndef SIM_TESTS_COSIM_COSIM_H
#define SIM_TESTS_COSIM_COSIM_H

#include "sim/engine.h"
#include "sim/gen/gen.h"

enum { COSIM_TEXT = 512 };

// What the rtl engine did with programs, so that it need not do it again; kept in a file.
typedef struct cosim_memo cosim_memo;

typedef struct cosim_setup {
  const sim_engine_ops *engine, *against;
  uint64_t disturb;  // of timed engines
  uint64_t garbage;
  cosim_memo *memo;  // NULL: none
} cosim_setup;

typedef struct cosim_digest {
  uint64_t memory, records, cycles;  // records: responses included
} cosim_digest;

// NULL: the file cannot be opened.
cosim_memo *cosim_memo_open(const char *path);
void cosim_memo_close(cosim_memo *memo);
bool cosim_memo_find(const cosim_memo *memo, const cosim_setup *setup, const sim_gen_program *program,
                     cosim_digest *digest);
void cosim_memo_add(cosim_memo *memo, const cosim_setup *setup, const sim_gen_program *program,
                    const cosim_digest *digest);

typedef struct cosim_totals {
  uint64_t programs, commands, primitives, cycles;
  uint64_t remembered;  // programs that the hardware did not have to run
} cosim_totals;

// True if the engines agree; else `text` says on what they do not. `totals` may be NULL.
bool cosim_agree(const cosim_setup *setup, const sim_gen_program *program, cosim_totals *totals, char text[COSIM_TEXT]);

// The smallest program found that the engines still disagree on, and its text. The setup loses what is not needed for
// it.
sim_gen_program *cosim_shrink(cosim_setup *setup, const sim_gen_program *program, char text[COSIM_TEXT]);

// Writes the program as a command trace (recorded on ref) and its array as YAML. False: could not.
bool cosim_write(const sim_gen_program *program, const char *trace_path, const char *array_path);

// ref with a planted bug: a load that follows a compute_accumulated within three commands forgets to accumulate.
extern const sim_engine_ops cosim_faulty_engine;
// ref with rubbish in its memories before the first command: shows that the judge knows what is well defined.
extern const sim_engine_ops cosim_poisoned_engine;
// The cycle engine with other ways to leave out cycles (stepped.c); NULL: none has this name.
const sim_engine_ops *cosim_cycle_variant(const char *name);

#endif
