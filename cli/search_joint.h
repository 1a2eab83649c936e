// SPDX-License-Identifier: Apache-2.0
// `weft search NET... --space FILE`: the joint search of the whole machine.
#ifndef CLI_SEARCH_JOINT_H
#define CLI_SEARCH_JOINT_H

#include "cli/cli.h"

// The options that the tool takes with --space alone; cmd_search.c has those of all searches.
typedef struct search_joint_options {
  const char *space, *method, *weights, *front, *latency, *fuse;
  uint64_t check_rtl, whole;
} search_joint_options;
enum { SEARCH_JOINT_ROWS = 8 };
extern const wf_option search_joint_rows[SEARCH_JOINT_ROWS];

// Shared options, as texts; NULL: not given.
typedef struct search_joint_shared {
  const char *objective, *budget, *area, *power, *directory;
  uint64_t seed, threads;
  const weft_graph_options *file;  // what ONNX files leave open
} search_joint_shared;

cli_exit search_jointly(const search_joint_options *options, const search_joint_shared *shared,
                        const cli_common *common, int count, char **names);

// A number above 0, or NULL.
bool search_parse_positive(const char *text, double *value);

#endif
