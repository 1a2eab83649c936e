// Runs that are known: what the cycle engine said of a program, for programs that it cannot tell apart (digest.h).
//
// The table is memory that a process shares with the children it forks. It holds a limited number of runs, of which
// later ones may displace earlier ones. A process that dies while it writes loses one place of the table.
#ifndef SEARCH_MEASURE_KNOWN_H
#define SEARCH_MEASURE_KNOWN_H

#include "search/measure/digest.h"
#include "sim/cycle/cycle.h"

typedef struct measure_known measure_known;

typedef struct measure_run {
  uint64_t cycles, commands;
  sim_cycle_report units;
} measure_run;

measure_known *measure_known_create(void);
void measure_known_destroy(measure_known *known);

// `known` may be NULL: nothing is known then.
bool measure_known_find(measure_known *known, const measure_digest *digest, measure_run *run);
void measure_known_add(measure_known *known, const measure_digest *digest, const measure_run *run);

#endif
