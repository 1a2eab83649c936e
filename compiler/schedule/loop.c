// SPDX-License-Identifier: Apache-2.0
// Style loop: programs through the hardware's loop unrollers instead of streams. What both unrollers share: commands,
// configuration, multiples of the unit matrix.
//
// Configuration between two loops waits until both are done, so it is written where it changes only.
#include "compiler/schedule/loop.h"

#include <string.h>

#include "compiler/schedule/emit.h"

struct sched_loop_unit {
  int8_t number;
  int64_t size, pitch;
  int tensor;
};

enum { CONFIG_EX = 0, CONFIG_LD = 1, CONFIG_ST = 4 };

// ---- commands

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

void sched_loop_put(sched_loop *l, unsigned funct, sched_loop_operand rs1, sched_loop_operand rs2) {
  const command_insn i = {.funct = (uint8_t)funct,
                          .tensor_rs1 = (int16_t)rs1.tensor,
                          .tensor_rs2 = (int16_t)rs2.tensor,
                          .rs1 = rs1.value,
                          .rs2 = rs2.value};
  command_add(l->out, &i);
}

static void configure(sched_loop *l, int which, unsigned funct, uint64_t rs1, uint64_t rs2) {
  if (l->configured[which] && l->config[which][0] == rs1 && l->config[which][1] == rs2) return;
  l->configured[which] = true;
  l->config[which][0] = rs1;
  l->config[which][1] = rs2;
  sched_loop_put(l, funct, sched_loop_number(rs1), sched_loop_number(rs2));
}

void sched_loop_configure_load(sched_loop *l, unsigned state, int64_t stride, float scale, bool shrink) {
  uint64_t rs1, rs2;
  isa_init_config_ld(&rs1, &rs2);
  isa_set_config_ld_state(&rs1, &rs2, state);
  isa_set_config_ld_shrink(&rs1, &rs2, shrink);
  isa_set_config_ld_pixel_repeats(&rs1, &rs2, 1);
  isa_set_config_ld_block_stride(&rs1, &rs2, l->derived.dim);
  isa_set_config_ld_scale(&rs1, &rs2, bits_of(scale));
  isa_set_config_ld_stride(&rs1, &rs2, (uint64_t)stride);
  configure(l, CONFIG_LD + (int)state, ISA_FUNCT_CONFIG_LD, rs1, rs2);
}

void sched_loop_configure_execute(sched_loop *l, bool a_transposed, bool b_transposed, int64_t a_stride) {
  uint64_t rs1, rs2;
  isa_init_config_ex(&rs1, &rs2);
  isa_set_config_ex_dataflow(&rs1, &rs2, ISA_CONFIG_EX_DATAFLOW_WS);
  isa_set_config_ex_a_transpose(&rs1, &rs2, a_transposed);
  isa_set_config_ex_b_transpose(&rs1, &rs2, b_transposed);
  isa_set_config_ex_a_stride(&rs1, &rs2, (uint64_t)a_stride);
  isa_set_config_ex_acc_scale(&rs1, &rs2, bits_of(1.0F));
  isa_set_config_ex_c_stride(&rs1, &rs2, 1);
  configure(l, CONFIG_EX, ISA_FUNCT_CONFIG_EX, rs1, rs2);
}

void sched_loop_configure_store(sched_loop *l, int64_t stride, bool relu, float scale) {
  uint64_t rs1, rs2;
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_activation(&rs1, &rs2, relu);
  isa_set_config_st_stride(&rs1, &rs2, (uint64_t)stride);
  isa_set_config_st_acc_scale(&rs1, &rs2, bits_of(scale));
  configure(l, CONFIG_ST, ISA_FUNCT_CONFIG_ST, rs1, rs2);
}

// ---- multiples of the unit matrix

static const block_statement *load_into(const block_statement *list, int buffer) {
  for (; list != NULL; list = list->next)
    if (list->kind == BLOCK_LOAD && list->load.target.buffer == buffer) return list;
  return NULL;
}

int8_t sched_loop_unit_number(const sched_loop *l, const block_statement *dot) {
  const block_statement *load = load_into(l->program->body, dot->dot.b.buffer);
  const int8_t *contents = load == NULL ? NULL : l->program->tensors[load->load.access.tensor].contents;
  return contents == NULL ? 0 : contents[0];
}

static bool has_tensor(const command_program *program, const char *name) {
  for (int t = 0; t < program->tensor_count; t++)
    if (strcmp(program->tensors[t].name, name) == 0) return true;
  return false;
}

static int add_unit(sched_loop *l, const sched_loop_unit *unit) {
  const int64_t dim = l->derived.dim, rows = (unit->size + dim - 1) / dim * dim;
  int8_t *contents = WF_ARENA_ARRAY(l->arena, (size_t)(rows * unit->pitch), int8_t);
  for (int64_t i = 0; i < unit->size; i++) contents[i * unit->pitch + i] = unit->number;
  const char *name = wf_arena_format(l->arena, "unit_loop_%zu", l->unit_count);
  while (has_tensor(l->out, name)) name = wf_arena_format(l->arena, "%s_", name);
  return command_add_tensor(l->out, &(command_tensor){.name = name,
                                                      .element_bytes = 1,
                                                      .elements = (uint64_t)(rows * unit->pitch),
                                                      .read = true,
                                                      .contents = contents});
}

int sched_loop_unit_matrix(sched_loop *l, int8_t number, int64_t size, int64_t pitch) {
  for (size_t u = 0; u < l->unit_count; u++)
    if (l->units[u].number == number && l->units[u].size == size && l->units[u].pitch == pitch)
      return l->units[u].tensor;
  sched_loop_unit unit = {.number = number, .size = size, .pitch = pitch};
  unit.tensor = add_unit(l, &unit);
  *WF_ARENA_PUSH(l->arena, l->units, l->unit_count, &l->unit_room) = unit;
  return unit.tensor;
}

// ---- whole programs

bool sched_loop_refuse(const sched_loop *l, const block_statement *s, const char *reason) {
  wf_error(l->diag, s->where, "%s", reason);
  wf_hint(l->diag, "style primitive takes it");
  return false;
}

static const block_statement *first_dot(const block_statement *list) {
  for (; list != NULL; list = list->next) {
    const block_statement *dot = list->kind == BLOCK_DOT   ? list
                                 : list->kind == BLOCK_FOR ? first_dot(list->loop.body)
                                                           : NULL;
    if (dot != NULL) return dot;
  }
  return NULL;
}

// Results of four dimensions are images, others matrices.
static bool is_convolution(const block_program *program) {
  const block_statement *dot = first_dot(program->body);
  return dot != NULL && program->buffers[dot->dot.target.buffer].rank == SCHED_IMAGE_RANK;
}

static bool is_built(const sched_loop *l, bool convolution) {
  const hw_array *array = l->array;
  const bool unit = convolution ? array->units.loop_conv : array->units.loop_matmul;
  if (unit && array->mesh.dataflow != HW_DATAFLOW_OS) return true;
  wf_error(l->diag, wf_in_file(l->program->name), "this array has no unroller of weight-stationary %s loops",
           convolution ? "convolution" : "matrix");
  return false;
}

command_program *sched_loop_commands(const block_program *program, const hw_array *array, wf_diag *diag) {
  const bool convolution = is_convolution(program);
  sched_loop l = {.program = program, .array = array, .derived = hw_derive(array), .diag = diag};
  if (!is_built(&l, convolution)) return NULL;
  l.arena = wf_arena_create();
  l.out = command_create(program->name, array);
  sched_emit_tensors(program, l.out);
  sched_walk w;
  sched_walk_create(&w, program, l.arena);
  const bool good = convolution ? sched_loop_convolutions(&l, &w) : sched_loop_products(&l, &w);
  command_add_fence(l.out);
  wf_arena_destroy(l.arena);
  if (good) return l.out;
  command_destroy(l.out);
  return NULL;
}
