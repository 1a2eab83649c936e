// SPDX-License-Identifier: Apache-2.0
// Records kept and compared: see records.h.
#include "sim/records.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "isa/isa.h"

enum { FIRST_ROOM = 1024 };

static void keep(void *context, const sim_event *event) {
  sim_records *r = context;
  if (r->count == r->room) {
    r->room = r->room == 0 ? FIRST_ROOM : 2 * r->room;
    r->item = wf_realloc(r->item, r->room, sizeof *r->item);
  }
  r->item[r->count++] = *event;
}

sim_events sim_records_sink(sim_records *records) { return (sim_events){.context = records, .event = keep}; }

void sim_records_free(sim_records *records) {
  wf_free(records->item);
  *records = (sim_records){0};
}

// ---- comparison

static bool tells_command(const sim_event *e) {
  return e->kind == SIM_EVENT_ALLOC && (e->funct | e->rs1 | e->rs2) != 0;
}

static bool same_event(const sim_event *a, const sim_event *b) {
  return a->kind == b->kind && a->unit == b->unit && a->index == b->index;
}

static bool same_command(const sim_event *a, const sim_event *b) {
  if (!tells_command(a) || !tells_command(b)) return true;
  return a->funct == b->funct && a->rs1 == b->rs1 && a->rs2 == b->rs2;
}

static bool same(const sim_event *a, const sim_event *b) {
  return same_event(a, b) && a->cycle == b->cycle && same_command(a, b);
}

// The order of records: by cycle; within a cycle alloc, issue by unit, done.
static bool before(const sim_event *a, const sim_event *b) {
  if (a->cycle != b->cycle) return a->cycle < b->cycle;
  return a->kind != b->kind ? a->kind < b->kind : a->unit < b->unit;
}

static void look_up(const sim_records *records, int which, sim_difference *d) {
  for (size_t i = d->at; i < records->count && !d->found[which]; i++) {
    d->found[which] = records->item[i].kind == d->event.kind && records->item[i].index == d->event.index;
    d->cycles[which] = records->item[i].cycle;
  }
}

bool sim_records_differ(const sim_records *first, const sim_records *second, sim_difference *difference) {
  size_t shorter = first->count < second->count ? first->count : second->count, at = 0;
  while (at < shorter && same(&first->item[at], &second->item[at])) at++;
  if (at == first->count && at == second->count) return false;
  const sim_event *a = at < first->count ? &first->item[at] : NULL;
  const sim_event *b = at < second->count ? &second->item[at] : NULL;
  bool take_first = b == NULL || (a != NULL && !before(b, a));
  *difference = (sim_difference){.at = at, .event = take_first ? *a : *b};
  difference->other_command = a != NULL && b != NULL && same_event(a, b) && a->cycle == b->cycle;
  look_up(first, 0, difference);
  look_up(second, 1, difference);
  return true;
}

const sim_event *sim_records_command(const sim_records *records, uint32_t index) {
  for (size_t i = 0; i < records->count; i++)
    if (records->item[i].index == index && tells_command(&records->item[i])) return &records->item[i];
  return NULL;
}

// ---- text

const char *sim_event_kind_name(sim_event_kind kind) {
  static const char *const names[] = {"alloc", "issue", "done"};
  return names[kind];
}

const char *sim_class_name(sim_class unit) {
  static const char *const names[] = {"load", "execute", "store", ""};
  return names[unit];
}

sim_class sim_event_class(const sim_event *allocation, unsigned revision) {
  const isa_insn *insn = isa_find(revision, allocation->funct, allocation->rs1);
  if (insn != NULL && insn->unit == ISA_UNIT_LOAD) return SIM_CLASS_LOAD;
  if (insn != NULL && insn->unit == ISA_UNIT_STORE) return SIM_CLASS_STORE;
  return SIM_CLASS_EXECUTE;
}

bool sim_event_done_at_issue(uint8_t funct, sim_class unit) {
  return isa_configures(funct) && unit != SIM_CLASS_EXECUTE;
}

const char *sim_event_command(const sim_event *allocation, unsigned revision, char text[SIM_EVENT_TEXT]) {
  *text = '\0';
  if (allocation == NULL) return text;
  const isa_insn *insn = isa_find(revision, allocation->funct, allocation->rs1);
  if (insn != NULL)
    isa_print(insn, allocation->rs1, allocation->rs2, text, SIM_EVENT_TEXT);
  else
    snprintf(text, SIM_EVENT_TEXT, "funct %u rs1=0x%" PRIx64 " rs2=0x%" PRIx64, allocation->funct, allocation->rs1,
             allocation->rs2);
  return text;
}

const char *sim_event_text(const sim_event *event, const sim_records *records, unsigned revision,
                           char text[SIM_EVENT_TEXT]) {
  char command[SIM_EVENT_TEXT];
  sim_event_command(sim_records_command(records, event->index), revision, command);
  const char *unit = sim_class_name(event->unit), *open = *unit == '\0' ? "" : " (", *close = *unit == '\0' ? "" : ")";
  snprintf(text, SIM_EVENT_TEXT, "%s of %" PRIu32 "%s%s%s %.500s", sim_event_kind_name(event->kind), event->index, open,
           unit, close, command);
  return text;
}

const char *sim_burst_class(const memsys_seen *burst, uint32_t line_bytes) {
  return burst->bytes < line_bytes ? "part" : burst->bytes == line_bytes ? "line" : "lines";
}
