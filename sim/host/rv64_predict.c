// SPDX-License-Identifier: Apache-2.0
// Branch prediction: see rv64_predict.h.
#include "sim/host/rv64_predict.h"

#include <stddef.h>

#include "base/alloc.h"

enum { FOLDED_BITS = 3 };

// A history's part of the index: the top bits of its product with sqrt(3)/2, in the top bits of the index.
static void fold_histories(rv64_predictor *p, unsigned length) {
  unsigned kept = length < FOLDED_BITS ? length : FOLDED_BITS;
  if (kept > p->index_bits) kept = p->index_bits;
  uint64_t factor = (UINT64_C(3719550786) << length) >> 32;  // 2^32 sqrt(3)/2
  p->folds = WF_NEW_ARRAY((size_t)1 << length, uint32_t);
  p->fold = p->folds;
  for (uint64_t h = 0; kept != 0 && h < UINT64_C(1) << length; h++) {
    uint64_t mixed = length == FOLDED_BITS ? h : (factor * h & ((UINT64_C(1) << length) - 1)) >> (length - kept);
    p->folds[h] = (uint32_t)(mixed << (p->index_bits - kept));
  }
}

void rv64_predictor_create(rv64_predictor *p, const hw_array *array) {
  const bool follows = array->host.branch_prediction == HW_PREDICTION_TABLES;
  *p = (rv64_predictor){.follows = follows,
                        .index_bits = (unsigned)__builtin_ctz(array->host.bht_entries),
                        .index_mask = array->host.bht_entries - 1,
                        .target_count = follows ? array->host.btb_entries : 0,
                        .return_limit = follows ? array->host.ras_entries : 0};
  p->taken = WF_NEW_ARRAY(array->host.bht_entries, uint8_t);
  p->newest = array->host.bht_history == 0 ? 0 : UINT32_C(1) << (array->host.bht_history - 1);
  fold_histories(p, array->host.bht_history);
  p->targets = WF_NEW_ARRAY(p->target_count + 1, rv64_target);
  for (unsigned i = 0; i <= p->target_count; i++) p->targets[i].block = RV64_NO_BLOCK;
  p->returns = WF_NEW_ARRAY(p->return_limit + 1, uint64_t);
}

void rv64_predictor_destroy(rv64_predictor *p) {
  wf_free(p->taken);
  wf_free(p->folds);
  wf_free(p->targets);
  wf_free(p->returns);
}

rv64_target *rv64_predict_search(rv64_predictor *p, uint64_t block) {
  for (unsigned i = 0; i < p->target_count; i++) {
    if (p->targets[i].block != block) continue;
    p->hint[block % RV64_BTB_HINTS] = (uint16_t)i;
    p->targets[i].used = ++p->clock;
    return &p->targets[i];
  }
  return NULL;
}

static rv64_target *oldest(const rv64_predictor *p) {
  rv64_target *found = &p->targets[0];
  for (unsigned i = 1; i < p->target_count; i++)
    if (p->targets[i].used < found->used) found = &p->targets[i];
  return found;
}

void rv64_predict_learn(rv64_predictor *p, uint64_t block, uint64_t target) {
  if (p->target_count == 0) return;
  rv64_target *entry = rv64_predict_target(p, block);
  if (entry == NULL) entry = oldest(p);
  *entry = (rv64_target){.block = block, .target = target, .used = ++p->clock};
  p->hint[block % RV64_BTB_HINTS] = (uint16_t)(entry - p->targets);
}

// The ring overwrites its oldest address.
void rv64_predict_call(rv64_predictor *p, uint64_t back) {
  if (p->return_limit == 0) return;
  p->return_top = (p->return_top + 1) % p->return_limit;
  p->returns[p->return_top] = back;
  if (p->return_count < p->return_limit) p->return_count++;
}

uint64_t rv64_predict_indirect(rv64_predictor *p, uint64_t block) {
  const rv64_target *known = rv64_predict_target(p, block);
  return known == NULL ? RV64_NO_BLOCK : known->target;
}

// An empty stack leaves the choice to the target buffer.
uint64_t rv64_predict_return(rv64_predictor *p, uint64_t block) {
  if (p->return_count == 0) return rv64_predict_indirect(p, block);
  p->return_count--;
  uint64_t back = p->returns[p->return_top];
  p->return_top = (p->return_top + p->return_limit - 1) % p->return_limit;
  return back;
}
