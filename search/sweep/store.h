// SPDX-License-Identifier: Apache-2.0
// The store of a sweep: one SQLite file with every array, layer and measurement (docs/sweeps.md has the tables).
//
// A measurement is of an array, a layer, a policy and an engine; what several points or networks share is in the store
// once. Each change is a transaction: whatever kills the process leaves a store that the same sweep goes on from. One
// process writes a store (it holds a lock on STORE-lock); others may read it meanwhile.
#ifndef SEARCH_SWEEP_STORE_H
#define SEARCH_SWEEP_STORE_H

#include "base/diag.h"
#include "search/sweep/spec.h"
#include "search/sweep/work.h"

// Of the tables in schema.sql; a change that readers notice raises it.
enum { SWEEP_SCHEMA_VERSION = 4 };

// Whether tables of this version (-1: none is given) are known here; reports if not.
bool sweep_store_schema_good(const char *path, int64_t schema, wf_diag *diag);

typedef struct sweep_store sweep_store;

enum {
  SWEEP_STORE_ANY_VERSION = 1,  // another version may have begun it
  SWEEP_STORE_EXTEND = 2,       // the store of another text becomes that of this one; its measurements stay
};
// Creates or opens the file for a sweep; an existing one must be of the same sweep (same text, same arrays), by the
// same version, unless the flags say otherwise. Extended are stores with the same policy and technology alone. NULL
// after errors were reported.
sweep_store *sweep_store_open(const char *path, const sweep_spec *spec, const char *version, unsigned flags,
                              wf_diag *diag);
void sweep_store_close(sweep_store *s);

// Transactions; everything between is all there or not at all.
void sweep_store_begin(sweep_store *s);
bool sweep_store_commit(sweep_store *s, wf_diag *diag);

// The array of a point, and whether it can be built (reason "": it can).
void sweep_store_point(sweep_store *s, size_t index, const hw_array *array, const char *parameters, const char *reason);
bool sweep_store_has_point(sweep_store *s, size_t index);

// Notes that there are, or will be, measurements of it.
void sweep_store_fidelity(sweep_store *s, run_fidelity fidelity);

typedef struct sweep_store_key {
  uint64_t array, layer;
  char policy[32];
  run_fidelity fidelity;
} sweep_store_key;
bool sweep_store_has(sweep_store *s, const sweep_store_key *key);
void sweep_store_add(sweep_store *s, const sweep_store_key *key, const char *version, const sweep_work_result *result);

// Failures among the measurements, by status.
uint64_t sweep_store_count(sweep_store *s, sweep_work_status status);
// False after any statement failed; the first failure was reported by sweep_store_commit or is reported now.
bool sweep_store_good(const sweep_store *s);

#endif
