// SPDX-License-Identifier: Apache-2.0
// A run as a Chrome trace: see timeline.h.
#include "sim/timeline.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "isa/isa.h"
#include "sim/records.h"

// Groups of tracks; in the trace each is a process, its tracks are threads 1, 2, ...
enum { GRAPHS, FIRST_GROUP, GROUPS = FIRST_GROUP + 2 * SIM_CLASSES, BUS = GROUPS, STEPS };
enum { ARRAY_TRACK = 1, HART_TRACK };

// A command in the reservation station.
typedef struct flight {
  uint32_t index;
  uint8_t funct;
  bool issued;
  sim_class unit;
  unsigned track;  // of its group, from 0
  uint64_t rs1, rs2;
  uint64_t since;  // of the slice that has begun
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

struct sim_timeline {
  FILE *out;
  sim_timeline_level level;
  bool off;      // events are not written
  bool partial;  // there were events that were not written
  bool has_steps;
  const hw_array *array;
  const sim_engine *engine;  // of the graphs of bus and mesh; NULL: none
  double lanes;              // multiply-accumulates per cycle that the mesh can do
  flight *flights;
  size_t count, room;
  group groups[GROUPS];
  uint64_t cycle;  // of the last event
  uint64_t bursts;
  unsigned levels[2][SIM_CLASSES];
  bool levels_changed;
  sample last;
};

static unsigned group_of(sim_class unit, bool issued) { return FIRST_GROUP + 2 * (unsigned)unit + !issued; }

// ---- text

static void print_text(FILE *out, const char *text) {
  fputc('"', out);
  wf_name_write(WF_NAME_JSON, text, out);
  fputc('"', out);
}

static void print_metadata(sim_timeline *t, const char *what, unsigned process, unsigned thread, const char *name) {
  fprintf(t->out, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, process, thread);
  print_text(t->out, name);
  fputs("}}", t->out);
}

static void print_group(sim_timeline *t, unsigned process, const char *name) {
  print_metadata(t, "process_name", process, 0, name);
  fprintf(t->out, ",\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%u,\"args\":{\"sort_index\":%u}}", process,
          process);
}

// Commands come by the million: their lines are made in place, without formats. What isa/ prints needs no escapes.
enum { LINE_MAX_BYTES = ISA_TEXT_MAX + 512 };
typedef struct line {
  char text[LINE_MAX_BYTES];
  size_t length;
} line;

static void put(line *l, const char *text) {
  const size_t length = strlen(text);
  assert(l->length + length < LINE_MAX_BYTES);
  memcpy(l->text + l->length, text, length);
  l->length += length;
}

static void put_number(line *l, uint64_t value) {
  char digits[24], *at = digits + sizeof digits;
  *--at = '\0';
  do *--at = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  put(l, at);
}

static void put_field(line *l, const char *name, uint64_t value) {
  put(l, name);
  put_number(l, value);
}

static void put_command(line *l, const sim_timeline *t, const flight *f, bool unfinished) {
  const isa_insn *insn = isa_find(t->array->isa.revision, f->funct, f->rs1);
  char text[ISA_TEXT_MAX];
  if (insn != NULL)
    isa_print(insn, f->rs1, f->rs2, text, sizeof text);
  else
    snprintf(text, sizeof text, "funct %u rs1=0x%" PRIx64 " rs2=0x%" PRIx64, f->funct, f->rs1, f->rs2);
  put(l, ",\"name\":\"");
  put(l, insn == NULL ? "unknown" : insn->name);
  put_field(l, "\",\"args\":{\"index\":", f->index);
  put(l, ",\"command\":\"");
  put(l, text);
  put(l, unfinished ? "\",\"unfinished\":true}}" : "\"}}");
}

static void print_slice(sim_timeline *t, const flight *f, uint64_t end, bool unfinished) {
  line l;
  l.length = 0;  // the text stays as it is: it is long
  put_field(&l, ",\n{\"ph\":\"X\",\"pid\":", group_of(f->unit, f->issued));
  put_field(&l, ",\"tid\":", f->track + 1);
  put_field(&l, ",\"ts\":", f->since);
  put_field(&l, ",\"dur\":", end - f->since);
  put_command(&l, t, f, unfinished);
  fwrite(l.text, 1, l.length, t->out);
}

static void print_instant(sim_timeline *t, const flight *f, uint64_t cycle) {
  line l;
  l.length = 0;  // the text stays as it is: it is long
  put_field(&l, ",\n{\"ph\":\"i\",\"s\":\"t\",\"tid\":1,\"pid\":", group_of(f->unit, true));
  put_field(&l, ",\"ts\":", cycle);
  put_command(&l, t, f, false);
  fwrite(l.text, 1, l.length, t->out);
}

// ---- graphs

static void print_levels(sim_timeline *t) {
  static const char *const names[2] = {"commands waiting", "commands at work"};
  for (unsigned issued = 0; issued < 2; issued++) {
    const unsigned *levels = t->levels[issued];
    fprintf(t->out, ",\n{\"ph\":\"C\",\"pid\":%d,\"name\":\"%s\",\"ts\":%" PRIu64 ",\"args\":{", GRAPHS, names[issued],
            t->cycle);
    for (unsigned unit = 0; unit < SIM_CLASSES; unit++)
      fprintf(t->out, "%s\"%s\":%u", unit == 0 ? "" : ",", sim_class_name((sim_class)unit), levels[unit]);
    fputs("}}", t->out);
  }
  t->levels_changed = false;
}

static void change_level(sim_timeline *t, bool issued, sim_class unit, int difference) {
  t->levels[issued][unit] += (unsigned)difference;
  t->levels_changed = t->level == SIM_TIMELINE_BURST;
}

static void print_rates(sim_timeline *t, double read, double written, double mesh) {
  fprintf(t->out,
          ",\n{\"ph\":\"C\",\"pid\":%d,\"name\":\"bus bytes per cycle\",\"ts\":%" PRIu64
          ",\"args\":{\"read\":%.3f,\"written\":%.3f}}",
          GRAPHS, t->last.cycle, read, written);
  fprintf(t->out,
          ",\n{\"ph\":\"C\",\"pid\":%d,\"name\":\"mesh utilisation\",\"ts\":%" PRIu64 ",\"args\":{\"percent\":%.2f}}",
          GRAPHS, t->last.cycle, mesh);
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
  print_metadata(t, "thread_name", number, g->tracks + 1, name);
  return g->tracks++;
}

// Waiting is of level burst alone.
static bool is_shown(const sim_timeline *t, const flight *f) { return f->issued || t->level == SIM_TIMELINE_BURST; }

static void begin_slice(sim_timeline *t, flight *f, uint64_t cycle) {
  f->since = cycle;
  if (!is_shown(t, f)) return;
  f->track = take_track(t, group_of(f->unit, f->issued));
  change_level(t, f->issued, f->unit, 1);
}

static void end_slice(sim_timeline *t, const flight *f, uint64_t cycle, bool unfinished) {
  if (!is_shown(t, f)) return;
  print_slice(t, f, cycle, unfinished);
  t->groups[group_of(f->unit, f->issued)].taken[f->track] = false;
  change_level(t, f->issued, f->unit, -1);
}

static void allocate(sim_timeline *t, const sim_event *event) {
  if (t->count == t->room) {
    t->room = t->room == 0 ? 64 : 2 * t->room;
    t->flights = wf_realloc(t->flights, t->room, sizeof *t->flights);
  }
  flight *f = &t->flights[t->count++];
  *f = (flight){.index = event->index,
                .funct = event->funct,
                .unit = sim_event_class(event, t->array->isa.revision),
                .rs1 = event->rs1,
                .rs2 = event->rs2};
  begin_slice(t, f, event->cycle);
}

static flight *find(sim_timeline *t, uint32_t index) {
  for (size_t n = 0; n < t->count; n++)
    if (t->flights[n].index == index) return &t->flights[n];
  return NULL;
}

static void forget(sim_timeline *t, flight *f) { *f = t->flights[--t->count]; }

static void issue(sim_timeline *t, flight *f, uint64_t cycle) {
  end_slice(t, f, cycle, false);
  f->issued = true;
  if (sim_event_done_at_issue(f->funct, f->unit)) {
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

// They overlap: asynchronous slices, which need no track each.
void sim_timeline_burst(void *context, const memsys_seen *burst) {
  sim_timeline *t = context;
  if (t->off || t->level != SIM_TIMELINE_BURST) return;
  const char *verb = burst->write ? "write" : "read";
  uint64_t first = burst->beat_cycles[0], last = burst->beat_cycles[burst->beats - 1], id = t->bursts++;
  fprintf(t->out,
          ",\n{\"ph\":\"b\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"ts\":%" PRIu64
          ",\"args\":{\"address\":\"0x%" PRIx64 "\",\"bytes\":%u,\"class\":\"%s\",\"first beat\":%" PRIu64
          ",\"last beat\":%" PRIu64 "}}",
          verb, verb, id, BUS, burst->asked, burst->address, burst->bytes,
          sim_burst_class(burst, t->array->l2.line_bytes), first, last);
  fprintf(t->out, ",\n{\"ph\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"ts\":%" PRIu64 "}",
          verb, verb, id, BUS, last + 1);
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
  print_metadata(t, "process_name", STEPS, 0, "steps");
  fprintf(t->out, ",\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%d,\"args\":{\"sort_index\":-1}}", STEPS);
  print_metadata(t, "thread_name", STEPS, ARRAY_TRACK, "array");
  print_metadata(t, "thread_name", STEPS, HART_TRACK, "hart");
}

void sim_timeline_step(sim_timeline *t, const sim_timeline_step_slice *step) {
  if (!t->has_steps) print_steps_group(t);
  t->has_steps = true;
  fprintf(t->out, ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%d,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":", STEPS,
          step->on_array ? ARRAY_TRACK : HART_TRACK, step->start, step->cycles);
  print_text(t->out, step->name);
  fprintf(t->out, ",\"args\":{%s}}", step->arguments);
}

// ---- life

static void print_class(sim_timeline *t, sim_class unit) {
  char waiting[32];
  const char *name = sim_class_name(unit);
  snprintf(waiting, sizeof waiting, "%s: waiting", name);
  print_group(t, group_of(unit, true), name);
  if (t->level == SIM_TIMELINE_BURST) print_group(t, group_of(unit, false), waiting);
}

sim_timeline *sim_timeline_open(FILE *out, const hw_array *array, const char *title, sim_timeline_level level) {
  sim_timeline *t = WF_NEW(sim_timeline);
  t->out = out;
  t->level = level;
  t->array = array;
  double dim = hw_derive(array).dim;
  t->lanes = dim * dim;
  fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"time\":\"1 us is 1 cycle\",\"program\":", out);
  print_text(out, title);
  fputs(",\"array\":", out);
  print_text(out, array->name);
  fprintf(out, ",\"array_hash\":\"%016" PRIx64 "\"},\n\"traceEvents\":[\n", hw_array_hash(array));
  fputs("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":0,\"args\":{\"name\":\"graphs\"}}", out);
  for (unsigned unit = 0; unit < SIM_CLASSES && level != SIM_TIMELINE_STEP; unit++) print_class(t, (sim_class)unit);
  if (level == SIM_TIMELINE_BURST) print_group(t, BUS, "bus");
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
  fputs("\n]}\n", t->out);
  bool good = fflush(t->out) == 0 && !ferror(t->out);
  for (unsigned number = 0; number < GROUPS; number++) wf_free(t->groups[number].taken);
  wf_free(t->flights);
  wf_free(t);
  return good;
}
