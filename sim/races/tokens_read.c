// SPDX-License-Identifier: Apache-2.0
// Reads programs with tokens: see races.h for the format.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "sim/races/tokens_private.h"

static const char head[] = "weft-tokens 1";

typedef struct reader {
  races_tokens *program;
  wf_diag *diag;
  char *line;
  char *at;  // the rest of the line
  unsigned number;
} reader;

// ---- words

static bool refuse(reader *r, const char *word, const char *what) {
  char shown[WF_NAME_LINE];
  const unsigned column = word == NULL ? 0 : (unsigned)(word - r->line) + 1;
  wf_error(r->diag, (wf_location){r->program->file, r->number, column}, "%s%s%s", what, word == NULL ? "" : ", not ",
           word == NULL ? "" : wf_name_shown(word, shown));
  return false;
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// The next word of the line; NULL at its end or a comment.
static char *next_word(reader *r) {
  while (is_space(*r->at)) r->at++;
  if (*r->at == '\0' || *r->at == '#') return NULL;
  char *word = r->at;
  while (*r->at != '\0' && !is_space(*r->at)) r->at++;
  if (*r->at != '\0') *r->at++ = '\0';
  return word;
}

static bool find_name(const races_names *names, const char *name, size_t *place) {
  for (*place = 0; *place < names->count; ++*place)
    if (strcmp(names->name[*place], name) == 0) return true;
  return false;
}

// The place of a name, which is new or known.
static bool place_of(reader *r, races_names *names, size_t most, const char *what, const char *word, size_t *place) {
  if (word == NULL) {
    wf_error(r->diag, (wf_location){r->program->file, r->number, 0}, "the line ends before %s", what);
    return false;
  }
  if (find_name(names, word, place)) return true;
  if (names->count == most) {
    wf_error(r->diag, (wf_location){r->program->file, r->number, 0}, "more than %zu names of units or memories", most);
    return false;
  }
  names->name[names->count++] = wf_strdup(word);
  return true;
}

static bool unit_place(reader *r, const char *word, size_t *unit) {
  return place_of(r, &r->program->units, RACES_ACTORS, "the name of a unit", word, unit);
}

static bool unit_name(reader *r, size_t *unit) { return unit_place(r, next_word(r), unit); }

static bool whole(const char **at, uint64_t *value) {
  if (**at < '0' || **at > '9') return false;
  char *end;
  errno = 0;
  *value = strtoull(*at, &end, 0);
  *at = end;
  return errno == 0;
}

static bool range_of(reader *r, races_span *span) {
  const char *word = next_word(r), *at = word;
  if (word == NULL) return refuse(r, NULL, "a range such as 0..71 is missing");
  if (!whole(&at, &span->first)) return refuse(r, word, "a range is FIRST..LAST or one number");
  span->last = span->first;
  if (*at == '\0') return true;
  const bool good = strncmp(at, "..", 2) == 0 && (at += 2, whole(&at, &span->last)) && *at == '\0';
  if (!good) return refuse(r, word, "a range is FIRST..LAST or one number");
  return span->last >= span->first || refuse(r, word, "a range ends before it begins");
}

// ---- lines

static size_t queue_of(races_tokens *p, size_t from, size_t to) {
  for (size_t q = 0; q < p->queue_count; q++)
    if (p->queues[q].from == from && p->queues[q].to == to) return q;
  p->queues[p->queue_count] = (races_line){.from = from, .to = to};
  return p->queue_count++;
}

static bool at_end(reader *r) {
  const char *word = next_word(r);
  return word == NULL || refuse(r, word, "the line should end here");
}

static bool read_queue(reader *r) {
  size_t from, to;
  if (!unit_name(r, &from) || !unit_name(r, &to)) return false;
  const char *word = next_word(r), *at = word;
  uint64_t room;
  if (word == NULL || !whole(&at, &room) || *at != '\0' || room == 0)
    return refuse(r, word, "a queue has room for a number of tokens, at least 1");
  r->program->queues[queue_of(r->program, from, to)].room = room;
  return at_end(r);
}

static void add_span(races_tokens *p, const races_span *span) {
  enum { FIRST = 256 };
  if (p->span_count == p->span_room) {
    p->span_room = p->span_room == 0 ? FIRST : 2 * p->span_room;
    p->spans = wf_realloc(p->spans, p->span_room, sizeof *p->spans);
  }
  p->spans[p->span_count++] = *span;
}

static bool read_spans(reader *r, const char *word, races_insn *insn) {
  races_tokens *p = r->program;
  insn->kind = RACES_TOUCH;
  insn->spans = p->span_count;
  for (; word != NULL; word = next_word(r), insn->count++) {
    races_span span = {.writes = strcmp(word, "writes") == 0};
    if (!span.writes && strcmp(word, "reads") != 0) return refuse(r, word, "a unit can reads, writes, push or pop");
    if (!place_of(r, &p->memories, RACES_NAMES, "the name of a memory", next_word(r), &span.memory) ||
        !range_of(r, &span))
      return false;
    add_span(p, &span);
  }
  return true;
}

static bool read_token(reader *r, bool push, races_insn *insn) {
  size_t other;
  if (!unit_name(r, &other)) return false;
  insn->kind = push ? RACES_PUSH : RACES_POP;
  insn->queue = push ? queue_of(r->program, insn->unit, other) : queue_of(r->program, other, insn->unit);
  return at_end(r);
}

static bool add_insn(reader *r, const races_insn *insn) {
  races_tokens *p = r->program;
  if (p->count == RACES_INSNS) return refuse(r, NULL, "more instructions than 16,384");
  if (p->count == p->room) {
    p->room = p->room == 0 ? 256 : 2 * p->room;
    p->insns = wf_realloc(p->insns, p->room, sizeof *p->insns);
  }
  p->insns[p->count++] = *insn;
  return true;
}

static bool read_insn(reader *r, const char *unit) {
  races_insn insn = {.line = r->number};
  if (!unit_place(r, unit, &insn.unit)) return false;
  const char *word = next_word(r);
  if (word == NULL) return refuse(r, NULL, "a unit can reads, writes, push or pop");
  const bool push = strcmp(word, "push") == 0, pop = strcmp(word, "pop") == 0;
  const bool good = push || pop ? read_token(r, push, &insn) : read_spans(r, word, &insn);
  return good && add_insn(r, &insn);
}

static bool read_line(reader *r) {
  r->at = r->line;
  const char *word = next_word(r);
  if (word == NULL) return true;
  return strcmp(word, "queue") == 0 ? read_queue(r) : read_insn(r, word);
}

// ---- files

bool races_tokens_recognise(FILE *in) {
  char start[sizeof head] = "";
  const size_t got = fread(start, 1, sizeof head - 1, in);
  rewind(in);
  return got == sizeof head - 1 && memcmp(start, head, got) == 0;
}

static bool read_head(reader *r) {
  r->line[strcspn(r->line, "\r\n")] = '\0';
  if (strcmp(r->line, head) == 0) return true;
  wf_error(r->diag, (wf_location){r->program->file, 1, 1}, "a program with tokens begins with the line `%s`", head);
  return false;
}

races_tokens *races_tokens_read(FILE *in, const char *file, wf_diag *diag) {
  races_tokens *p = WF_NEW(races_tokens);
  p->file = wf_strdup(file);
  reader r = {.program = p, .diag = diag};
  size_t room = 0;
  bool good = true;
  while (good && getline(&r.line, &room, in) > 0) good = ++r.number == 1 ? read_head(&r) : read_line(&r);
  free(r.line);
  if (good && r.number == 0) {
    wf_error(diag, wf_in_file(file), "the file is empty");
    good = false;
  }
  if (good) return p;
  races_tokens_destroy(p);
  return NULL;
}

static void release_names(races_names *names) {
  for (size_t n = 0; n < names->count; n++) wf_free(names->name[n]);
}

void races_tokens_destroy(races_tokens *p) {
  if (p == NULL) return;
  release_names(&p->units);
  release_names(&p->memories);
  wf_free(p->report.conflicts);
  wf_free(p->report.queues);
  wf_free(p->report.stuck);
  wf_free(p->insns);
  wf_free(p->spans);
  wf_free(p->file);
  wf_free(p);
}
