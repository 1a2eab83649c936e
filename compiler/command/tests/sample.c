// SPDX-License-Identifier: Apache-2.0
// Programs for the tests: see sample.h.
#include "compiler/command/tests/sample.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

enum { PLACES = 4 };

uint64_t sample_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

// ---- a matrix product

typedef struct schedule {
  command_program *program;
  const sample_gemm *gemm;
  unsigned dim, turn;
  uint32_t scale_bits;
} schedule;

static void add(schedule *s, unsigned funct, int tensor, uint64_t rs1, uint64_t rs2) {
  const command_insn insn = {
      .funct = (uint8_t)funct, .tensor_rs1 = (int16_t)tensor, .tensor_rs2 = COMMAND_NO_TENSOR, .rs1 = rs1, .rs2 = rs2};
  command_add(s->program, &insn);
}

static uint64_t place(uint64_t local, unsigned cols, unsigned rows) {
  return local | (uint64_t)cols << 32 | (uint64_t)rows << 48;
}

static void configure_load(schedule *s, unsigned state, uint64_t stride) {
  uint64_t rs1, rs2;
  isa_init_config_ld(&rs1, &rs2);
  isa_set_config_ld_state(&rs1, &rs2, state);
  isa_set_config_ld_scale(&rs1, &rs2, 0x3f800000);
  isa_set_config_ld_block_stride(&rs1, &rs2, s->dim);
  isa_set_config_ld_stride(&rs1, &rs2, stride);
  add(s, ISA_FUNCT_CONFIG_LD, COMMAND_NO_TENSOR, rs1, rs2);
}

static void configure(schedule *s) {
  uint64_t rs1, rs2;
  isa_init_config_ex(&rs1, &rs2);
  isa_set_config_ex_dataflow(&rs1, &rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_stride(&rs1, &rs2, 1);
  isa_set_config_ex_c_stride(&rs1, &rs2, 1);
  isa_set_config_ex_acc_scale(&rs1, &rs2, 0x3f800000);
  add(s, ISA_FUNCT_CONFIG_EX, COMMAND_NO_TENSOR, rs1, rs2);
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_stride(&rs1, &rs2, s->gemm->n);
  isa_set_config_st_acc_scale(&rs1, &rs2, s->scale_bits);
  add(s, ISA_FUNCT_CONFIG_ST, COMMAND_NO_TENSOR, rs1, rs2);
  configure_load(s, 0, s->gemm->k);
  configure_load(s, 1, s->gemm->n);
}

// A from rows 0.., B from the middle of the scratchpad.
static void product(schedule *s, unsigned i, unsigned j, unsigned k, unsigned b_rows) {
  const sample_gemm *g = s->gemm;
  const unsigned rows = wf_min(s->dim, g->m - i), cols = wf_min(s->dim, g->n - j), depth = wf_min(s->dim, g->k - k);
  const uint64_t a = s->turn * s->dim, b = b_rows + a;
  const uint64_t to = ISA_LOCAL_ACCUMULATOR_MASK | (k == 0 ? 0 : ISA_LOCAL_ACCUMULATE_MASK);
  if (g->stray_config) configure_load(s, 0, g->k);
  add(s, ISA_FUNCT_MVIN, 0, (uint64_t)i * g->k + k, place(a, depth, rows));
  add(s, ISA_FUNCT_MVIN2, 1, (uint64_t)k * g->n + j, place(b, cols, depth));
  add(s, ISA_FUNCT_PRELOAD, COMMAND_NO_TENSOR, place(b, cols, depth), place(to, cols, rows));
  add(s, ISA_FUNCT_COMPUTE_PRELOADED, COMMAND_NO_TENSOR, place(a, depth, rows), place(ISA_LOCAL_GARBAGE, cols, rows));
  s->turn = (s->turn + 1) % PLACES;
}

command_program *sample_gemm_program(const hw_array *array, const sample_gemm *gemm) {
  const hw_derived derived = hw_derive(array);
  schedule s = {.program = command_create("gemm", array), .gemm = gemm, .dim = derived.dim};
  memcpy(&s.scale_bits, &gemm->scale, sizeof s.scale_bits);
  const command_tensor tensors[] = {{"a", 1, false, (uint64_t)gemm->m * gemm->k, true, false, NULL},
                                    {"b", 1, false, (uint64_t)gemm->k * gemm->n, true, false, NULL},
                                    {"c", 1, false, (uint64_t)gemm->m * gemm->n, false, true, NULL}};
  for (int t = 0; t < 3; t++) command_add_tensor(s.program, &tensors[t]);
  configure(&s);
  for (unsigned i = 0; i < gemm->m; i += s.dim)
    for (unsigned j = 0; j < gemm->n; j += s.dim) {
      for (unsigned k = 0; k < gemm->k; k += s.dim) product(&s, i, j, k, derived.sp_rows / 2);
      add(&s, ISA_FUNCT_MVOUT, 2, (uint64_t)i * gemm->n + j,
          place(ISA_LOCAL_ACCUMULATOR_MASK, wf_min(s.dim, gemm->n - j), wf_min(s.dim, gemm->m - i)));
    }
  command_add_fence(s.program);
  return s.program;
}

void sample_gemm_plain(const sample_gemm *gemm, const int8_t *a, const int8_t *b, int8_t *c) {
  for (unsigned i = 0; i < gemm->m; i++)
    for (unsigned j = 0; j < gemm->n; j++) {
      int32_t sum = 0;
      for (unsigned k = 0; k < gemm->k; k++) sum += a[(size_t)i * gemm->k + k] * b[(size_t)k * gemm->n + j];
      float y = nearbyintf((float)sum * gemm->scale);
      c[(size_t)i * gemm->n + j] = (int8_t)(y > 127 ? 127 : y < -128 ? -128 : y);
    }
}

// ---- random programs

typedef struct generator {
  command_program *program;
  uint64_t random;
  unsigned room;  // executions that may still be added
} generator;

static unsigned draw(generator *g, unsigned below) { return (unsigned)(sample_random(&g->random) >> 20) % below; }

static void draw_insn(generator *g) {
  static const uint8_t functs[] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVOUT, ISA_FUNCT_PRELOAD,
                                   ISA_FUNCT_COMPUTE_PRELOADED};
  command_insn insn = {.funct = functs[draw(g, 5)], .tensor_rs2 = COMMAND_NO_TENSOR};
  bool moves = insn.funct != ISA_FUNCT_PRELOAD && insn.funct != ISA_FUNCT_COMPUTE_PRELOADED;
  insn.tensor_rs1 = (int16_t)(moves ? (int)draw(g, 3) : COMMAND_NO_TENSOR);
  insn.rs1 = draw(g, 8) * 64 + (draw(g, 40) == 0 ? sample_random(&g->random) : 0);
  insn.rs2 = draw(g, 8) * 16;
  command_step steps[COMMAND_LOOPS_MAX];
  for (int i = 0; i < g->program->open; i++) {
    steps[i].rs1 = draw(g, 3) == 0 ? 0 : draw(g, 16) * 64;
    steps[i].rs2 = draw(g, 3) == 0 ? (uint64_t)-16 : draw(g, 4) * 16;
  }
  command_add_stepped(g->program, &insn, steps);
}

static void draw_body(generator *g, unsigned times) {
  for (unsigned n = 1 + draw(g, 6); n != 0; n--) {
    if (draw(g, 3) != 0 || g->program->open == 4 || times > 2000) {
      draw_insn(g);
    } else if (draw(g, 8) == 0) {
      command_add_fence(g->program);
    } else {
      unsigned trips = 1 + draw(g, 12);
      command_add_loop(g->program, trips);
      draw_body(g, times * trips);
      command_add_end(g->program);
    }
  }
}

command_program *sample_random_program(const hw_array *array, uint64_t seed) {
  generator g = {.program = command_create("random", array), .random = seed * 0x9e3779b97f4a7c15 + 1};
  static const char *const names[] = {"a", "b", "c"};
  for (int t = 0; t < 3; t++)
    command_add_tensor(g.program, &(command_tensor){names[t], 1, false, 1 << 20, true, true, NULL});
  draw_body(&g, 1);
  return g.program;
}

// ---- comparison

typedef struct sequence {
  command_insn *all;
  size_t count, room;
} sequence;

static bool take(void *context, const command_insn *insn) {
  sequence *s = context;
  if (s->count == s->room) {
    s->room = s->room == 0 ? 1024 : 2 * s->room;
    s->all = wf_realloc(s->all, s->room, sizeof *s->all);
  }
  s->all[s->count++] = insn == NULL ? (command_insn){.funct = 127} : *insn;
  return true;
}

static bool same_insn(const command_insn *a, const command_insn *b) {
  return a->funct == b->funct && a->tensor_rs1 == b->tensor_rs1 && a->tensor_rs2 == b->tensor_rs2 && a->rs1 == b->rs1 &&
         a->rs2 == b->rs2;
}

bool sample_same(const command_program *a, const command_program *b) {
  sequence x = {0}, y = {0};
  command_walk(a, take, &x);
  command_walk(b, take, &y);
  bool same = x.count == y.count;
  for (size_t n = 0; same && n < x.count; n++) same = same_insn(&x.all[n], &y.all[n]);
  wf_free(x.all);
  wf_free(y.all);
  return same;
}
