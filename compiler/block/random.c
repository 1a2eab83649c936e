// SPDX-License-Identifier: Apache-2.0
// Random block programs: see random.h. They are written as text, one function per part of a kernel.
#include "compiler/block/random.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

static uint64_t next(uint64_t *seed) {
  *seed ^= *seed >> 12;
  *seed ^= *seed << 25;
  *seed ^= *seed >> 27;
  return *seed * UINT64_C(0x2545f4914f6cdd1d);
}

static int64_t between(uint64_t *seed, int64_t min, int64_t max) {
  return min + (int64_t)((next(seed) >> 33) % (uint64_t)(max - min + 1));
}

static bool maybe(uint64_t *seed) { return between(seed, 0, 1) == 1; }

// A block of columns: multiples of dim, or all.
static int64_t column_block(uint64_t *seed, int64_t size, int64_t dim) {
  int64_t block = dim * between(seed, 1, 3);
  return block >= size || between(seed, 0, 3) == 0 ? size : block;
}

// ---- results: what all kinds of kernels have

typedef enum { NO_BIAS, BIAS_AS_START, BIAS_BEHIND, BIAS_WIDE } bias_kind;
typedef enum { NO_RESIDUAL, RESIDUAL, RESIDUAL_SCALED } residual_kind;
typedef enum { WIDE, NARROW, SCALED } result_kind;
typedef enum { NO_RELU, RELU_FIRST, RELU_SCALED, RELU_LAST } relu_kind;

typedef struct kernel {
  uint64_t *seed;
  FILE *out;
  const char *shape;  // of a block of results: "4, 16"
  const char *box;    // of the results in their tensor: "m*4:4 of 10 stride 12, n*16:16 of 12 stride 1"
  const char *bias_shape, *bias_box, *wide_bias_box;
  int64_t results, columns;
  bias_kind bias;
  residual_kind residual;
  result_kind result;
  relu_kind relu;
  bool clamp;
  double scale;
  int sum_style;
} kernel;

static void draw_results(kernel *k) {
  k->bias = (bias_kind)between(k->seed, 0, 3);
  k->residual = (residual_kind)between(k->seed, 0, 2);
  k->result = (result_kind)between(k->seed, 0, 2);
  k->relu = k->result == WIDE ? NO_RELU : (relu_kind)between(k->seed, 0, 3);
  k->clamp = k->result != WIDE && maybe(k->seed);
  k->scale = (double)between(k->seed, 1, 1000) / 8192;
  if (k->relu < RELU_SCALED && between(k->seed, 0, 4) == 0) k->scale = -k->scale;
  k->sum_style = (int)between(k->seed, 0, 2);
}

static void print_tensors(const kernel *k) {
  if (k->bias != NO_BIAS) fprintf(k->out, "tensor bias i32[%" PRId64 "] read\n", k->columns);
  if (k->residual != NO_RESIDUAL) fprintf(k->out, "tensor rest i8[%" PRId64 "] read\n", k->results);
  fprintf(k->out, "tensor y %s[%" PRId64 "] write\n", k->result == WIDE ? "i32" : "i8", k->results);
}

static void print_buffers(const kernel *k) {
  static const char *const wide[] = {"acc", "t", "acc2", "v", "wide_bias", "r32"};
  for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) fprintf(k->out, "buffer %s i32[%s]\n", wide[i], k->shape);
  fprintf(k->out, "buffer row i32[%s]\nbuffer f f32[%s]\nbuffer r8 i8[%s]\nbuffer rf f32[%s]\nbuffer y8 i8[%s]\n",
          k->bias_shape, k->shape, k->shape, k->shape, k->shape);
}

static void print_start(const kernel *k) {
  switch (k->bias) {
    case BIAS_AS_START:
      fprintf(k->out, "load acc = bias[%s]\n", k->wide_bias_box);
      break;
    case BIAS_WIDE:
      fprintf(k->out, "load wide_bias = bias[%s]\ncopy acc = wide_bias\n", k->wide_bias_box);
      break;
    case BIAS_BEHIND:
      fprintf(k->out, "load row = bias[%s]\n", k->bias_box);  // used behind the loop
      fprintf(k->out, "copy acc = 0\n");
      break;
    case NO_BIAS:
      fprintf(k->out, "copy acc = 0\n");
  }
}

static void print_product(const kernel *k, const char *product) {
  static const char *const styles[] = {"dot acc += %s\n", "dot t = %s\nadd acc = acc, t\n",
                                       "dot t = %s\nadd acc2 = t, acc\ncopy acc = acc2\n"};
  const char *style = styles[k->sum_style], *place = strstr(style, "%s");
  fprintf(k->out, "%.*s%s%s", (int)(place - style), style, product, place + 2);
}

static void print_residual(const kernel *k) {
  if (k->residual == NO_RESIDUAL) return;
  fprintf(k->out, "load r8 = rest[%s]\n", k->box);
  if (k->residual == RESIDUAL_SCALED)
    fprintf(k->out, "scale rf = r8, %.9g\nto_i8 r8 = rf\n", (double)between(k->seed, 1, 300) / 128);
  fprintf(k->out, "to_i32 r32 = r8\nadd acc = acc, r32\n");
}

static void print_narrowing(const kernel *k) {
  const char *value = k->result == SCALED ? "f" : "acc";
  if (k->relu == RELU_FIRST) fprintf(k->out, "max acc = acc, 0\n");
  if (k->result == SCALED) fprintf(k->out, "scale f = acc, %.9g\n", k->scale);
  if (k->relu == RELU_SCALED) fprintf(k->out, "max %s = %s, 0\n", value, value);
  if (k->clamp) fprintf(k->out, "min %s = %s, 127\nmax %s = %s, -128\n", value, value, value, value);
  fprintf(k->out, "to_i8 y8 = %s\n", value);
  if (k->relu == RELU_LAST) fprintf(k->out, "max y8 = y8, 0\n");
}

static void print_end(const kernel *k) {
  if (k->bias == BIAS_BEHIND) fprintf(k->out, "add v = acc, row\ncopy acc = v\n");
  print_residual(k);
  if (k->result != WIDE) print_narrowing(k);
  fprintf(k->out, "store y[%s] = %s\n", k->box, k->result == WIDE ? "acc" : "y8");
}

// ---- matrix products

static void gemm(uint64_t *seed, const block_random_options *o, FILE *out) {
  int64_t m = between(seed, 1, o->size_max), n = between(seed, 1, o->size_max), k = between(seed, 1, o->size_max);
  int64_t tm = wf_min(m, between(seed, 1, 2 * o->dim)), tn = column_block(seed, n, o->dim);
  int64_t tk = column_block(seed, k, o->dim);
  bool transposed = between(seed, 0, 3) == 0, columns_first = maybe(seed);
  char shape[64], bias_shape[64], box[160], bias_box[160], wide_bias_box[160];
  snprintf(shape, sizeof shape, "%" PRId64 ", %" PRId64, tm, tn);
  snprintf(bias_shape, sizeof bias_shape, "1, %" PRId64, tn);
  snprintf(box, sizeof box,
           "m*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", n*%" PRId64 ":%" PRId64 " of %" PRId64
           " stride 1",
           tm, tm, m, n, tn, tn, n);
  snprintf(bias_box, sizeof bias_box, "0:1 of 1 stride 0, n*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1", tn, tn,
           n);
  snprintf(wide_bias_box, sizeof wide_bias_box,
           "0:%" PRId64 " of %" PRId64 " stride 0, n*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1", tm, tm, tn, tn,
           n);
  kernel g = {.seed = seed,
              .out = out,
              .shape = shape,
              .box = box,
              .bias_shape = bias_shape,
              .bias_box = bias_box,
              .wide_bias_box = wide_bias_box,
              .results = m * n,
              .columns = n};
  draw_results(&g);
  fprintf(out, "program gemm\ntensor a i8[%" PRId64 "] read\ntensor b i8[%" PRId64 "] read\n", m * k, k * n);
  print_tensors(&g);
  fprintf(out, "loop m %" PRId64 " parallel dim P\nloop n %" PRId64 " parallel dim K\nloop k %" PRId64 " dim C\n",
          wf_ceil_div(m, tm), wf_ceil_div(n, tn), wf_ceil_div(k, tk));
  fprintf(out, "buffer at i8[%" PRId64 ", %" PRId64 "]\nbuffer bt i8[%" PRId64 ", %" PRId64 "]\n", tm, tk,
          transposed ? tn : tk, transposed ? tk : tn);
  print_buffers(&g);
  fprintf(out, "for %s {\nfor %s {\n", columns_first ? "n" : "m", columns_first ? "m" : "n");
  print_start(&g);
  fprintf(out,
          "for k {\nload at = a[m*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64
          " of %" PRId64 " stride 1]\n",
          tm, tm, m, k, tk, tk, k);
  if (transposed)
    fprintf(out,
            "load bt = b[n*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64
            " of %" PRId64 " stride 1]\n",
            tn, tn, n, k, tk, tk, k);
  else
    fprintf(out,
            "load bt = b[k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", n*%" PRId64 ":%" PRId64
            " of %" PRId64 " stride 1]\n",
            tk, tk, k, n, tn, tn, n);
  print_product(&g, transposed ? "at * bt.T" : "at * bt");
  fputs("}\n", out);
  print_end(&g);
  fputs("}\n}\n", out);
}

// ---- images

typedef struct image {
  int64_t n, h, w, c, k;                // images, input rows and columns, channels, results' channels
  int64_t r, s, stride, dilation, pad;  // kernel
  int64_t p, q, tp, tq, tc, tk;         // results, blocks
} image;

static image draw_image(uint64_t *seed, const block_random_options *o) {
  image i = {.n = between(seed, 1, 2), .h = between(seed, 3, 11), .w = between(seed, 3, 11)};
  i.c = between(seed, 1, 2 * o->dim);
  i.k = between(seed, 1, 2 * o->dim);
  i.r = between(seed, 1, 3);
  i.s = between(seed, 1, 3);
  i.stride = between(seed, 1, 2);
  i.dilation = between(seed, 0, 4) == 0 && 2 * (i.r - 1) < i.h && 2 * (i.s - 1) < i.w ? 2 : 1;
  i.pad = between(seed, 0, wf_min(i.r, i.s) - 1);
  i.p = (i.h + 2 * i.pad - i.dilation * (i.r - 1) - 1) / i.stride + 1;
  i.q = (i.w + 2 * i.pad - i.dilation * (i.s - 1) - 1) / i.stride + 1;
  i.tp = between(seed, 1, i.p);
  i.tq = between(seed, 1, i.q);
  i.tc = column_block(seed, i.c, o->dim);
  i.tk = column_block(seed, i.k, o->dim);
  return i;
}

// Rows and columns of the inputs under a block of results, as dimensions of an access.
static void print_window(const image *i, FILE *out, const char *r, const char *s) {
  fprintf(out, "p*%" PRId64 "%s-%" PRId64 ":%" PRId64 " step %" PRId64 " of %" PRId64 " stride %" PRId64 ", ",
          i->tp * i->stride, r, i->pad, i->tp, i->stride, i->h, i->w * i->c);
  fprintf(out, "q*%" PRId64 "%s-%" PRId64 ":%" PRId64 " step %" PRId64 " of %" PRId64 " stride %" PRId64,
          i->tq * i->stride, s, i->pad, i->tq, i->stride, i->w, i->c);
}

static void print_box(const image *i, char *text, size_t room, int64_t channels, int64_t block) {
  snprintf(text, room,
           "i:1 of %" PRId64 " stride %" PRId64 ", p*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64
           ", q*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64
           " stride 1",
           i->n, i->p * i->q * channels, i->tp, i->tp, i->p, i->q * channels, i->tq, i->tq, i->q, channels, block,
           block, channels);
}

static void print_image_loops(const image *i, FILE *out) {
  fprintf(out, "loop i %" PRId64 " parallel dim N\nloop p %" PRId64 " parallel dim P\n", i->n,
          wf_ceil_div(i->p, i->tp));
  fprintf(out, "loop q %" PRId64 " parallel dim Q\nloop k %" PRId64 " parallel dim K\n", wf_ceil_div(i->q, i->tq),
          wf_ceil_div(i->k, i->tk));
  fprintf(out, "loop r %" PRId64 " dim R\nloop s %" PRId64 " dim S\nloop c %" PRId64 " dim C\n", i->r, i->s,
          wf_ceil_div(i->c, i->tc));
}

static void conv(uint64_t *seed, const block_random_options *o, FILE *out) {
  const image i = draw_image(seed, o);
  char shape[96], bias_shape[64], box[320], bias_box[160], wide_bias_box[240], r[32] = "+r", s[32] = "+s";
  if (i.dilation != 1)
    snprintf(r, sizeof r, "+r*%" PRId64, i.dilation), snprintf(s, sizeof s, "+s*%" PRId64, i.dilation);
  snprintf(shape, sizeof shape, "1, %" PRId64 ", %" PRId64 ", %" PRId64, i.tp, i.tq, i.tk);
  snprintf(bias_shape, sizeof bias_shape, "1, 1, 1, %" PRId64, i.tk);
  print_box(&i, box, sizeof box, i.k, i.tk);
  snprintf(bias_box, sizeof bias_box,
           "0:1 of 1 stride 0, 0:1 of 1 stride 0, 0:1 of 1 stride 0, k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1",
           i.tk, i.tk, i.k);
  snprintf(wide_bias_box, sizeof wide_bias_box,
           "0:1 of 1 stride 0, 0:%" PRId64 " of %" PRId64 " stride 0, 0:%" PRId64 " of %" PRId64 " stride 0, k*%" PRId64
           ":%" PRId64 " of %" PRId64 " stride 1",
           i.tp, i.tp, i.tq, i.tq, i.tk, i.tk, i.k);
  kernel g = {.seed = seed,
              .out = out,
              .shape = shape,
              .box = box,
              .bias_shape = bias_shape,
              .bias_box = bias_box,
              .wide_bias_box = wide_bias_box,
              .results = i.n * i.p * i.q * i.k,
              .columns = i.k};
  draw_results(&g);
  fprintf(out, "program conv\ntensor x i8[%" PRId64 "] read\ntensor w i8[%" PRId64 "] read\n", i.n * i.h * i.w * i.c,
          i.r * i.s * i.c * i.k);
  print_tensors(&g);
  print_image_loops(&i, out);
  fprintf(out, "buffer xt i8[1, %" PRId64 ", %" PRId64 ", %" PRId64 "]\nbuffer wt i8[1, 1, %" PRId64 ", %" PRId64 "]\n",
          i.tp, i.tq, i.tc, i.tc, i.tk);
  print_buffers(&g);
  fputs("for i {\nfor p {\nfor q {\nfor k {\n", out);
  print_start(&g);
  fprintf(out, "for r {\nfor s {\nfor c {\nload xt = x[i:1 of %" PRId64 " stride %" PRId64 ", ", i.n, i.h * i.w * i.c);
  print_window(&i, out, r, s);
  fprintf(out, ", c*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n", i.tc, i.tc, i.c);
  fprintf(out,
          "load wt = w[r:1 of %" PRId64 " stride %" PRId64 ", s:1 of %" PRId64 " stride %" PRId64 ", c*%" PRId64
          ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n",
          i.r, i.s * i.c * i.k, i.s, i.c * i.k, i.tc, i.tc, i.c, i.k, i.tk, i.tk, i.k);
  print_product(&g, "xt * wt");
  fputs("}\n}\n}\n", out);
  print_end(&g);
  fputs("}\n}\n}\n}\n", out);
}

// One element of the window, at (r, s).
static void print_tap(const image *i, bool largest, const char *r, const char *s, FILE *out) {
  fprintf(out, "load xt = x[i:1 of %" PRId64 " stride %" PRId64 ", ", i->n, i->h * i->w * i->c);
  print_window(i, out, r, s);
  fprintf(out, ", k*%" PRId64 ":%" PRId64 " of %" PRId64 " stride 1]\n", i->tk, i->tk, i->c);
  fputs(largest ? "max m = m, xt\n" : "to_i32 w = xt\nadd sum = w, sum\n", out);
}

// The window in loops, or rows of it written out, or all of it.
static void print_taps(const image *i, bool largest, int64_t style, FILE *out) {
  char row[24], column[24];
  if (style < 2) fputs("for r {\n", out);
  if (style == 0) {
    fputs("for s {\n", out);
    print_tap(i, largest, "+r", "+s", out);
    fputs("}\n", out);
  }
  for (int64_t tap = 0; style != 0 && tap < i->s * (style == 1 ? 1 : i->r); tap++) {
    snprintf(row, sizeof row, "+%" PRId64, tap / i->s);
    snprintf(column, sizeof column, "+%" PRId64, tap % i->s);
    print_tap(i, largest, style == 1 ? "+r" : row, column, out);
  }
  if (style < 2) fputs("}\n", out);
}

// Largest, or sum, of windows of an image; channels stay.
static void pool(uint64_t *seed, const block_random_options *o, FILE *out) {
  image i = draw_image(seed, o);
  bool largest = maybe(seed);
  i.s = i.r, i.dilation = 1, i.k = i.c, i.tk = column_block(seed, i.c, o->dim), i.tc = i.c;
  i.pad = between(seed, 0, i.r - 1);
  i.p = (i.h + 2 * i.pad - i.r) / i.stride + 1;
  i.q = (i.w + 2 * i.pad - i.r) / i.stride + 1;
  i.tp = between(seed, 1, i.p), i.tq = between(seed, 1, i.q);
  char box[320], shape[96];
  print_box(&i, box, sizeof box, i.k, i.tk);
  snprintf(shape, sizeof shape, "1, %" PRId64 ", %" PRId64 ", %" PRId64, i.tp, i.tq, i.tk);
  fprintf(out, "program pool\ntensor x i8[%" PRId64 "] read\ntensor y i8[%" PRId64 "] write\n", i.n * i.h * i.w * i.c,
          i.n * i.p * i.q * i.k);
  print_image_loops(&i, out);
  fprintf(out, "buffer xt i8[%s]\nbuffer m i8[%s]\nbuffer w i32[%s]\nbuffer sum i32[%s]\nbuffer f f32[%s]\n", shape,
          shape, shape, shape, shape);
  fprintf(out, "for i {\nfor p {\nfor q {\nfor k {\ncopy %s\n", largest ? "m = -128" : "sum = 0");
  print_taps(&i, largest, between(seed, 0, 2), out);
  if (!largest) fprintf(out, "scale f = sum, %.9g\nto_i8 m = f\n", 1.0 / (double)(i.r * i.r));
  fprintf(out, "store y[%s] = m\n}\n}\n}\n}\n", box);
}

// ---- sums of two tensors

static void add(uint64_t *seed, const block_random_options *o, FILE *out) {
  int64_t m = between(seed, 1, o->size_max), n = between(seed, 1, o->size_max);
  int64_t tm = wf_min(m, between(seed, 1, 2 * o->dim)), tn = column_block(seed, n, o->dim);
  char box[160];
  snprintf(box, sizeof box,
           "m*%" PRId64 ":%" PRId64 " of %" PRId64 " stride %" PRId64 ", n*%" PRId64 ":%" PRId64 " of %" PRId64
           " stride 1",
           tm, tm, m, n, tn, tn, n);
  fprintf(out,
          "program add\ntensor a i8[%" PRId64 "] read\ntensor b i8[%" PRId64 "] read\ntensor y i8[%" PRId64 "] write\n",
          m * n, m * n, m * n);
  fprintf(out, "loop m %" PRId64 " parallel dim P\nloop n %" PRId64 " parallel dim K\n", wf_ceil_div(m, tm),
          wf_ceil_div(n, tn));
  static const char *const buffers[] = {"a8 i8", "b8 i8", "y8 i8", "a32 i32", "b32 i32", "s i32", "f f32"};
  for (size_t b = 0; b < sizeof buffers / sizeof *buffers; b++)
    fprintf(out, "buffer %s[%" PRId64 ", %" PRId64 "]\n", buffers[b], tm, tn);
  fprintf(out, "for m {\nfor n {\nload a8 = a[%s]\nload b8 = b[%s]\n", box, box);
  if (maybe(seed)) fprintf(out, "scale f = a8, 0.625\nto_i8 a8 = f\n");
  fputs("to_i32 a32 = a8\nto_i32 b32 = b8\nadd s = a32, b32\n", out);
  fputs(maybe(seed) ? "to_i8 y8 = s\n" : "scale f = s, 0.75\nmax f = f, 0\nto_i8 y8 = f\n", out);
  fprintf(out, "store y[%s] = y8\n}\n}\n", box);
}

char *block_random_text(uint64_t *seed, const block_random_options *options) {
  static void (*const kinds[])(uint64_t *, const block_random_options *, FILE *) = {
      [BLOCK_RANDOM_GEMM] = gemm, [BLOCK_RANDOM_CONV] = conv, [BLOCK_RANDOM_POOL] = pool, [BLOCK_RANDOM_ADD] = add};
  char *text = NULL;
  size_t length = 0;
  block_random_kind kind = options->kind;
  if (kind == BLOCK_RANDOM_KINDS) kind = (block_random_kind)between(seed, 0, BLOCK_RANDOM_KINDS - 1);
  FILE *out = open_memstream(&text, &length);
  kinds[kind](seed, options, out);
  fclose(out);
  return text;
}

block_program *block_random(uint64_t *seed, const block_random_options *options) {
  wf_diag diag = wf_diag_to(stderr);
  char *text = block_random_text(seed, options);
  block_program *program = block_parse("random", text, strlen(text), &diag);
  assert(program != NULL);
  free(text);
  return program;
}

// ---- data

void **block_random_tensors(const block_program *program, uint64_t seed) {
  void **tensors = WF_NEW_ARRAY((size_t)program->tensor_count + 1, void *);
  for (int t = 0; t < program->tensor_count; t++) {
    const block_tensor *tensor = &program->tensors[t];
    tensors[t] = wf_calloc((size_t)tensor->elements, block_type_bytes(tensor->type));
    for (int64_t e = 0; e < tensor->elements; e++) {
      if (tensor->type == BLOCK_I8)
        ((int8_t *)tensors[t])[e] = (int8_t)between(&seed, -128, 127);
      else
        ((int32_t *)tensors[t])[e] =
            (int32_t)(maybe(&seed) ? between(&seed, -5000, 5000) : (int64_t)(int32_t)next(&seed));
    }
  }
  return tensors;
}

void block_random_free(void **tensors) {
  for (size_t t = 0; tensors[t] != NULL; t++) wf_free(tensors[t]);
  wf_free(tensors);
}
