// SPDX-License-Identifier: Apache-2.0
// Reads the text of an instruction table, line by line. A line with an error is reported and skipped, so that one run
// shows every mistake; what was read stays consistent because a line adds its record only when all of it parsed.
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/gen/model.h"

const char *const gen_type_names[] = {
#define X(name, NAME, width) #name,
    GEN_TYPES(X)
#undef X
};
const char *const gen_unit_names[] = {
#define X(name, NAME) #name,
    GEN_UNITS(X)
#undef X
};
const char *const gen_event_unit_names[] = {
#define X(name) #name,
    GEN_EVENT_UNITS(X)
#undef X
};
enum {
  TYPE_COUNT = GEN_RESERVED,
  UNIT_COUNT = sizeof gen_unit_names / sizeof *gen_unit_names,
  EVENT_UNIT_COUNT = sizeof gen_event_unit_names / sizeof *gen_event_unit_names
};

typedef struct cursor {
  gen_table *table;
  wf_diag *diag;
  unsigned line;
  const char *start, *at, *end;
} cursor;

static wf_location here(const cursor *c) {
  return (wf_location){.file = c->table->file, .line = c->line, .column = (unsigned)(c->at - c->start) + 1};
}

// Doubles at powers of two, so the owner only keeps a count.
static void *grow(void *array, size_t count, size_t size) {
  return (count & (count - 1)) == 0 ? wf_realloc(array, count == 0 ? 1 : 2 * count, size) : array;
}

static const char *keep(gen_table *table, const char *at, size_t length) {
  char *copy = wf_alloc(length + 1, 1);
  memcpy(copy, at, length);
  copy[length] = '\0';
  table->texts = grow(table->texts, table->text_count, sizeof *table->texts);
  table->texts[table->text_count++] = copy;
  return copy;
}

static void skip_space(cursor *c) {
  while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
}

static bool at_end(cursor *c) {
  skip_space(c);
  return c->at == c->end;
}

static bool take(cursor *c, char wanted) {
  skip_space(c);
  if (c->at == c->end || *c->at != wanted) return false;
  c->at++;
  return true;
}

static bool expect(cursor *c, char wanted) {
  if (take(c, wanted)) return true;
  wf_error(c->diag, here(c), "expected '%c'", wanted);
  return false;
}

static bool is_word(char ch) { return isalnum((unsigned char)ch) || ch == '_'; }

// A word of letters, digits and underscores; NULL (and an error naming `what`) when there is none.
static const char *take_word(cursor *c, const char *what) {
  skip_space(c);
  const char *first = c->at;
  while (c->at < c->end && is_word(*c->at)) c->at++;
  if (c->at != first) return keep(c->table, first, (size_t)(c->at - first));
  wf_error(c->diag, here(c), "expected %s", what);
  return NULL;
}

static const char *take_name(cursor *c, const char *what) {
  skip_space(c);
  wf_location where = here(c);
  const char *word = take_word(c, what);
  if (word == NULL) return NULL;
  bool good = islower((unsigned char)*word) && strlen(word) <= GEN_NAME_MAX;
  for (const char *p = word; *p != '\0'; p++) good = good && !isupper((unsigned char)*p);
  if (good) return word;
  wf_error(c->diag, where, "%s '%s' is not a lower-case identifier of at most %d characters", what, word, GEN_NAME_MAX);
  return NULL;
}

bool gen_number(const char *word, uint64_t *value) {
  if (!isdigit((unsigned char)*word)) return false;
  char *rest;
  errno = 0;
  *value = strtoull(word, &rest, word[0] == '0' && word[1] == 'x' ? 16 : 10);
  return *rest == '\0' && errno == 0;
}

static bool take_number(cursor *c, const char *what, uint64_t *value) {
  skip_space(c);
  wf_location where = here(c);
  const char *word = take_word(c, what);
  if (word == NULL) return false;
  if (gen_number(word, value)) return true;
  wf_error(c->diag, where, "%s '%s' is not a 64-bit number", what, word);
  return false;
}

// Takes `word` if it stands here as a whole word.
static bool take_keyword(cursor *c, const char *word) {
  skip_space(c);
  size_t length = strlen(word);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, word, length) != 0) return false;
  if (c->at + length < c->end && is_word(c->at[length])) return false;
  c->at += length;
  return true;
}

// The index of the next word in a list of names, or -1 and an error that lists them.
static int take_choice(cursor *c, const char *what, const char *const *names, int count) {
  skip_space(c);
  wf_location where = here(c);
  const char *word = take_word(c, what);
  if (word == NULL) return -1;
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], word) == 0) return i;
  wf_error(c->diag, where, "unknown %s '%s'", what, word);
  char list[256] = "";
  for (int i = 0; i < count; i++) {
    size_t used = strlen(list);
    snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  wf_hint(c->diag, "one of %s", list);
  return -1;
}

// `: text` to the end of the line; nothing else may stand there. NULL on error, "" when absent.
static const char *take_meaning(cursor *c) {
  if (at_end(c)) return "";
  if (!take(c, ':')) {
    wf_error(c->diag, here(c), "unexpected text, expected ': meaning' or the end of the line");
    return NULL;
  }
  skip_space(c);
  return keep(c->table, c->at, (size_t)(c->end - c->at));
}

static void read_opcode(cursor *c) {
  uint64_t value;
  skip_space(c);
  wf_location where = here(c);
  if (!take_number(c, "opcode", &value)) return;
  if (c->table->opcode_where.line != 0) {
    wf_error(c->diag, where, "the opcode is given twice");
    return;
  }
  if (!at_end(c)) {
    wf_error(c->diag, here(c), "unexpected text after the opcode");
    return;
  }
  c->table->opcode = value;
  c->table->opcode_where = where;
}

// NUMBER NAME UNIT : meaning
static void read_event(cursor *c, gen_events *events) {
  skip_space(c);
  gen_event event = {.where = here(c)};
  if (!take_number(c, "event number", &event.number)) return;
  event.name = take_name(c, "event name");
  if (event.name == NULL) return;
  int unit = take_choice(c, "unit", gen_event_unit_names, EVENT_UNIT_COUNT);
  if (unit < 0) return;
  event.unit = (unsigned)unit;
  event.meaning = take_meaning(c);
  if (event.meaning == NULL) return;
  events->list = grow(events->list, events->count, sizeof *events->list);
  events->list[events->count++] = event;
}

static bool read_revision(cursor *c, gen_insn *insn) {
  if (!take(c, '@')) return true;
  uint64_t revision;
  wf_location where = here(c);
  if (!take_number(c, "revision", &revision)) return false;
  if (revision < 1 || revision > GEN_REVISIONS) {
    wf_error(c->diag, where, "there is no ISA revision %llu", (unsigned long long)revision);
    return false;
  }
  insn->revision = (unsigned)revision;
  return true;
}

static bool read_insn(cursor *c) {
  skip_space(c);
  gen_insn insn = {.where = here(c)};
  insn.name = take_name(c, "instruction name");
  if (insn.name == NULL || !read_revision(c, &insn)) return false;
  uint64_t funct;
  skip_space(c);
  wf_location where = here(c);
  if (!take_number(c, "funct", &funct)) return false;
  if (funct >= GEN_FUNCTS) {
    wf_error(c->diag, where, "funct %llu does not fit 7 bits", (unsigned long long)funct);
    return false;
  }
  insn.funct = (unsigned)funct;
  int unit = take_choice(c, "unit", gen_unit_names, UNIT_COUNT);
  if (unit < 0) return false;
  insn.unit = (unsigned)unit;
  insn.returns = take_keyword(c, "returns");
  insn.meaning = take_meaning(c);
  if (insn.meaning == NULL) return false;
  gen_table *table = c->table;
  table->insns = grow(table->insns, table->insn_count, sizeof *table->insns);
  table->insns[table->insn_count++] = insn;
  return true;
}

// `[MSB:LSB]` or `[BIT]`
static bool read_bits(cursor *c, gen_field *field) {
  uint64_t msb, lsb;
  if (!expect(c, '[')) return false;
  wf_location where = here(c);
  if (!take_number(c, "bit number", &msb)) return false;
  lsb = msb;
  if (take(c, ':') && !take_number(c, "bit number", &lsb)) return false;
  if (!expect(c, ']')) return false;
  if (msb > 63 || lsb > msb) {
    wf_error(c->diag, where, "[%llu:%llu] is not a bit range of a 64-bit register, most significant bit first",
             (unsigned long long)msb, (unsigned long long)lsb);
    return false;
  }
  field->msb = (unsigned)msb;
  field->lsb = (unsigned)lsb;
  return true;
}

// `{name=value ...}`; the values array is owned by the field even when an error follows.
static bool read_values(cursor *c, gen_field *field) {
  while (!take(c, '}')) {
    skip_space(c);
    gen_value value = {.where = here(c)};
    value.name = take_name(c, "value name");
    if (value.name == NULL || !expect(c, '=') || !take_number(c, "value", &value.value)) return false;
    field->values = grow(field->values, field->value_count, sizeof *field->values);
    field->values[field->value_count++] = value;
  }
  return true;
}

// TYPE [in LO..HI] [= CONST] [{...}]
static bool read_type(cursor *c, gen_field *field) {
  int type = take_choice(c, "type", gen_type_names, TYPE_COUNT);
  if (type < 0) return false;
  field->type = (gen_type)type;
  field->min = 0;
  field->max = gen_ones(gen_width(field));
  if (take_keyword(c, "in")) {
    if (!take_number(c, "lower bound", &field->min) || !expect(c, '.') || !expect(c, '.') ||
        !take_number(c, "upper bound", &field->max))
      return false;
  }
  skip_space(c);
  wf_location where = here(c);
  bool constant = take(c, '=');
  if (constant != (field->type == GEN_CONST)) {
    wf_error(c->diag, where, constant ? "only a const field takes '= VALUE'" : "a const field needs '= VALUE'");
    return false;
  }
  if (constant) {
    if (!take_number(c, "constant", &field->min)) return false;
    field->max = field->min;
  }
  return !take(c, '{') || read_values(c, field);
}

static bool read_field_into(cursor *c, gen_field *field) {
  if (!read_bits(c, field)) return false;
  if (take(c, '-')) {
    field->type = GEN_RESERVED;
  } else {
    skip_space(c);
    field->where = here(c);
    field->name = take_name(c, "field name");
    if (field->name == NULL || !read_type(c, field)) return false;
  }
  field->meaning = take_meaning(c);
  return field->meaning != NULL;
}

static gen_insn *current_insn(cursor *c) {
  if (c->table->insn_count != 0) return &c->table->insns[c->table->insn_count - 1];
  wf_error(c->diag, here(c), "this line stands before the first 'insn'");
  return NULL;
}

static void read_field(cursor *c, gen_insn *insn, unsigned reg, wf_location where) {
  if (insn == NULL) return;
  gen_field field = {.where = where, .reg = reg};
  if (!read_field_into(c, &field)) {
    wf_free(field.values);
    return;
  }
  insn->fields = grow(insn->fields, insn->field_count, sizeof *insn->fields);
  insn->fields[insn->field_count++] = field;
}

static bool read_term(cursor *c, gen_deny *deny) {
  gen_term term = {.where = here(c)};
  term.field_name = take_name(c, "field name");
  if (term.field_name == NULL || !expect(c, '=')) return false;
  term.value_text = take_word(c, "value");
  if (term.value_text == NULL) return false;
  deny->terms = grow(deny->terms, deny->term_count, sizeof *deny->terms);
  deny->terms[deny->term_count++] = term;
  return true;
}

static bool read_deny_into(cursor *c, gen_deny *deny) {
  do {
    skip_space(c);
    if (!read_term(c, deny)) return false;
    skip_space(c);
  } while (c->at < c->end && *c->at != ':');
  deny->reason = take_meaning(c);
  if (deny->reason != NULL && *deny->reason != '\0') return true;
  if (deny->reason != NULL) wf_error(c->diag, here(c), "a deny line needs ': reason'");
  return false;
}

static void read_deny(cursor *c) {
  gen_insn *insn = current_insn(c);
  if (insn == NULL) return;
  gen_deny deny = {0};
  if (!read_deny_into(c, &deny)) {
    wf_free(deny.terms);
    return;
  }
  insn->denies = grow(insn->denies, insn->deny_count, sizeof *insn->denies);
  insn->denies[insn->deny_count++] = deny;
}

// A header that does not parse would hang its fields on the instruction before, so the fields are skipped with it.
static bool read_line(cursor *c, bool skipping) {
  wf_location where = (skip_space(c), here(c));
  if (at_end(c)) return skipping;
  if (take_keyword(c, "insn")) return !read_insn(c);
  if (take_keyword(c, "opcode")) {
    read_opcode(c);
  } else if (take_keyword(c, "local")) {
    read_field(c, &c->table->local, GEN_LOCAL, where);
  } else if (take_keyword(c, "event")) {
    read_event(c, &c->table->events);
  } else if (take_keyword(c, "external")) {
    read_event(c, &c->table->externals);
  } else if (take_keyword(c, "rs1")) {
    if (!skipping) read_field(c, current_insn(c), 1, where);
  } else if (take_keyword(c, "rs2")) {
    if (!skipping) read_field(c, current_insn(c), 2, where);
  } else if (take_keyword(c, "deny")) {
    if (!skipping) read_deny(c);
  } else {
    wf_error(c->diag, where,
             "expected 'opcode', 'local[..]', 'event', 'external', 'insn', 'rs1[..]', 'rs2[..]' or 'deny'");
  }
  return skipping;
}

// The end of what counts: before a comment (a # at the start or after a space) and trailing space.
static const char *content_end(const char *start, const char *end) {
  for (const char *p = start; p < end; p++) {
    if (*p == '#' && (p == start || isspace((unsigned char)p[-1]))) {
      end = p;
      break;
    }
  }
  while (end > start && isspace((unsigned char)end[-1])) end--;
  return end;
}

void gen_read(gen_table *table, const char *file, const char *text, size_t length, wf_diag *diag) {
  table->file = file;
  table->local = (gen_insn){.where = wf_in_file(file), .name = "local", .meaning = ""};
  const char *end = text + length;
  bool skipping = false;
  unsigned line = 1;
  for (const char *start = text; start < end; line++) {
    const char *newline = memchr(start, '\n', (size_t)(end - start));
    const char *stop = newline == NULL ? end : newline;
    cursor c = {table, diag, line, start, start, content_end(start, stop)};
    skipping = read_line(&c, skipping);
    start = stop + 1;
  }
}

static void free_insn(gen_insn *insn) {
  for (size_t k = 0; k < insn->field_count; k++) wf_free(insn->fields[k].values);
  for (size_t k = 0; k < insn->deny_count; k++) wf_free(insn->denies[k].terms);
  wf_free(insn->fields);
  wf_free(insn->denies);
}

void gen_table_free(gen_table *table) {
  for (size_t i = 0; i < table->insn_count; i++) free_insn(&table->insns[i]);
  free_insn(&table->local);
  for (size_t i = 0; i < table->text_count; i++) wf_free(table->texts[i]);
  wf_free(table->events.list);
  wf_free(table->externals.list);
  wf_free(table->insns);
  wf_free(table->texts);
}
