// SPDX-License-Identifier: Apache-2.0
// See matrix.h. Apart so that it is compiled for more than one instruction set. Columns are worked on in strips whose
// sums stay in registers.
#include "search/learn/matrix.h"

#include <string.h>

#include "base/machine.h"

enum { STRIP = 64 };

// sums += the sum over i of x[i * step] times the strip of row i of w.
static inline __attribute__((always_inline)) void add_rows(const float *restrict x, size_t step,
                                                           const float *restrict w, size_t width, size_t count,
                                                           size_t strip, float *restrict sums) {
  float kept[STRIP];
  memcpy(kept, sums, strip * sizeof *sums);
  for (size_t i = 0; i < count; i++) {
    const float by = x[i * step];
    for (size_t o = 0; o < strip; o++) kept[o] += by * w[i * width + o];
  }
  memcpy(sums, kept, strip * sizeof *sums);
}

WF_FOR_MACHINE void learn_multiply(const float *x, const float *w, float *y, size_t rows, size_t in, size_t out) {
  for (size_t o = 0; o < out; o += STRIP)
    for (size_t r = 0; r < rows; r++) {
      if (out - o >= STRIP)
        add_rows(&x[r * in], 1, &w[o], out, in, STRIP, &y[r * out + o]);
      else
        add_rows(&x[r * in], 1, &w[o], out, in, out - o, &y[r * out + o]);
    }
}

WF_FOR_MACHINE void learn_multiply_turned(const float *x, const float *y, float *w, size_t rows, size_t in,
                                          size_t out) {
  for (size_t o = 0; o < out; o += STRIP)
    for (size_t i = 0; i < in; i++) {
      if (out - o >= STRIP)
        add_rows(&x[i], in, &y[o], out, rows, STRIP, &w[i * out + o]);
      else
        add_rows(&x[i], in, &y[o], out, rows, out - o, &w[i * out + o]);
    }
}
