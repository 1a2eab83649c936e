// SPDX-License-Identifier: Apache-2.0
// Stores: raw scratchpad rows, accumulator rows with activation, scale and saturation, full width, column blocks, a
// kept scale, max pooling, and rows spread over an image (1-D mode).
#include "driver/examples/check.h"
#include "weft/weft.h"

enum {
  BLOCKS = WEFT_MAX_BLOCK_LEN < 4 ? WEFT_MAX_BLOCK_LEN : 4,
  ROWS = BLOCKS * WEFT_DIM,
  STRIDE = BLOCKS * WEFT_DIM + 3,
  SIDE = 7,  // of the image for pooling
};

static int8_t narrow[ROWS * WEFT_DIM];
static int32_t wide[ROWS * WEFT_DIM];
static int8_t got[WEFT_DIM * STRIDE + SIDE * SIDE * WEFT_DIM], wanted[sizeof got];
static int32_t got_wide[WEFT_DIM * STRIDE], wanted_wide[WEFT_DIM * STRIDE];
static int32_t image[SIDE * SIDE * WEFT_DIM];
static int errors;

static void forget(void) {
  for (size_t i = 0; i < sizeof got; i++) got[i] = wanted[i] = 77;
}

static void fill_local(void) {
  weft_set_load((struct weft_load){.state = 0, .stride_bytes = WEFT_DIM});
  weft_set_load((struct weft_load){.state = 1, .stride_bytes = WEFT_DIM * sizeof(int32_t)});
  for (size_t r = 0; r < ROWS; r += WEFT_DIM) {
    weft_mvin(weft_dram(narrow + r * WEFT_DIM), weft_local_sp(r), WEFT_DIM, WEFT_DIM);
    weft_mvin2(weft_dram(wide + r * WEFT_DIM), weft_local_acc(r, 0), WEFT_DIM, WEFT_DIM);
  }
}

// Column block b comes from WEFT_DIM rows further down.
static size_t local_at(size_t r, size_t c) { return (r + c / WEFT_DIM * WEFT_DIM) * WEFT_DIM + c % WEFT_DIM; }

static void raw(size_t rows, size_t cols) {
  forget();
  weft_set_store((struct weft_store){.stride_bytes = STRIDE});
  weft_mvout(weft_dram(got), weft_local_sp(0), cols, rows);
  weft_fence();
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) wanted[r * STRIDE + c] = narrow[local_at(r, c)];
  check_int8("scratchpad rows", got, wanted, WEFT_DIM, STRIDE, STRIDE, &errors);
}

static void scaled(size_t rows, size_t cols, enum weft_activation activation, float scale, bool keep) {
  forget();
  weft_set_store(
      (struct weft_store){.stride_bytes = STRIDE, .activation = activation, .scale = scale, .keep_scale = keep});
  weft_mvout(weft_dram(got), weft_local_acc(0, 0), cols, rows);
  weft_fence();
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++)
      wanted[r * STRIDE + c] = check_scale(wide[local_at(r, c)], activation == WEFT_RELU, scale);
  check_int8(keep ? "kept scale" : "scaled rows", got, wanted, WEFT_DIM, STRIDE, STRIDE, &errors);
}

static void full(size_t rows, size_t cols) {
  for (size_t i = 0; i < WEFT_DIM * STRIDE; i++) got_wide[i] = wanted_wide[i] = 77;
  // Activation and scale do not touch full-width rows.
  weft_set_store(
      (struct weft_store){.stride_bytes = STRIDE * sizeof(int32_t), .activation = WEFT_RELU, .scale = 0.25f});
  weft_mvout(weft_dram(got_wide), weft_local_acc(0, WEFT_ACC_FULL), cols, rows);
  weft_fence();
  for (size_t r = 0; r < rows; r++)
    for (size_t c = 0; c < cols; c++) wanted_wide[r * STRIDE + c] = wide[local_at(r, c)];
  check_int32("full-width rows", got_wide, wanted_wide, WEFT_DIM, STRIDE, STRIDE, &errors);
}

static void load_image(size_t rows, size_t cols) {
  weft_set_load((struct weft_load){.state = 1, .stride_bytes = WEFT_DIM * sizeof(int32_t)});
  for (size_t p = 0; p < rows * cols; p += WEFT_DIM)
    weft_mvin2(weft_dram(image + p * WEFT_DIM), weft_local_acc(p, 0), WEFT_DIM, weft_min(rows * cols - p, WEFT_DIM));
}

// Window elements outside the image count as zero.
static int8_t pooled(const struct weft_pool *p, size_t row, size_t col, size_t channel, float scale) {
  int8_t best = INT8_MIN;
  for (size_t wr = 0; wr < p->size; wr++)
    for (size_t wc = 0; wc < p->size; wc++) {
      long r = (long)(row * p->stride + wr) - (long)p->upper_padding;
      long c = (long)(col * p->stride + wc) - (long)p->left_padding;
      bool inside = r >= 0 && r < (long)p->rows && c >= 0 && c < (long)p->cols;
      int8_t value = 0;
      if (inside) value = check_scale(image[((size_t)r * p->cols + (size_t)c) * WEFT_DIM + channel], false, scale);
      if (value > best) best = value;
    }
  return best;
}

static void pool(struct weft_pool p, size_t channels) {
  if (!WEFT_HAS_MAX_POOL) return;
  forget();
  p.image_cols = p.pooled_cols + 1;
  load_image(p.rows, p.cols);
  weft_set_store((struct weft_store){.stride_bytes = channels, .scale = 0.5f, .pool = p});
  weft_mvout(weft_dram(got), weft_local_acc(0, 0), channels, 1);
  weft_fence();
  for (size_t r = 0; r < p.pooled_rows; r++)
    for (size_t c = 0; c < p.pooled_cols; c++)
      for (size_t ch = 0; ch < channels; ch++)
        wanted[(r * p.image_cols + c) * channels + ch] = pooled(&p, r, c, ch, 0.5f);
  check_int8("pooled rows", got, wanted, SIDE * SIDE, channels, channels, &errors);
}

// pool_size without pool_stride: every row goes to its own pixel of an image that is wider than the part stored.
static void spread(size_t rows, size_t cols, size_t channels) {
  if (!WEFT_HAS_MAX_POOL) return;
  forget();
  struct weft_pool p = {.size = 1, .rows = rows, .cols = cols, .image_cols = cols + 2};
  load_image(rows, cols);
  weft_set_store((struct weft_store){.stride_bytes = channels, .scale = 0.5f, .pool = p});
  weft_mvout(weft_dram(got), weft_local_acc(0, 0), channels, rows * cols);
  weft_fence();
  for (size_t n = 0; n < rows * cols; n++)
    for (size_t ch = 0; ch < channels; ch++)
      wanted[(n / cols * p.image_cols + n % cols) * channels + ch] = check_scale(image[n * WEFT_DIM + ch], false, 0.5f);
  check_int8("rows spread over an image", got, wanted, SIDE * SIDE, channels, channels, &errors);
}

int main(void) {
  uint32_t seed = 2;
  check_fill(narrow, sizeof narrow, &seed);
  check_fill_int32(wide, sizeof wide / sizeof *wide, 600, &seed);
  check_fill_int32(image, sizeof image / sizeof *image, 300, &seed);
  // Values at which a rounding step or the saturation decides.
  static const int32_t edges[] = {INT32_MAX, INT32_MIN};
  wide[0] = edges[0], wide[1] = edges[1], wide[2] = 16777217, wide[WEFT_DIM + 1] = -16777219;

  weft_flush(0);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  fill_local();
  raw(WEFT_DIM, WEFT_DIM);
  raw(WEFT_DIM - 1, BLOCKS * WEFT_DIM - 1);
  raw(1, 1);
  static const float scales[] = {1.0f, 0.5f, 0.25f, 1.0f / 3.0f, 6e-8f, -1.0f, 0.117f};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    scaled(WEFT_DIM, BLOCKS * WEFT_DIM, WEFT_NO_ACTIVATION, scales[i], false);
    scaled(WEFT_DIM - 1, BLOCKS * WEFT_DIM - 1, WEFT_RELU, scales[i], false);
    scaled(1, WEFT_DIM, WEFT_NO_ACTIVATION, scales[i], true);
  }
  full(WEFT_DIM, WEFT_DIM);
  full(1, WEFT_DIM - 1);
  pool((struct weft_pool){.size = 2, .stride = 2, .rows = 6, .cols = 6, .pooled_rows = 3, .pooled_cols = 3}, WEFT_DIM);
  pool((struct weft_pool){.size = 3,
                          .stride = 2,
                          .upper_padding = 1,
                          .left_padding = 1,
                          .rows = SIDE,
                          .cols = SIDE,
                          .pooled_rows = 4,
                          .pooled_cols = 4},
       WEFT_DIM - 1);
  pool(
      (struct weft_pool){
          .size = 2, .stride = 1, .left_padding = 1, .rows = 4, .cols = 6, .pooled_rows = 3, .pooled_cols = 6},
      1);
  pool((struct weft_pool){.size = 1, .stride = 3, .rows = SIDE, .cols = 4, .pooled_rows = 3, .pooled_cols = 2},
       WEFT_DIM);
  spread(1, WEFT_DIM < SIDE ? WEFT_DIM : SIDE - 2, WEFT_DIM);
  spread(2, WEFT_DIM / 2 < SIDE ? WEFT_DIM / 2 : SIDE - 2, WEFT_DIM - 1);
  return check_verdict("mvout", errors);
}
