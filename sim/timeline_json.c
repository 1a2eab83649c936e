// SPDX-License-Identifier: Apache-2.0
// A timeline as a Chrome trace: a group is a process, its tracks are threads 1, 2, ... One cycle is one microsecond.
// A slice is written where it ends.
#include <assert.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "isa/isa.h"
#include "sim/timeline_form.h"

typedef struct json {
  FILE *out;
  unsigned revision;
  uint64_t bursts;
} json;

// ---- text

static void print_text(FILE *out, const char *text) {
  fputc('"', out);
  wf_name_write(WF_NAME_JSON, text, out);
  fputc('"', out);
}

static void print_metadata(FILE *out, const char *what, unsigned process, unsigned thread, const char *name) {
  fprintf(out, ",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,\"args\":{\"name\":", what, process, thread);
  print_text(out, name);
  fputs("}}", out);
}

static void *json_open(FILE *out, const hw_array *array, const char *title) {
  json *j = WF_NEW(json);
  *j = (json){.out = out, .revision = array->isa.revision};
  fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"time\":\"1 us is 1 cycle\",\"program\":", out);
  print_text(out, title);
  fputs(",\"array\":", out);
  print_text(out, array->name);
  fprintf(out, ",\"array_hash\":\"%016" PRIx64 "\"},\n\"traceEvents\":[\n", hw_array_hash(array));
  fprintf(out, "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"args\":{\"name\":\"graphs\"}}", TIMELINE_GRAPHS);
  return j;
}

// Steps stand at the top.
static void json_group(void *form, unsigned group, const char *name) {
  const json *j = form;
  print_metadata(j->out, "process_name", group, 0, name);
  fprintf(j->out, ",\n{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":%u,\"args\":{\"sort_index\":%d}}", group,
          group == TIMELINE_STEPS ? -1 : (int)group);
}

static void json_track(void *form, unsigned group, unsigned track, const char *name) {
  const json *j = form;
  print_metadata(j->out, "thread_name", group, track + 1, name);
}

// ---- commands

// They come by the million: their lines are made in place, without formats. What isa/ prints needs no escapes.
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

static void put_command(line *l, const json *j, const sim_timeline_command *c, bool unfinished) {
  char text[SIM_TIMELINE_TEXT];
  put(l, ",\"name\":\"");
  put(l, sim_timeline_name(c, j->revision));
  put_field(l, "\",\"args\":{\"index\":", c->index);
  put(l, ",\"command\":\"");
  put(l, sim_timeline_text(c, j->revision, text));
  put(l, unfinished ? "\",\"unfinished\":true}}" : "\"}}");
}

static void json_begin(void *form, const sim_timeline_command *command) {
  (void)form;
  (void)command;
}

static void json_end(void *form, const sim_timeline_command *c, uint64_t cycle, bool unfinished) {
  const json *j = form;
  line l;
  l.length = 0;  // the text stays as it is: it is long
  put_field(&l, ",\n{\"ph\":\"X\",\"pid\":", c->group);
  put_field(&l, ",\"tid\":", c->track + 1);
  put_field(&l, ",\"ts\":", c->since);
  put_field(&l, ",\"dur\":", cycle - c->since);
  put_command(&l, j, c, unfinished);
  fwrite(l.text, 1, l.length, j->out);
}

static void json_instant(void *form, const sim_timeline_command *c, uint64_t cycle) {
  const json *j = form;
  line l;
  l.length = 0;  // the text stays as it is: it is long
  put_field(&l, ",\n{\"ph\":\"i\",\"s\":\"t\",\"tid\":1,\"pid\":", c->group);
  put_field(&l, ",\"ts\":", cycle);
  put_command(&l, j, c, false);
  fwrite(l.text, 1, l.length, j->out);
}

// ---- graphs, bursts, steps

static void json_graph(void *form, sim_timeline_curve graph, uint64_t cycle, const double *values) {
  const json *j = form;
  const sim_timeline_graph *g = &sim_timeline_graphs[graph];
  fprintf(j->out, ",\n{\"ph\":\"C\",\"pid\":%d,\"name\":\"%s\",\"ts\":%" PRIu64 ",\"args\":{", TIMELINE_GRAPHS, g->name,
          cycle);
  for (unsigned n = 0; n < g->count; n++)
    fprintf(j->out, "%s\"%s\":%.*f", n == 0 ? "" : ",", g->series[n], (int)g->decimals, values[n]);
  fputs("}}", j->out);
}

// They overlap: asynchronous slices, which need no track each.
static void json_burst(void *form, const memsys_seen *burst, const char *kind) {
  json *j = form;
  const char *verb = burst->write ? "write" : "read";
  const uint64_t first = burst->beat_cycles[0], last = burst->beat_cycles[burst->beats - 1], id = j->bursts++;
  fprintf(j->out,
          ",\n{\"ph\":\"b\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"ts\":%" PRIu64
          ",\"args\":{\"address\":\"0x%" PRIx64 "\",\"bytes\":%u,\"class\":\"%s\",\"first beat\":%" PRIu64
          ",\"last beat\":%" PRIu64 "}}",
          verb, verb, id, TIMELINE_BUS, burst->asked, burst->address, burst->bytes, kind, first, last);
  fprintf(j->out, ",\n{\"ph\":\"e\",\"cat\":\"%s\",\"name\":\"%s\",\"id\":%" PRIu64 ",\"pid\":%d,\"ts\":%" PRIu64 "}",
          verb, verb, id, TIMELINE_BUS, last + 1);
}

static void json_step(void *form, const sim_timeline_step_slice *step, unsigned track) {
  const json *j = form;
  fprintf(j->out,
          ",\n{\"ph\":\"X\",\"pid\":%d,\"tid\":%u,\"ts\":%" PRIu64 ",\"dur\":%" PRIu64 ",\"name\":", TIMELINE_STEPS,
          track + 1, step->start, step->cycles);
  print_text(j->out, step->name);
  fputs(",\"args\":{", j->out);
  for (size_t n = 0; n < step->argument_count; n++) {
    const sim_timeline_argument *a = &step->arguments[n];
    fprintf(j->out, "%s\"%s\":", n == 0 ? "" : ",", a->name);
    if (a->text != NULL)
      print_text(j->out, a->text);
    else
      fprintf(j->out, "%.*f", (int)a->decimals, a->value);
  }
  fputs("}}", j->out);
}

static void json_close(void *form) {
  json *j = form;
  fputs("\n]}\n", j->out);
  wf_free(j);
}

const sim_timeline_form sim_timeline_json = {.open = json_open,
                                             .group = json_group,
                                             .track = json_track,
                                             .begin = json_begin,
                                             .end = json_end,
                                             .instant = json_instant,
                                             .graph = json_graph,
                                             .burst = json_burst,
                                             .step = json_step,
                                             .close = json_close};
