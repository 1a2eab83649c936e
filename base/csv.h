// SPDX-License-Identifier: Apache-2.0
// Fields of comma-separated values (RFC 4180).
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdio.h>

// Writes one field: in quotes if a comma, a quote or the end of a line is in it, its own quotes doubled; control
// characters as in WF_NAME_CSV. A text that a spreadsheet would take for a formula (it begins with =, +, -, @, a tab or
// an end of line and is no number) gets an apostrophe in front, which makes it text there.
void wf_csv_field(const char *text, FILE *out);

#endif
