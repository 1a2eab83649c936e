// SPDX-License-Identifier: Apache-2.0
// Programs with tokens, between reader and run.
#ifndef SIM_RACES_TOKENS_PRIVATE_H
#define SIM_RACES_TOKENS_PRIVATE_H

#include "sim/races/races.h"

enum { RACES_NAMES = 64, RACES_INSNS = 1 << 14 };

typedef struct races_names {
  char *name[RACES_NAMES];
  size_t count;
} races_names;

typedef struct races_span {
  size_t memory;  // name
  bool writes;
  uint64_t first, last;
} races_span;

typedef enum { RACES_PUSH, RACES_POP, RACES_TOUCH } races_kind;

typedef struct races_insn {
  races_kind kind;
  unsigned line;
  size_t unit;          // name
  size_t queue;         // of a push or pop
  size_t spans, count;  // of an access
  // Of the run: what came before it, itself included; false: the unit did not come to it.
  races_clock clock;
  bool done;
} races_insn;

typedef struct races_line {  // a queue
  size_t from, to;
  uint64_t room;  // 0: for all
} races_line;

struct races_tokens {
  char *file;
  races_names units, memories;
  races_insn *insns;
  size_t count, room;
  races_span *spans;
  size_t span_count, span_room;
  races_line queues[RACES_ACTORS * RACES_ACTORS];
  size_t queue_count;
  races_tokens_report report;
};

#endif
