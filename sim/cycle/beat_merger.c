// SPDX-License-Identifier: Apache-2.0
// Turns read bursts into local rows. See hw/rtl/weft_beat_merger.sv.
//
// Once the first beat of a burst is taken, the others are taken as they come, so all their cycles are known. Of the
// burst's bytes those from `shift` on are wanted, `bytes` of them; `sent` of these have left as rows. A row can leave
// from the cycle after the beat that makes it whole, or that brings the last wanted byte. Beats are not copied: the bus
// holds the whole burst.
//
// Packed rows hold two int4 values a byte until they leave; then they are int8 rows, with bytes of their own.
//
// Invariants: the beats of a burst follow each other; buffers and row descriptions are used again in rings that are
// longer than what can be alive behind the merger.
#include "sim/cycle/beat_merger.h"

#include <assert.h>

#include "arch/config.h"
#include "base/alloc.h"
#include "base/number.h"
#include "sim/cycle/bus.h"

static const uint32_t ring_size[2] = {CYCLE_NARROW_RING, CYCLE_WIDE_RING};

void cycle_merger_init(cycle_engine *c, cycle_merger *m) {
  *m = (cycle_merger){.bus_shift = (uint32_t)__builtin_ctz(c->array->dma.bus_bits / 8),
                      .row_mask = (UINT32_C(1) << c->d.row_bits) - 1,
                      .dim_shift = (uint32_t)__builtin_ctz(c->d.dim)};
  for (unsigned wide = 0; c->data && wide < 2; wide++)
    for (uint32_t i = 0; i < ring_size[wide]; i++) m->buffers[wide][i] = wf_alloc(c->array->dma.max_burst_bytes, 1);
  for (uint32_t i = 0; c->data && c->array->load.packed_int4 && i <= CYCLE_NARROW_RING; i++)
    m->widened[i] = wf_alloc(c->d.dim, 1);
}

void cycle_merger_free(cycle_merger *m) {
  for (unsigned wide = 0; wide < 2; wide++)
    for (uint32_t i = 0; i < ring_size[wide]; i++) wf_free(m->buffers[wide][i]);
  for (uint32_t i = 0; i <= CYCLE_NARROW_RING; i++) wf_free(m->widened[i]);
}

static uint64_t beat_at(const cycle_burst_rows *b, uint64_t beat) {
  return wf_max(b->first_beat + beat, b->ready + beat * b->spacing);
}

static const uint8_t *take_buffer(cycle_engine *c, cycle_merger *m, unsigned id, bool wide) {
  uint8_t **spare = &m->buffers[wide][m->next_buffer[wide]];
  m->next_buffer[wide] = (m->next_buffer[wide] + 1) & (ring_size[wide] - 1);
  *spare = cycle_bus_exchange(c, id, *spare);
  return *spare;
}

void cycle_merger_open(cycle_engine *c, uint64_t now, cycle_merger *m) {
  assert(!m->open && m->accept_from <= now);
  unsigned id = c->w.beat->id;
  cycle_burst_rows *b = m->at_work = &m->bursts[m->next_burst];
  m->next_burst = (m->next_burst + 1) & (CYCLE_BURST_RING - 1);
  m->open = true;
  b->burst = *cycle_reader_burst(c, id);
  b->sent = 0;
  b->row = b->burst.row;
  b->left = now;
  b->row_shift = m->dim_shift + (b->burst.wide ? 2 : 0) - b->burst.packed;
  b->row_bytes = UINT32_C(1) << b->row_shift;
  memsys_burst beats = cycle_bus_take_burst(c, now);
  b->first_beat = now;
  b->ready = beats.ready;
  b->spacing = beats.spacing;
  b->last_beat = beat_at(b, beats.beats - 1);
  cycle_reader_release(c, id, b->last_beat);
  if (c->data) b->data = take_buffer(c, m, id, b->burst.wide) + b->burst.shift;
}

// The earliest cycle in which row `number` is there.
static uint64_t row_there(const cycle_merger *m, const cycle_burst_rows *b, uint32_t number) {
  uint32_t end = (number + 1) * b->row_bytes;
  uint32_t needed = end < b->burst.bytes ? end : b->burst.bytes;
  return beat_at(b, (b->burst.shift + needed - 1) >> m->bus_shift) + 1;
}

uint64_t cycle_merger_row_from(const cycle_merger *m, const cycle_burst_rows *b) {
  uint32_t needed = b->sent + b->row_bytes < b->burst.bytes ? b->sent + b->row_bytes : b->burst.bytes;
  return wf_max(beat_at(b, (b->burst.shift + needed - 1) >> m->bus_shift), b->left) + 1;
}

// Rows come in beats of their own, but for the last one, when they start with a local row and are no shorter than a
// beat.
uint64_t cycle_merger_last_row(const cycle_merger *m, const cycle_burst_rows *b) {
  if (b->burst.row_offset == 0 && b->row_shift >= m->bus_shift) {
    uint32_t last = (b->burst.bytes - 1U) >> b->row_shift;
    uint64_t there = row_there(m, b, last);
    return last == 0 ? there : wf_max(there, row_there(m, b, last - 1) + 1);
  }
  cycle_burst_rows rest = *b;
  while (rest.sent < rest.burst.bytes) {
    rest.left = cycle_merger_row_from(m, &rest);
    rest.sent += cycle_burst_count(&rest);
  }
  return rest.left;
}

// When beats without wanted bytes come after the last row, the burst ends with the last of them; when that one came
// with the row, a cycle later.
void cycle_merger_close(cycle_merger *m, uint64_t at) {
  uint64_t last_beat = m->at_work->last_beat;
  m->open = false;
  m->accept_from = at > last_beat ? at : last_beat + (at == last_beat ? 2 : 1);
}

static const uint8_t *widen(uint8_t *to, const uint8_t *packed, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) to[i] = (uint8_t)arch_packed_element(packed, i);
  return to;
}

const uint8_t *cycle_merger_widen(cycle_merger *m, const uint8_t *packed, uint32_t count) {
  return widen(m->widened[CYCLE_NARROW_RING], packed, count);
}

// Only a burst's first row can start inside a local row.
const cycle_row *cycle_merger_take(cycle_merger *m, cycle_burst_rows *rows, uint64_t at) {
  const cycle_burst *b = &rows->burst;
  uint32_t ring = m->next_row[b->wide], count = cycle_burst_count(rows);
  m->next_row[b->wide] = (ring + 1) & (ring_size[b->wide] - 1);
  cycle_row *row = &m->rows[b->wide][ring];
  row->bytes = rows->data == NULL ? NULL : rows->data + rows->sent;
  row->row = rows->row;
  row->scale = b->scale;
  row->first = (uint16_t)(cycle_burst_first(rows) << b->packed);
  row->count = (uint16_t)(count << b->packed);
  if (b->packed && row->bytes != NULL) row->bytes = widen(m->widened[ring], row->bytes, row->count);
  row->repeats = b->repeats;
  row->cols = b->cols;
  row->answer = b->bytes;
  row->pixel_repeats = b->pixel_repeats;
  row->cmd = b->cmd;
  row->is_acc = b->is_acc;
  row->accumulate = b->accumulate;
  cycle_burst_advance(rows, count, m->row_mask);
  rows->left = at;
  row->last = rows->sent == b->bytes;
  return row;
}
