// SPDX-License-Identifier: Apache-2.0
// Commands as a pipeline log: see konata.h. Lines are COMMAND, then tabs between its fields: "C" cycles that pass, "I"
// a command begins, "L" its text, "S" a stage of it begins, "R" it ends (0: retired, 1: flushed).
#include "sim/konata.h"

#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "sim/records.h"

// A command in the reservation station.
typedef struct life {
  uint32_t index;  // in the run
  uint64_t line;   // in the log
  sim_class unit;
  uint8_t funct;
} life;

struct sim_konata {
  FILE *out;
  unsigned revision;
  bool off;      // events are not written
  bool partial;  // there were events that were not written
  life *lives;
  size_t count, room;
  uint64_t cycle;  // that the log has come to
  uint64_t lines, retired;
};

static const char stage_waiting = 'W', stage_at_work[] = {'L', 'X', 'S'};

static void come_to(sim_konata *k, uint64_t cycle) {
  if (cycle <= k->cycle) return;
  fprintf(k->out, "C\t%" PRIu64 "\n", cycle - k->cycle);
  k->cycle = cycle;
}

static void print_stage(sim_konata *k, const life *l, char stage) {
  fprintf(k->out, "S\t%" PRIu64 "\t0\t%c\n", l->line, stage);
}

static void begin(sim_konata *k, const life *l, const sim_event *event) {
  char text[SIM_EVENT_TEXT];
  fprintf(k->out, "I\t%" PRIu64 "\t%" PRIu32 "\t%d\n", l->line, l->index, l->unit);
  fprintf(k->out, "L\t%" PRIu64 "\t0\t%" PRIu32 ": %s\n", l->line, l->index,
          sim_event_command(event, k->revision, text));
  print_stage(k, l, stage_waiting);
}

static void allocate(sim_konata *k, const sim_event *event) {
  if (k->count == k->room) {
    k->room = k->room == 0 ? 64 : 2 * k->room;
    k->lives = wf_realloc(k->lives, k->room, sizeof *k->lives);
  }
  life *l = &k->lives[k->count++];
  *l = (life){
      .index = event->index, .line = k->lines++, .unit = sim_event_class(event, k->revision), .funct = event->funct};
  begin(k, l, event);
}

// The last one takes its place.
static void end(sim_konata *k, life *l, bool flushed) {
  fprintf(k->out, "R\t%" PRIu64 "\t%" PRIu64 "\t%d\n", l->line, k->retired, flushed);
  if (!flushed) k->retired++;
  *l = k->lives[--k->count];
}

static void issue(sim_konata *k, life *l) {
  if (sim_event_done_at_issue(l->funct, l->unit))
    end(k, l, false);
  else
    print_stage(k, l, stage_at_work[l->unit]);
}

static life *find(sim_konata *k, uint32_t index) {
  for (size_t n = 0; n < k->count; n++)
    if (k->lives[n].index == index) return &k->lives[n];
  return NULL;
}

static void flush(sim_konata *k) {
  while (k->count > 0) end(k, &k->lives[k->count - 1], true);
}

// ---- life

sim_konata *sim_konata_open(FILE *out, const hw_array *array) {
  sim_konata *k = WF_NEW(sim_konata);
  k->out = out;
  k->revision = array->isa.revision;
  fputs("Kanata\t0004\nC=\t0\n", out);
  return k;
}

void sim_konata_record(sim_konata *k, bool on) {
  if (!on) flush(k);
  k->off = !on;
  k->partial |= !on;
}

void sim_konata_event(void *context, const sim_event *event) {
  sim_konata *k = context;
  if (k->off) return;
  life *l = event->kind == SIM_EVENT_ALLOC ? NULL : find(k, event->index);
  if (event->kind != SIM_EVENT_ALLOC && l == NULL) {
    assert(k->partial && "records tell a command's life in order");
    return;
  }
  come_to(k, event->cycle);
  if (event->kind == SIM_EVENT_ALLOC) allocate(k, event);
  if (event->kind == SIM_EVENT_ISSUE) issue(k, l);
  if (event->kind == SIM_EVENT_DONE) end(k, l, false);
}

bool sim_konata_close(sim_konata *k, uint64_t cycles) {
  if (k->count > 0) come_to(k, cycles);
  flush(k);
  const bool good = fflush(k->out) == 0 && !ferror(k->out);
  wf_free(k->lives);
  wf_free(k);
  return good;
}
