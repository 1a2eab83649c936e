// SPDX-License-Identifier: Apache-2.0
// Reads command traces: see trace.h. Every line is checked; the first error ends the reading.
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "isa/isa.h"
#include "sim/trace/trace.h"

#define CYCLE_LIMIT (UINT64_C(1) << 48)
enum { LINE_MAX_BYTES = 4096, DATA_MAX_BYTES = 1024 };

typedef enum { EXPECT_MAGIC, EXPECT_ARRAY, EXPECT_ISA, EXPECT_BODY, EXPECT_NOTHING } state;

typedef struct reader {
  const sim_trace_sink *sink;
  wf_diag *diag;
  wf_location where;
  const char *line;
  state state;
  sim_trace_header header;
  uint64_t commands;
} reader;

static bool fail(reader *r, const char *text) {
  wf_error(r->diag, r->where, "%s", text);
  return false;
}

// A number at *text that ends at a blank, `=`-free; moves *text behind it.
static bool take_number(const char **text, int base, uint64_t *value) {
  const char *start = *text;
  if (!isxdigit((unsigned char)*start)) return false;
  char *end;
  errno = 0;
  *value = strtoull(start, &end, base);
  if (errno != 0 || end == start || (*end != '\0' && *end != ' ')) return false;
  *text = end;
  return true;
}

// A hash: exactly 16 hexadecimal digits, so that a cut one is noticed.
static bool take_hash(const char **text, uint64_t *value) {
  const char *start = *text;
  return take_number(text, 16, value) && *text - start == 16 && start[1] != 'x';
}

static void skip_blanks(const char **text) {
  while (**text == ' ' || **text == '\t') (*text)++;
}

// If the line starts with `word`, moves behind it and its blanks.
static bool take_word(const char **text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*text, word, length) != 0) return false;
  const char *end = *text + length;
  if (*end != '\0' && *end != ' ') return false;
  *text = end;
  skip_blanks(text);
  return true;
}

static bool read_magic(reader *r, const char *text) {
  uint64_t version;
  if (!take_word(&text, "weft-trace"))
    return fail(r, "not a weft trace: the first line is not `weft-trace 1` or `weft-trace 2`");
  if (!take_number(&text, 10, &version) || version < 1 || version > 2 || *text != '\0')
    return fail(r, "unknown trace version");
  r->header.timed = version == 2;
  r->state = EXPECT_ARRAY;
  return true;
}

static bool read_array(reader *r, const char *text) {
  if (!take_word(&text, "array")) return fail(r, "expected `array NAME HASH`");
  size_t length = strcspn(text, " ");
  if (length == 0 || length >= HW_NAME_MAX) return fail(r, "array name missing or too long");
  memcpy(r->header.array_name, text, length);
  r->header.array_name[length] = '\0';
  text += length;
  skip_blanks(&text);
  if (!take_hash(&text, &r->header.array_hash) || *text != '\0') return fail(r, "expected the array's hash");
  r->state = EXPECT_ISA;
  return true;
}

static bool read_isa(reader *r, const char *text) {
  uint64_t revision;
  if (!take_word(&text, "isa")) return fail(r, "expected `isa REVISION`");
  if (!take_number(&text, 10, &revision) || *text != '\0' || revision < 1 || revision > 2)
    return fail(r, "ISA revision is 1 or 2");
  r->header.revision = (unsigned)revision;
  r->state = EXPECT_BODY;
  return r->sink->header(r->sink->context, &r->header, r->where);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

static bool read_data(reader *r, const char *text) {
  uint64_t address;
  if (!take_number(&text, 16, &address)) return fail(r, "data: expected an address");
  skip_blanks(&text);
  uint8_t bytes[DATA_MAX_BYTES];
  size_t length = 0;
  for (; text[0] != '\0'; text += 2) {
    int high = hex_digit(text[0]);
    int low = high < 0 ? -1 : hex_digit(text[1]);
    if (low < 0) return fail(r, "data: expected pairs of hexadecimal digits");
    if (length == DATA_MAX_BYTES) return fail(r, "data: line too long");
    bytes[length++] = (uint8_t)(high << 4 | low);
  }
  if (length == 0) return fail(r, "data: no bytes");
  return r->sink->data(r->sink->context, address, bytes, length, r->where);
}

// Moves behind `name` if the text starts with it.
static bool take_name(const char **text, const char *name) {
  size_t length = strlen(name);
  if (strncmp(*text, name, length) != 0) return false;
  *text += length;
  return true;
}

static bool take_count(const char **text, const char *name, uint64_t *value) {
  bool good = take_name(text, name) && take_number(text, 10, value);
  skip_blanks(text);
  return good;
}

static bool take_result(const char **text, sim_trace_end *end) {
  if (take_word(text, "unrecorded")) return true;
  end->recorded = true;
  return take_count(text, "written=", &end->written_bytes) && take_name(text, "digest=") &&
         take_hash(text, &end->digest);
}

static bool read_end(reader *r, const char *text) {
  sim_trace_end end = {0};
  if (!take_count(&text, "commands=", &end.commands) || !take_result(&text, &end) || *text != '\0')
    return fail(r, "expected `end commands=N written=BYTES digest=HEX` or `end commands=N unrecorded`");
  if (end.commands != r->commands) {
    wf_error(r->diag, r->where, "the trace announces %" PRIu64 " commands but has %" PRIu64, end.commands, r->commands);
    return false;
  }
  r->state = EXPECT_NOTHING;
  return r->sink->end(r->sink->context, &end, r->where);
}

static bool read_command(reader *r, const char *text) {
  arch_command command = {.index = r->commands};
  isa_text_error error;
  command.insn = isa_parse(r->header.revision, text, &command.rs1, &command.rs2, &error);
  if (command.insn == NULL) {
    wf_location where = r->where;
    where.column = (unsigned)(error.column + (size_t)(text - r->line));
    wf_error(r->diag, where, "%s", error.text);
    return false;
  }
  command.funct = (uint8_t)command.insn->funct;
  command.returns = command.insn->returns;
  r->commands++;
  return r->sink->command(r->sink->context, &command, r->where);
}

static bool read_fence(reader *r, const char *text) {
  return *text == '\0' ? r->sink->fence(r->sink->context, r->where) : fail(r, "fence takes no operands");
}

static bool tell_hart(const reader *r, sim_trace_hart what, uint64_t address) {
  return r->sink->hart == NULL || r->sink->hart(r->sink->context, what, address, r->where);
}

static bool read_full(reader *r, const char *text) {
  return *text == '\0' ? tell_hart(r, SIM_TRACE_FULL, 0) : fail(r, "full takes no operands");
}

static bool read_host_line(reader *r, const char *text) {
  uint64_t address;
  const bool read = take_word(&text, "read");
  if ((!read && !take_word(&text, "write")) || !take_number(&text, 16, &address) || *text != '\0')
    return fail(r, "expected `line read ADDRESS` or `line write ADDRESS`");
  return tell_hart(r, read ? SIM_TRACE_LINE_READ : SIM_TRACE_LINE_WRITE, address);
}

// "@120 ": the cycle of the rest.
static bool read_time(reader *r, const char **text) {
  uint64_t cycle;
  ++*text;
  if (!take_number(text, 10, &cycle) || **text == '\0' || cycle >= CYCLE_LIMIT)
    return fail(r, "expected a cycle below 2^48 and what happened in it behind `@`");
  skip_blanks(text);
  if (r->sink->time != NULL) r->sink->time(r->sink->context, cycle);
  return true;
}

static bool read_event(reader *r, const char *text) {
  if (take_word(&text, "fence")) return read_fence(r, text);
  if (r->header.timed && take_word(&text, "full")) return read_full(r, text);
  if (r->header.timed && take_word(&text, "line")) return read_host_line(r, text);
  return read_command(r, text);
}

static bool read_body(reader *r, const char *text) {
  if (take_word(&text, "data")) return read_data(r, text);
  if (take_word(&text, "end")) return read_end(r, text);
  if (r->header.timed != (*text == '@'))
    return fail(r, r->header.timed ? "a trace of version 2 gives the cycle: expected `@CYCLE`"
                                   : "only a trace of version 2 has cycles");
  return (!r->header.timed || read_time(r, &text)) && read_event(r, text);
}

static bool read_line(reader *r, const char *text) {
  r->line = text;
  switch (r->state) {
    case EXPECT_MAGIC:
      return read_magic(r, text);
    case EXPECT_ARRAY:
      return read_array(r, text);
    case EXPECT_ISA:
      return read_isa(r, text);
    case EXPECT_BODY:
      return read_body(r, text);
    case EXPECT_NOTHING:
      return fail(r, "text after the `end` line");
  }
  return false;
}

// Cuts the comment and the blanks at the end; the line is then empty or starts with its first word.
static char *trim(char *line) {
  line[strcspn(line, "#\r\n")] = '\0';
  size_t length = strlen(line);
  while (length != 0 && (line[length - 1] == ' ' || line[length - 1] == '\t')) line[--length] = '\0';
  while (*line == ' ' || *line == '\t') line++;
  return line;
}

// Reads one line of at most LINE_MAX_BYTES; false at the end of the file or after an error.
static bool next_line(reader *r, FILE *in, char *line, bool *good) {
  if (fgets(line, LINE_MAX_BYTES, in) == NULL) return false;
  r->where.line++;
  size_t length = strlen(line);
  *good = length + 1 < LINE_MAX_BYTES || line[length - 1] == '\n';
  if (!*good) fail(r, "line too long");
  return *good;
}

bool sim_trace_read(FILE *in, const char *file, const sim_trace_sink *sink, wf_diag *diag) {
  reader r = {.sink = sink, .diag = diag, .where = wf_in_file(file)};
  char line[LINE_MAX_BYTES];
  bool good = true;
  while (good && next_line(&r, in, line, &good)) {
    char *text = trim(line);
    if (*text != '\0') good = read_line(&r, text);
  }
  if (!good) return false;
  if (ferror(in)) return fail(&r, "cannot read the file");
  if (r.state == EXPECT_NOTHING) return true;
  r.where.line++;
  return fail(&r, r.state == EXPECT_MAGIC ? "empty file" : "the trace ends without its `end` line");
}

bool sim_trace_recognise(FILE *in) {
  static const char magic[] = "weft-trace";
  char start[sizeof magic - 1];
  size_t length = fread(start, 1, sizeof start, in);
  rewind(in);
  return length == sizeof start && memcmp(start, magic, sizeof start) == 0;
}
