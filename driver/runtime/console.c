// SPDX-License-Identifier: Apache-2.0
// weft_printf: formats into a small buffer that is written out when it is full and at the end, so that a line costs one
// request to the host. No state outlives a call.
#include "weft/console.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weft/port.h"

struct sink {
  size_t length;
  char text[256];
};

struct spec {
  bool left, zero;
  int width;
  int precision;  // -1: none
  int longs;      // 0: int, otherwise 64 bits
};

static void drain(struct sink *sink) {
  if (sink->length > 0) weft_write(sink->text, sink->length);
  sink->length = 0;
}

static void put(struct sink *sink, char c) {
  if (sink->length == sizeof sink->text) drain(sink);
  sink->text[sink->length++] = c;
}

static void pad(struct sink *sink, char c, int count) {
  for (int i = 0; i < count; i++) put(sink, c);
}

static void put_field(struct sink *sink, const struct spec *spec, const char *text, size_t length) {
  int fill = spec->width - (int)length;
  if (!spec->left) pad(sink, ' ', fill);
  for (size_t i = 0; i < length; i++) put(sink, text[i]);
  if (spec->left) pad(sink, ' ', fill);
}

// sign: "", "-" or "0x".
static void put_number(struct sink *sink, const struct spec *spec, const char *sign, uint64_t value, unsigned base,
                       const char *digits) {
  char text[80];
  size_t end = sizeof text, start = end;
  do text[--start] = digits[value % base];
  while ((value /= base) != 0);
  size_t signs = 0;
  while (sign[signs] != '\0') signs++;
  if (spec->zero && !spec->left) {
    while (start > signs && end - start + signs < (size_t)spec->width) text[--start] = '0';
  }
  while (signs > 0) text[--start] = sign[--signs];
  put_field(sink, spec, text + start, end - start);
}

static void put_string(struct sink *sink, const struct spec *spec, const char *text) {
  size_t length = 0;
  if (text == NULL) text = "(null)";
  while (text[length] != '\0' && (spec->precision < 0 || length < (size_t)spec->precision)) length++;
  put_field(sink, spec, text, length);
}

static int parse_count(const char **format, va_list *arguments) {
  if (**format == '*') {
    (*format)++;
    return va_arg(*arguments, int);
  }
  int count = 0;
  for (; **format >= '0' && **format <= '9'; (*format)++) count = count * 10 + (**format - '0');
  return count;
}

static struct spec parse_spec(const char **format, va_list *arguments) {
  struct spec spec = {.precision = -1};
  for (;; (*format)++) {
    if (**format == '-')
      spec.left = true;
    else if (**format == '0')
      spec.zero = true;
    else
      break;
  }
  spec.width = parse_count(format, arguments);
  if (spec.width < 0) {
    spec.left = true;
    spec.width = -spec.width;
  }
  if (**format == '.') {
    (*format)++;
    spec.precision = parse_count(format, arguments);
  }
  for (; **format == 'l' || **format == 'z'; (*format)++) spec.longs++;
  return spec;
}

static int64_t next_signed(const struct spec *spec, va_list *arguments) {
  return spec->longs > 0 ? va_arg(*arguments, int64_t) : va_arg(*arguments, int);
}

static uint64_t next_unsigned(const struct spec *spec, va_list *arguments) {
  return spec->longs > 0 ? va_arg(*arguments, uint64_t) : va_arg(*arguments, unsigned);
}

// `start` is the text of the conversion from its '%', `end` points at its letter.
static void convert(struct sink *sink, const struct spec *spec, const char *start, const char *end,
                    va_list *arguments) {
  static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
  switch (*end) {
    case 'd':
    case 'i': {
      int64_t value = next_signed(spec, arguments);
      put_number(sink, spec, value < 0 ? "-" : "", value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10, lower);
      break;
    }
    case 'u':
      put_number(sink, spec, "", next_unsigned(spec, arguments), 10, lower);
      break;
    case 'x':
      put_number(sink, spec, "", next_unsigned(spec, arguments), 16, lower);
      break;
    case 'X':
      put_number(sink, spec, "", next_unsigned(spec, arguments), 16, upper);
      break;
    case 'p':
      put_number(sink, spec, "0x", (uintptr_t)va_arg(*arguments, void *), 16, lower);
      break;
    case 'c':
      put_field(sink, spec, &(char){(char)va_arg(*arguments, int)}, 1);
      break;
    case 's':
      put_string(sink, spec, va_arg(*arguments, const char *));
      break;
    case '%':
      put(sink, '%');
      break;
    default:
      while (start <= end) put(sink, *start++);
  }
}

void weft_vprintf(const char *format, va_list arguments) {
  struct sink sink = {.length = 0};
  va_list rest;
  va_copy(rest, arguments);
  for (; *format != '\0'; format++) {
    if (*format != '%') {
      put(&sink, *format);
      continue;
    }
    const char *start = format++;
    struct spec spec = parse_spec(&format, &rest);
    if (*format == '\0') break;
    convert(&sink, &spec, start, format, &rest);
  }
  va_end(rest);
  drain(&sink);
}

void weft_printf(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  weft_vprintf(format, arguments);
  va_end(arguments);
}
