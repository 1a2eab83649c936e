// Turns the beats of one read burst at a time into local rows. See hw/rtl/beat_merger.sv.
//
// `read` bytes of the burst have come; those from `shift` on are wanted, `bytes` of them, and `sent` of these have left
// as rows. A row can leave when it is whole or the last. Beats are not copied: the bus holds the whole burst.
//
// Invariants: the beats of a burst follow each other; buffers and row descriptions are used again in rings that are
// longer than what can be alive behind the merger.

#include "hw/base/alloc.h"
#include "sim/cycle/bus.h"
#include "sim/cycle/load_path.h"

static const uint32_t ring_size[2] = {CYCLE_NARROW_RING, CYCLE_WIDE_RING};

void cycle_merger_init(cycle_engine *c, cycle_merger *m) {
  *m = (cycle_merger){.bus_bytes = c->array->dma.bus_bits / 8,
                      .row_mask = (UINT32_C(1) << c->d.row_bits) - 1,
                      .dim_shift = (uint32_t)__builtin_ctz(c->d.dim)};
  for (unsigned wide = 0; c->data && wide < 2; wide++)
    for (uint32_t i = 0; i < ring_size[wide]; i++) m->buffers[wide][i] = wf_alloc(c->array->dma.max_burst_bytes, 1);
}

void cycle_merger_free(cycle_merger *m) {
  for (unsigned wide = 0; wide < 2; wide++)
    for (uint32_t i = 0; i < ring_size[wide]; i++) wf_free(m->buffers[wide][i]);
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

bool cycle_merger_valid(const cycle_merger *m) {
  if (!m->valid || m->read <= m->burst.shift) return false;
  uint32_t useful = least(m->read - m->burst.shift, m->burst.bytes);
  return useful > m->sent && (useful - m->sent >= m->row_bytes || useful == m->burst.bytes);
}

// The row that leaves.
static const cycle_row *make_row(cycle_merger *m) {
  const cycle_burst *b = &m->burst;
  uint32_t ring = m->next_row[b->wide];
  m->next_row[b->wide] = (ring + 1) & (ring_size[b->wide] - 1);
  uint32_t first = m->sent == 0 ? b->row_offset : 0, blocks = (b->row_offset + m->sent) >> m->row_shift;
  uint32_t count = least(m->row_bytes - first, b->bytes - m->sent);
  cycle_row *row = &m->rows[b->wide][ring];
  *row = (cycle_row){.bytes = m->data == NULL ? NULL : m->data + m->sent,
                     .row = (b->row + b->block_stride * blocks) & m->row_mask,
                     .scale = b->scale,
                     .first = (uint16_t)first,
                     .count = (uint16_t)count,
                     .repeats = b->repeats,
                     .cols = b->cols,
                     .answer = b->bytes,
                     .pixel_repeats = b->pixel_repeats,
                     .cmd = b->cmd,
                     .is_acc = b->is_acc,
                     .accumulate = b->accumulate,
                     .last = m->sent + count == b->bytes};
  m->sent += count;
  return row;
}

static void open_burst(cycle_engine *c, cycle_merger *m, unsigned id) {
  m->burst = *cycle_reader_burst(c, id);
  m->valid = true;
  m->read = m->sent = 0;
  bool wide = m->burst.wide;
  m->row_shift = m->dim_shift + (wide ? 2 : 0);
  m->row_bytes = UINT32_C(1) << m->row_shift;
  if (!c->data) return;
  uint8_t **spare = &m->buffers[wide][m->next_buffer[wide]];
  m->next_buffer[wide] = (m->next_buffer[wide] + 1) & (ring_size[wide] - 1);
  *spare = cycle_bus_exchange(c, id, *spare);
  m->data = *spare + m->burst.shift;
}

static void take_beat(cycle_engine *c, cycle_merger *m) {
  m->read += m->bus_bytes;
  if (c->w.beat->last) cycle_reader_release(c, c->w.beat->id);
  cycle_bus_take(c);
}

bool cycle_merger_step(cycle_engine *c, cycle_merger *m, const cycle_row **out) {
  bool arrives = c->w.beat != NULL && !c->w.beat->write;
  if (!m->valid && !arrives) return false;
  bool complete = m->read == m->burst.length, out_last = false, all_sent = m->sent == m->burst.bytes;
  if (out != NULL) {
    *out = make_row(m);
    out_last = (*out)->last;
  }
  bool accept_new = !m->valid || (out_last && complete);
  bool takes = arrives && (accept_new || !complete);
  bool leaves = (complete && (all_sent || out_last)) ||
                (takes && !accept_new && all_sent && m->bus_bytes >= m->burst.length - m->read);
  bool changed = takes || out != NULL || (m->valid && leaves);
  if (leaves) m->valid = false;
  if (!takes) return changed;
  if (accept_new) open_burst(c, m, c->w.beat->id);
  take_beat(c, m);
  return true;
}
