// SPDX-License-Identifier: Apache-2.0
// Commands as text: isa_print and isa_parse, which are exact inverses for every operand pair.
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/isa.h"

// ---- printing ----

// Programs are printed by the hundred thousand commands: no formats here, and no bounds, as ISA_TEXT_MAX has room for
// any command. Every function writes at `at` and returns where it stopped.

static char *put(char *at, const char *text) {
  while (*text != '\0') *at++ = *text++;
  return at;
}

static char *put_reversed(char *at, const char *digits, unsigned count) {
  while (count != 0) *at++ = digits[--count];
  return at;
}

static char *put_decimal(char *at, uint64_t value) {
  char digits[20];
  unsigned count = 0;
  do digits[count++] = (char)('0' + value % 10);
  while ((value /= 10) != 0);
  return put_reversed(at, digits, count);
}

static char *put_hex(char *at, uint64_t value) {
  char digits[16];
  unsigned count = 0;
  do digits[count++] = "0123456789abcdef"[value % 16];
  while ((value /= 16) != 0);
  *at++ = '0';
  *at++ = 'x';
  return put_reversed(at, digits, count);
}

static char *put_local(char *at, uint32_t local) {
  if (local == ISA_LOCAL_GARBAGE) return put(at, "garbage");
  at = put(at, isa_local_accumulator(local) ? "acc:" : "sp:");
  at = put_hex(at, isa_local_row(local));
  if (isa_local_accumulate(local)) at = put(at, "+acc");
  if (isa_local_full(local)) at = put(at, "+full");
  if (isa_local_norm(local) == ISA_LOCAL_NORM_NONE) return at;
  *at++ = '+';
  return put(at, isa_local_norm_name(isa_local_norm(local)));
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static char *put_f32(char *at, uint32_t bits) {
  float value = float_of(bits);
  if (isnan(value)) return put_hex(at, bits);
  char text[32];
  for (int digits = 1; digits <= 9; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, (double)value);
    if (bits_of(strtof(text, NULL)) == bits) break;
  }
  return put(at, text);
}

static char *put_number(char *at, const isa_field *field, uint64_t value) {
  for (size_t i = 0; i < field->value_count; i++)
    if (field->values[i].value == value) return put(at, field->values[i].name);
  return put_decimal(at, value);
}

static char *put_field(char *at, const isa_field *field, uint64_t value) {
  *at++ = ' ';
  at = put(at, field->name);
  *at++ = '=';
  if (field->type == ISA_TYPE_LOCAL_ADDRESS) return put_local(at, (uint32_t)value);
  if (field->type == ISA_TYPE_F32) return put_f32(at, (uint32_t)value);
  if (field->type == ISA_TYPE_DRAM) return put_hex(at, value);
  return put_number(at, field, value);
}

static char *put_reserved(char *at, const char *name, uint64_t bits) {
  return bits == 0 ? at : put_hex(put(at, name), bits);
}

size_t isa_print(const isa_insn *insn, uint64_t rs1, uint64_t rs2, char *text, size_t size) {
  char whole[ISA_TEXT_MAX], *at = put(whole, insn->name);
  for (size_t i = 0; i < insn->field_count; i++) {
    const isa_field *field = &insn->fields[i];
    uint64_t value = isa_field_get(field, rs1, rs2);
    assert(field->type != ISA_TYPE_CONST || value == field->min);
    if (field->type == ISA_TYPE_CONST || (field->type == ISA_TYPE_TOKEN && value == 0)) continue;
    at = put_field(at, field, value);
  }
  at = put_reserved(at, " rs1=", rs1 & insn->reserved_rs1);
  at = put_reserved(at, " rs2=", rs2 & insn->reserved_rs2);
  const size_t length = (size_t)(at - whole), stored = length < size ? length : size - 1;
  assert(length < sizeof whole);
  if (size == 0) return length;
  memcpy(text, whole, stored);
  text[stored] = '\0';
  return length;
}

// ---- parsing ----

// A word of the text: [at, at + length). Its column is its distance from `start`.
typedef struct word {
  const char *start, *at;
  size_t length;
} word;

static bool fail(isa_text_error *error, word where, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool fail(isa_text_error *error, word where, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error->text, sizeof error->text, format, args);
  va_end(args);
  error->column = (size_t)(where.at - where.start) + 1;
  return false;
}

#define WORD_ARGS(w) (int)((w).length < 64 ? (w).length : 64), (w).at

static bool is(word w, const char *text) { return strlen(text) == w.length && memcmp(w.at, text, w.length) == 0; }

// What lies before `stop`, or up to the end, starting at `at`.
static word cut(const char *start, const char *at, const char *end, char stop) {
  const char *found = memchr(at, stop, (size_t)(end - at));
  return (word){start, at, (size_t)((found == NULL ? end : found) - at)};
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static word cut_at_space(const char *start, const char *at, const char *end) {
  word w = {start, at, 0};
  while (at + w.length < end && !is_space(at[w.length])) w.length++;
  return w;
}

// Decimal or 0x hexadecimal, without sign, without overflow.
static bool number(word w, uint64_t *value) {
  unsigned base = w.length > 2 && w.at[0] == '0' && w.at[1] == 'x' ? 16 : 10;
  size_t i = base == 16 ? 2 : 0;
  if (w.length == 0) return false;
  for (*value = 0; i < w.length; i++) {
    char c = w.at[i];
    unsigned digit = isdigit((unsigned char)c) ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
    if ((!isdigit((unsigned char)c) && (c < 'a' || c > 'f')) || digit >= base) return false;
    if (*value > (UINT64_MAX - digit) / base) return false;
    *value = *value * base + digit;
  }
  return true;
}

// The bits that a flag sets, 0 when there is no such flag.
static uint64_t flag_bits(word flag) {
  if (is(flag, "acc")) return ISA_LOCAL_ACCUMULATE_MASK;
  if (is(flag, "full")) return ISA_LOCAL_FULL_MASK;
  const uint64_t norm_one = ISA_LOCAL_NORM_MASK & (~ISA_LOCAL_NORM_MASK + 1);
  for (unsigned norm = ISA_LOCAL_NORM_NONE + 1; isa_local_norm_name(norm) != NULL; norm++)
    if (is(flag, isa_local_norm_name(norm))) return norm * norm_one;
  return 0;
}

static bool parse_flag(word flag, uint64_t *local, isa_text_error *error) {
  uint64_t bits = flag_bits(flag), excludes = bits;
  if (bits == 0) return fail(error, flag, "unknown flag '%.*s': acc, full or a statistics command", WORD_ARGS(flag));
  if ((bits & ISA_LOCAL_NORM_MASK) != 0) excludes = ISA_LOCAL_NORM_MASK;
  if ((*local & excludes) != 0)
    return fail(error, flag, "flag '%.*s' is given twice or contradicts another", WORD_ARGS(flag));
  *local |= bits;
  return true;
}

static bool parse_local(word text, uint64_t *local, isa_text_error *error) {
  if (is(text, "garbage")) {
    *local = ISA_LOCAL_GARBAGE;
    return true;
  }
  const char *end = text.at + text.length;
  word space = cut(text.start, text.at, end, ':');
  bool accumulator = is(space, "acc");
  if ((!accumulator && !is(space, "sp")) || space.length == text.length)
    return fail(error, text, "'%.*s' is not a local address: sp:ROW, acc:ROW or garbage", WORD_ARGS(text));
  word row = cut(text.start, space.at + space.length + 1, end, '+');
  if (!number(row, local) || *local > ISA_LOCAL_ROW_MASK)
    return fail(error, row, "'%.*s' is not a row number", WORD_ARGS(row));
  if (accumulator) *local |= ISA_LOCAL_ACCUMULATOR_MASK;
  for (const char *at = row.at + row.length; at < end;) {
    word flag = cut(text.start, at + 1, end, '+');
    if (!parse_flag(flag, local, error)) return false;
    at = flag.at + flag.length;
  }
  return true;
}

// Decimal text, inf, or bits in hexadecimal. strtof alone would also take hexadecimal floats and leading space.
static bool parse_f32(word text, uint64_t *bits, isa_text_error *error) {
  char copy[64];
  if (text.length > 2 && text.at[1] == 'x') {
    if (number(text, bits) && *bits <= UINT32_MAX) return true;
  } else if (text.length > 0 && text.length < sizeof copy && strchr("+-.0123456789i", text.at[0]) != NULL) {
    memcpy(copy, text.at, text.length);
    copy[text.length] = '\0';
    char *rest;
    float value = strtof(copy, &rest);
    bool hexadecimal = strpbrk(copy, "xX") != NULL, infinite = strchr(copy, 'i') != NULL;
    *bits = bits_of(value);
    if (*rest == '\0' && !hexadecimal && !isnan(value) && (bool)isinf(value) == infinite) return true;
  }
  return fail(error, text, "'%.*s' is not a 32-bit float: a decimal number, inf or 0x and its bits", WORD_ARGS(text));
}

static bool parse_number(const isa_field *field, word text, uint64_t *value, isa_text_error *error) {
  for (size_t i = 0; i < field->value_count; i++) {
    if (!is(text, field->values[i].name)) continue;
    *value = field->values[i].value;
    return true;
  }
  if (!number(text, value)) return fail(error, text, "'%.*s' is not a value of %s", WORD_ARGS(text), field->name);
  if (*value <= isa_field_max(field)) return true;
  return fail(error, text, "%s has %u bits, '%.*s' does not fit", field->name, field->width, WORD_ARGS(text));
}

static bool parse_value(const isa_field *field, word text, uint64_t *value, isa_text_error *error) {
  if (field->type == ISA_TYPE_LOCAL_ADDRESS) return parse_local(text, value, error);
  if (field->type == ISA_TYPE_F32) return parse_f32(text, value, error);
  return parse_number(field, text, value, error);
}

// The command under construction. `seen` marks fields by index, and the reserved parts above them.
typedef struct command {
  const isa_insn *insn;
  uint64_t rs[2];
  uint64_t seen;
} command;

static bool mark(command *c, size_t index, word name, isa_text_error *error) {
  assert(index < 64);
  if ((c->seen >> index & 1) != 0) return fail(error, name, "%.*s is given twice", WORD_ARGS(name));
  c->seen |= UINT64_C(1) << index;
  return true;
}

static bool parse_reserved(command *c, unsigned reg, word name, word text, isa_text_error *error) {
  uint64_t value, allowed = reg == 1 ? c->insn->reserved_rs1 : c->insn->reserved_rs2;
  if (!mark(c, c->insn->field_count + reg, name, error)) return false;
  if (!number(text, &value)) return fail(error, text, "'%.*s' is not a number", WORD_ARGS(text));
  if ((value & ~allowed) != 0)
    return fail(error, text, "%.*s gives only bits outside of fields, here 0x%" PRIx64, WORD_ARGS(name), allowed);
  c->rs[reg - 1] |= value;
  return true;
}

static bool parse_assignment(command *c, word item, isa_text_error *error) {
  word name = cut(item.start, item.at, item.at + item.length, '=');
  if (name.length == item.length) return fail(error, item, "expected FIELD=VALUE, not '%.*s'", WORD_ARGS(item));
  word text = {item.start, name.at + name.length + 1, item.length - name.length - 1};
  if (is(name, "rs1") || is(name, "rs2")) return parse_reserved(c, name.at[2] == '1' ? 1 : 2, name, text, error);
  for (size_t i = 0; i < c->insn->field_count; i++) {
    const isa_field *field = &c->insn->fields[i];
    if (field->type == ISA_TYPE_CONST || !is(name, field->name)) continue;
    uint64_t value;
    if (!mark(c, i, name, error) || !parse_value(field, text, &value, error)) return false;
    isa_field_set(field, &c->rs[0], &c->rs[1], value);
    return true;
  }
  return fail(error, name, "%s has no field '%.*s'", c->insn->name, WORD_ARGS(name));
}

static const isa_insn *find_word(unsigned revision, word name) {
  char copy[64];
  if (name.length >= sizeof copy) return NULL;
  memcpy(copy, name.at, name.length);
  copy[name.length] = '\0';
  return isa_find_name(revision, copy);
}

static bool parse_fields(command *c, word name, const char *end, isa_text_error *error) {
  for (const char *at = name.at + name.length;;) {
    while (at < end && isspace((unsigned char)*at)) at++;
    if (at == end) return true;
    word item = cut_at_space(name.start, at, end);
    if (!parse_assignment(c, item, error)) return false;
    at = item.at + item.length;
  }
}

const isa_insn *isa_parse(unsigned revision, const char *text, uint64_t *rs1, uint64_t *rs2, isa_text_error *error) {
  const char *at = text, *end = text + strlen(text);
  while (at < end && isspace((unsigned char)*at)) at++;
  word name = cut_at_space(text, at, end);
  command c = {.insn = find_word(revision, name)};
  if (c.insn == NULL) {
    fail(error, name, "ISA revision %u has no instruction '%.*s'", revision, WORD_ARGS(name));
    return NULL;
  }
  c.rs[0] = c.insn->selector_rs1;
  if (!parse_fields(&c, name, end, error)) return NULL;
  *rs1 = c.rs[0];
  *rs2 = c.rs[1];
  return c.insn;
}
