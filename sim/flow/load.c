// SPDX-License-Identifier: Apache-2.0
// The load unit as an actor: load controller, reader and load path (hw/rtl/weft_load_controller.sv, weft_dma_reader.sv,
// weft_load_path.sv). A step is a burst.
//
//   start    max(issue + 1, 1 + the cycle in which the command before left the queue,
//                1 + the end of one of those under way if all are taken (TRACKED),
//                1 + the end of each older load that writes a common byte (OVERLAP))
//   row      requested one per cycle from the start on, while the path to the reader has room; accepted in the cycle
//            behind, when the last burst of the row before was chosen (REQUESTS)
//   burst    chosen max(accepted + 1, the one before + 1, grant of the second before, last beat of one of those in
//            flight + 1 (IN_FLIGHT)); granted two cycles later, one after the other, when the channel is free (CHANNEL)
//   answer   takes the channel for its beats or the local rows that it touches, whichever is more (ANSWERS)
//   end      the write of the last row + 1 (LOAD_END); rows of int32 that are repeated: repeats.c
#include "isa/isa.h"
#include "isa/isa_fields.h"
#include "sim/flow/counts.h"
#include "sim/flow/memory.h"
#include "sim/flow/repeats.h"
#include "sim/flow/station.h"
#include "sim/flow/units.h"

enum { WIDE_LAG = 1 };

void flow_load_create(flow_engine *e) {
  const hw_array *a = e->array;
  flow_load *l = &e->load;
  l->limit = e->d.load_commands_tracked;
  flow_ids_init(&l->ids, a->dma.reads_in_flight);
  l->path_room = a->scratchpad.read_delay + 1;
  l->lag = 1U + (a->load.scale_units != 0) + a->units.pixel_repeat;
  l->beat_bytes = a->dma.bus_bits / 8;
  l->max_bytes = (uint32_t)wf_min(a->dma.max_burst_bytes, 256 * l->beat_bytes);
  if (a->load.scale_units != 0) l->scale_cycles = (e->d.dim + a->load.scale_units - 1) / a->load.scale_units;
  l->scale_latency = a->load.scale_latency;
  e->next[FLOW_LOAD] = FLOW_NEVER;
}

// ---- a command is taken apart

static void configure(flow_load *l, uint64_t rs1, uint64_t rs2) {
  const uint64_t state = isa_get_config_ld_state(rs1, rs2);
  if (state >= ARCH_LOAD_STATES) return;
  l->states[state] = (flow_load_state){.stride = isa_get_config_ld_stride(rs1, rs2),
                                       .scale = (uint32_t)isa_get_config_ld_scale(rs1, rs2),
                                       .block_stride = (uint16_t)isa_get_config_ld_block_stride(rs1, rs2),
                                       .pixel_repeats = (uint8_t)isa_get_config_ld_pixel_repeats(rs1, rs2),
                                       .shrink = isa_get_config_ld_shrink(rs1, rs2) != 0,
                                       .packed = isa_get_config_ld_packed(rs1, rs2) != 0};
}

static const flow_load_state *state_of(const flow_load *l, isa_id insn) {
  return &l->states[insn == ISA_MVIN2 ? 1 : insn == ISA_MVIN3 ? 2 : 0];
}

static cycle_load_rows rows_of(const flow_engine *e, const flow_load_command *m, uint16_t rows) {
  return (cycle_load_rows){.row = m->laddr & ((UINT32_C(1) << e->d.row_bits) - 1),
                           .rows = rows,
                           .cols = (uint16_t)m->cols,
                           .copies = (uint8_t)(m->copies - 1),
                           .blocks = (uint16_t)((m->cols + e->d.dim - 1) / e->d.dim),
                           .stride = m->block_stride,
                           .is_acc = isa_local_accumulator(m->laddr) != 0};
}

// Of the bytes in memory of a local row.
static uint32_t row_shift(const flow_engine *e, const flow_load_command *m) {
  return (uint32_t)__builtin_ctz(e->d.dim) + (m->wide ? 2 : 0) - m->packed;
}

static flow_load_command decode(const flow_engine *e, const cycle_front_command *command) {
  const uint64_t rs1 = command->rs1, rs2 = command->rs2;
  const flow_load_state *s = state_of(&e->load, command->insn);
  const uint16_t rows = (uint16_t)isa_get_mvin_rows(rs1, rs2);
  flow_load_command m = {.address = rs1,
                         .stride = s->stride,
                         .laddr = (uint32_t)isa_get_mvin_local(rs1, rs2),
                         .cols = (uint32_t)isa_get_mvin_cols(rs1, rs2),
                         .block_stride = s->block_stride,
                         .zeros = rs1 == 0,
                         .scaled = e->load.scale_cycles != 0 && s->scale != ARCH_SCALE_ONE};
  const bool is_acc = isa_local_accumulator(m.laddr) != 0, repeated = s->stride == 0 && !m.zeros;
  m.empty = rows == 0 || m.cols == 0;
  m.rows_read = repeated ? 1 : rows;
  m.repeats = repeated && rows > 0 ? rows - 1U : 0;
  m.copies = is_acc || s->pixel_repeats == 0 ? 1 : s->pixel_repeats;
  m.wide = is_acc && !s->shrink;
  m.packed = s->packed && !is_acc && !m.zeros;
  m.bytes = m.cols << (m.wide ? 2 : 0) >> m.packed;
  m.rows = rows_of(e, &m, rows);
  return m;
}

// ---- commands under way

static void forget_ended(flow_load *l, uint64_t at) {
  for (uint32_t i = 0; i < l->tracked;) {
    if (flow_cycle(l->commands[i].end) < at)
      l->commands[i] = l->commands[--l->tracked];
    else
      i++;
  }
}

// Room for one more; FLOW_AT_NEVER: an end is not known.
static flow_time tracker_room(const flow_load *l) {
  flow_time first = FLOW_AT_NEVER;
  if (l->tracked < l->limit) return (flow_time){0};
  for (uint32_t i = 0; i < l->tracked; i++) first = flow_earlier(first, l->commands[i].end);
  return flow_is_never(first) ? first : flow_after(first, 1, FLOW_W_LOADS_UNDER_WAY);
}

static flow_time behind_overlaps(const flow_engine *e, const flow_load_command *m, flow_time at) {
  const flow_load *l = &e->load;
  for (uint32_t i = 0; i < l->tracked; i++) {
    const flow_tracked *t = &l->commands[i];
    if (flow_cycle(t->end) < flow_cycle(at) || !cycle_load_overlap(&t->rows, &m->rows)) continue;
    if (flow_is_never(t->end)) return FLOW_AT_NEVER;
    at = flow_after(t->end, 1, FLOW_W_DEPENDENCE);
  }
  return at;
}

void flow_load_end(flow_engine *e, uint8_t slot, flow_time at) {
  flow_load *l = &e->load;
  for (uint32_t i = 0; i < l->tracked; i++)
    if (l->commands[i].slot == slot && flow_is_never(l->commands[i].end)) l->commands[i].end = at;
  flow_station_end(e, SIM_CLASS_LOAD, slot, at);
}

// ---- rows and bursts

// The next row of the command: requested, accepted; its first burst is chosen in the cycle behind at the earliest.
static void next_row(flow_engine *e, flow_time requested) {
  flow_load *l = &e->load;
  if (l->rows_accepted >= l->path_room) {
    const flow_time room = l->accepted[(l->rows_accepted - l->path_room) % FLOW_ROWS];
    if (flow_cycle(room) > flow_cycle(requested)) requested = flow_after(room, 0, FLOW_W_READER_ROWS);
  }
  const flow_time accepted = flow_later(flow_after(requested, 1, FLOW_W_LOAD_ROWS), l->chosen);
  l->requested = requested;
  l->accepted[l->rows_accepted++ % FLOW_ROWS] = accepted;
  l->from = l->at.address + l->row * l->at.stride;
  l->left = l->at.bytes;
  l->done = 0;
  l->candidate = flow_after(accepted, 1, FLOW_W_LOAD_ROWS);
}

static void await_burst(flow_engine *e) {
  flow_load *l = &e->load;
  const flow_time id = flow_after(flow_ids_first(&l->ids), 0, FLOW_W_READS_IN_FLIGHT);
  flow_time at = flow_later(l->candidate, flow_after(l->chosen, 1, FLOW_W_LOAD_ROWS));
  at = flow_later(at, flow_after(l->granted_before, 0, FLOW_W_LOAD_ROWS));
  if (flow_cycle(id) > flow_cycle(at))
    at = flow_event_released(e->log, id, flow_later(at, l->ids.before));
  else
    at = flow_event(e->log, at);
  l->candidate = at;
  at = flow_later(flow_after(at, 2, FLOW_W_LOAD_ROWS), flow_after(l->granted, 1, FLOW_W_LOAD_ROWS));
  l->next = flow_memory_room(e->memory, at);
  e->next[FLOW_LOAD] = flow_cycle(l->next);
}

static void leave(flow_engine *e, flow_time at) {
  e->load.left_queue = at;
  flow_station_leave(e, SIM_CLASS_LOAD, at);
}

// One row of one block in a cycle.
static void write_zeros(flow_engine *e, const flow_load_command *m, flow_time start) {
  flow_load *l = &e->load;
  const uint64_t blocks = m->rows.blocks == 0 ? 1 : m->rows.blocks, rows = m->rows_read;
  const flow_time first = flow_event(e->log, flow_later(start, l->zeros_free));
  const uint64_t cycles = rows * blocks * m->copies;
  flow_counts_loaded(e, m->laddr, cycles);
  l->zeros_free = flow_after(first, cycles, FLOW_W_LOAD_PATH);
  leave(e, flow_after(first, rows == 1 ? 1 : cycles - blocks, FLOW_W_LOAD_PATH));
  const flow_time end = flow_after(l->zeros_free, 1 + e->array->units.pixel_repeat, FLOW_W_LOAD_PATH);
  flow_load_end(e, m->slot, end);
}

static void take_burst(flow_engine *e, flow_passage *p);

static void count_rows(flow_engine *e, uint64_t rows) {
  const flow_load_command *m = &e->load.at;
  flow_counts_loaded(e, m->laddr, rows * (m->repeats + 1) * m->copies);
}

static void begin(flow_engine *e, const flow_load_command *m, flow_time start) {
  flow_load *l = &e->load;
  forget_ended(l, flow_cycle(start));
  l->at = *m;
  l->at.slot = (uint8_t)flow_station_take(e, SIM_CLASS_LOAD);
  l->commands[l->tracked++] = (flow_tracked){.rows = m->rows, .end = FLOW_AT_NEVER, .slot = l->at.slot};
  if (m->empty || m->zeros) {
    const flow_load_command now = l->at;
    if (m->zeros && !m->empty) {
      write_zeros(e, &now, start);
    } else {
      leave(e, start);
      flow_load_end(e, now.slot, flow_after(start, 1, FLOW_W_LOAD_START));
    }
    return;
  }
  l->active = true;
  l->row = 0;
  l->end = start;
  next_row(e, start);
  take_burst(e, &l->each);
  l->alike = l->each.burst.bytes == m->bytes && (m->stride & (l->max_bytes - 1)) == 0;
  if (l->alike) count_rows(e, (uint64_t)l->each.rows * m->rows_read);
  await_burst(e);
}

static flow_time behind_queue(const flow_engine *e, const flow_issue *head) {
  return flow_after(flow_later(head->issue, e->load.left_queue), 1, FLOW_W_LOAD_START);
}

// Configurations at the head of the queue take effect.
static void configure_heads(flow_engine *e) {
  const flow_issue *head;
  while ((head = flow_station_head(e, SIM_CLASS_LOAD, 0)) != NULL && head->command.insn == ISA_CONFIG_LD) {
    const flow_time at = flow_event(e->log, behind_queue(e, head));
    configure(&e->load, head->command.rs1, head->command.rs2);
    flow_station_take(e, SIM_CLASS_LOAD);
    leave(e, at);
  }
}

// When the command starts, as far as is known: an end that is not known may come first.
static flow_time start_of(const flow_engine *e, const flow_issue *head, const flow_load_command *m) {
  const flow_time at = flow_later(behind_queue(e, head), tracker_room(&e->load));
  return flow_is_never(at) || m->empty ? at : behind_overlaps(e, m, at);
}

void flow_load_wake(flow_engine *e) {
  flow_load *l = &e->load;
  if (l->active || l->waking) return;
  l->waking = true;
  configure_heads(e);
  l->waking = false;
  const flow_issue *head = flow_station_head(e, SIM_CLASS_LOAD, 0);
  e->next[FLOW_LOAD] = FLOW_NEVER;
  if (head == NULL) return;
  l->at = decode(e, &head->command);
  l->next = start_of(e, head, &l->at);
  e->next[FLOW_LOAD] = flow_known_cycle(l->next);
}

// ---- what a burst brings

static uint32_t bank_of(const flow_engine *e, uint32_t row) { return (row & (e->d.sp_rows - 1)) >> e->sp_shift; }

static void note_single_writes(flow_engine *e, uint32_t row, uint32_t rows, uint64_t last, uint64_t spacing) {
  for (uint32_t i = 0; i < rows; i++, row += e->load.at.block_stride)
    flow_calendar_mark(&e->sp_writes[bank_of(e, row)], last - (rows - 1 - i) * spacing, 1);
}

// The cycles in which the rows of a burst are written: execute cannot read their bank.
static inline void note_writes(flow_engine *e, uint32_t block, uint32_t rows, uint64_t last, uint64_t spacing) {
  const flow_load *l = &e->load;
  const uint32_t row = l->at.rows.row + l->row + block * l->at.block_stride;
  const uint32_t end = row + (rows - 1) * l->at.block_stride;
  if (spacing == 1 && bank_of(e, row) == bank_of(e, end))
    flow_calendar_mark(&e->sp_writes[bank_of(e, row)], last - (rows - 1), rows);
  else
    note_single_writes(e, row, rows, last, spacing);
}

// Cycles that the load path needs for a row of a burst: scale units work on the next row while copies are written.
static uint64_t row_cycles(const flow_load_command *m, const flow_load *l) {
  if (m->wide) return m->copies;
  return (m->repeats + 1) * (m->scaled ? wf_max(m->copies, l->scale_cycles) : m->copies);
}

// Rows of a burst, the cycle of its last row's write; the last beat is there in cycle `last`.
static inline __attribute__((always_inline)) void bring(flow_engine *e, bool alike, uint32_t rows, flow_time merged,
                                                        uint64_t spacing, bool ends) {
  flow_load *l = &e->load;
  const flow_load_command *m = &l->at;
  const uint32_t block = alike ? 0 : l->done >> row_shift(e, m);
  if (!alike) count_rows(e, rows);
  if (m->wide) {
    if (m->repeats > 0) {
      flow_repeats_add(e, m->slot, m->rows.row, flow_after(merged, WIDE_LAG, FLOW_W_LOAD_PATH),
                       (uint64_t)rows * (m->repeats + 1), ends);
      return;
    }
    l->end = flow_later(l->end, flow_after(merged, WIDE_LAG + 1, FLOW_W_LOAD_PATH));
    return;
  }
  const uint64_t each = row_cycles(m, l), more = m->scaled ? each + l->scale_latency + m->copies : each - 1;
  const flow_time written = flow_after(merged, l->lag + more, FLOW_W_LOAD_PATH);
  flow_calendar_mark(&e->narrow_ends, flow_cycle(written), 1);
  if (!m->rows.is_acc) note_writes(e, block, rows, flow_cycle(written), spacing);
  l->end = flow_later(l->end, flow_after(written, 1, FLOW_W_LOAD_PATH));
}

// ---- a step

static uint32_t local_rows(const flow_engine *e, const flow_burst *b) {
  const flow_load *l = &e->load;
  const uint32_t shift = row_shift(e, &l->at);
  return ((l->done + b->bytes - 1) >> shift) - (l->done >> shift) + 1;
}

// A row leaves a cycle behind its last byte, and behind the row before. The path waits for beats without wanted bytes.
static void pass(const flow_engine *e, flow_passage *p, uint64_t spacing) {
  const flow_load *l = &e->load;
  const flow_burst *b = &p->burst;
  const uint32_t row_bytes = UINT32_C(1) << row_shift(e, &l->at), start = l->done & (row_bytes - 1);
  const uint64_t each = row_cycles(&l->at, l), last_beat = (p->beats - 1) * spacing;
  uint64_t merged = 0;
  for (uint32_t r = 1; r <= p->rows; r++) {
    const uint32_t end = r == p->rows ? b->bytes : r * row_bytes - start;
    const uint64_t beat = (b->offset + end - 1) / l->beat_bytes * spacing;
    merged = wf_max(beat, r == 1 ? 0 : merged + each - 1) + 1;
  }
  p->spacing = spacing;
  p->merged = merged;
  p->each = each;
  p->span = last_beat + 1;
  p->taken = merged > last_beat ? merged : last_beat + (merged == last_beat ? 2 : 1);
}

// The first beat is taken when the path is free. Until then it stands on the answer channel, and others wait behind it.
static __attribute__((noinline)) flow_time arrive_behind(flow_engine *e, flow_time ready, const flow_passage *p) {
  flow_load *l = &e->load;
  const uint64_t from = flow_cycle(ready), count = wf_min(wf_max(p->taken, p->span), FLOW_CALENDAR_BITS);
  uint64_t at = from, shown = from;
  do {
    shown = flow_memory_answer_from(e->memory, at, (uint32_t)p->span);
    at = flow_calendar_find(&l->path, shown, count);
  } while (at != shown);
  shown = flow_memory_answer_from(e->memory, from, 1);
  if (at > shown) {
    flow_memory_answer_waits(e->memory, shown, at);
    ready = flow_at(ready, at, FLOW_W_LOAD_PATH);
  }
  return flow_memory_answer(e->memory, ready, (uint32_t)p->span);
}

static inline flow_time arrive(flow_engine *e, flow_time ready, const flow_passage *p) {
  if (flow_cycle(ready) < e->load.path_until) return arrive_behind(e, ready, p);
  return flow_memory_answer(e->memory, ready, (uint32_t)p->span);
}

// The path behind a burst whose first beat was taken in `first`; returns the cycle in which its last row is merged.
// Rows that are written for several cycles each keep the next one in the merger, and the burst behind that on the
// channel.
static flow_time merge(flow_load *l, const flow_passage *p, flow_time first) {
  flow_time merged = flow_after(first, p->merged, FLOW_W_BUS);
  if (p->each == 1 && p->taken == p->span) return merged;
  if (p->each > 1) {
    const uint64_t rows = (uint64_t)(p->rows - 1) * p->each;
    merged = flow_later(merged, flow_after(l->merged_until, rows, FLOW_W_LOAD_PATH));
    l->merged_until = flow_after(merged, p->each, FLOW_W_LOAD_PATH);
  }
  const uint64_t from = flow_cycle(first), until = wf_max(from + p->taken, flow_cycle(merged));
  flow_calendar_mark(&l->path, from, until - from);
  l->path_until = wf_max(l->path_until, until);
  return merged;
}

// The next burst; how it passes is not known yet.
static void take_burst(flow_engine *e, flow_passage *p) {
  const flow_load *l = &e->load;
  p->burst = flow_burst_of(l->from, l->left, l->beat_bytes, l->max_bytes);
  p->beats = p->burst.size / l->beat_bytes;
  p->rows = local_rows(e, &p->burst);
  p->spacing = 0;
}

static void end_command(flow_engine *e) {
  flow_load *l = &e->load;
  const flow_time left = flow_after(l->requested, l->at.rows_read == 1, FLOW_W_LOAD_ROWS);
  l->active = false;
  e->next[FLOW_LOAD] = FLOW_NEVER;
  l->waking = true;
  leave(e, left);
  if (!(l->at.wide && l->at.repeats > 0)) flow_load_end(e, l->at.slot, l->end);
  l->waking = false;
}

// `alike` is a constant where it is called: a row is one burst, which is known.
static inline __attribute__((always_inline)) void step_burst(flow_engine *e, bool alike) {
  flow_load *l = &e->load;
  flow_passage *p = &l->each;
  if (!alike) take_burst(e, p);
  const flow_burst b = p->burst;
  const flow_time at = flow_memory_grant(e->memory, l->next, 1);
  flow_memory_stream(e->memory, &(flow_stream){&l->ids, l->at.rows_read - l->row - 1});
  const flow_answer answer = flow_memory_read(e->memory, at, l->from - b.offset, b.size);
  if (p->spacing != answer.spacing) pass(e, p, answer.spacing);
  const flow_time first = arrive(e, answer.ready, p);
  const flow_time last = flow_after(first, (p->beats - 1) * answer.spacing, FLOW_W_BUS);
  const bool row_ends = alike || b.bytes == l->left, ends = row_ends && l->row + 1 == l->at.rows_read;
  const uint8_t id = flow_ids_use(&l->ids, flow_event(e->log, flow_after(last, 1, FLOW_W_BUS)));
  l->chosen = l->candidate;
  l->granted_before = l->granted;
  l->granted = at;
  if (e->sink.burst != NULL)
    flow_tell_burst(e, &(flow_seen){false, id, b.size, p->beats, l->from - b.offset, flow_cycle(at), flow_cycle(first),
                                    answer.spacing});
  bring(e, alike, p->rows, merge(l, p, first), answer.spacing, ends);
  flow_busy_until(e, flow_after(last, 1, FLOW_W_BUS));
  if (ends) {
    end_command(e);
    flow_load_wake(e);
    return;
  }
  if (row_ends) {
    l->row++;
    next_row(e, flow_after(l->requested, 1, FLOW_W_LOAD_ROWS));
  } else {
    l->from += b.bytes;
    l->left -= b.bytes;
    l->done += b.bytes;
  }
  await_burst(e);
}

// Bursts that come before any other unit can ask memory for something are worked out in one step. Others learn earlier
// what they bring, and nothing else: a store that follows from a step of another actor has its first burst granted at
// least STORE cycles behind that step. Repeated rows are no such burst: they are an actor of their own.
static uint64_t alone_until(const flow_engine *e) {
  enum { STORE = 8 };
  const uint64_t others = wf_min(wf_min(e->next[FLOW_FRONT], e->next[FLOW_EXECUTE]), e->next[FLOW_REPEATS]);
  return wf_min(others > FLOW_NEVER - STORE ? FLOW_NEVER : others + STORE, e->next[FLOW_STORE]);
}

static void step_bursts(flow_engine *e) {
  flow_load *l = &e->load;
  const uint64_t until = e->every_burst || l->at.repeats > 0 ? 0 : wf_min(alone_until(e), e->limit);
  if (l->alike) {
    do step_burst(e, true);
    while (l->active && e->next[FLOW_LOAD] < until);
    return;
  }
  do step_burst(e, false);
  while (l->active && e->next[FLOW_LOAD] < until);
}

void flow_load_step(flow_engine *e) {
  if (e->load.active) {
    step_bursts(e);
    return;
  }
  const flow_load_command m = e->load.at;
  e->load.waking = true;
  begin(e, &m, flow_event(e->log, e->load.next));
  e->load.waking = false;
  if (!e->load.active) flow_load_wake(e);
}
