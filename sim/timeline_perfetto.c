// SPDX-License-Identifier: Apache-2.0
// A timeline as Perfetto's own trace: packets of perfetto.proto. A slice is an event where it begins and one where it
// ends, on the track with its number; groups are tracks with tracks below them, under one of the whole run.
//
// Packets are small because they repeat little. Time is a clock of this sequence that counts cycles of one microsecond
// from packet to packet; what lies before the last packet says its absolute time. Names of commands are told once. So
// are their texts, as long as a table of fixed size remembers them: memory does not grow with the run.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "sim/perfetto.pb-c.h"
#include "sim/timeline_form.h"

enum { SEQUENCE = 1, STATE_CLEARED = 1 };
enum { CLOCK_BOOT = 6, CLOCK_DELTAS = 64, NS_PER_CYCLE = 1000 };
enum { EVENT_BEGIN = 1, EVENT_END, EVENT_INSTANT, EVENT_COUNTER };
enum { ORDER_EXPLICIT = 3 };
enum { NAME_INDEX = 1, NAME_COMMAND, NAME_UNFINISHED };  // of arguments
enum { RUN_TRACK = TIMELINE_GROUPS + 1, FIRST_TRACK = 16, EVENT_NAMES = 64, ARGUMENTS_MAX = 8, TAG_BYTES = 11 };
enum { TEXT_BITS = 16, TEXT_SLOTS = 1 << TEXT_BITS };

_Static_assert(RUN_TRACK < FIRST_TRACK, "tracks have numbers of their own");

// A command whose text has been told.
typedef struct told_text {
  uint64_t rs1, rs2, iid;  // 0: none
  uint8_t funct;
} told_text;

typedef struct perfetto {
  FILE *out;
  unsigned revision;
  uint64_t cycle;  // of the clock of deltas
  const char *names[EVENT_NAMES];
  size_t name_count;
  told_text *texts;
  uint64_t text_count;
  double shown[TIMELINE_GRAPH_COUNT][TIMELINE_SERIES_MAX];  // NAN: the series has no track yet
  uint64_t *bus_until;                                      // by track of bursts: the end of its last
  unsigned bus_tracks;
  uint8_t *bytes;
  size_t room;
} perfetto;

// Of a group that has less than 16 bits of tracks; the most frequent ones are a byte.
static uint64_t track_of(unsigned group, unsigned track) { return FIRST_TRACK * (track + UINT64_C(1)) + group; }
static uint64_t track_of_group(unsigned group) { return group + 1; }

// ---- packets

static size_t put_varint(uint8_t *to, uint64_t value) {
  size_t length = 0;
  for (; value >= 0x80; value >>= 7) to[length++] = (uint8_t)(value | 0x80);
  to[length++] = (uint8_t)value;
  return length;
}

// A packet is field 1 of the trace.
static void put(perfetto *p, SimPerfetto__TracePacket *packet) {
  enum { TAG = 1 << 3 | 2 };
  packet->has_trusted_packet_sequence_id = 1;
  packet->trusted_packet_sequence_id = SEQUENCE;
  const size_t size = sim_perfetto__trace_packet__get_packed_size(packet);
  if (size + TAG_BYTES > p->room) p->bytes = wf_realloc(p->bytes, p->room = 2 * (size + TAG_BYTES), 1);
  p->bytes[0] = TAG;
  const size_t head = 1 + put_varint(p->bytes + 1, size);
  sim_perfetto__trace_packet__pack(packet, p->bytes + head);
  fwrite(p->bytes, 1, head + size, p->out);
}

// Where the clock of deltas has not been yet it moves, else the time is absolute.
static void set_time(perfetto *p, SimPerfetto__TracePacket *packet, uint64_t cycle, bool moves) {
  const bool absolute = !moves || cycle < p->cycle;
  packet->has_timestamp = 1;
  packet->timestamp = absolute ? cycle * NS_PER_CYCLE : cycle - p->cycle;
  packet->has_timestamp_clock_id = absolute;
  packet->timestamp_clock_id = CLOCK_BOOT;
  if (!absolute) p->cycle = cycle;
}

static void put_event(perfetto *p, uint64_t cycle, SimPerfetto__TrackEvent *event, SimPerfetto__InternedData *told) {
  SimPerfetto__TracePacket packet = SIM_PERFETTO__TRACE_PACKET__INIT;
  packet.track_event = event;
  packet.interned_data = told;
  set_time(p, &packet, cycle, true);
  put(p, &packet);
}

// For what is told when it is over: the clock stays.
static void put_event_at(perfetto *p, uint64_t cycle, SimPerfetto__TrackEvent *event) {
  SimPerfetto__TracePacket packet = SIM_PERFETTO__TRACE_PACKET__INIT;
  packet.track_event = event;
  set_time(p, &packet, cycle, false);
  put(p, &packet);
}

static SimPerfetto__TrackEvent event_on(unsigned type, uint64_t track) {
  SimPerfetto__TrackEvent event = SIM_PERFETTO__TRACK_EVENT__INIT;
  event.has_type = event.has_track_uuid = 1;
  event.type = type;
  event.track_uuid = track;
  return event;
}

// ---- tracks

// Valid UTF-8, to be freed.
static char *text_of(const char *name) {
  char *text;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  wf_name_write(WF_NAME_TERMINAL, name, out);
  fclose(out);
  return text;
}

static void put_track(perfetto *p, uint64_t number, uint64_t parent, int rank, const char *name, bool counter) {
  SimPerfetto__TracePacket packet = SIM_PERFETTO__TRACE_PACKET__INIT;
  SimPerfetto__TrackDescriptor track = SIM_PERFETTO__TRACK_DESCRIPTOR__INIT;
  SimPerfetto__CounterDescriptor of_counter = SIM_PERFETTO__COUNTER_DESCRIPTOR__INIT;
  char *text = text_of(name);
  track.has_uuid = track.has_child_ordering = track.has_sibling_order_rank = 1;
  track.uuid = number;
  track.has_parent_uuid = parent != 0;
  track.parent_uuid = parent;
  track.child_ordering = ORDER_EXPLICIT;
  track.sibling_order_rank = rank;
  track.name = text;
  if (counter) track.counter = &of_counter;
  packet.track_descriptor = &track;
  put(p, &packet);
  free(text);
}

// Steps stand at the top.
static void perfetto_group(void *form, unsigned group, const char *name) {
  put_track(form, track_of_group(group), RUN_TRACK, group == TIMELINE_STEPS ? 0 : (int)group + 1, name, false);
}

static void perfetto_track(void *form, unsigned group, unsigned track, const char *name) {
  put_track(form, track_of(group, track), track_of_group(group), (int)track, name, false);
}

// ---- the start

static void put_clocks(perfetto *p) {
  SimPerfetto__TracePacket packet = SIM_PERFETTO__TRACE_PACKET__INIT;
  SimPerfetto__TracePacketDefaults defaults = SIM_PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
  SimPerfetto__ClockSnapshot snapshot = SIM_PERFETTO__CLOCK_SNAPSHOT__INIT;
  SimPerfetto__Clock boot = SIM_PERFETTO__CLOCK__INIT, deltas = SIM_PERFETTO__CLOCK__INIT, *clocks[] = {&boot, &deltas};
  boot.has_clock_id = boot.has_timestamp = deltas.has_clock_id = deltas.has_timestamp = 1;
  boot.clock_id = CLOCK_BOOT;
  deltas.clock_id = CLOCK_DELTAS;
  deltas.has_is_incremental = deltas.is_incremental = deltas.has_unit_multiplier_ns = 1;
  deltas.unit_multiplier_ns = NS_PER_CYCLE;
  snapshot.clocks = clocks;
  snapshot.n_clocks = sizeof clocks / sizeof *clocks;
  defaults.has_timestamp_clock_id = 1;
  defaults.timestamp_clock_id = CLOCK_DELTAS;
  packet.trace_packet_defaults = &defaults;
  packet.clock_snapshot = &snapshot;
  packet.has_sequence_flags = 1;
  packet.sequence_flags = STATE_CLEARED;
  put(p, &packet);
}

static void put_argument_names(perfetto *p) {
  static char *const texts[] = {"index", "command", "unfinished"};
  enum { TEXTS = sizeof texts / sizeof *texts };
  SimPerfetto__TracePacket packet = SIM_PERFETTO__TRACE_PACKET__INIT;
  SimPerfetto__InternedData told = SIM_PERFETTO__INTERNED_DATA__INIT;
  SimPerfetto__InternedName names[TEXTS], *all[TEXTS];
  for (unsigned n = 0; n < TEXTS; n++) {
    sim_perfetto__interned_name__init(all[n] = &names[n]);
    names[n].has_iid = 1;
    names[n].iid = NAME_INDEX + n;
    names[n].text = texts[n];
  }
  told.debug_annotation_names = all;
  told.n_debug_annotation_names = TEXTS;
  packet.interned_data = &told;
  put(p, &packet);
}

static void *perfetto_open(FILE *out, const hw_array *array, const char *title) {
  perfetto *p = WF_NEW(perfetto);
  p->out = out;
  p->revision = array->isa.revision;
  p->texts = WF_NEW_ARRAY(TEXT_SLOTS, told_text);
  for (unsigned g = 0; g < TIMELINE_GRAPH_COUNT; g++)
    for (unsigned s = 0; s < TIMELINE_SERIES_MAX; s++) p->shown[g][s] = NAN;
  put_clocks(p);
  put_argument_names(p);
  char *name = wf_format("%s on %s (array %016" PRIx64 "), 1 us is 1 cycle", title, array->name, hw_array_hash(array));
  put_track(p, RUN_TRACK, 0, 0, name, false);
  wf_free(name);
  perfetto_group(p, TIMELINE_GRAPHS, "graphs");
  return p;
}

// ---- commands

// Texts and names that an event is the first to refer to.
typedef struct telling {
  SimPerfetto__InternedData data;
  SimPerfetto__InternedName name, text, *names[1], *texts[1];
  char buffer[SIM_TIMELINE_TEXT];
  bool any;
} telling;

static void tell(SimPerfetto__InternedName *entry, uint64_t iid, const char *text) {
  sim_perfetto__interned_name__init(entry);
  entry->has_iid = 1;
  entry->iid = iid;
  entry->text = (char *)(uintptr_t)text;
}

// The names of commands are constants: a name is its pointer.
static uint64_t name_of(perfetto *p, const char *name, telling *t) {
  for (size_t n = 0; n < p->name_count; n++)
    if (p->names[n] == name) return n + 1;
  if (p->name_count == EVENT_NAMES) return 0;
  p->names[p->name_count++] = name;
  tell(&t->name, p->name_count, name);
  t->data.event_names = t->names;
  t->data.n_event_names = 1;
  t->any = true;
  return p->name_count;
}

static size_t slot_of(const sim_timeline_command *c) {
  const uint64_t mixed = (c->rs1 * UINT64_C(0x9e3779b97f4a7c15) ^ c->rs2) * UINT64_C(0xc2b2ae3d27d4eb4f) + c->funct;
  return (size_t)((mixed * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - TEXT_BITS));
}

static uint64_t text_number(perfetto *p, const sim_timeline_command *c, telling *t) {
  told_text *slot = &p->texts[slot_of(c)];
  if (slot->iid != 0 && slot->funct == c->funct && slot->rs1 == c->rs1 && slot->rs2 == c->rs2) return slot->iid;
  *slot = (told_text){.rs1 = c->rs1, .rs2 = c->rs2, .funct = c->funct, .iid = ++p->text_count};
  tell(&t->text, slot->iid, sim_timeline_text(c, p->revision, t->buffer));
  t->data.debug_annotation_string_values = t->texts;
  t->data.n_debug_annotation_string_values = 1;
  t->any = true;
  return slot->iid;
}

static void start_telling(telling *t) {
  sim_perfetto__interned_data__init(&t->data);
  t->names[0] = &t->name;
  t->texts[0] = &t->text;
  t->any = false;
}

static void put_command(perfetto *p, unsigned type, const sim_timeline_command *c, uint64_t cycle) {
  telling t;
  start_telling(&t);
  SimPerfetto__DebugAnnotation index = SIM_PERFETTO__DEBUG_ANNOTATION__INIT, text = index,
                               *arguments[] = {&index, &text};
  index.has_name_iid = index.has_uint_value = text.has_name_iid = text.has_string_value_iid = 1;
  index.name_iid = NAME_INDEX;
  index.uint_value = c->index;
  text.name_iid = NAME_COMMAND;
  text.string_value_iid = text_number(p, c, &t);
  SimPerfetto__TrackEvent event = event_on(type, track_of(c->group, c->track));
  const char *name = sim_timeline_name(c, p->revision);
  event.name_iid = name_of(p, name, &t);
  event.has_name_iid = event.name_iid != 0;
  if (event.name_iid == 0) event.name = (char *)(uintptr_t)name;
  event.debug_annotations = arguments;
  event.n_debug_annotations = sizeof arguments / sizeof *arguments;
  put_event(p, cycle, &event, t.any ? &t.data : NULL);
}

static void perfetto_begin(void *form, const sim_timeline_command *c) { put_command(form, EVENT_BEGIN, c, c->since); }

static void perfetto_instant(void *form, const sim_timeline_command *c, uint64_t cycle) {
  put_command(form, EVENT_INSTANT, c, cycle);
}

static void perfetto_end(void *form, const sim_timeline_command *c, uint64_t cycle, bool unfinished) {
  SimPerfetto__TrackEvent event = event_on(EVENT_END, track_of(c->group, c->track));
  SimPerfetto__DebugAnnotation argument = SIM_PERFETTO__DEBUG_ANNOTATION__INIT, *arguments[] = {&argument};
  argument.has_name_iid = argument.has_bool_value = argument.bool_value = 1;
  argument.name_iid = NAME_UNFINISHED;
  event.debug_annotations = arguments;
  event.n_debug_annotations = unfinished;
  put_event(form, cycle, &event, NULL);
}

// ---- graphs, bursts, steps

// A series is a track, from its first value on; a value stays until the next.
static void put_value(perfetto *p, sim_timeline_curve graph, unsigned series, uint64_t cycle, double value) {
  const sim_timeline_graph *g = &sim_timeline_graphs[graph];
  const unsigned track = (unsigned)graph * TIMELINE_SERIES_MAX + series;
  if (isnan(p->shown[graph][series])) {
    char *name = wf_format("%s: %s", g->name, g->series[series]);
    put_track(p, track_of(TIMELINE_GRAPHS, track), track_of_group(TIMELINE_GRAPHS), (int)track, name, true);
    wf_free(name);
  }
  p->shown[graph][series] = value;
  SimPerfetto__TrackEvent event = event_on(EVENT_COUNTER, track_of(TIMELINE_GRAPHS, track));
  event.has_double_counter_value = 1;
  event.double_counter_value = value;
  put_event(p, cycle, &event, NULL);
}

static void perfetto_graph(void *form, sim_timeline_curve graph, uint64_t cycle, const double *values) {
  perfetto *p = form;
  for (unsigned n = 0; n < sim_timeline_graphs[graph].count; n++)
    if (!(p->shown[graph][n] == values[n])) put_value(p, graph, n, cycle, values[n]);
}

static SimPerfetto__DebugAnnotation argument_of(const char *name) {
  SimPerfetto__DebugAnnotation argument = SIM_PERFETTO__DEBUG_ANNOTATION__INIT;
  argument.name = (char *)(uintptr_t)name;
  return argument;
}

static SimPerfetto__DebugAnnotation number_of(const char *name, uint64_t value) {
  SimPerfetto__DebugAnnotation argument = argument_of(name);
  argument.has_uint_value = 1;
  argument.uint_value = value;
  return argument;
}

// A slice with a name and arguments of its own.
static void put_slice(perfetto *p, uint64_t track, uint64_t from, uint64_t to, const char *name,
                      SimPerfetto__DebugAnnotation *arguments, size_t count) {
  SimPerfetto__DebugAnnotation *all[ARGUMENTS_MAX];
  for (size_t n = 0; n < count; n++) all[n] = &arguments[n];
  SimPerfetto__TrackEvent begin = event_on(EVENT_BEGIN, track), end = event_on(EVENT_END, track);
  begin.name = (char *)(uintptr_t)name;
  begin.debug_annotations = all;
  begin.n_debug_annotations = count;
  put_event_at(p, from, &begin);
  put_event_at(p, to, &end);
}

// The first track that is free when the burst begins. Bursts of a track follow each other.
static unsigned bus_track(perfetto *p, uint64_t from, uint64_t to) {
  unsigned track = 0;
  while (track < p->bus_tracks && p->bus_until[track] > from) track++;
  if (track == p->bus_tracks) {
    char name[16];
    snprintf(name, sizeof name, "%u", track + 1);
    p->bus_until = wf_realloc(p->bus_until, ++p->bus_tracks, sizeof *p->bus_until);
    perfetto_track(p, TIMELINE_BUS, track, name);
  }
  p->bus_until[track] = to;
  return track;
}

static void perfetto_burst(void *form, const memsys_seen *burst, const char *kind) {
  perfetto *p = form;
  const uint64_t last = burst->beat_cycles[burst->beats - 1];
  const unsigned track = bus_track(p, burst->asked, last + 1);
  char address[24];
  snprintf(address, sizeof address, "0x%" PRIx64, burst->address);
  SimPerfetto__DebugAnnotation arguments[] = {argument_of("address"), number_of("bytes", burst->bytes),
                                              argument_of("class"), number_of("first beat", burst->beat_cycles[0]),
                                              number_of("last beat", last)};
  arguments[0].string_value = address;
  arguments[2].string_value = (char *)(uintptr_t)kind;
  put_slice(p, track_of(TIMELINE_BUS, track), burst->asked, last + 1, burst->write ? "write" : "read", arguments,
            sizeof arguments / sizeof *arguments);
}

static void perfetto_step(void *form, const sim_timeline_step_slice *step, unsigned track) {
  SimPerfetto__DebugAnnotation arguments[ARGUMENTS_MAX];
  const size_t count = step->argument_count < ARGUMENTS_MAX ? step->argument_count : ARGUMENTS_MAX;
  char *name = text_of(step->name);
  for (size_t n = 0; n < count; n++) {
    const sim_timeline_argument *a = &step->arguments[n];
    arguments[n] = a->decimals == 0 ? number_of(a->name, (uint64_t)a->value) : argument_of(a->name);
    arguments[n].has_uint_value = a->text == NULL && a->decimals == 0;
    arguments[n].has_double_value = a->text == NULL && a->decimals != 0;
    arguments[n].double_value = a->value;
    if (a->text != NULL) arguments[n].string_value = text_of(a->text);
  }
  put_slice(form, track_of(TIMELINE_STEPS, track), step->start, step->start + step->cycles, name, arguments, count);
  for (size_t n = 0; n < count; n++)
    if (step->arguments[n].text != NULL) free(arguments[n].string_value);
  free(name);
}

static void perfetto_close(void *form) {
  perfetto *p = form;
  wf_free(p->texts);
  wf_free(p->bus_until);
  wf_free(p->bytes);
  wf_free(p);
}

const sim_timeline_form sim_timeline_perfetto = {.open = perfetto_open,
                                                 .group = perfetto_group,
                                                 .track = perfetto_track,
                                                 .begin = perfetto_begin,
                                                 .end = perfetto_end,
                                                 .instant = perfetto_instant,
                                                 .graph = perfetto_graph,
                                                 .burst = perfetto_burst,
                                                 .step = perfetto_step,
                                                 .close = perfetto_close};
