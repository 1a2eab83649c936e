// SPDX-License-Identifier: Apache-2.0
// See tensor.h.
#include "sim/tests/oracle/tensor.h"

#include "base/alloc.h"
#include "sim/tests/oracle/numerics.h"

int64_t oracle_narrow(int64_t value, oracle_output out) {
  return oracle_scale(out.relu ? oracle_relu(value) : value, out.scale);
}

static int64_t chunk_sum(const oracle_gemm *g, int64_t i, int64_t j, int64_t from) {
  int64_t sum = from == 0 && g->first != NULL ? g->first[i * g->n + j] : 0;
  for (int64_t k = from; k < g->k && k < from + g->chunk; k++) sum += g->a[i * g->k + k] * g->b[k * g->n + j];
  sum = oracle_wrap(sum, g->bits);
  return oracle_saturate(oracle_shift_even(sum, g->shift), g->bits);
}

void oracle_matmul(const oracle_gemm *g, int64_t *out) {
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t j = 0; j < g->n; j++) {
      int64_t total = g->base != NULL ? g->base[i * g->n + j] : 0;
      for (int64_t k = 0; k < g->k; k += g->chunk) total = oracle_wrap(total + chunk_sum(g, i, j, k), 32);
      out[i * g->n + j] = total;
    }
  }
}

// The input at padded, possibly dilated coordinates.
static int64_t input_at(const oracle_conv *c, int64_t b, int64_t row, int64_t col, int64_t channel) {
  if (c->input_dilated) {
    if (row % 2 != 0 || col % 2 != 0) return 0;
    row /= 2;
    col /= 2;
  }
  if (row < 0 || col < 0 || row >= c->in_rows || col >= c->in_cols) return 0;
  return c->input[((b * c->in_rows + row) * c->in_cols + col) * c->in_channels + channel];
}

static int64_t weight_at(const oracle_conv *c, int64_t row, int64_t col, int64_t in, int64_t out) {
  if (c->rotate) {
    row = c->kernel - 1 - row;
    col = c->kernel - 1 - col;
  }
  if (c->depthwise) return c->weights[(row * c->kernel + col) * c->out_channels + out];
  return c->weights[((row * c->kernel + col) * c->in_channels + in) * c->out_channels + out];
}

static int64_t pixel(const oracle_conv *c, int64_t b, int64_t row, int64_t col, int64_t out) {
  int64_t sum = c->bias != NULL ? c->bias[out] : 0;
  int64_t first = c->depthwise ? out : 0;
  int64_t last = c->depthwise ? out : c->in_channels - 1;
  for (int64_t kr = 0; kr < c->kernel; kr++) {
    for (int64_t kc = 0; kc < c->kernel; kc++) {
      for (int64_t in = first; in <= last; in++) {
        int64_t r = row * c->stride + kr * c->dilation - c->padding;
        int64_t q = col * c->stride + kc * c->dilation - c->padding;
        sum += input_at(c, b, r, q, in) * weight_at(c, kr, kc, in, out);
      }
    }
  }
  return oracle_narrow(oracle_wrap(sum, 32), c->output);
}

// Pixels outside the image count as zero, after activation and scale.
static int64_t pooled(const oracle_conv *c, const int64_t *image, int64_t prow, int64_t pcol, int64_t channel) {
  int64_t best = -128;
  for (int64_t wr = 0; wr < c->pool_size; wr++) {
    for (int64_t wc = 0; wc < c->pool_size; wc++) {
      int64_t row = prow * c->pool_stride + wr - c->pool_padding;
      int64_t col = pcol * c->pool_stride + wc - c->pool_padding;
      bool inside = row >= 0 && col >= 0 && row < c->out_rows && col < c->out_cols;
      int64_t value = inside ? image[(row * c->out_cols + col) * c->out_channels + channel] : 0;
      if (value > best) best = value;
    }
  }
  return best;
}

void oracle_convolution(const oracle_conv *c, int64_t *out) {
  int64_t *image = wf_alloc((size_t)(c->out_rows * c->out_cols * c->out_channels), sizeof *image);
  for (int64_t b = 0; b < c->batch; b++) {
    for (int64_t n = 0; n < c->out_rows * c->out_cols * c->out_channels; n++) {
      int64_t position = n / c->out_channels;
      image[n] = pixel(c, b, position / c->out_cols, position % c->out_cols, n % c->out_channels);
    }
    for (int64_t n = 0; n < c->pool_rows * c->pool_cols * c->out_channels; n++) {
      int64_t position = n / c->out_channels;
      *out++ = pooled(c, image, position / c->pool_cols, position % c->pool_cols, n % c->out_channels);
    }
  }
  wf_free(image);
}
