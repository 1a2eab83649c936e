// SPDX-License-Identifier: Apache-2.0
// Loads: strides, column blocks, lane masks, zeros, repeated rows, scale, accumulator loads (wide, shrunk, added),
// pixel repeats, the three load states. A plain model of both local memories follows every load; afterwards both are
// stored and compared row by row.
#include "driver/examples/check.h"
#include "weft/weft.h"

enum {
  SP_WINDOW = (WEFT_MAX_BLOCK_LEN + 1) * (WEFT_DIM + 3),
  ACC_WINDOW = 4 * WEFT_DIM,
  // The window lies across the border between two banks.
  SP_FIRST = WEFT_BANK_ROWS - WEFT_DIM / 2 - 1,
  ACC_FIRST = WEFT_ACC_BANK_ROWS - WEFT_DIM / 2 - 1,
  IMAGE_STRIDE = WEFT_MAX_BLOCK_LEN * WEFT_DIM + 5,
};

static int8_t image[(WEFT_DIM + 2) * IMAGE_STRIDE];
static int32_t wide[(WEFT_DIM + 2) * IMAGE_STRIDE];
static int8_t sp_model[SP_WINDOW * WEFT_DIM], sp_got[SP_WINDOW * WEFT_DIM];
static int32_t acc_model[ACC_WINDOW * WEFT_DIM], acc_got[ACC_WINDOW * WEFT_DIM];
static int errors;

static int8_t scaled(int8_t value, float scale) { return check_scale(value, false, scale); }

static void read_back(const char *what) {
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
  for (size_t r = 0; r < SP_WINDOW; r += WEFT_DIM)
    weft_mvout(weft_dram(sp_got + r * WEFT_DIM), weft_local_sp(SP_FIRST + r), WEFT_DIM,
               weft_min(SP_WINDOW - r, WEFT_DIM));
  weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM * sizeof(int32_t)});
  for (size_t r = 0; r < ACC_WINDOW; r += WEFT_DIM)
    weft_mvout(weft_dram(acc_got + r * WEFT_DIM), weft_local_acc(ACC_FIRST + r, WEFT_ACC_FULL), WEFT_DIM, WEFT_DIM);
  weft_fence();
  check_int8(what, sp_got, sp_model, SP_WINDOW, WEFT_DIM, WEFT_DIM, &errors);
  check_int32(what, acc_got, acc_model, ACC_WINDOW, WEFT_DIM, WEFT_DIM, &errors);
}

// A load and what it should do; `row` counts from the start of the window.
struct load {
  struct weft_load config;
  size_t row, rows, cols;
  bool zeros, accumulator, add;
};

static int32_t element(const struct load *l, size_t r, size_t c) {
  if (l->zeros) return 0;
  if (l->accumulator && !l->config.shrink) return wide[r * l->config.stride_bytes / sizeof(int32_t) + c];
  float scale = l->config.scale == 0.0f ? 1.0f : l->config.scale;
  return scaled(image[r * l->config.stride_bytes + c], scale);
}

static void model(const struct load *l) {
  size_t block = l->config.block_stride == 0 ? WEFT_DIM : l->config.block_stride;
  for (size_t r = 0; r < l->rows; r++)
    for (size_t c = 0; c < l->cols; c++) {
      size_t at = (l->row + r + c / WEFT_DIM * block) * WEFT_DIM + c % WEFT_DIM;
      if (!l->accumulator)
        sp_model[at] = (int8_t)element(l, r, c);
      else if (l->add)
        acc_model[at] = (int32_t)((uint32_t)acc_model[at] + (uint32_t)element(l, r, c));
      else
        acc_model[at] = element(l, r, c);
    }
}

static void issue(const struct load *l) {
  const void *from = l->accumulator && !l->config.shrink ? (const void *)wide : (const void *)image;
  uint64_t dram = l->zeros ? 0 : weft_dram(from);
  uint32_t local =
      l->accumulator ? weft_local_acc(ACC_FIRST + l->row, l->add ? WEFT_ACC_ADD : 0) : weft_local_sp(SP_FIRST + l->row);
  switch (l->config.state) {
    case 0:
      weft_mvin(dram, local, l->cols, l->rows);
      break;
    case 1:
      weft_mvin2(dram, local, l->cols, l->rows);
      break;
    default:
      weft_mvin3(dram, local, l->cols, l->rows);
      break;
  }
}

static void run(const char *what, struct load l) {
  weft_set_load(l.config);
  issue(&l);
  model(&l);
  read_back(what);
}

static void clear(void) {
  weft_set_load((struct weft_load){.state = 0});
  for (size_t r = 0; r < SP_WINDOW; r += WEFT_DIM)
    weft_mvin(0, weft_local_sp(SP_FIRST + r), WEFT_DIM, weft_min(SP_WINDOW - r, WEFT_DIM));
  for (size_t r = 0; r < ACC_WINDOW; r += WEFT_DIM) weft_mvin(0, weft_local_acc(ACC_FIRST + r, 0), WEFT_DIM, WEFT_DIM);
  read_back("zeros everywhere");
}

static void scratchpad(void) {
  const struct weft_load dense = {.stride_bytes = IMAGE_STRIDE};
  const size_t widest = WEFT_MAX_BLOCK_LEN * WEFT_DIM;
  run("one block", (struct load){.config = dense, .rows = WEFT_DIM, .cols = WEFT_DIM});
  run("part of a block keeps the other lanes",
      (struct load){
          .config = {.stride_bytes = IMAGE_STRIDE - 1}, .row = 1, .rows = WEFT_DIM - 1, .cols = WEFT_DIM - 1});
  run("all blocks", (struct load){.config = dense, .rows = WEFT_DIM, .cols = widest});
  run("blocks apart, the last one ragged",
      (struct load){.config = {.stride_bytes = IMAGE_STRIDE, .block_stride = WEFT_DIM + 3},
                    .row = 2,
                    .rows = WEFT_DIM,
                    .cols = widest - 1});
  run("zeros in a part",
      (struct load){.config = dense, .row = 1, .rows = WEFT_DIM / 2, .cols = WEFT_DIM - 1, .zeros = true});
  run("one row repeated", (struct load){.config = {.stride_bytes = 0}, .row = 3, .rows = WEFT_DIM, .cols = widest - 1});
  run("one element", (struct load){.config = dense, .row = 5, .rows = 1, .cols = 1});
  if (WEFT_LOAD_SCALE_UNITS == 0) return;
  static const float scales[] = {0.5f, 1.5f, 2.0f, -1.0f, 0.3f, 1000.0f, 0.001f};
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++)
    run("scale",
        (struct load){
            .config = {.stride_bytes = IMAGE_STRIDE, .scale = scales[i]}, .row = i, .rows = WEFT_DIM, .cols = widest});
}

static void accumulator(void) {
  const struct weft_load dense = {.stride_bytes = IMAGE_STRIDE * sizeof(int32_t)};
  const size_t widest = WEFT_MAX_BLOCK_LEN_ACC * WEFT_DIM;
  const size_t shrunk = weft_min(WEFT_MAX_BLOCK_LEN, 3) * WEFT_DIM;
  run("wide rows",
      (struct load){.config = dense, .rows = WEFT_DIM, .cols = weft_min(widest, 3 * WEFT_DIM), .accumulator = true});
  run("wide rows added",
      (struct load){
          .config = dense, .row = 1, .rows = WEFT_DIM, .cols = WEFT_DIM - 1, .accumulator = true, .add = true});
  run("wide row repeated and added", (struct load){.config = {.stride_bytes = 0},
                                                   .row = 3,
                                                   .rows = WEFT_DIM,
                                                   .cols = WEFT_DIM,
                                                   .accumulator = true,
                                                   .add = true});
  run("zeros",
      (struct load){.config = dense, .row = 2, .rows = 2, .cols = WEFT_DIM - 1, .accumulator = true, .zeros = true});
  run("shrunk rows", (struct load){.config = {.stride_bytes = IMAGE_STRIDE, .shrink = true},
                                   .rows = WEFT_DIM,
                                   .cols = shrunk - 1,
                                   .accumulator = true});
  run("shrunk rows added", (struct load){.config = {.stride_bytes = IMAGE_STRIDE, .shrink = true},
                                         .row = 1,
                                         .rows = WEFT_DIM,
                                         .cols = shrunk,
                                         .accumulator = true,
                                         .add = true});
  if (WEFT_LOAD_SCALE_UNITS == 0) return;
  run("shrunk rows scaled and added",
      (struct load){.config = {.stride_bytes = IMAGE_STRIDE, .shrink = true, .scale = -0.75f},
                    .row = 2,
                    .rows = WEFT_DIM,
                    .cols = shrunk,
                    .accumulator = true,
                    .add = true});
}

// The three states are configured first and used in turn afterwards.
static void states(void) {
  struct load loads[3] = {
      {.config = {.state = 0, .stride_bytes = IMAGE_STRIDE}, .rows = WEFT_DIM, .cols = WEFT_DIM},
      {.config = {.state = 1, .stride_bytes = 1}, .row = WEFT_DIM, .rows = WEFT_DIM - 1, .cols = WEFT_DIM},
      {.config = {.state = 2, .stride_bytes = 0}, .row = 2 * WEFT_DIM, .rows = WEFT_DIM, .cols = WEFT_DIM - 1}};
  for (size_t i = 0; i < 3; i++) weft_set_load(loads[i].config);
  for (size_t i = 3; i-- > 0;) {
    issue(&loads[i]);
    model(&loads[i]);
  }
  read_back("three load states");
}

// Each row also goes one pixel to the right into the row before; rows below the memory are dropped.
static void pixel_repeats(void) {
  if (!WEFT_HAS_PIXEL_REPEAT) return;
  enum { REPEATS = 2, COLS = WEFT_DIM / 2, FIRST = 1, ROWS = WEFT_DIM };
  static int8_t wanted[(FIRST + ROWS) * WEFT_DIM], got[(FIRST + ROWS) * WEFT_DIM];
  weft_set_load((struct weft_load){.stride_bytes = 0});
  weft_mvin(0, weft_local_sp(0), WEFT_DIM, WEFT_DIM);
  weft_mvin(0, weft_local_sp(WEFT_DIM), WEFT_DIM, 1);
  for (unsigned pass = 0; pass < 2; pass++) {
    // The second pass starts at row 0, where a copy has no row to go to.
    size_t first = FIRST - pass;
    weft_set_load((struct weft_load){.stride_bytes = IMAGE_STRIDE, .pixel_repeats = REPEATS});
    weft_mvin(weft_dram(image), weft_local_sp(first), COLS, ROWS);
    for (size_t r = 0; r < ROWS; r++)
      for (size_t q = 0; q < REPEATS; q++)
        for (size_t c = 0; c < COLS; c++)
          if (first + r >= q) wanted[(first + r - q) * WEFT_DIM + q * COLS + c] = image[r * IMAGE_STRIDE + c];
    weft_set_store((struct weft_store){.stride_bytes = WEFT_DIM});
    weft_mvout(weft_dram(got), weft_local_sp(0), WEFT_DIM, WEFT_DIM);
    weft_mvout(weft_dram(got + WEFT_DIM * WEFT_DIM), weft_local_sp(WEFT_DIM), WEFT_DIM, FIRST);
    weft_fence();
    check_int8("pixel repeats", got, wanted, FIRST + ROWS, WEFT_DIM, WEFT_DIM, &errors);
  }
}

int main(void) {
  uint32_t seed = 1;
  check_fill(image, sizeof image, &seed);
  check_fill_int32(wide, sizeof wide / sizeof *wide, INT32_MAX / 2, &seed);
  weft_flush(0);
  weft_set_execute((struct weft_execute){.dataflow = WEFT_WS});
  clear();
  scratchpad();
  accumulator();
  states();
  pixel_repeats();
  return check_verdict("mvin", errors);
}
