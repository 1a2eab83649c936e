// SPDX-License-Identifier: Apache-2.0
// One accumulator bank; see accumulator_bank.h.
#include "sim/cycle/accumulator_bank.h"

#include <assert.h>

#include "base/alloc.h"

enum {
  QUEUED_WRITES = 4,  // room of a sub-bank's queue
  ON_THE_WAY = 2      // writes to a sub-bank that keep others waiting
};

void cycle_accumulator_bank_init(cycle_accumulator_bank *b, const hw_array *array, bool data) {
  uint32_t sub_banks = array->accumulator.sub_banks;
  *b = (cycle_accumulator_bank){.execute_since = UINT64_MAX,
                                .store_since = UINT64_MAX,
                                .latency = array->accumulator.latency,
                                .sub_mask = sub_banks - 1};
  assert(b->latency < CYCLE_SUB_BANK_COMING);
  b->stages = WF_NEW_ARRAY(b->latency + 1, cycle_acc_stage);
  for (uint32_t n = 0; n <= b->latency; n++) b->stages[n].row = UINT32_MAX;
  if (array->accumulator.single_ported) {
    b->sub = WF_NEW_ARRAY(sub_banks, cycle_sub_bank);
    for (uint32_t n = 0; n < sub_banks; n++) b->sub[n].adds = UINT64_MAX;
  }
  if (data) b->row = WF_NEW_ARRAY(hw_derive(array).dim, int32_t);
}

void cycle_accumulator_bank_free(cycle_accumulator_bank *b) {
  wf_free(b->stages);
  wf_free(b->sub);
  wf_free(b->row);
}

// ---- sub-banks

// Carries out the cycles before `now`: a queued write leaves unless the port reads for an addition, a write that comes
// out of the stages enters behind it. Cycles in which neither can happen are passed over.
static cycle_sub_bank *sub_bank_at(cycle_accumulator_bank *b, uint64_t now, uint32_t row) {
  cycle_sub_bank *s = &b->sub[row & b->sub_mask];
  while (s->at < now) {
    bool comes = s->count > 0 && s->coming[s->head] < now;
    if (s->queued == 0) s->at = comes ? s->coming[s->head] : now;
    if (s->at == now) break;
    bool leaves = s->queued > 0 && s->adds != s->at;
    bool enters = comes && s->coming[s->head] == s->at;
    s->queued += (uint32_t)enters - (uint32_t)leaves;
    if (s->queued > QUEUED_WRITES) b->overflow = true;
    if (enters) {
      s->head = (s->head + 1) % CYCLE_SUB_BANK_COMING;
      s->count--;
    }
    s->at++;
  }
  return s;
}

static void sub_bank_write(cycle_accumulator_bank *b, uint64_t now, uint32_t row, bool accumulate) {
  cycle_sub_bank *s = sub_bank_at(b, now, row);
  if (accumulate) s->adds = now;
  assert(s->count < CYCLE_SUB_BANK_COMING);
  s->coming[(s->head + s->count++) % CYCLE_SUB_BANK_COMING] = now + b->latency;
}

// ---- the bank

bool cycle_accumulator_bank_writable(cycle_accumulator_bank *b, uint64_t now, uint32_t row, bool accumulate) {
  if (accumulate && cycle_accumulator_bank_pending(b, now, row)) return false;
  if (b->sub == NULL) return true;
  const cycle_sub_bank *s = sub_bank_at(b, now, row);
  return s->queued + s->count < ON_THE_WAY;
}

void cycle_accumulator_bank_write(cycle_accumulator_bank *b, uint64_t now, uint32_t row, bool accumulate) {
  b->stages[b->next] = (cycle_acc_stage){.taken = now, .row = row};
  b->next = b->next == b->latency ? 0 : b->next + 1;
  b->settled = now + b->latency + 1;
  if (b->sub != NULL) sub_bank_write(b, now, row, accumulate);
}

bool cycle_accumulator_bank_readable(cycle_accumulator_bank *b, uint64_t now, uint32_t row) {
  if (cycle_accumulator_bank_pending(b, now, row)) return false;
  return b->sub == NULL || sub_bank_at(b, now, row)->queued == 0;
}
