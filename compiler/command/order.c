// SPDX-License-Identifier: Apache-2.0
// Order of loads behind stores through main memory: see order.h.
#include "compiler/command/order.h"

#include <inttypes.h>
#include <string.h>

#include "arch/config.h"
#include "arch/local.h"
#include "base/alloc.h"
#include "compiler/command/private.h"

// ---- stores so far

command_stores command_stores_begin(const hw_array *array) {
  enum { ROOM = 1024 };
  return (command_stores){
      .distance = arch_settling_of(array), .rows = WF_NEW_ARRAY((size_t)ROOM, uint64_t), .room = ROOM};
}

void command_stores_end(command_stores *s) {
  wf_free(s->rows);
  *s = (command_stores){0};
}

uint32_t command_stores_add(command_stores *s, uint32_t rows) {
  if (s->count + 1 == s->room) {
    s->room *= 2;
    s->rows = wf_realloc(s->rows, s->room, sizeof *s->rows);
  }
  s->rows[s->count + 1] = s->rows[s->count] + rows;
  s->count++;
  if (s->count <= s->distance.stores) return (uint32_t)s->count;
  const uint64_t left = s->rows[s->count - s->distance.stores];
  while (s->settled < s->count && s->rows[s->settled + 1] + s->distance.rows <= left) s->settled++;
  return (uint32_t)s->count;
}

// ---- the checker

#define GRAINS_MAX (UINT64_C(1) << 26)

typedef struct checker {
  const command_program *program;
  wf_diag *diag;
  arch_config config;
  hw_derived derived;
  command_stores stores;
  uint32_t **stored;  // per tensor that is read and written: the last store of each grain
  uint64_t *grains;   // and the bytes of a grain: 1 but for large tensors
  uint64_t index;
  bool good;
} checker;

// Rows of bytes that a command touches.
typedef struct access {
  uint32_t *stored;       // of its tensor; NULL: of no interest
  uint64_t bytes, grain;  // of the tensor
  uint64_t at, stride, length, rows;
} access;

static access access_of(const checker *k, const command_insn *c) {
  access a = {.at = c->rs1};
  if (c->tensor_rs1 == COMMAND_NO_TENSOR) return a;
  a.stored = k->stored[c->tensor_rs1];
  a.bytes = command_tensor_bytes(&k->program->tensors[c->tensor_rs1]);
  a.grain = k->grains[c->tensor_rs1];
  return a;
}

static bool is_settled(const checker *k, const access *a) {
  for (uint64_t r = 0; r < a->rows; r++)
    for (uint64_t b = 0; b < a->length; b++) {
      const uint64_t at = a->at + r * a->stride + b;
      if (at < a->bytes && a->stored[at / a->grain] > k->stores.settled) return false;
    }
  return true;
}

static void refuse(checker *k, const command_insn *c) {
  const arch_settling d = k->stores.distance;
  char text[COMMAND_TEXT_MAX];
  command_print_insn(k->program, c, text, sizeof text);
  wf_error(k->diag, wf_in_file(k->program->name), "command %" PRIu64 ": %s: reads bytes that may not be in memory yet",
           k->index, text);
  wf_hint(k->diag, "put a fence between, or stores of %u rows more and %u stores behind them", d.rows, d.stores);
  k->good = false;
}

static void check_load(checker *k, const command_insn *c, unsigned state) {
  access a = access_of(k, c);
  if (a.stored == NULL) return;
  const arch_load_config *load = &k->config.load[state];
  const arch_local to = arch_local_decode(&k->derived, isa_get_mvin_local(c->rs1, c->rs2));
  const uint32_t element = to.accumulator && !load->shrink ? k->derived.acc_bytes : k->derived.input_bytes;
  a.rows = load->stride_bytes == 0 ? 1 : isa_get_mvin_rows(c->rs1, c->rs2);
  a.stride = load->stride_bytes;
  a.length = isa_get_mvin_cols(c->rs1, c->rs2) * element >> load->packed;
  if (!is_settled(k, &a)) refuse(k, c);
}

static void note_store(checker *k, const command_insn *c) {
  const arch_store_config *store = &k->config.store;
  const arch_local from = arch_local_decode(&k->derived, isa_get_mvout_local(c->rs1, c->rs2));
  const uint32_t element = from.accumulator && from.full ? k->derived.acc_bytes : k->derived.input_bytes;
  access a = access_of(k, c);
  a.stride = store->stride_bytes;
  a.length = isa_get_mvout_cols(c->rs1, c->rs2) * element;
  a.rows = isa_get_mvout_rows(c->rs1, c->rs2);
  uint64_t rows = a.rows, across = rows, pitch = rows;  // of an image: pixels of a row stored, and of the whole
  if (from.accumulator && !from.garbage && from.norm != ARCH_NORM_NONE) rows = 0;  // a statistic, which goes nowhere
  const arch_store_mode mode = arch_config_store_mode(store);
  if (mode != ARCH_STORE_ROWS) {
    across = mode == ARCH_STORE_POOL ? store->pool_ocols : store->ocols;
    pitch = store->pool_out_dim;
    rows = across * (mode == ARCH_STORE_POOL ? store->pool_orows : store->orows);
  }
  const uint32_t number = command_stores_add(&k->stores, (uint32_t)(a.length == 0 ? 0 : rows));
  if (a.stored == NULL || rows == 0) return;
  for (uint64_t r = 0; r < rows; r++)
    for (uint64_t b = 0; b < a.length; b++) {
      const uint64_t at = a.at + (r / across * pitch + r % across) * a.stride + b;
      if (at < a.bytes) a.stored[at / a.grain] = number;
    }
}

static bool check_command(void *context, const command_insn *c) {
  checker *k = context;
  if (c == NULL) {
    command_stores_fence(&k->stores);
    return true;
  }
  const isa_id id = command_isa(k->program, c)->id;
  switch (id) {
    case ISA_MVIN:
      check_load(k, c, 0);
      break;
    case ISA_MVIN2:
      check_load(k, c, 1);
      break;
    case ISA_MVIN3:
      check_load(k, c, 2);
      break;
    case ISA_MVOUT:
      note_store(k, c);
      break;
    case ISA_MVOUT_SPAD_R2:
      command_stores_add(&k->stores, 0);  // it takes a place in the station
      break;
    default:
      arch_config_apply(&k->config, id, c->rs1, c->rs2);
  }
  k->index++;
  return k->good;
}

// Per tensor that is read and written the stores of its bytes; false: there is none.
static bool find_tensors(checker *k) {
  bool any = false;
  for (int t = 0; t < k->program->tensor_count; t++) {
    const command_tensor *tensor = &k->program->tensors[t];
    if (!tensor->read || !tensor->written) continue;
    const uint64_t bytes = command_tensor_bytes(tensor);
    k->grains[t] = bytes / GRAINS_MAX + 1;
    k->stored[t] = WF_NEW_ARRAY((size_t)(bytes / k->grains[t]) + 1, uint32_t);
    any = true;
  }
  return any;
}

bool command_check_order(const command_program *program, wf_diag *diag) {
  checker k = {.program = program, .diag = diag, .derived = hw_derive(program->array), .good = true};
  k.stored = WF_NEW_ARRAY((size_t)program->tensor_count + 1, uint32_t *);
  k.grains = WF_NEW_ARRAY((size_t)program->tensor_count + 1, uint64_t);
  if (find_tensors(&k)) {
    arch_config_reset(&k.config, program->array);
    k.stores = command_stores_begin(program->array);
    command_walk(program, check_command, &k);
    command_stores_end(&k.stores);
  }
  for (int t = 0; t < program->tensor_count; t++) wf_free(k.stored[t]);
  wf_free(k.stored);
  wf_free(k.grains);
  return k.good;
}
