// From row requests of the load controller to writes of local memory. See hw/rtl/load_path.sv.
//
//   request --zeros?--> zero_writer --> pixel_repeater ------------------> zero write
//         \--> issue queue --> dma_reader
//   bus --> beat_merger --int8--> mvin_scale --> pixel_repeater ---------> narrow write
//                       \--int32--> register with repeats ---------------> wide write
//
// At most one answer per cycle: a wide write waits while a narrow one is the last of its request or goes to the
// accumulator; a zero write waits while either of the others is the last of its request.
// Invariants: every stage is looked at from the end of the path on, so a stage that was emptied takes the next row in
// the same cycle where the hardware does.
#include "sim/cycle/load_path.h"

#include <string.h>

#include "hw/base/alloc.h"
#include "sim/ref/numeric.h"

struct cycle_load_path {
  bool repeats_pixels;
  uint32_t sp_mask, acc_mask, row_mask, dim;
  cycle_merger merger;
  cycle_mvin_scale narrow, wide;
  cycle_repeater repeater, zero_repeater;
  cycle_zero_writer zeros;
  cycle_queue issue;
  cycle_load_row *issued;  // by slot
  int32_t *extended;       // a narrow row for the accumulator
};

void cycle_load_path_create(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path = WF_NEW(struct cycle_load_path);
  const hw_array *a = c->array;
  p->repeats_pixels = a->units.pixel_repeat;
  p->dim = c->d.dim;
  p->row_mask = (UINT32_C(1) << c->d.row_bits) - 1;
  p->sp_mask = c->d.sp_rows - 1;
  p->acc_mask = c->d.acc_rows - 1;
  cycle_merger_init(c, &p->merger);
  cycle_mvin_scale_init(c, &p->narrow, a->load.scale_units, a->load.scale_latency);
  cycle_mvin_scale_init(c, &p->wide, 0, 0);
  p->repeater = p->zero_repeater = (cycle_repeater){.half = c->d.sp_rows / 2, .row_mask = p->row_mask};
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

// ---- requests

bool cycle_load_path_ready(const cycle_engine *c, bool zeros) {
  const struct cycle_load_path *p = c->load_path;
  return zeros ? !p->zeros.valid : cycle_queue_room(&p->issue, c->now);
}

void cycle_load_path_request(cycle_engine *c, const cycle_load_row *row) {
  struct cycle_load_path *p = c->load_path;
  if (row->zeros)
    cycle_zero_writer_put(&p->zeros, row);
  else
    p->issued[cycle_queue_push(&p->issue, c->now)] = *row;
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

static lanes kept(const struct cycle_load_path *p, const cycle_row_write *w) {
  uint32_t first = w->row->first + w->shift;
  if (first >= p->dim) return (lanes){0};
  uint32_t room = p->dim - first;
  return (lanes){.first = first, .count = w->row->count < room ? w->row->count : room};
}

static void move_narrow(cycle_engine *c, const cycle_row_write *w, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  lanes k = kept(p, w);
  const int8_t *bytes = (const int8_t *)w->bytes;
  if (!w->row->is_acc) {
    memcpy(cycle_sp_row(c, row & p->sp_mask) + k.first, bytes, k.count);
    return;
  }
  int32_t *to = cycle_acc_row(c, row & p->acc_mask) + k.first;
  for (uint32_t i = 0; i < k.count; i++) p->extended[i] = bytes[i];
  if (w->row->accumulate)
    ref_add_row(k.count, p->extended, to);
  else
    memcpy(to, p->extended, k.count * sizeof *to);
}

// A row of int32 that is not accumulated may start and end inside an element.
static void move_wide(cycle_engine *c, const cycle_row_write *w, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  int32_t *to = cycle_acc_row(c, row & p->acc_mask);
  const cycle_row *r = w->row;
  if (!r->accumulate) {
    memcpy((uint8_t *)to + r->first, w->bytes, r->count);
    return;
  }
  uint32_t elements = r->count / sizeof *to;
  memcpy(p->extended, w->bytes, elements * sizeof *to);
  ref_add_row(elements, p->extended, to + r->first / sizeof *to);
}

static void move_zeros(cycle_engine *c, const cycle_row_write *w, uint32_t row) {
  struct cycle_load_path *p = c->load_path;
  lanes k = kept(p, w);
  if (!w->row->is_acc)
    memset(cycle_sp_row(c, row & p->sp_mask) + k.first, 0, k.count);
  else if (!w->row->accumulate)
    memset(cycle_acc_row(c, row & p->acc_mask) + k.first, 0, k.count * sizeof *c->acc);
}

// ---- the ends of the path

static void answer(cycle_engine *c, const cycle_row_write *w) {
  if (!w->last) return;
  c->w.load_answered = true;
  c->w.load_bytes = w->row->answer;
  c->w.load_cmd = w->row->cmd;
}

// What the three ends offer in this cycle, and whether anything changed.
typedef struct writes {
  cycle_row_write narrow, wide, zero;
  bool narrow_valid, wide_valid, changed, refused;
} writes;

static void write_narrow(cycle_engine *c, struct cycle_load_path *p, writes *w) {
  w->narrow_valid = p->repeats_pixels ? cycle_repeater_offer(&p->repeater, &w->narrow, &w->changed)
                                      : cycle_mvin_scale_offer(&p->narrow, c->now, &w->narrow);
  if (!w->narrow_valid) return;
  uint32_t row = w->narrow.to & p->row_mask;
  if (!cycle_local_narrow_write(c, w->narrow.row->is_acc, row, w->narrow.row->accumulate)) {
    w->refused = true;
    return;
  }
  if (c->data) move_narrow(c, &w->narrow, row);
  answer(c, &w->narrow);
  if (p->repeats_pixels)
    cycle_repeater_taken(&p->repeater);
  else
    cycle_mvin_scale_taken(&p->narrow, c->now);
  w->changed = true;
}

static void write_wide(cycle_engine *c, struct cycle_load_path *p, writes *w) {
  w->wide_valid = cycle_mvin_scale_offer(&p->wide, c->now, &w->wide);
  if (!w->wide_valid || (w->narrow_valid && (w->narrow.row->is_acc || w->narrow.last))) return;
  uint32_t row = w->wide.to & p->row_mask;
  if (!cycle_local_wide_write(c, row, w->wide.row->accumulate)) {
    w->refused = true;
    return;
  }
  if (c->data) move_wide(c, &w->wide, row);
  answer(c, &w->wide);
  cycle_mvin_scale_taken(&p->wide, c->now);
  w->changed = true;
}

static bool offer_zeros(struct cycle_load_path *p, writes *w) {
  if (p->repeats_pixels) return cycle_repeater_offer(&p->zero_repeater, &w->zero, &w->changed);
  if (p->zeros.valid) cycle_zero_writer_offer(&p->zeros, &w->zero);
  return p->zeros.valid;
}

static void write_zeros(cycle_engine *c, struct cycle_load_path *p, writes *w) {
  if (!offer_zeros(p, w)) return;
  if ((w->narrow_valid && w->narrow.last) || (w->wide_valid && w->wide.last)) return;
  uint32_t row = w->zero.to & p->row_mask;
  if (!cycle_local_zero_write(c, w->zero.row->is_acc, row, w->zero.row->accumulate)) {
    w->refused = true;
    return;
  }
  if (c->data) move_zeros(c, &w->zero, row);
  answer(c, &w->zero);
  if (p->repeats_pixels)
    cycle_repeater_taken(&p->zero_repeater);
  else
    cycle_zero_writer_taken(&p->zeros);
  w->changed = true;
}

// ---- between the stages

static bool to_repeater(cycle_engine *c, struct cycle_load_path *p) {
  cycle_row_write row;
  if (p->repeater.valid || !cycle_mvin_scale_offer(&p->narrow, c->now, &row)) return false;
  cycle_repeater_put(&p->repeater, &row);
  cycle_mvin_scale_taken(&p->narrow, c->now);
  return true;
}

static bool to_zero_repeater(struct cycle_load_path *p) {
  cycle_row_write row;
  if (p->zero_repeater.valid || !p->zeros.valid) return false;
  cycle_zero_writer_offer(&p->zeros, &row);
  cycle_repeater_put(&p->zero_repeater, &row);
  cycle_zero_writer_taken(&p->zeros);
  return true;
}

static bool from_merger(cycle_engine *c, struct cycle_load_path *p) {
  const cycle_row *row = NULL;
  cycle_mvin_scale *to = p->merger.burst.wide ? &p->wide : &p->narrow;
  bool leaves = !to->valid && cycle_merger_valid(&p->merger);
  bool changed = cycle_merger_step(c, &p->merger, leaves ? &row : NULL);
  if (leaves) cycle_mvin_scale_put(to, row);
  return changed;
}

static void set_wake(cycle_engine *c, const writes *w) {
  const cycle_mvin_scale *s = &c->load_path->narrow;
  uint64_t next = s->units == 0 ? CYCLE_NEVER : cycle_scheduler_next(&s->scheduler);
  c->wake[CYCLE_LOAD_PATH] = w->refused ? c->now + 1 : next;
}

bool cycle_load_path_step(cycle_engine *c) {
  struct cycle_load_path *p = c->load_path;
  writes w;
  w.changed = w.refused = false;
  write_narrow(c, p, &w);
  write_wide(c, p, &w);
  write_zeros(c, p, &w);
  if (p->repeats_pixels) {
    w.changed |= to_repeater(c, p);
    w.changed |= to_zero_repeater(p);
  }
  w.changed |= cycle_mvin_scale_step(c, &p->narrow);
  w.changed |= from_merger(c, p);
  set_wake(c, &w);
  return w.changed;
}
