// SPDX-License-Identifier: Apache-2.0
// The store unit as an actor: store controller, store path, writer (hw/rtl/weft_store_controller.sv,
// weft_store_path.sv, weft_dma_writer.sv). A step is a burst; before it, all that follows is worked out.
//
// Block n leaves each place in the earliest cycle in which it can, one in a cycle (BLOCKS):
//   requested   while fewer than 2 wait for dispatch
//   dispatched  its bank is read: room in the norm queue (read_delay + 2), no sum is added to in its bank, as far as
//               that is known: else it asks again later; the command ends a cycle after that of its last block
//               (STORE_END)
//   entered     room in the scale queue (read_delay + 2), behind the normaliser (2), and in it: a row that it takes
//               statistics of keeps it for as long as it computes (STATISTICS)
//   scaled      room in the issue queue (read_delay + 1) and in the scale units
//   sent        a scale unit's latency later, or when the scratchpad has answered, and the writer is free; of a gated
//               row, which comes behind a block of factors, the gate's latency later still (GATE)
// A row's bursts are offered 3 cycles after its last block, one after the other; the writer takes the next row 3 cycles
// before the last beat (WRITER).
#include "arch/local.h"
#include "isa/isa.h"
#include "isa/isa_fields.h"
#include "sim/cycle/normaliser.h"
#include "sim/flow/memory.h"
#include "sim/flow/station.h"
#include "sim/flow/units.h"

// DISPATCHED: blocks behind their banks that have not entered the normaliser, at most.
enum { DISPATCH = 2, DISPATCHED = 2, NORMALISER = 2, OFFER = 3, AHEAD = 3 };

void flow_store_create(flow_engine *e) {
  const hw_array *a = e->array;
  flow_store *s = &e->store;
  const uint32_t delay = a->scratchpad.read_delay;
  s->passed = (flow_places){FLOW_BLOCKS, FLOW_BLOCKS, FLOW_BLOCKS, FLOW_BLOCKS, FLOW_BLOCKS};
  s->norm_room = delay + 2;
  s->issue_room = (delay + 1) << a->units.gate;
  s->latency = s->gate_latency = a->accumulator.scale_latency;
  s->read = a->scratchpad.read_pipeline == HW_READ_PIPELINE_FIXED ? delay + 1 : 2;
  s->passes = cycle_normaliser_times_of(ARCH_NORM_NONE).pass;
  if (a->accumulator.scale_units != 0 && a->accumulator.narrow_reads)
    s->latency += (e->d.dim + a->accumulator.scale_units - 1) / a->accumulator.scale_units + 2;
  flow_ids_init(&s->ids, a->dma.writes_in_flight);
  s->beat_bytes = a->dma.bus_bits / 8;
  s->max_bytes = (uint32_t)wf_min(a->dma.max_burst_bytes, 256 * s->beat_bytes);
  arch_config_reset(&s->config, a);
  s->asks_again = e->next[FLOW_STORE] = FLOW_NEVER;
}

static flow_block *at(flow_store *s, uint32_t number) { return &s->block[number % FLOW_BLOCKS]; }

// When a block left a place; of those that never were it is 0, which no other waits for.
static flow_time *in(flow_time times[FLOW_BLOCKS], uint32_t number) { return &times[number % FLOW_BLOCKS]; }

// One behind another in the same place, or the place behind.
static flow_time behind(flow_time t) { return flow_after(t, 1, FLOW_W_STORE_PATH); }

// ---- commands

static uint32_t blocks_wanted(const flow_engine *e) {
  const flow_store *s = &e->store;
  const arch_store_config *g = &s->config.store;
  if (s->cols == 0) return 0;
  if (!s->pooled) return s->rows * s->blocks << s->each.gated;
  return s->each.statistics ? 0 : g->pool_orows * g->pool_ocols * g->pool_size * g->pool_size;
}

static void decode(flow_engine *e, const cycle_front_command *command) {
  flow_store *s = &e->store;
  const uint64_t rs1 = command->rs1, rs2 = command->rs2;
  const arch_store_config *g = &s->config.store;
  s->each = (flow_block){.to_sp = command->insn == ISA_MVOUT_SPAD_R2};
  s->laddr = (uint32_t)isa_get_mvout_local(rs1, rs2);
  s->cols = (uint32_t)isa_get_mvout_cols(rs1, rs2);
  s->base = s->each.to_sp ? isa_get_mvout_spad_r2_dest(rs1, rs2) : isa_get_mvout_dram(rs1, rs2);
  s->stride = s->each.to_sp ? isa_get_mvout_spad_r2_stride(rs1, rs2) : g->stride_bytes;
  s->pooled = e->array->units.max_pool && g->pool_stride != 0 && !s->each.to_sp;
  s->image = !s->pooled && g->pool_size != 0 && !s->each.to_sp;
  s->rows = s->image ? g->orows * g->ocols : (uint32_t)isa_get_mvout_rows(rs1, rs2);
  s->blocks = (s->cols + e->d.dim - 1) / e->d.dim;
  const arch_local from = arch_local_decode(&e->d, s->laddr);
  s->each.garbage = from.garbage;
  s->each.acc = from.accumulator && !from.garbage;
  s->full = s->each.acc && from.full && e->array->accumulator.full_reads;
  s->each.statistics = e->array->units.normaliser && s->each.acc && from.norm != ARCH_NORM_NONE;
  s->norm = (uint8_t)(s->each.statistics ? from.norm : ARCH_NORM_NONE);
  s->each.gated = g->gate && !s->pooled && !s->image && !s->each.to_sp && arch_local_narrows(&from);
  s->count = blocks_wanted(e);
  s->usual = s->each.acc && !s->each.to_sp && !s->each.statistics && !s->each.gated && !s->pooled;
  s->position = s->row = s->column = 0;
}

static bool is_config(isa_id insn) {
  return insn == ISA_CONFIG_ST || insn == ISA_CONFIG_NORM || insn == ISA_CONFIG_GATE;
}

static void leave(flow_engine *e, flow_time cycle) {
  e->store.left_queue = cycle;
  flow_station_leave(e, SIM_CLASS_STORE, cycle);
}

// The head of the queue is taken up; false: there is none whose issue is known.
static bool take_up(flow_engine *e) {
  flow_store *s = &e->store;
  const flow_issue *head = flow_station_head(e, SIM_CLASS_STORE, 0);
  if (head == NULL) return false;
  const flow_time from = flow_later(head->issue, s->left_queue);
  const flow_time start = flow_event(e->log, flow_after(from, 1, FLOW_W_STORE_START));
  if (is_config(head->command.insn)) {
    if (head->command.insn != ISA_CONFIG_NORM || e->array->units.normaliser)
      arch_config_apply(&s->config, head->command.insn, head->command.rs1, head->command.rs2);
    flow_station_take(e, SIM_CLASS_STORE);
    leave(e, start);
    return true;
  }
  decode(e, &head->command);
  s->each.slot = (uint8_t)flow_station_take(e, SIM_CLASS_STORE);
  s->start = start;
  s->active = s->count > 0;
  if (!s->active) {
    leave(e, start);
    flow_station_end(e, SIM_CLASS_STORE, s->each.slot, flow_after(start, 1, FLOW_W_STORE_START));
  }
  return true;
}

// ---- blocks

// The row of the source, and where it goes, of a pooled store's window element.
static void place_pooled(const flow_engine *e, const flow_store *s, flow_block *b) {
  const arch_store_config *g = &s->config.store;
  const uint32_t window = g->pool_size * g->pool_size, element = s->position % window, pixel = s->position / window;
  const uint32_t orow = pixel / g->pool_ocols, ocol = pixel % g->pool_ocols;
  const int64_t row = (int64_t)orow * g->pool_stride + element / g->pool_size - g->pool_upad;
  const int64_t col = (int64_t)ocol * g->pool_stride + element % g->pool_size - g->pool_lpad;
  const bool inside = row >= 0 && col >= 0 && row < g->orows && col < g->ocols;
  b->garbage |= !inside;
  b->acc &= inside;
  b->writes = element + 1 == window;
  b->bytes = s->cols;
  b->address = s->base + ((uint64_t)orow * g->pool_out_dim + ocol) * s->stride;
  if (inside) b->bank = (uint8_t)(((s->laddr + row * g->ocols + col) & (e->d.acc_rows - 1)) >> e->acc_shift);
}

static uint8_t bank_of(const flow_engine *e, bool acc, uint32_t row) {
  return (uint8_t)(acc ? (row & (e->d.acc_rows - 1)) >> e->acc_shift : (row & (e->d.sp_rows - 1)) >> e->sp_shift);
}

// The row is complete with this block.
static inline void place_row(const flow_store *s, flow_block *b, uint32_t before) {
  const arch_store_config *g = &s->config.store;
  const uint32_t length = s->cols - before;
  const uint64_t place = s->image ? (uint64_t)(s->row / g->ocols) * g->pool_out_dim + s->row % g->ocols : s->row;
  b->address = s->base + place * s->stride;
  b->bytes = before + (s->full ? length * 4 : length);
  b->writes = !b->to_sp && !b->statistics;
  b->norm = s->norm;
}

static inline void place_plain(const flow_engine *e, flow_store *s, flow_block *b) {
  const uint32_t before = s->column * e->d.dim;
  b->bank = bank_of(e, b->acc, s->laddr + before + s->row);
  if (++s->column < s->blocks) {
    if (b->statistics) b->norm = (uint8_t)ref_norm_collecting((arch_norm)s->norm);
    return;
  }
  place_row(s, b, before);
  s->column = 0;
  s->row++;
}

// The other factors of the block that comes next.
static void place_factors(const flow_engine *e, const flow_store *s, flow_block *b) {
  b->acc = false;
  b->factors = true;
  b->bank = bank_of(e, false, s->laddr + (uint32_t)s->config.store.gate_offset + s->column * e->d.dim + s->row);
}

static inline bool may_request(const flow_store *s, const flow_places *p) {
  return s->active && p->requested - p->dispatched < DISPATCH && p->requested - p->sent < FLOW_BLOCKS - 1;
}

// The last block of a command is requested, and the command leaves the queue. Earlier blocks were requested a cycle
// after the one before, when there was room; later than that none of them is dispatched.
static void request_last(flow_engine *e, uint32_t n) {
  flow_store *s = &e->store;
  const flow_time first = flow_after(s->start, s->count - 1, FLOW_W_STORE_PATH);
  const flow_time cycle = flow_later(first, behind(*in(s->way.dispatched, n - DISPATCH)));
  at(s, n)->ends = true;
  s->active = false;
  if (!s->usual) s->unusual = n;
  leave(e, flow_after(cycle, s->count == 1, FLOW_W_STORE_PATH));
}

static inline __attribute__((always_inline)) bool request(flow_engine *e, flow_places *p, bool usual) {
  flow_store *s = &e->store;
  if (!may_request(s, p)) return false;
  const uint32_t n = p->requested++;
  flow_block *b = at(s, n);
  *in(s->way.start, n) = s->start;
  *b = s->each;
  if (!usual && s->pooled)
    place_pooled(e, s, b);
  else if (!usual && b->gated && s->position % 2 == 0)
    place_factors(e, s, b);
  else
    place_plain(e, s, b);
  if (++s->position == s->count) request_last(e, n);
  return true;
}

// ---- the way to the writer

// Sums that operations push out which are under way or start now or later come from this cycle on; those before are
// known.
static uint64_t sums_known(const flow_engine *e) {
  const flow_execute *x = &e->execute;
  return (x->fetching ? wf_min(x->started, e->step) : e->step) + x->result_delay;
}

static inline __attribute__((always_inline)) bool dispatch(flow_engine *e, flow_places *p, bool usual) {
  flow_store *s = &e->store;
  const uint32_t n = p->dispatched;
  if (n == p->requested || n - p->entered >= DISPATCHED) return false;
  const flow_block *b = at(s, n);
  flow_time cycle = flow_later(behind(*in(s->way.start, n)), behind(*in(s->way.dispatched, n - 1)));
  cycle = flow_later(cycle, behind(*in(s->way.entered, n - s->norm_room)));
  if (usual || b->acc) {
    const uint64_t free = flow_calendar_find(&e->acc_adds[b->bank], flow_cycle(cycle), 1);
    if (free >= sums_known(e)) {
      s->asks_again = wf_max(free - e->execute.result_delay, e->step) + 1;
      return false;
    }
    cycle = flow_not_before(cycle, free, FLOW_W_LOCAL_BANKS);
  }
  *in(s->way.dispatched, n) = cycle = flow_event(e->log, cycle);
  p->dispatched++;
  if (b->ends && (usual || !b->to_sp)) flow_station_end(e, SIM_CLASS_STORE, b->slot, behind(cycle));
  return true;
}

static void keep_normaliser(flow_store *s, flow_time from, arch_norm command) {
  const cycle_normaliser_times times = cycle_normaliser_times_of(command);
  s->normaliser_free = flow_after(from, times.pass, FLOW_W_NORMALISER);
  s->normaliser_command = flow_after(from, times.command, FLOW_W_NORMALISER);
}

static inline __attribute__((always_inline)) bool enter(flow_store *s, flow_places *p, bool usual) {
  const uint32_t n = p->entered;
  if (n == p->dispatched || n - p->scaled >= NORMALISER) return false;
  const flow_block *b = at(s, n);
  flow_time cycle = flow_later(behind(*in(s->way.dispatched, n)), behind(*in(s->way.entered, n - 1)));
  cycle = flow_later(cycle, behind(*in(s->way.scaled, n - s->norm_room)));
  if (usual || b->acc) {
    const bool none = usual || b->norm == ARCH_NORM_NONE;
    cycle = flow_later(cycle, none ? s->normaliser_free : s->normaliser_command);
    if (none)
      s->normaliser_free = s->normaliser_command = flow_after(cycle, s->passes, FLOW_W_NORMALISER);
    else
      keep_normaliser(s, cycle, (arch_norm)b->norm);
  }
  *in(s->way.entered, n) = cycle;
  p->entered++;
  return true;
}

static inline __attribute__((always_inline)) bool scale(flow_store *s, flow_places *p, bool usual) {
  const uint32_t n = p->scaled;
  if (n == p->entered) return false;
  flow_time cycle = *in(s->way.entered, n);
  if (usual || !at(s, n)->statistics) {
    if (n - p->sent >= s->issue_room) return false;
    cycle = flow_later(behind(cycle), behind(*in(s->way.scaled, n - 1)));
    cycle = flow_later(cycle, flow_after(*in(s->way.sent, n - s->issue_room), 0, FLOW_W_STORE_PATH));
  }
  *in(s->way.scaled, n) = cycle;
  p->scaled++;
  return true;
}

static void await_burst(flow_engine *e) {
  flow_store *s = &e->store;
  const flow_time id = flow_after(flow_ids_first(&s->ids), OFFER - 1, FLOW_W_WRITES_IN_FLIGHT);
  if (flow_cycle(id) > flow_cycle(s->candidate))
    s->candidate = flow_event_released(e->log, id, flow_later(s->candidate, s->ids.before));
  else
    s->candidate = flow_event(e->log, s->candidate);
  s->next = flow_memory_room(e->memory, s->candidate);
}

// The row is complete in `cycle`, and goes to memory.
static void begin_row(flow_engine *e, const flow_block *b, flow_time cycle) {
  flow_store *s = &e->store;
  s->sending = true;
  s->from = b->address;
  s->bytes = b->bytes;
  s->candidate = flow_after(cycle, OFFER, FLOW_W_WRITER);
  await_burst(e);
}

// Blocks that are not usual: the cycle in which it is sent, and *ready, in which the writer has it.
static flow_time send_other(flow_engine *e, uint32_t n, flow_time *ready) {
  flow_store *s = &e->store;
  const flow_block *b = at(s, n);
  const flow_time scaled = *in(s->way.scaled, n);
  flow_time cycle = flow_after(scaled, b->acc ? s->latency : 1, FLOW_W_STORE_PATH);
  if (!b->acc && !b->garbage)
    cycle = flow_later(cycle, flow_after(*in(s->way.dispatched, n), s->read, FLOW_W_STORE_PATH));
  cycle = flow_later(cycle, behind(*in(s->way.sent, n - 1)));
  if (!b->to_sp && !b->gated) cycle = flow_later(cycle, s->writer_free);
  *ready = cycle;
  if (b->gated && !b->factors)
    *ready = flow_later(flow_after(cycle, s->gate_latency, FLOW_W_STORE_PATH), s->writer_free);
  if (b->to_sp && b->ends) flow_station_end(e, SIM_CLASS_STORE, b->slot, behind(*ready));
  return b->statistics ? scaled : cycle;
}

static inline __attribute__((always_inline)) bool send(flow_engine *e, flow_places *p, bool usual) {
  flow_store *s = &e->store;
  const uint32_t n = p->sent;
  if (n == p->scaled || s->sending) return false;
  flow_time cycle, ready;
  if (usual) {
    cycle = flow_after(*in(s->way.scaled, n), s->latency, FLOW_W_STORE_PATH);
    ready = cycle = flow_later(flow_later(cycle, behind(*in(s->way.sent, n - 1))), s->writer_free);
  } else {
    cycle = send_other(e, n, &ready);
  }
  *in(s->way.sent, n) = cycle;
  p->sent++;
  if (at(s, n)->writes) begin_row(e, at(s, n), ready);
  return true;
}

// Each place hands a block on, the last one first, until none can or one comes that is not usual.
static inline __attribute__((always_inline)) void pass_blocks(flow_engine *e, bool usual) {
  flow_store *s = &e->store;
  flow_places p = s->passed;
  bool more;
  do {
    more = send(e, &p, usual);
    more |= scale(s, &p, usual);
    more |= enter(s, &p, usual);
    more |= dispatch(e, &p, usual);
    more |= request(e, &p, usual);
    if (!s->active) more |= take_up(e);
  } while (more && (!usual || s->usual));
  s->passed = p;
}

// Whether all blocks are sums of rows, which go to memory as they come.
static bool all_usual(const flow_store *s) { return s->usual && (int32_t)(s->passed.sent - s->unusual) > 0; }

void flow_store_wake(flow_engine *e) {
  flow_store *s = &e->store;
  if (s->waking) return;
  s->waking = true;
  s->asks_again = FLOW_NEVER;
  if (all_usual(s)) pass_blocks(e, true);
  if (!all_usual(s)) pass_blocks(e, false);
  s->waking = false;
  e->next[FLOW_STORE] = wf_min(s->asks_again, s->sending ? flow_cycle(s->next) : FLOW_NEVER);
}

static void send_burst(flow_engine *e) {
  flow_store *s = &e->store;
  const flow_burst b = flow_burst_of(s->from, s->bytes, s->beat_bytes, s->max_bytes);
  const uint32_t beats = b.size / s->beat_bytes;
  const flow_time cycle = flow_memory_grant(e->memory, s->next, beats);
  const flow_time answered = flow_memory_write(e->memory, cycle, s->from - b.offset, b.size, b.bytes != b.size);
  const uint8_t id = flow_ids_use(&s->ids, flow_event(e->log, flow_after(answered, 1, FLOW_W_BUS)));
  flow_busy_until(e, flow_after(answered, 1, FLOW_W_BUS));
  if (e->sink.burst != NULL)
    flow_tell_burst(e,
                    &(flow_seen){true, id, b.size, 1, s->from - b.offset, flow_cycle(cycle), flow_cycle(answered), 1});
  const uint64_t free = flow_cycle(cycle) + beats;
  s->writer_free = flow_at(cycle, free < AHEAD ? 0 : free - AHEAD, FLOW_W_BUS);
  s->from += b.bytes;
  s->bytes -= b.bytes;
  s->candidate = flow_after(s->writer_free, OFFER, FLOW_W_WRITER);
  s->sending = s->bytes > 0;
  if (s->sending) await_burst(e);
}

void flow_store_step(flow_engine *e) {
  const flow_store *s = &e->store;
  if (s->sending && flow_cycle(s->next) == e->next[FLOW_STORE]) send_burst(e);
  if (!s->sending || s->asks_again <= e->step)
    flow_store_wake(e);
  else
    e->next[FLOW_STORE] = wf_min(s->asks_again, flow_cycle(s->next));
}
