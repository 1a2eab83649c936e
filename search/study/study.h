// SPDX-License-Identifier: Apache-2.0
// Studies across the stack: networks x compression x lowering x mapping x arrays, read from a YAML text
// (docs/study.md).
//
// A study is some sweeps: one for each way to choose mappings and each side of arrays, as compressed networks may
// depend on the side. Each has its store, which is that of a sweep and goes on like it.
#ifndef SEARCH_STUDY_STUDY_H
#define SEARCH_STUDY_STUDY_H

#include "search/sweep/sweep.h"

// ---- compression

typedef enum { STUDY_NONE, STUDY_CHANNEL, STUDY_WEIGHT, STUDY_KINDS } study_kind;
extern const char *const study_kind_names[STUDY_KINDS];

typedef enum { STUDY_UNIFORM, STUDY_BLOCK, STUDY_PATTERNS } study_pattern;
extern const char *const study_pattern_names[STUDY_PATTERNS];

enum { STUDY_SIDE = 0 };
typedef struct study_compression {
  study_kind kind;
  const char *name;       // "channel 0.5 side"
  double density;         // what stays: of the channels, or of the weights
  int64_t multiple;       // channels are multiples of it; STUDY_SIDE: of the array's side
  study_pattern pattern;  // of weights that stay: each by itself, or blocks of side x side
  wf_location where;
} study_compression;

// Channels that stay: the share of them, rounded to the nearest multiple, at least one and at most all.
int64_t study_channels(int64_t channels, const study_compression *c, unsigned side);
// The share of blocks of side x side with a weight in them, of weights that are pruned.
double study_blocks(const study_compression *c, unsigned side);

// ---- lowering

// X(NAME, name)
#define STUDY_LOWERINGS(X) \
  X(DIRECT, "direct")      \
  X(UNFOLD, "unfold")
typedef enum {
#define X(NAME, name) STUDY_##NAME,
  STUDY_LOWERINGS(X)
#undef X
      STUDY_LOWERING_COUNT
} study_lowering;
extern const char *const study_lowering_names[STUDY_LOWERING_COUNT];

// The bytes that unfolding a layer's inputs reads and writes: 0 where nothing is unfolded.
typedef struct study_copy {
  double read_bytes, written_bytes;
} study_copy;

// The layers of a network as they are compressed and lowered, under a name of their own, in the arena. `copies`: of
// each layer; NULL: not wanted.
layers_network study_variant(const layers_network *network, const study_compression *c, study_lowering lowering,
                             unsigned side, wf_arena *arena, study_copy *copies);

// ---- the text

typedef struct study_spec {
  sweep_spec base;  // arrays, engine, time limit, objective; it has no networks and no mapping
  layers_network *networks;
  size_t network_count;
  study_compression *compressions;  // the first is none
  size_t compression_count;
  study_lowering lowerings[STUDY_LOWERING_COUNT];
  size_t lowering_count;
  sweep_mapping *mappings;
  size_t mapping_count;
} study_spec;

enum { STUDY_ROWS_MAX = 1000000 };

// As sweep_spec_load and its like.
bool study_spec_load(study_spec *spec, const char *path, wf_diag *diag);
bool study_spec_parse(study_spec *spec, const char *path, const char *text, size_t length, wf_diag *diag);
void study_spec_release(study_spec *spec);

size_t study_row_count(const study_spec *spec);
sweep_policy_text study_policy(const study_spec *spec, size_t mapping);

// ---- running

typedef struct study_progress {
  size_t part, parts;  // sweeps
  const char *name;    // of the sweep that runs
  sweep_progress now;  // of it
  sweep_progress all;  // of all of this run
} study_progress;

typedef struct study_options {
  const char *directory;  // of the stores; there already
  const char *version;
  unsigned jobs, flags;  // flags: sweep_store_open
  const wf_stop *stop;
  void (*progress)(void *context, const study_progress *progress);  // may be NULL
  void *context;
} study_options;

// What the stores lack is measured. SWEEP_FAILED after an error was reported.
sweep_outcome study_run(const study_spec *spec, const study_options *options, study_progress *progress, wf_diag *diag);

#endif
