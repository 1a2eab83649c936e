// SPDX-License-Identifier: Apache-2.0
// Formatted output without a C library.
#ifndef WEFT_CONSOLE_H
#define WEFT_CONSOLE_H

#include <stdarg.h>

// Conversions %d %i %u %x %X %c %s %p %%, with l, ll or z, flags - and 0, a width and, for %s, a precision; width and
// precision may be *. Any other conversion is printed as it stands. No floating point.
void weft_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void weft_vprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif
