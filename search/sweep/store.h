// The store of a sweep: one SQLite file with every array, layer and measurement (docs/sweeps.md has the tables).
//
// A measurement is of an array, a layer and a policy; what several points or networks share is in the store once. Each
// change is a transaction: whatever kills the process leaves a store that the same sweep goes on from.
#ifndef SEARCH_SWEEP_STORE_H
#define SEARCH_SWEEP_STORE_H

#include "base/diag.h"
#include "search/sweep/spec.h"
#include "search/sweep/work.h"

typedef struct store store;

// Creates or opens the file for a sweep; an existing one must be of the same sweep (same text, same arrays), by the
// same version unless `any_version`. NULL after errors were reported.
store *store_open(const char *path, const sweep_spec *spec, const char *version, bool any_version, wf_diag *diag);
void store_close(store *s);

// Transactions; everything between is all there or not at all.
void store_begin(store *s);
bool store_commit(store *s, wf_diag *diag);

// The array of a point, and whether it can be built (reason "": it can).
void store_point(store *s, size_t index, const hw_array *array, const char *parameters, const char *reason);
bool store_has_point(store *s, size_t index);

typedef struct store_key {
  uint64_t array, layer;
  char policy[32];
} store_key;
bool store_has(store *s, const store_key *key);
void store_add(store *s, const store_key *key, const char *version, const work_result *result);

// Failures among the measurements, by status.
uint64_t store_count(store *s, work_status status);
// False after any statement failed; the first failure was reported by store_commit or is reported now.
bool store_good(const store *s);

#endif
