// SPDX-License-Identifier: Apache-2.0
// What a study found out: a row for each combination, failures too, and what follows from the rows.
#ifndef SEARCH_STUDY_ROWS_H
#define SEARCH_STUDY_ROWS_H

#include "search/study/floors.h"

typedef struct study_row {
  size_t network, point, compression, lowering, mapping;  // in the spec
  const char *array, *status, *reason;                    // status "good", or why there are no figures
  bool good, has_speedup;                                 // has_speedup: the uncompressed network is good, too
  unsigned side;
  double macs;                   // that stay
  double cycles;                 // of all layers, measured
  double copy;                   // cycles at least of unfolding: of its bytes
  double time;                   // both: what the rest is about
  double expected;               // multiplications of the uncompressed network / of this one
  double achieved;               // time of the uncompressed network / of this one
  double share;                  // achieved / expected
  double left_out;               // speed-up at most where blocks of zeros were left out: 1 / the blocks with a weight
  double roof, mesh;             // bounds of cycles
  double bytes;                  // moved
  double by[STUDY_BOUND_COUNT];  // time by what layers are bound by
  study_bound binds;             // the most of it
} study_row;

typedef struct study_rows {
  wf_arena *arena;
  const study_spec *spec;  // borrowed
  study_row *row;          // by network, point, compression, lowering, mapping, the last fastest
  size_t count, points;
} study_rows;

// Of the stores in a directory. False after an error was reported; release in any case.
bool study_rows_read(study_rows *rows, const study_spec *spec, const char *directory, wf_diag *diag);
void study_rows_release(study_rows *rows);
const study_row *study_row_at(const study_rows *rows, size_t network, size_t point, size_t compression, size_t lowering,
                              size_t mapping);

// ---- what follows

typedef struct study_spread {
  size_t count;
  double sum, logs, least, most;
} study_spread;
void study_spread_add(study_spread *s, double value);
double study_mean(const study_spread *s);
double study_geomean(const study_spread *s);

// A compression under a mapping, over networks, arrays and lowerings.
typedef struct study_summary {
  size_t failed;
  study_spread expected, achieved, share, roof;  // roof: bound / time
  study_spread mapped;                           // time with the first mapping / with this one
  double time, by[STUDY_BOUND_COUNT];
} study_summary;
study_summary study_summarise(const study_rows *rows, size_t compression, size_t mapping);

// Pruned channels against pruned weights, for each network, array and lowering: how often the fastest with pruned
// channels is faster than the fastest with pruned weights, and than that would be at least if blocks of zeros were left
// out.
typedef struct study_duel {
  study_spread share[STUDY_KINDS];
  size_t pairs, wins;  // wins: zeros are multiplied
  size_t left_out_pairs[STUDY_PATTERNS], left_out_wins[STUDY_PATTERNS];
} study_duel;
study_duel study_compare(const study_rows *rows, size_t mapping);

// What is ranked, all else being equal.
// X(NAME, name)
#define STUDY_AXES(X)             \
  X(ARRAYS, "arrays")             \
  X(COMPRESSIONS, "compressions") \
  X(LOWERINGS, "lowerings")
typedef enum {
#define X(NAME, name) STUDY_RANK_##NAME,
  STUDY_AXES(X)
#undef X
      STUDY_AXIS_COUNT
} study_axis;
extern const char *const study_axis_names[STUDY_AXIS_COUNT];

// Two rows whose times are nearer than this stand on one rank.
#define STUDY_TIE 0.01

// Rankings with a mapping beside those with the first.
typedef struct study_ranking {
  size_t pairs, turned;      // pairs of rows that differ with both; the other one is faster
  size_t rankings, winners;  // rankings, and those whose fastest row has another one before it now
  double most;               // the least factor of the two of a turned pair that is largest: how far it turned
} study_ranking;
study_ranking study_rank(const study_rows *rows, study_axis axis, size_t mapping);

#endif
