// SPDX-License-Identifier: Apache-2.0
// Streams that are packed as gzip while they are written.
#ifndef BASE_GZIP_H
#define BASE_GZIP_H

#include <stdbool.h>
#include <stdio.h>

// Whether a file of this name is to be packed: it ends in .gz.
bool wf_gzip_named(const char *path);
// What is written to the result goes to `to` packed. fclose ends it, flushes `to` and leaves it open; it fails, as
// writes do, where `to` takes no more. NULL: no stream could be made.
FILE *wf_gzip_open(FILE *to);

#endif
