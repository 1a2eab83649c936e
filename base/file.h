// SPDX-License-Identifier: Apache-2.0
// Whole files in memory.
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stddef.h>

#include "base/diag.h"

// The bytes of a file with a zero behind them, to be freed; NULL after the reason was reported. What is longer than
// `most` bytes (0: no limit) is cut one byte behind them, so that endless files end, too, and the reader sees that it
// is too long.
char *wf_read_file(const char *path, size_t most, size_t *length, wf_diag *diag);

#endif
