// SPDX-License-Identifier: Apache-2.0
// Programs that compare engines; see programs.h.
//
// The tiled library only computes addresses: it is given the operands where they will be in the simulated memory, and
// every command it issues ends in weft_native_command below. The expected result is computed here, by plain loops; the
// scales are powers of two, so float and exact arithmetic agree.
#include "bench/programs/programs.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "weft/tiled.h"

enum { PLACE_ALIGNMENT = 4096, BIAS_MAGNITUDE = 1000 };

// ---- catching commands

// The program that the library's commands go to: the instruction wrappers know no context.
static _Thread_local bench_program *catching;

uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2);  // declared by isa/weft_isa.h for programs

uint64_t weft_native_command(unsigned funct, uint64_t rs1, uint64_t rs2) {
  bench_program *p = catching;
  if (p->count == p->capacity) {
    p->capacity = p->capacity == 0 ? 1024 : 2 * p->capacity;
    p->commands = wf_realloc(p->commands, p->capacity, sizeof *p->commands);
  }
  arch_command *command = &p->commands[p->count];
  *command = (arch_command){.rs1 = rs1, .rs2 = rs2, .index = p->count++, .funct = (uint8_t)funct};
  arch_command_find(command, WEFT_ISA_REVISION);
  return 0;
}

// ---- data

static uint32_t random_number(uint32_t *state) {
  *state = *state * UINT32_C(1664525) + UINT32_C(1013904223);
  return *state >> 8;
}

// Every block gets pages of its own, behind the last one.
static bench_block place(uint64_t *end, size_t size) {
  bench_block block = {.address = *end, .size = size, .bytes = wf_calloc(size, 1)};
  *end += (size + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
  return block;
}

static void fill_int8(bench_block *block, uint32_t *state) {
  for (size_t n = 0; n < block->size; n++) block->bytes[n] = (uint8_t)random_number(state);
}

static void fill_int32(bench_block *block, uint32_t *state) {
  int32_t *values = (int32_t *)(void *)block->bytes;
  for (size_t n = 0; n < block->size / sizeof *values; n++)
    values[n] = (int32_t)(random_number(state) % (2 * BIAS_MAGNITUDE + 1)) - BIAS_MAGNITUDE;
}

static int8_t finish(int32_t sum, bool relu, float scale) {
  if (relu && sum < 0) sum = 0;
  double value = nearbyint((double)sum * (double)scale);
  return value > INT8_MAX ? INT8_MAX : value < INT8_MIN ? INT8_MIN : (int8_t)value;
}

// The address in the simulated memory as the library wants it. It is never followed.
static void *at(const bench_block *block) { return (void *)(uintptr_t)block->address; }

// ---- a row of sums: bias, and input times a matrix with a row of `n` weights for each element

static void add_row(int32_t *sums, const int8_t *inputs, size_t count, const int8_t *weights, size_t n) {
  for (size_t k = 0; k < count; k++)
    for (size_t j = 0; j < n; j++) sums[j] += inputs[k] * weights[k * n + j];
}

static void finish_row(int8_t *to, const int32_t *sums, size_t n, bool relu, float scale) {
  for (size_t j = 0; j < n; j++) to[j] = finish(sums[j], relu, scale);
}

// ---- operators

typedef struct operator_sizes {
  size_t m, n, k;                // matrix product
  size_t side, in, out, kernel;  // convolution with the same size of image before and after
} operator_sizes;

static void gemm_result(bench_program *p, const operator_sizes *s, float scale) {
  int32_t *sums = WF_NEW_ARRAY(s->n, int32_t);
  const int8_t *a = (const int8_t *)p->input[0].bytes, *b = (const int8_t *)p->input[1].bytes;
  for (size_t i = 0; i < s->m; i++) {
    memcpy(sums, p->input[2].bytes, s->n * sizeof *sums);
    add_row(sums, a + i * s->k, s->k, b, s->n);
    finish_row((int8_t *)p->result.bytes + i * s->n, sums, s->n, false, scale);
  }
  wf_free(sums);
}

static void make_gemm(bench_program *p, const operator_sizes *s, bool loops) {
  const float scale = 0x1p-12f;
  uint64_t end = ARCH_MEMORY_BASE;
  uint32_t seed = 1;
  p->macs = s->m * s->n * s->k;
  p->input[0] = place(&end, s->m * s->k);
  p->input[1] = place(&end, s->k * s->n);
  p->input[2] = place(&end, s->n * sizeof(int32_t));
  p->result = place(&end, s->m * s->n);
  fill_int8(&p->input[0], &seed);
  fill_int8(&p->input[1], &seed);
  fill_int32(&p->input[2], &seed);
  gemm_result(p, s, scale);
  const struct weft_gemm gemm = {.m = s->m,
                                 .n = s->n,
                                 .k = s->k,
                                 .a = at(&p->input[0]),
                                 .b = at(&p->input[1]),
                                 .bias = at(&p->input[2]),
                                 .bias_repeat = true,
                                 .c = at(&p->result),
                                 .scale = scale};
  enum weft_status status = loops ? weft_tiled_gemm_loop(&gemm) : weft_tiled_gemm(&gemm);
  assert(status == WEFT_OK);
  (void)status;
}

static void gemm_by_loops(bench_program *p, const operator_sizes *s) { make_gemm(p, s, true); }
static void gemm_by_instructions(bench_program *p, const operator_sizes *s) { make_gemm(p, s, false); }

// All kernel positions of a pixel that lie inside the image.
static void add_pixel(int32_t *sums, const bench_program *p, const operator_sizes *s, size_t row, size_t col) {
  const int8_t *input = (const int8_t *)p->input[0].bytes, *weights = (const int8_t *)p->input[1].bytes;
  size_t padding = s->kernel / 2;
  for (size_t kr = 0; kr < s->kernel; kr++)
    for (size_t kc = 0; kc < s->kernel; kc++) {
      size_t r = row + kr - padding, c = col + kc - padding;  // outside: wraps to very large
      if (r >= s->side || c >= s->side) continue;
      add_row(sums, input + (r * s->side + c) * s->in, s->in, weights + (kr * s->kernel + kc) * s->in * s->out, s->out);
    }
}

static void conv_result(bench_program *p, const operator_sizes *s, float scale) {
  int32_t *sums = WF_NEW_ARRAY(s->out, int32_t);
  for (size_t pixel = 0; pixel < s->side * s->side; pixel++) {
    memcpy(sums, p->input[2].bytes, s->out * sizeof *sums);
    add_pixel(sums, p, s, pixel / s->side, pixel % s->side);
    finish_row((int8_t *)p->result.bytes + pixel * s->out, sums, s->out, true, scale);
  }
  wf_free(sums);
}

static void conv_by_loops(bench_program *p, const operator_sizes *s) {
  const float scale = s->kernel == 1 ? 0x1p-10f : 0x1p-12f;
  uint64_t end = ARCH_MEMORY_BASE;
  uint32_t seed = 2;
  size_t pixels = s->side * s->side, weights = s->kernel * s->kernel * s->in * s->out;
  p->macs = pixels * weights;
  p->input[0] = place(&end, pixels * s->in);
  p->input[1] = place(&end, weights);
  p->input[2] = place(&end, s->out * sizeof(int32_t));
  p->result = place(&end, pixels * s->out);
  fill_int8(&p->input[0], &seed);
  fill_int8(&p->input[1], &seed);
  fill_int32(&p->input[2], &seed);
  conv_result(p, s, scale);
  const struct weft_conv conv = {.batch = 1,
                                 .in_rows = s->side,
                                 .in_cols = s->side,
                                 .in_channels = s->in,
                                 .out_channels = s->out,
                                 .kernel = s->kernel,
                                 .padding = s->kernel / 2,
                                 .input = at(&p->input[0]),
                                 .weights = at(&p->input[1]),
                                 .bias = at(&p->input[2]),
                                 .output = at(&p->result),
                                 .activation = WEFT_RELU,
                                 .scale = scale};
  enum weft_status status = weft_tiled_conv_loop(&conv);
  assert(status == WEFT_OK);
  (void)status;
}

// ---- the list

typedef struct program_entry {
  const char *name, *text, *quick_text;
  void (*make)(bench_program *p, const operator_sizes *sizes);
  operator_sizes sizes, quick;
} program_entry;

static const program_entry entries[] = {
    {"gemm",
     "512 x 512 x 512 by LOOP_WS",
     "96 x 96 x 96 by LOOP_WS",
     gemm_by_loops,
     {.m = 512, .n = 512, .k = 512},
     {.m = 96, .n = 96, .k = 96}},
    {"gemm-insn",
     "512 x 512 x 512 by single instructions",
     "96 x 96 x 96 by single instructions",
     gemm_by_instructions,
     {.m = 512, .n = 512, .k = 512},
     {.m = 96, .n = 96, .k = 96}},
    {"conv3x3",
     "ResNet-50, 56 x 56 x 64 -> 64, 3 x 3",
     "14 x 14 x 32 -> 32, 3 x 3",
     conv_by_loops,
     {.side = 56, .in = 64, .out = 64, .kernel = 3},
     {.side = 14, .in = 32, .out = 32, .kernel = 3}},
    {"conv1x1",
     "ResNet-50, 56 x 56 x 64 -> 256, 1 x 1",
     "14 x 14 x 32 -> 64, 1 x 1",
     conv_by_loops,
     {.side = 56, .in = 64, .out = 256, .kernel = 1},
     {.side = 14, .in = 32, .out = 64, .kernel = 1}},
};

size_t bench_program_count(void) { return sizeof entries / sizeof entries[0]; }

bench_program *bench_program_create(size_t index, bool quick) {
  const program_entry *e = &entries[index];
  bench_program *p = WF_NEW(bench_program);
  p->name = e->name;
  p->text = quick ? e->quick_text : e->text;
  catching = p;
  e->make(p, quick ? &e->quick : &e->sizes);
  catching = NULL;
  return p;
}

void bench_program_destroy(bench_program *program) {
  if (program == NULL) return;
  for (size_t n = 0; n < BENCH_INPUTS; n++) wf_free(program->input[n].bytes);
  wf_free(program->result.bytes);
  wf_free(program->commands);
  wf_free(program);
}

void bench_program_load(const bench_program *program, arch_memory *memory) {
  for (size_t n = 0; n < BENCH_INPUTS; n++) {
    const bench_block *block = &program->input[n];
    memcpy(arch_memory_at(memory, block->address, block->size), block->bytes, block->size);
  }
}

size_t bench_program_wrong(const bench_program *program, const arch_memory *memory) {
  const bench_block *result = &program->result;
  const uint8_t *got = arch_memory_at(memory, result->address, result->size);
  size_t wrong = 0;
  for (size_t n = 0; n < result->size; n++) wrong += got[n] != result->bytes[n];
  return wrong;
}
