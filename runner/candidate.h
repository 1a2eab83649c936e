// SPDX-License-Identifier: Apache-2.0
// Networks that are timed before one of them is chosen (settle.c, overlap.c).
#ifndef RUNNER_CANDIDATE_H
#define RUNNER_CANDIDATE_H

#include "runner/network.h"

// A network and what it takes; net NULL: there is none.
typedef struct run_candidate {
  network *net;
  run_network_result took;
} run_candidate;

// Creates the network and times it on the cycle engine, with its hart. `inputs`: per input of the graph. With `moves`
// the array moves data, which takes longer here: the hart's cycles depend on numbers of floating point alone.
bool run_candidate_make(run_candidate *c, const graph *placed, const network_options *options, bool moves,
                        const void *const *inputs, wf_diag *diag);
compile_verdict run_candidate_step(const run_candidate *c, int step);  // what it takes
// What each of its steps takes, for the planner of mixes.
void run_candidate_tell_steps(const run_candidate *c, network_judgements *known);
void run_candidate_drop(run_candidate *c);
// The better of both stays, as `best`.
void run_candidate_keep_better(run_candidate *best, run_candidate *other, compile_objective objective);
// The network of a candidate, whose result is released; with the options that it shall show.
network *run_candidate_take(run_candidate *c, const network_options *options);

#endif
