// SPDX-License-Identifier: Apache-2.0
// Rows and multiply-accumulates of commands: see counts.h.
//
//   store    rows x blocks of its source, and of the other factors where it is gated; pooling: the elements of all
//   windows that lie in the image preload  the rows of D, and those of C when its results leave the mesh compute  the
//   rows of A and B; rows(A) x columns(A) x side products
// A sum in the accumulator reads the row that it writes. Rows of loads come burst by burst, as the load unit says.
#include "sim/flow/counts.h"

#include <string.h>

#include "arch/local.h"
#include "isa/isa_fields.h"
#include "sim/flow/flow.h"
#include "sim/flow/memory.h"
#include "sim/flow/operands.h"

void flow_counts_reset(flow_engine *e) {
  e->counts = (flow_counts){0};
  memset(e->alike, 0, sizeof e->alike);
  arch_config_reset(&e->counts_config, e->array);
}

static void read_rows(flow_counts *c, const arch_local *place, uint64_t rows) {
  *(place->accumulator ? &c->acc_reads : &c->sp_reads) += rows;
}

static uint64_t blocks_of(const flow_engine *e, uint64_t cols) { return (cols + e->d.dim - 1) / e->d.dim; }

void flow_counts_loaded(flow_engine *e, uint32_t laddr, uint64_t rows) {
  const bool acc = isa_local_accumulator(laddr) != 0;
  *(acc ? &e->counts.acc_writes : &e->counts.sp_writes) += rows;
  if (acc && isa_local_accumulate(laddr) != 0) e->counts.acc_reads += rows;
}

// Of `count` windows along one axis: elements that lie in an image of `size`.
static uint64_t inside(uint32_t count, uint32_t size, uint32_t window, uint32_t stride, uint32_t padding) {
  uint64_t sum = 0;
  for (uint64_t n = 0; n < count; n++)
    for (uint64_t i = 0; i < window; i++) {
      const int64_t at = (int64_t)(n * stride + i) - padding;
      sum += at >= 0 && at < (int64_t)size;
    }
  return sum;
}

static void count_store(flow_engine *e, const cycle_front_command *k) {
  const arch_store_config *s = &e->counts_config.store;
  const arch_local place = arch_local_decode(&e->d, isa_get_mvout_local(k->rs1, k->rs2));
  const uint64_t cols = isa_get_mvout_cols(k->rs1, k->rs2);
  const bool to_sp = k->insn == ISA_MVOUT_SPAD_R2;
  uint64_t rows = isa_get_mvout_rows(k->rs1, k->rs2) * blocks_of(e, cols);
  if (!to_sp && e->array->units.max_pool && s->pool_stride != 0)
    rows = cols == 0 ? 0
                     : inside(s->pool_orows, s->orows, s->pool_size, s->pool_stride, s->pool_upad) *
                           inside(s->pool_ocols, s->ocols, s->pool_size, s->pool_stride, s->pool_lpad);
  else if (!to_sp && s->pool_size != 0)
    rows = (uint64_t)s->orows * s->ocols * blocks_of(e, cols);
  if (!place.garbage) read_rows(&e->counts, &place, rows);
  if (s->gate && !to_sp && arch_config_store_mode(s) == ARCH_STORE_ROWS && arch_local_narrows(&place))
    e->counts.sp_reads += rows;
  if (to_sp) e->counts.sp_writes += rows;
}

static uint64_t cut(const flow_engine *e, uint64_t rows) { return wf_min(rows, (uint64_t)e->d.dim); }

static void read_operand(const flow_engine *e, flow_counts *c, const flow_operand *o) {
  if (o->read) *(o->acc ? &c->acc_reads : &c->sp_reads) += cut(e, o->rows);
}

static void count_preload(const flow_engine *e, flow_counts *c, uint64_t rs2, const flow_shape s[2]) {
  const flow_operand *d = &s[0].operand, *result = &s[1].operand;
  if (!(e->array->mesh.bias_garbage && flow_is_os(e))) read_operand(e, c, d);
  if (result->garbage) return;
  *(result->acc ? &c->acc_writes : &c->sp_writes) += result->rows;
  if (result->acc && isa_local_accumulate((uint32_t)rs2)) c->acc_reads += result->rows;
}

static void count_compute(const flow_engine *e, flow_counts *c, const flow_shape s[2]) {
  const flow_operand *a = &s[0].operand;
  read_operand(e, c, a);
  if (!(e->array->mesh.bias_garbage && !flow_is_os(e))) read_operand(e, c, &s[1].operand);
  if (a->read) c->macs += cut(e, a->rows) * cut(e, a->cols) * e->d.dim;
}

flow_counts flow_counts_product(const flow_engine *e, const cycle_front_command *k, const flow_shape s[2]) {
  flow_counts c = {0};
  if (k->insn == ISA_PRELOAD)
    count_preload(e, &c, k->rs2, s);
  else
    count_compute(e, &c, s);
  return c;
}

static void add_alike(flow_counts *c, const flow_alike *alike) {
  c->macs += alike->count * alike->each.macs;
  c->sp_reads += alike->count * alike->each.sp_reads;
  c->sp_writes += alike->count * alike->each.sp_writes;
  c->acc_reads += alike->count * alike->each.acc_reads;
  c->acc_writes += alike->count * alike->each.acc_writes;
}

void flow_counts_close(flow_engine *e, flow_alike *alike) {
  add_alike(&e->counts, alike);
  alike->count = 0;
}

void flow_counts_command(flow_engine *e, const cycle_front_command *k) {
  switch (k->insn) {
    case ISA_MVOUT:
    case ISA_MVOUT_SPAD_R2:
      count_store(e, k);
      return;
    default:
      arch_config_apply(&e->counts_config, (isa_id)k->insn, k->rs1, k->rs2);
  }
}

void sim_flow_report_of(const sim_engine *engine, sim_cycle_report *report) {
  const flow_engine *e = (const flow_engine *)engine;
  flow_counts c = e->counts;
  for (unsigned kind = 0; kind < 2; kind++)
    for (unsigned n = 0; n < FLOW_ALIKE; n++) add_alike(&c, &e->alike[kind][n]);
  uint64_t hart_bytes[2];
  *report = (sim_cycle_report){.cycles = e->now,
                               .macs = c.macs,
                               .sp_row_reads = c.sp_reads,
                               .sp_row_writes = c.sp_writes,
                               .acc_row_reads = c.acc_reads,
                               .acc_row_writes = c.acc_writes,
                               .memory = flow_memory_counts(e->memory, hart_bytes)};
  report->bus_read_bytes = report->memory.read_bytes - hart_bytes[0];
  report->bus_written_bytes = report->memory.written_bytes - hart_bytes[1];
}
