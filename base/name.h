// SPDX-License-Identifier: Apache-2.0
// Names are data. Tables, models, stores and programs bring names of any bytes; before one goes into a file, a program
// or onto a terminal, it is written in the form of that place. Everything that writes names does it with these.
//
// A control character is one of C0, DEL, C1, a separator of lines or a mark of direction (U+2028 to U+202E, U+2066 to
// U+2069). A byte that is no part of valid UTF-8 is treated like one. All other characters stand for themselves unless
// a form says otherwise.
#ifndef BASE_NAME_H
#define BASE_NAME_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum wf_name_form {
  WF_NAME_TERMINAL,  // one line for people: control characters as \n, \t, \r or \x1b, byte by byte
  WF_NAME_MESSAGE,   // the same, but ends of lines and tabs stay
  WF_NAME_CSV,       // between the quotes of a field, for wf_csv_field: ends of lines and tabs stay, quotes are doubled
  WF_NAME_C_COMMENT,  // inside a comment of C of either kind: what could end or continue it as %0a
  WF_NAME_C_STRING,   // between the quotes of a string of C that shows the terminal's form
  WF_NAME_GNUPLOT,    // between double quotes of gnuplot, which shows the terminal's form
  WF_NAME_JSON,       // between the quotes of a text in JSON; bytes that are not UTF-8 as \ufffd
  WF_NAME_DOCUMENT,   // a whole document of JSON, whose writer has escaped quotes and C0: the rest of the above
} wf_name_form;

void wf_name_write(wf_name_form form, const char *name, FILE *out);
// The same of a text that is printed first.
void wf_name_print(wf_name_form form, FILE *out, const char *format, va_list args);

// The terminal's form of a name in `line`, cut with "..." at its end: for printf.
enum { WF_NAME_LINE = 256 };
const char *wf_name_shown(const char *name, char line[WF_NAME_LINE]);

// The terminal's form in a column of at least `width` characters; at most so many if it is `cut`.
void wf_name_column(const char *name, unsigned width, bool cut, FILE *out);

// A name as that of a file or folder, without its ending, to be freed: letters, digits, '-', '_' and '.' of ASCII, no
// '.' or '-' first, at most WF_NAME_FILE characters. One that had to be changed carries its hash, so
// that names that differ have files that differ.
enum { WF_NAME_FILE = 80 };
char *wf_name_file(const char *name);

#endif
