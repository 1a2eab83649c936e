// SPDX-License-Identifier: Apache-2.0
// Fields of comma-separated values (RFC 4180).
#ifndef BASE_CSV_H
#define BASE_CSV_H

#include <stdio.h>

// Writes one field: in quotes if a comma, a quote or the end of a line is in it, its own quotes doubled.
void wf_csv_field(const char *text, FILE *out);

#endif
