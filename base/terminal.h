// SPDX-License-Identifier: Apache-2.0
// What a stream can show: how wide its lines are, and whether it has colours.
#ifndef BASE_TERMINAL_H
#define BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

// Columns of the stream: what COLUMNS says, else those of the terminal. 0: a file or a pipe, which takes any line.
unsigned wf_terminal_columns(FILE *out);

typedef enum {
  WF_COLOUR_NONE,
  WF_COLOUR_HEAD,
  WF_COLOUR_GOOD,
  WF_COLOUR_WARN,
  WF_COLOUR_BAD,
  WF_COLOUR_SOFT
} wf_colour;

// Whether the stream is a terminal with colours: NO_COLOR (not empty) and TERM=dumb say no.
bool wf_terminal_coloured(FILE *out);
// The sequence that begins a colour, and with WF_COLOUR_NONE the one that ends it; "" where there are no colours.
const char *wf_terminal_colour(bool coloured, wf_colour colour);

#endif
