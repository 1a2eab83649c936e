// SPDX-License-Identifier: Apache-2.0
// Reads what print.c writes. Every line is checked; the first error of a line ends it, the reading goes on, so that one
// run reports every wrong line. `#` starts a comment. The `array` line may be absent; then the text is for any array.
#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/command/private.h"

enum { ERRORS_MAX = 20, CONSTANT_MAX = 1 << 20 };

typedef struct parser {
  command_program *program;
  const hw_array *array;
  const char *file;
  wf_diag *diag;
  unsigned line, errors;
  char *start;  // of the line
  char *at;     // next character; the line ends with a zero
  bool named;   // the `program` line was there
  bool body;    // a command, loop or fence was there
  unsigned loop_line[COMMAND_LOOPS_MAX];
} parser;

static bool fail_at(parser *p, const char *at, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail_at(parser *p, const char *at, const char *format, ...) {
  char text[256];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  wf_location where = {.file = p->file, .line = p->line, .column = (unsigned)(at - p->start) + 1};
  wf_error(p->diag, where, "%s", text);
  p->errors++;
  return false;
}

// ---- words

static void skip_blanks(parser *p) {
  while (*p->at == ' ' || *p->at == '\t') p->at++;
}

static bool at_end(parser *p) {
  skip_blanks(p);
  return *p->at == '\0';
}

typedef struct word {
  const char *at;
  size_t length;
} word;

#define WORD_ARGS(w) (int)((w).length < 64 ? (w).length : 64), (w).at

static word take_word(parser *p) {
  skip_blanks(p);
  word w = {p->at, strcspn(p->at, " \t")};
  p->at += w.length;
  return w;
}

static bool is(word w, const char *text) { return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0; }

static bool expect_end(parser *p) {
  if (at_end(p)) return true;
  return fail_at(p, p->at, "unexpected text: '%.40s'", p->at);
}

// Decimal or 0x hexadecimal, without sign, without overflow.
static bool number_of(const char *at, size_t length, uint64_t *value) {
  unsigned base = length > 2 && at[0] == '0' && at[1] == 'x' ? 16 : 10;
  size_t i = base == 16 ? 2 : 0;
  if (length == 0) return false;
  for (*value = 0; i < length; i++) {
    bool digit_character = isdigit((unsigned char)at[i]);
    unsigned digit = digit_character ? (unsigned)(at[i] - '0') : (unsigned)(at[i] - 'a') + 10;
    if ((!digit_character && (at[i] < 'a' || at[i] > 'f')) || digit >= base) return false;
    if (*value > (UINT64_MAX - digit) / base) return false;
    *value = *value * base + digit;
  }
  return true;
}

// +N or -N; nothing counts as +0.
static bool offset_of(const char *at, size_t length, uint64_t *value) {
  *value = 0;
  if (length == 0) return true;
  if ((*at != '+' && *at != '-') || !number_of(at + 1, length - 1, value)) return false;
  if (*at == '-') *value = -*value;
  return true;
}

static bool take_number(parser *p, const char *what, uint64_t *value) {
  word w = take_word(p);
  if (number_of(w.at, w.length, value)) return true;
  return fail_at(p, w.at, "expected %s, not '%.*s'", what, WORD_ARGS(w));
}

// ---- the head

static bool read_program(parser *p) {
  word w = take_word(p);
  if (p->named) return fail_at(p, p->start, "a second `program` line");
  char *name = wf_arena_text(p->program->arena, w.at, w.length);
  if (!command_name_ok(name, true)) return fail_at(p, w.at, "'%.*s' is not a name", WORD_ARGS(w));
  p->program->name = name;
  p->named = true;
  return expect_end(p);
}

static bool hash_of(word w, uint64_t *hash) {
  char text[19] = "0x";
  if (w.length != 16) return false;
  memcpy(text + 2, w.at, 16);
  return number_of(text, 18, hash);
}

static bool read_array(parser *p) {
  word name = take_word(p), hash_text = take_word(p);
  uint64_t hash, revision;
  if (!hash_of(hash_text, &hash)) return fail_at(p, hash_text.at, "expected the array's hash, 16 hexadecimal digits");
  word isa = take_word(p);
  if (!is(isa, "isa")) return fail_at(p, isa.at, "expected `isa REVISION`");
  if (!take_number(p, "the ISA revision", &revision)) return false;
  if (hash != hw_array_hash(p->array) || revision != p->array->isa.revision) {
    fail_at(p, name.at,
            "made for array %.*s (%016" PRIx64 ", ISA revision %" PRIu64 "), not for %s (%016" PRIx64 ", %u)",
            WORD_ARGS(name), hash, revision, p->array->name, hw_array_hash(p->array), p->array->isa.revision);
    wf_hint(p->diag, "give that array, or delete this line if the program is meant for any array");
    return false;
  }
  return expect_end(p);
}

static int find_tensor(const command_program *program, const char *name, size_t length) {
  for (int t = 0; t < program->tensor_count; t++)
    if (strlen(program->tensors[t].name) == length && memcmp(program->tensors[t].name, name, length) == 0) return t;
  return COMMAND_NO_TENSOR;
}

static bool read_type(parser *p, command_tensor *tensor) {
  word w = take_word(p);
  static const struct {
    const char *name;
    unsigned bytes;
    bool is_float;
  } types[] = {{"i8", 1, false}, {"i16", 2, false}, {"i32", 4, false}, {"i64", 8, false},
               {"f16", 2, true}, {"f32", 4, true},  {"f64", 8, true}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (!is(w, types[i].name)) continue;
    tensor->element_bytes = types[i].bytes;
    tensor->is_float = types[i].is_float;
    return true;
  }
  return fail_at(p, w.at, "'%.*s' is no type of elements: i8, i16, i32, i64, f16, f32 or f64", WORD_ARGS(w));
}

// VALUE or VALUE*COUNT.
static bool take_elements(parser *p, int8_t *value, uint64_t *times) {
  const word w = take_word(p);
  const char *star = memchr(w.at, '*', w.length), *digits = w.length > 0 && *w.at == '-' ? w.at + 1 : w.at;
  const size_t length = star == NULL ? w.length : (size_t)(star - w.at);
  const bool negative = digits != w.at;
  uint64_t number;
  *times = 1;
  if (length < (size_t)negative || !number_of(digits, length - negative, &number) ||
      number > (uint64_t)INT8_MAX + negative)
    return fail_at(p, w.at, "expected an element of -128 to 127, not '%.*s'", WORD_ARGS(w));
  *value = (int8_t)(negative ? -(int64_t)number : (int64_t)number);
  if (star == NULL) return true;
  return number_of(star + 1, w.length - length - 1, times) || fail_at(p, star, "expected a number of elements");
}

// What a constant holds, up to the end of the line.
static bool read_contents(parser *p, command_tensor *tensor) {
  if (tensor->element_bytes != 1 || tensor->elements > CONSTANT_MAX)
    return fail_at(p, p->at, "a constant has at most %d elements of int8", CONSTANT_MAX);
  int8_t *contents = WF_ARENA_ARRAY(p->program->arena, tensor->elements + 1, int8_t), value = 0;
  uint64_t count = 0, times;
  while (!at_end(p)) {
    if (!take_elements(p, &value, &times)) return false;
    if (times > tensor->elements - count) return fail_at(p, p->at, "more elements than the tensor has");
    memset(contents + count, value, times);
    count += times;
  }
  tensor->contents = contents;
  return count == tensor->elements || fail_at(p, p->at, "fewer elements than the tensor has");
}

static bool read_tensor(parser *p) {
  word w = take_word(p);
  command_tensor tensor = {.name = wf_arena_text(p->program->arena, w.at, w.length)};
  if (p->body) return fail_at(p, p->start, "tensors stand before the first command");
  if (!command_name_ok(tensor.name, false)) return fail_at(p, w.at, "'%.*s' is not a name", WORD_ARGS(w));
  if (find_tensor(p->program, w.at, w.length) >= 0) return fail_at(p, w.at, "a second tensor '%s'", tensor.name);
  if (p->program->tensor_count == COMMAND_TENSORS_MAX)
    return fail_at(p, w.at, "too many tensors, at most %d", COMMAND_TENSORS_MAX);
  if (!read_type(p, &tensor)) return false;
  skip_blanks(p);
  const char *size = p->at;
  if (!take_number(p, "the number of elements", &tensor.elements)) return false;
  if (tensor.elements > COMMAND_TENSOR_BYTES_MAX / tensor.element_bytes)
    return fail_at(p, size, "a tensor of more than 4 GiB");
  while (!at_end(p)) {
    w = take_word(p);
    if (is(w, "read"))
      tensor.read = true;
    else if (is(w, "written"))
      tensor.written = true;
    else if (!is(w, "="))
      return fail_at(p, w.at, "expected `read`, `written` or `=`, not '%.*s'", WORD_ARGS(w));
    else if (!read_contents(p, &tensor))
      return false;
  }
  command_add_tensor(p->program, &tensor);
  return true;
}

// ---- commands

// Takes a tensor-relative address out of `item` (FIELD=TENSOR+N): the text becomes FIELD=0 and blanks, so that columns
// stay what they are.
static bool take_address(parser *p, char *item, char *end, int *tensor, uint64_t *offset) {
  char *value = memchr(item, '=', (size_t)(end - item));
  assert(value != NULL);
  value++;
  size_t name = 0;
  while (value + name < end && value[name] != '+' && value[name] != '-') name++;
  *tensor = find_tensor(p->program, value, name);
  if (*tensor < 0) return fail_at(p, value, "no tensor '%.*s'", (int)(name < 64 ? name : 64), value);
  if (!offset_of(value + name, (size_t)(end - value) - name, offset))
    return fail_at(p, value + name, "expected an offset, +N or -N");
  *value = '0';
  memset(value + 1, ' ', (size_t)(end - value) - 1);
  return true;
}

typedef struct addresses {
  int tensor[2];
  uint64_t offset[2];
} addresses;

// Whether the item's value starts like the name of a tensor and its field is a memory address; then its register.
static unsigned address_register(const isa_insn *insn, const char *item, const char *end) {
  const char *equals = memchr(item, '=', (size_t)(end - item));
  if (equals == NULL || equals + 1 == end || isdigit((unsigned char)equals[1])) return 0;
  for (size_t i = 0; i < insn->field_count; i++) {
    const isa_field *field = &insn->fields[i];
    size_t length = strlen(field->name);
    if (field->type == ISA_TYPE_DRAM && length == (size_t)(equals - item) && memcmp(field->name, item, length) == 0)
      return field->reg;
  }
  return 0;
}

static bool take_addresses(parser *p, const isa_insn *insn, char *text, addresses *found) {
  for (char *at = text; *at != '\0';) {
    char *end = at + strcspn(at, " \t");
    unsigned reg = address_register(insn, at, end);
    if (reg != 0) {
      if (found->tensor[reg - 1] != COMMAND_NO_TENSOR) return fail_at(p, at, "an address is given twice");
      if (!take_address(p, at, end, &found->tensor[reg - 1], &found->offset[reg - 1])) return false;
    }
    at = end + strspn(end, " \t");
  }
  return true;
}

static const isa_insn *find_insn(parser *p) {
  char name[64];
  word w = {p->start, 0};
  w.at += strspn(w.at, " \t");
  w.length = strcspn(w.at, " \t");
  if (w.length >= sizeof name) return NULL;
  memcpy(name, w.at, w.length);
  name[w.length] = '\0';
  return isa_find_name(p->array->isa.revision, name);
}

static bool read_step(parser *p, word w, command_step *step, unsigned *seen) {
  unsigned reg = w.length > 3 && memcmp(w.at, "rs1", 3) == 0 ? 1 : w.length > 3 && memcmp(w.at, "rs2", 3) == 0 ? 2 : 0;
  if (reg == 0) return fail_at(p, w.at, "expected rs1+N, rs1-N, rs2+N or rs2-N, not '%.*s'", WORD_ARGS(w));
  if ((*seen & reg) != 0) return fail_at(p, w.at, "rs%u is given twice", reg);
  *seen |= reg;
  if (offset_of(w.at + 3, w.length - 3, reg == 1 ? &step->rs1 : &step->rs2)) return true;
  return fail_at(p, w.at, "'%.*s' is no step", WORD_ARGS(w));
}

// `| rs1+N rs2-N | ...`; p->at is at the first bar, or at the end.
static bool read_steps(parser *p, command_step *steps, bool *given) {
  *given = *p->at == '|';
  const char *first = p->at;
  int groups = 0;
  while (*p->at == '|') {
    p->at++;
    if (groups == p->program->open)
      return fail_at(p, p->at - 1, "steps for more loops than there are around: %d", p->program->open);
    unsigned seen = 0;
    while (!at_end(p) && *p->at != '|') {
      word w = take_word(p);
      if (!read_step(p, w, &steps[groups], &seen)) return false;
    }
    groups++;
  }
  if (!*given || groups == p->program->open) return true;
  return fail_at(p, first, "steps for %d loops, and %d are around", groups, p->program->open);
}

static bool read_command(parser *p) {
  const isa_insn *insn = find_insn(p);
  addresses found = {.tensor = {COMMAND_NO_TENSOR, COMMAND_NO_TENSOR}};
  command_step steps[COMMAND_LOOPS_MAX] = {{0}};
  bool stepped;
  p->at = p->start + strcspn(p->start, "|");
  if (!read_steps(p, steps, &stepped)) return false;
  p->start[strcspn(p->start, "|")] = '\0';
  if (insn != NULL && !take_addresses(p, insn, p->start, &found)) return false;
  command_insn command = {.tensor_rs1 = (int16_t)found.tensor[0], .tensor_rs2 = (int16_t)found.tensor[1]};
  isa_text_error error;
  insn = isa_parse(p->array->isa.revision, p->start, &command.rs1, &command.rs2, &error);
  if (insn == NULL) return fail_at(p, p->start + error.column - 1, "%s", error.text);
  if (insn->returns) return fail_at(p, p->start, "%s returns a value, which nobody takes", insn->name);
  command.funct = (uint8_t)insn->funct;
  command.rs1 += found.offset[0];
  command.rs2 += found.offset[1];
  command_add_stepped(p->program, &command, stepped ? steps : NULL);
  return true;
}

// ---- structure

static bool read_loop(parser *p) {
  uint64_t trips;
  skip_blanks(p);
  const char *at = p->at;
  if (!take_number(p, "the number of trips", &trips)) return false;
  if (trips == 0) return fail_at(p, at, "a loop has at least one trip");
  word brace = take_word(p);
  if (!is(brace, "{")) return fail_at(p, brace.at, "expected `{`");
  if (p->program->open == COMMAND_LOOPS_MAX)
    return fail_at(p, p->start, "loops nested deeper than %d", COMMAND_LOOPS_MAX);
  p->loop_line[p->program->open] = p->line;
  command_add_loop(p->program, trips);
  return expect_end(p);
}

static bool read_end(parser *p) {
  if (p->program->open == 0) return fail_at(p, p->start, "`}` without a loop");
  command_add_end(p->program);
  return expect_end(p);
}

static bool read_fence(parser *p) {
  command_add_fence(p->program);
  return expect_end(p);
}

static bool read_line(parser *p) {
  static const struct {
    const char *word;
    bool (*read)(parser *p);
    bool head;
  } lines[] = {{"program", read_program, true}, {"array", read_array, true}, {"tensor", read_tensor, true},
               {"loop", read_loop, false},      {"}", read_end, false},      {"fence", read_fence, false}};
  if (at_end(p)) return true;
  word first = take_word(p);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    if (!is(first, lines[i].word)) continue;
    p->body |= !lines[i].head;
    return lines[i].read(p);
  }
  p->body = true;
  return read_command(p);
}

static void read_lines(parser *p, char *text, size_t length) {
  for (char *line = text, *end = text + length; line < end && p->errors < ERRORS_MAX;) {
    char *stop = memchr(line, '\n', (size_t)(end - line));
    if (stop == NULL) stop = end;
    *stop = '\0';
    p->line++;
    p->start = p->at = line;
    size_t seen = strcspn(line, "#");
    while (seen != 0 && line[seen - 1] == '\r') seen--;
    if (strlen(line) != (size_t)(stop - line))
      fail_at(p, line + strlen(line), "a zero byte");
    else {
      line[seen] = '\0';
      read_line(p);
    }
    line = stop + 1;
  }
}

command_program *command_parse(const char *file, const char *text, size_t length, const hw_array *array,
                               wf_diag *diag) {
  parser p = {.array = array, .file = file, .diag = diag, .program = command_create("unnamed", array)};
  read_lines(&p, wf_arena_text(p.program->arena, text, length), length);
  p.start = p.at;
  if (p.errors == 0 && p.program->open != 0) {
    p.line = p.loop_line[p.program->open - 1];
    fail_at(&p, p.start, "this loop has no `}`");
  }
  if (p.errors == 0 && !p.named) {
    p.line = 1;
    fail_at(&p, p.start, "no `program NAME` line");
  }
  if (p.errors == 0) return p.program;
  command_destroy(p.program);
  return NULL;
}
