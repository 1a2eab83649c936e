// SPDX-License-Identifier: Apache-2.0
// Shared by the files of the joint search (codesign.h).
#ifndef SEARCH_CODESIGN_INTERNAL_H
#define SEARCH_CODESIGN_INTERNAL_H

#include "search/codesign/codesign.h"

// What a network costs on a rung, in runs of it on engine cycle: engine flow runs two mappings of each layer in less
// than half of the time, and the model of the machine takes a fiftieth. Fixed, so that a search depends on no clock.
#define CODESIGN_RUNG_COSTS \
  { 0.02, 0.7, 1.0 }
extern const double codesign_rung_cost[CODESIGN_RUNGS];

typedef struct codesign_loop {
  const codesign_options *options;
  codesign_result *result;
  truth_runs *runs;
  predict_table *predicted;
  uint64_t random;
  double start_clock, own_seconds;  // of this process, and of its children
  double best;                      // logarithm of the best value, with a front of the one that is looked for
  double believed;                  // the least logarithm that is believed of a point that engine flow ran
  double reach[CODESIGN_AXES_MAX];  // of each axis, along which points err alike (correct.c)
  double share;                     // of the second objective in what is looked for
} codesign_loop;

// ---- values (goal.c)

// The logarithm of what is looked for; beyond the bounds far more.
double codesign_goal(const codesign_loop *l, codesign_cost cost);
double codesign_exponent(codesign_objective objective, unsigned of);  // of latency, energy, area

// ---- rungs (climb.c)

// The site of a point; NULL: it is known, or cannot be built.
codesign_site *codesign_add(codesign_loop *l, const codesign_point *point);
codesign_cost codesign_sum(const codesign_result *r, const codesign_site *site, const codesign_figure *layers);
// The sites from `first` on, by the model of the machine.
void codesign_predict(codesign_loop *l, size_t first);
// The next rung of a site.
void codesign_climb(codesign_loop *l, codesign_site *site);
double codesign_spent_seconds(const codesign_loop *l);

// ---- corrections (correct.c)

// What is believed of all sites, from what rungs said of those that climbed them.
void codesign_correct(codesign_loop *l);

// How alike two points err: 1 for the same.
double codesign_covariance(const codesign_loop *l, const codesign_site *a, const codesign_site *b);
// A symmetric, positive definite n x n matrix, in place.
void codesign_invert(double *m, size_t n);

// ---- the loop (codesign.c)

// Adds to the trace; `spent` and `seconds` are filled in.
void codesign_note(codesign_loop *l, codesign_event event);
// The next rung of a site, with the trace and what is believed afterwards.
void codesign_step(codesign_loop *l, size_t site);
// Looks with the model at the sites from `first` on.
void codesign_look(codesign_loop *l, size_t first);
// How much less than the logarithm `best` one with this mean and spread is expected to be, where it is less.
double codesign_improvement(double best, double mean, double spread);

// ---- networks as they run (whole.c)

// Networks on the best point, or with mixes on as many as the options say; the best of these becomes the answer. False
// after an error was reported.
bool codesign_run_whole(codesign_loop *l, wf_diag *diag);
void codesign_release_wholes(codesign_whole *wholes, size_t count);

// ---- weights of engine flow (change.c)

// Whether engine flow has a weight for a parameter of the axis; the others change the work itself.
bool codesign_axis_known(const sweep_axis *axis);

// codesign_change_at, as one of two rungs says it: engine flow, or the model, whose slopes have to be known.
bool codesign_change_by(codesign_rung rung, const codesign_options *options, const codesign_site *site, size_t index,
                        codesign_change *change);

// What the account of a site that engine flow ran says of a point that differs in axes alone that flow has weights for:
// its cycles at first order. False: another axis differs, so that the program is another one.
typedef struct codesign_account_word {
  double cycles;
  double moved;     // the changes of single axes, without their signs, over the site's cycles
  double halvings;  // of the numbers of all axes that get smaller
  unsigned axes;    // that differ
} codesign_account_word;
bool codesign_account_says(const codesign_options *options, const codesign_site *site, const codesign_point *point,
                           codesign_account_word *word);

// ---- slopes of the model (slopes.c)

// Of a site that the model has looked at; once.
void codesign_find_slopes(codesign_loop *l, codesign_site *site);
bool codesign_has_slope(const codesign_site *site, const hw_param *param);
// Cycles that another value of the parameter adds, by the slope.
double codesign_slope_cycles(const codesign_site *site, const hw_param *param, double from, double to);

// ---- proposals (moves.c)

// Appends at most so many sites by the method, not yet climbed; how many.
size_t codesign_propose(codesign_loop *l, size_t count);

#endif
