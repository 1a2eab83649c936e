// Scales int8 rows and repeats them over local rows. See hw/rtl/mvin_scale.sv.
//
// A row waits in the input register and enters the scheduler repeats + 1 times, the farthest row first. Its results are
// computed when it enters; the scheduler knows when the hardware has them.
// Invariants: `last` comes with the row itself, never with a repeat before it.
#include "hw/base/alloc.h"
#include "sim/config.h"
#include "sim/cycle/load_path.h"
#include "sim/ref/numeric.h"

void cycle_mvin_scale_init(cycle_engine *c, cycle_mvin_scale *s, uint32_t units, uint32_t latency) {
  *s = (cycle_mvin_scale){.units = units, .dim = c->d.dim};
  if (units == 0) return;
  cycle_scheduler_init(&s->scheduler, c->d.dim, units, latency, false);
  if (!c->data) return;
  for (unsigned i = 0; i <= CYCLE_SCHEDULER_ROWS; i++) s->results[i] = wf_alloc(c->d.dim, 1);
  s->operands = WF_NEW_ARRAY(c->d.dim, int32_t);
}

void cycle_mvin_scale_free(cycle_mvin_scale *s) {
  if (s->units != 0) cycle_scheduler_free(&s->scheduler);
  for (unsigned i = 0; i <= CYCLE_SCHEDULER_ROWS; i++) wf_free(s->results[i]);
  wf_free(s->operands);
}

static cycle_row_write at_input(const cycle_mvin_scale *s) {
  return (cycle_row_write){
      .row = s->in, .bytes = s->in->bytes, .to = s->in->row + s->repeats, .last = s->in->last && s->repeats == 0};
}

static void sent(cycle_mvin_scale *s) {
  if (s->repeats == 0)
    s->valid = false;
  else
    s->repeats--;
}

bool cycle_mvin_scale_offer(const cycle_mvin_scale *s, uint64_t now, cycle_row_write *out) {
  if (s->units == 0) {
    if (s->valid) *out = at_input(s);
    return s->valid;
  }
  if (!cycle_scheduler_valid(&s->scheduler, now)) return false;
  *out = s->rows[cycle_scheduler_head(&s->scheduler)];
  return true;
}

void cycle_mvin_scale_taken(cycle_mvin_scale *s, uint64_t now) {
  if (s->units == 0)
    sent(s);
  else
    cycle_scheduler_pop(&s->scheduler, now);
}

static const uint8_t *scaled(cycle_mvin_scale *s) {
  const int8_t *in = (const int8_t *)s->in->bytes;
  uint8_t *out = s->results[s->next_result];
  s->next_result = (s->next_result + 1) % (CYCLE_SCHEDULER_ROWS + 1);
  for (uint32_t i = 0; i < s->in->count; i++) s->operands[i] = in[i];
  ref_scale_row(s->in->count, s->operands, ref_float_of_bits(s->in->scale), false, (int8_t *)out);
  return out;
}

bool cycle_mvin_scale_step(cycle_engine *c, cycle_mvin_scale *s) {
  if (s->units == 0 || !s->valid || !cycle_scheduler_room(&s->scheduler, c->now)) return false;
  bool skip = s->in->scale == SIM_SCALE_ONE;
  cycle_row_write *row = &s->rows[cycle_scheduler_push(&s->scheduler, c->now, skip)];
  *row = at_input(s);
  if (!skip && c->data) row->bytes = scaled(s);
  sent(s);
  return true;
}
