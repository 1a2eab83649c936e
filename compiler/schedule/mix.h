// SPDX-License-Identifier: Apache-2.0
// Several placed programs as one stream of commands: they take turns between blocks of weights, so that one's loads and
// stores run under another's products, and a program reads what an earlier one has just stored while it is in the
// cache.
//
// A tensor may stay in the scratchpad between two programs of a mix (forward.h), on arrays that can move results there.
//
// Each program has rows of its own in both memories, so any merge of their orders keeps what each means. Programs may
// share tensors; what one stores and a later one loads is settled (compiler/command/order.h) in front of the load, or a
// fence is.
#ifndef COMPILER_SCHEDULE_MIX_H
#define COMPILER_SCHEDULE_MIX_H

#include "compiler/schedule/schedule.h"

typedef struct sched_mix_program {
  sched_source source;
  const int *tensors;  // numbers of its tensors in the mix
} sched_mix_program;

// What a mix may do with a tensor that one program writes and later ones read.
typedef enum {
  SCHED_THROUGH_MEMORY,  // it is stored and loaded
  SCHED_FORWARD,         // it is forwarded if it can be, and stored as well
  SCHED_FORWARD_ONLY,    // it is forwarded if it can be, and not stored then
} sched_mix_way;

typedef struct sched_mix {
  const char *name;
  const sched_mix_program *programs;  // a tensor that one writes is read by later ones only, and written by no other
  int count;
  const command_tensor *tensors;
  int tensor_count;
  const sched_mix_way *ways;  // per tensor; NULL: all through memory
  bool *forwarded;            // per tensor, for the caller: whether it was forwarded; NULL where `ways` is
  int alone;                  // so many at the start run by themselves, a fence behind each
} sched_mix;

// The caller destroys the result; NULL after the reason was reported.
command_program *sched_mixed_commands(const sched_mix *mix, const sched_options *options, wf_diag *diag);

#endif
