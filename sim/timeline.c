// SPDX-License-Identifier: Apache-2.0
// What a timeline shows, and on which track: see timeline.h. How it is written is the form's.
#include "sim/timeline.h"

#include <assert.h>
#include <inttypes.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/records.h"
#include "sim/timeline_form.h"

enum { ARRAY_TRACK, HART_TRACK };

// A command in the reservation station.
typedef struct flight {
  sim_timeline_command command;
  bool issued;
  sim_class unit;
} flight;

typedef struct group {
  bool *taken;  // by track
  unsigned tracks;
} group;

// What was done up to a cycle, for rates.
typedef struct sample {
  uint64_t cycle, read_bytes, written_bytes, macs;
} sample;

const char *const sim_timeline_level_names[SIM_TIMELINE_LEVELS] = {"step", "command", "burst"};

const sim_timeline_graph sim_timeline_graphs[TIMELINE_GRAPH_COUNT] = {
    [TIMELINE_WAITING] = {"commands waiting", SIM_CLASSES, 0, {"load", "execute", "store"}},
    [TIMELINE_AT_WORK] = {"commands at work", SIM_CLASSES, 0, {"load", "execute", "store"}},
    [TIMELINE_BUS_RATE] = {"bus bytes per cycle", 2, 3, {"read", "written"}},
    [TIMELINE_MESH] = {"mesh utilisation", 1, 2, {"percent"}},
};

struct sim_timeline {
  FILE *out;
  const sim_timeline_form *form;
  void *to;  // the form's own
  sim_timeline_level level;
  bool off;      // events are not written
  bool partial;  // there were events that were not written
  bool has_steps;
  const hw_array *array;
  const sim_engine *engine;  // of the graphs of bus and mesh; NULL: none
  double lanes;              // multiply-accumulates per cycle that the mesh can do
  flight *flights;
  size_t count, room;
  group groups[TIMELINE_GROUPS];
  uint64_t cycle;  // of the last event
  unsigned levels[2][SIM_CLASSES];
  bool levels_changed;
  sample last;
};

static unsigned group_of(sim_class unit, bool issued) { return TIMELINE_FIRST_CLASS + 2 * (unsigned)unit + !issued; }

// ---- commands as text

const char *sim_timeline_name(const sim_timeline_command *c, unsigned revision) {
  static const char unknown[] = "unknown";
  const isa_insn *insn = isa_find(revision, c->funct, c->rs1);
  return insn == NULL ? unknown : insn->name;
}

const char *sim_timeline_text(const sim_timeline_command *c, unsigned revision, char text[SIM_TIMELINE_TEXT]) {
  const isa_insn *insn = isa_find(revision, c->funct, c->rs1);
  if (insn != NULL)
    isa_print(insn, c->rs1, c->rs2, text, SIM_TIMELINE_TEXT);
  else
    snprintf(text, SIM_TIMELINE_TEXT, "funct %u rs1=0x%" PRIx64 " rs2=0x%" PRIx64, c->funct, c->rs1, c->rs2);
  return text;
}

// ---- graphs

static void print_levels(sim_timeline *t) {
  for (unsigned issued = 0; issued < 2; issued++) {
    double values[SIM_CLASSES];
    for (unsigned unit = 0; unit < SIM_CLASSES; unit++) values[unit] = t->levels[issued][unit];
    t->form->graph(t->to, issued ? TIMELINE_AT_WORK : TIMELINE_WAITING, t->cycle, values);
  }
  t->levels_changed = false;
}

static void change_level(sim_timeline *t, bool issued, sim_class unit, int difference) {
  t->levels[issued][unit] += (unsigned)difference;
  t->levels_changed = t->level == SIM_TIMELINE_BURST;
}

static void print_rates(sim_timeline *t, double read, double written, double mesh) {
  t->form->graph(t->to, TIMELINE_BUS_RATE, t->last.cycle, (const double[]){read, written});
  t->form->graph(t->to, TIMELINE_MESH, t->last.cycle, &mesh);
}

// The rates since the last sample, shown from there on.
static void take_sample(sim_timeline *t, const sim_cycle_report *report, uint64_t cycle) {
  const sample next = {cycle, report->bus_read_bytes, report->bus_written_bytes, report->macs};
  double cycles = (double)(cycle - t->last.cycle);
  if (cycles > 0)
    print_rates(t, (double)(next.read_bytes - t->last.read_bytes) / cycles,
                (double)(next.written_bytes - t->last.written_bytes) / cycles,
                100.0 * (double)(next.macs - t->last.macs) / (cycles * t->lanes));
  t->last = next;
}

// ---- tracks and commands

static unsigned take_track(sim_timeline *t, unsigned number) {
  group *g = &t->groups[number];
  for (unsigned track = 0; track < g->tracks; track++)
    if (!g->taken[track]) {
      g->taken[track] = true;
      return track;
    }
  g->taken = wf_realloc(g->taken, g->tracks + 1, sizeof *g->taken);
  g->taken[g->tracks] = true;
  char name[32];
  snprintf(name, sizeof name, "%u", g->tracks + 1);
  t->form->track(t->to, number, g->tracks, name);
  return g->tracks++;
}

// Waiting is of level burst alone.
static bool is_shown(const sim_timeline *t, const flight *f) { return f->issued || t->level == SIM_TIMELINE_BURST; }

static void begin_slice(sim_timeline *t, flight *f, uint64_t cycle) {
  f->command.since = cycle;
  if (!is_shown(t, f)) return;
  f->command.group = group_of(f->unit, f->issued);
  f->command.track = take_track(t, f->command.group);
  t->form->begin(t->to, &f->command);
  change_level(t, f->issued, f->unit, 1);
}

static void end_slice(sim_timeline *t, const flight *f, uint64_t cycle, bool unfinished) {
  if (!is_shown(t, f)) return;
  t->form->end(t->to, &f->command, cycle, unfinished);
  t->groups[f->command.group].taken[f->command.track] = false;
  change_level(t, f->issued, f->unit, -1);
}

static void allocate(sim_timeline *t, const sim_event *event) {
  if (t->count == t->room) {
    t->room = t->room == 0 ? 64 : 2 * t->room;
    t->flights = wf_realloc(t->flights, t->room, sizeof *t->flights);
  }
  flight *f = &t->flights[t->count++];
  const sim_timeline_command command = {
      .index = event->index, .funct = event->funct, .rs1 = event->rs1, .rs2 = event->rs2};
  *f = (flight){.command = command, .unit = sim_event_class(event, t->array->isa.revision)};
  begin_slice(t, f, event->cycle);
}

static flight *find(sim_timeline *t, uint32_t index) {
  for (size_t n = 0; n < t->count; n++)
    if (t->flights[n].command.index == index) return &t->flights[n];
  return NULL;
}

static void forget(sim_timeline *t, flight *f) { *f = t->flights[--t->count]; }

// On the first track of commands at work, which may be none's yet.
static void print_instant(sim_timeline *t, flight *f, uint64_t cycle) {
  f->command.group = group_of(f->unit, true);
  f->command.track = 0;
  group *g = &t->groups[f->command.group];
  if (g->tracks == 0) {
    take_track(t, f->command.group);
    g->taken[0] = false;
  }
  t->form->instant(t->to, &f->command, cycle);
}

static void issue(sim_timeline *t, flight *f, uint64_t cycle) {
  end_slice(t, f, cycle, false);
  f->issued = true;
  if (sim_event_done_at_issue(f->command.funct, f->unit)) {
    print_instant(t, f, cycle);
    forget(t, f);
    return;
  }
  begin_slice(t, f, cycle);
}

static void complete(sim_timeline *t, flight *f, uint64_t cycle) {
  end_slice(t, f, cycle, false);
  forget(t, f);
}

static void come_to(sim_timeline *t, uint64_t cycle) {
  if (cycle == t->cycle) return;
  if (t->levels_changed) print_levels(t);
  t->cycle = cycle;
  if (t->engine == NULL || t->off || cycle - t->last.cycle < SIM_TIMELINE_INTERVAL) return;
  sim_cycle_report report;
  sim_cycle_report_of(t->engine, &report);
  take_sample(t, &report, cycle);
}

void sim_timeline_event(void *context, const sim_event *event) {
  sim_timeline *t = context;
  if (t->off || t->level == SIM_TIMELINE_STEP) return;
  come_to(t, event->cycle);
  if (event->kind == SIM_EVENT_ALLOC) {
    allocate(t, event);
    return;
  }
  flight *f = find(t, event->index);
  if (f == NULL && t->partial) return;  // it began while nothing was written
  assert(f != NULL && f->unit == event->unit && "records tell a command's life in order");
  if (event->kind == SIM_EVENT_ISSUE)
    issue(t, f, event->cycle);
  else
    complete(t, f, event->cycle);
}

// ---- bursts

void sim_timeline_burst(void *context, const memsys_seen *burst) {
  sim_timeline *t = context;
  if (t->off || t->level != SIM_TIMELINE_BURST) return;
  t->form->burst(t->to, burst, sim_burst_class(burst, t->array->l2.line_bytes));
}

// ---- steps

void sim_timeline_record(sim_timeline *t, bool on) {
  while (!on && t->count > 0) {
    end_slice(t, &t->flights[t->count - 1], t->cycle, true);
    t->count--;
  }
  // The graphs go on from where recording does.
  sim_cycle_report report;
  if (on && t->off && t->engine != NULL) {
    sim_cycle_report_of(t->engine, &report);
    t->last = (sample){report.cycles, report.bus_read_bytes, report.bus_written_bytes, report.macs};
  } else if (!on && !t->off && t->engine != NULL && t->level != SIM_TIMELINE_STEP) {
    print_rates(t, 0, 0, 0);
  }
  t->off = !on;
  t->partial |= !on;
}

static void print_steps_group(sim_timeline *t) {
  t->form->group(t->to, TIMELINE_STEPS, "steps");
  t->form->track(t->to, TIMELINE_STEPS, ARRAY_TRACK, "array");
  t->form->track(t->to, TIMELINE_STEPS, HART_TRACK, "hart");
}

void sim_timeline_step(sim_timeline *t, const sim_timeline_step_slice *step) {
  if (!t->has_steps) print_steps_group(t);
  t->has_steps = true;
  t->form->step(t->to, step, step->on_array ? ARRAY_TRACK : HART_TRACK);
}

// ---- life

static void print_class(sim_timeline *t, sim_class unit) {
  char waiting[32];
  const char *name = sim_class_name(unit);
  snprintf(waiting, sizeof waiting, "%s: waiting", name);
  t->form->group(t->to, group_of(unit, true), name);
  if (t->level == SIM_TIMELINE_BURST) t->form->group(t->to, group_of(unit, false), waiting);
}

sim_timeline *sim_timeline_open(FILE *out, const sim_timeline_form *form, const hw_array *array, const char *title,
                                sim_timeline_level level) {
  sim_timeline *t = WF_NEW(sim_timeline);
  const double dim = hw_derive(array).dim;
  *t = (sim_timeline){.out = out, .form = form, .level = level, .array = array, .lanes = dim * dim};
  t->to = form->open(out, array, title);
  for (unsigned unit = 0; unit < SIM_CLASSES && level != SIM_TIMELINE_STEP; unit++) print_class(t, (sim_class)unit);
  if (level == SIM_TIMELINE_BURST) form->group(t->to, TIMELINE_BUS, "bus");
  return t;
}

void sim_timeline_watch(sim_timeline *timeline, const sim_engine *engine) {
  if (engine->ops == &sim_cycle_engine) timeline->engine = engine;
}

bool sim_timeline_close(sim_timeline *timeline, uint64_t cycles, const sim_cycle_report *last) {
  sim_timeline *t = timeline;
  if (cycles < t->cycle) cycles = t->cycle;
  if (t->levels_changed) print_levels(t);
  t->cycle = cycles;
  for (size_t n = 0; n < t->count; n++) end_slice(t, &t->flights[n], cycles, true);
  if (t->levels_changed) print_levels(t);
  if (t->engine != NULL && last != NULL && !t->off && t->level != SIM_TIMELINE_STEP) {
    take_sample(t, last, cycles);
    print_rates(t, 0, 0, 0);
  }
  t->form->close(t->to);
  bool good = fflush(t->out) == 0 && !ferror(t->out);
  for (unsigned number = 0; number < TIMELINE_GROUPS; number++) wf_free(t->groups[number].taken);
  wf_free(t->flights);
  wf_free(t);
  return good;
}
