// From row requests of the load controller to writes of local memory. See hw/rtl/load_path.sv.
//
//   request --zeros?--> zero_writer --> pixel_repeater ------------------> zero write
//         \--> issue queue --> dma_reader
//   bus --> beat_merger --int8--> mvin_scale --> pixel_repeater ---------> narrow write
//                       \--int32--> register with repeats ---------------> wide write
//
// At most one answer per cycle: a wide write waits while a narrow one is the last of its request or goes to the
// accumulator; a zero write waits while either of the others is the last of its request.
// Invariants: after a step and after a request everything that can be known about rows on their way has been worked out
// (settle); next_write is the first cycle in which a write is asked for.
#include "sim/cycle/load_path.h"

#include <string.h>

#include "hw/base/alloc.h"
#include "sim/ref/numeric.h"

struct cycle_load_path {
  uint64_t next_write;
  cycle_path_end narrow_end, wide_end, zero_end;
  cycle_merger merger;
  cycle_mvin_scale narrow, wide;
  cycle_zero_writer zeros;
  cycle_queue issue;
  cycle_load_row *issued;  // by slot
  uint32_t sp_mask, acc_mask, dim;
  int32_t *extended;  // a narrow row for the accumulator
};

void cycle_load_path_create(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path = WF_NEW(struct cycle_load_path);
  const hw_array *a = c->array;
  p->next_write = CYCLE_NEVER;
  p->dim = c->d.dim;
  p->sp_mask = c->d.sp_rows - 1;
  p->acc_mask = c->d.acc_rows - 1;
  cycle_merger_init(c, &p->merger);
  cycle_mvin_scale_init(c, &p->narrow, a->load.scale_units, a->load.scale_latency);
  cycle_mvin_scale_init(c, &p->wide, 0, 0);
  cycle_path_end_init(c, &p->narrow_end, a->units.pixel_repeat);
  cycle_path_end_init(c, &p->wide_end, false);
  cycle_path_end_init(c, &p->zero_end, a->units.pixel_repeat);
  cycle_zero_writer_init(c, &p->zeros);
  cycle_queue_init(&p->issue, a->scratchpad.read_delay + 1, 1, true);
  p->issued = WF_NEW_ARRAY(cycle_queue_slots(&p->issue), cycle_load_row);
  p->extended = WF_NEW_ARRAY(p->dim, int32_t);
}

void cycle_load_path_destroy(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  if (p == NULL) return;
  cycle_merger_free(&p->merger);
  cycle_mvin_scale_free(&p->narrow);
  cycle_mvin_scale_free(&p->wide);
  cycle_queue_free(&p->issue);
  wf_free(p->issued);
  wf_free(p->extended);
  wf_free(p);
}

// ---- rows move on as far as their cycles are known

static void settle_zeros(struct cycle_load_path *p) {
  cycle_item item;
  if (p->zero_end.valid || !cycle_zero_writer_next(&p->zeros, &item)) return;
  uint64_t leaves = cycle_path_end_put(&p->zero_end, &item);
  if (p->zero_end.repeats) cycle_zero_writer_pop(&p->zeros, leaves);
}

static void fill_end(cycle_mvin_scale *from, cycle_path_end *end) {
  cycle_item item;
  if (end->valid || !cycle_mvin_scale_next(from, &item)) return;
  uint64_t leaves = cycle_path_end_put(end, &item);
  if (end->repeats) cycle_mvin_scale_pop(from, leaves);
}

static void settle(struct cycle_load_path *p) {
  fill_end(&p->narrow, &p->narrow_end);
  fill_end(&p->wide, &p->wide_end);
  while (p->merger.open) {
    bool wide = p->merger.at_work->burst.wide;
    cycle_mvin_scale *to = wide ? &p->wide : &p->narrow;
    if (to->held) return;
    uint64_t at = cycle_later(cycle_merger_row_from(&p->merger, p->merger.at_work), to->free_from);
    const cycle_row *row = cycle_merger_take(&p->merger, p->merger.at_work, at);
    if (row->last) cycle_merger_close(&p->merger, at);
    cycle_mvin_scale_put(to, row, at);
    fill_end(to, wide ? &p->wide_end : &p->narrow_end);
  }
}

static void find_next_write(cycle_engine *c, struct cycle_load_path *p) {
  uint64_t next = p->narrow_end.valid ? p->narrow_end.at : CYCLE_NEVER;
  if (p->wide_end.valid && p->wide_end.at < next) next = p->wide_end.at;
  if (p->zero_end.valid && p->zero_end.at < next) next = p->zero_end.at;
  p->next_write = c->wake[CYCLE_LOAD_PATH] = next;
}

// ---- requests

bool cycle_load_path_ready(const cycle_engine *c, bool zeros) {
  const struct cycle_load_path *p = c->load_path;
  return zeros ? !p->zeros.held && p->zeros.free_from <= c->now : cycle_queue_room(&p->issue, c->now);
}

void cycle_load_path_request(cycle_engine *c, const cycle_load_row *row) {
  struct cycle_load_path *p = c->load_path;
  if (!row->zeros) {
    p->issued[cycle_queue_push(&p->issue, c->now)] = *row;
    return;
  }
  cycle_zero_writer_put(&p->zeros, row, c->now);
  settle_zeros(p);
  find_next_write(c, p);
}

const cycle_load_row *cycle_load_path_offer(const cycle_engine *c) {
  const struct cycle_load_path *p = c->load_path;
  return cycle_queue_valid(&p->issue, c->now) ? &p->issued[cycle_queue_head(&p->issue)] : NULL;
}

void cycle_load_path_offer_taken(cycle_engine *c) { cycle_queue_pop(&c->load_path->issue, c->now); }

// ---- data

// Lanes of a row that a copy keeps: `count` from `first` on.
typedef struct lanes {
  uint32_t first, count;
} lanes;

static lanes kept(const struct cycle_load_path *p, const cycle_path_end *e) {
  const cycle_row *row = e->item.row;
  uint32_t first = row->first + (uint32_t)e->copy * row->cols;
  if (first >= p->dim) return (lanes){0};
  uint32_t room = p->dim - first;
  return (lanes){.first = first, .count = row->count < room ? row->count : room};
}

static void move_narrow(cycle_engine *c, const cycle_path_end *e, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  lanes k = kept(p, e);
  const int8_t *bytes = (const int8_t *)e->item.bytes;
  if (!e->item.row->is_acc) {
    memcpy(cycle_sp_row(c, row & p->sp_mask) + k.first, bytes, k.count);
    return;
  }
  int32_t *to = cycle_acc_row(c, row & p->acc_mask) + k.first;
  for (uint32_t i = 0; i < k.count; i++) p->extended[i] = bytes[i];
  if (e->item.row->accumulate)
    ref_add_row(k.count, p->extended, to);
  else
    memcpy(to, p->extended, k.count * sizeof *to);
}

// A row of int32 that is not accumulated may start and end inside an element.
static void move_wide(cycle_engine *c, const cycle_path_end *e, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  int32_t *to = cycle_acc_row(c, row & p->acc_mask);
  const cycle_row *r = e->item.row;
  if (!r->accumulate) {
    memcpy((uint8_t *)to + r->first, e->item.bytes, r->count);
    return;
  }
  uint32_t elements = r->count / sizeof *to;
  memcpy(p->extended, e->item.bytes, elements * sizeof *to);
  ref_add_row(elements, p->extended, to + r->first / sizeof *to);
}

static void move_zeros(cycle_engine *c, const cycle_path_end *e, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  lanes k = kept(p, e);
  if (!e->item.row->is_acc)
    memset(cycle_sp_row(c, row & p->sp_mask) + k.first, 0, k.count);
  else if (!e->item.row->accumulate)
    memset(cycle_acc_row(c, row & p->acc_mask) + k.first, 0, k.count * sizeof *c->acc);
}

// ---- writes

// A write that waits asks again in the next cycle.
static bool wait(cycle_engine *c, cycle_path_end *e) {
  e->at = c->now + 1;
  return false;
}

// Returns whether the item has left the end of its path.
static bool written(cycle_engine *c, cycle_path_end *e) {
  if (cycle_path_end_last(e)) {
    c->w.load_answered = true;
    c->w.load_bytes = e->item.row->answer;
    c->w.load_cmd = e->item.row->cmd;
  }
  return cycle_path_end_taken(e, c->now);
}

static bool write_narrow(cycle_engine *c, struct cycle_load_path *p) {
  cycle_path_end *e = &p->narrow_end;
  const cycle_row *r = e->item.row;
  uint32_t row = cycle_path_end_row(e);
  if (!cycle_local_narrow_write(c, r->is_acc, row, r->accumulate)) return wait(c, e);
  if (c->data) move_narrow(c, e, row);
  if (written(c, e) && !e->repeats) cycle_mvin_scale_pop(&p->narrow, c->now);
  return true;
}

static bool write_wide(cycle_engine *c, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->wide_end;
  uint32_t row = cycle_path_end_row(e);
  if (held_back || !cycle_local_wide_write(c, row, e->item.row->accumulate)) return wait(c, e);
  if (c->data) move_wide(c, e, row);
  if (written(c, e)) cycle_mvin_scale_pop(&p->wide, c->now);
  return true;
}

static bool write_zeros(cycle_engine *c, struct cycle_load_path *p, bool held_back) {
  cycle_path_end *e = &p->zero_end;
  const cycle_row *r = e->item.row;
  uint32_t row = cycle_path_end_row(e);
  if (held_back || !cycle_local_zero_write(c, r->is_acc, row, r->accumulate)) return wait(c, e);
  if (c->data) move_zeros(c, e, row);
  if (written(c, e) && !e->repeats) cycle_zero_writer_pop(&p->zeros, c->now);
  settle_zeros(p);
  return true;
}

// Returns whether a write was taken.
static bool write_rows(cycle_engine *c, struct cycle_load_path *p) {
  bool narrow = cycle_path_end_offers(&p->narrow_end, c->now), wide = cycle_path_end_offers(&p->wide_end, c->now);
  bool narrow_last = narrow && cycle_path_end_last(&p->narrow_end);
  bool wide_last = wide && cycle_path_end_last(&p->wide_end);
  bool narrow_is_acc = narrow && p->narrow_end.item.row->is_acc, changed = false;
  if (narrow) changed |= write_narrow(c, p);
  if (wide) changed |= write_wide(c, p, narrow_last || narrow_is_acc);
  if (cycle_path_end_offers(&p->zero_end, c->now)) changed |= write_zeros(c, p, narrow_last || wide_last);
  return changed;
}

// ---- the cycle

static bool takes_burst(const cycle_engine *c, const struct cycle_load_path *p) {
  return c->w.beat != NULL && !c->w.beat->write && !p->merger.open && p->merger.accept_from <= c->now;
}

bool cycle_load_path_step(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  bool writes = p->next_write <= c->now, changed = false;
  if (!writes && (c->w.beat == NULL || c->w.beat->write)) return false;
  if (writes && write_rows(c, p)) {
    settle(p);
    changed = true;
  }
  if (takes_burst(c, p)) {
    cycle_merger_open(c, &p->merger);
    settle(p);
    changed = true;
  }
  find_next_write(c, p);
  return changed;
}
