// SPDX-License-Identifier: Apache-2.0
// A product statement becomes pairs of preload and compute over tiles of at most DIM rows, columns and depth: a nest of
// products, as its plan says (plan.h). Order: columns, depth, rows, so that one block of weights serves all
// rows.
//
// Output-stationary, sums of one block of depth are made in the array and added to the accumulator: longer chains could
// overflow the array's narrow sums.
#include "compiler/block/build.h"
#include "compiler/schedule/expand.h"

// ---- needs

bool sched_expand_dot_needs(void *context, const sched_walk *w, const block_statement *s) {
  sched_expand *e = context;
  if (s->kind == BLOCK_LOAD) sched_region_note_load(&e->regions, w, s);
  if (s->kind != BLOCK_DOT) return true;
  for (int64_t n = 0; n < sched_plan_parts(&e->planner, s); n++) {
    const sched_plan *plan = sched_plan_of(&e->planner, w, s, n);
    if (!plan->needed) continue;
    e->products += sched_plan_products(plan);
    if (plan->k.count == 0) continue;
    sched_region_add_need(&e->regions, s->dot.a.buffer, w->instance[s->dot.a.buffer], &plan->a);
    sched_region_add_need(&e->regions, s->dot.b.buffer, w->instance[s->dot.b.buffer], &plan->b);
  }
  return true;
}

// ---- what rows the products touch

// One nest; its products follow each other, rows innermost: so the first and the last one that touches a row are known.
typedef struct dot {
  sched_expand *e;
  const block_statement *s;
  const sched_nest *nest;
  uint32_t rows, depth, column;  // products of one block of weights; blocks of depth; products of a column
} dot;

// Rows that are weights as well count as used by the whole statement.
static void touch_inputs(const dot *d) {
  const sched_plan *plan = d->nest->plan;
  const bool transposed = d->s->dot.a_transposed, both = d->s->dot.a.buffer == d->s->dot.b.buffer;
  const uint32_t columns = (uint32_t)plan->n.count, end = (columns - 1) * d->column;
  for (uint32_t k = 0; k < plan->k.count; k++)
    for (uint32_t m = 0; m < d->rows; m++) {
      const sched_dot_run *across = &plan->m.runs[m], *deep = &plan->k.runs[k], *along = transposed ? deep : across;
      const uint32_t first = d->nest->first + k * d->rows + m;
      sched_streams_read(&d->e->streams,
                         &(sched_span){.local = d->nest->a + across->second_local + deep->first_local,
                                       .count = (uint32_t)along->count,
                                       .step = transposed || along->count == 1 ? 1 : (uint32_t)along->step,
                                       .first = first,
                                       .last = both ? d->nest->first + columns * d->column - 1 : first + end});
    }
}

// Output-stationary, weights come with each product.
static void touch_weights(const dot *d) {
  const sched_plan *plan = d->nest->plan;
  for (uint32_t n = 0; n < plan->n.count; n++)
    for (uint32_t k = 0; k < plan->k.count; k++) {
      const sched_dot_run *across = &plan->n.runs[n], *deep = &plan->k.runs[k];
      const uint32_t first = d->nest->first + n * d->column + k * d->rows;
      sched_streams_read(&d->e->streams,
                         &(sched_span){.local = d->nest->b + across->second_local + deep->second_local,
                                       .count = (uint32_t)(d->s->dot.b_transposed ? across : deep)->count,
                                       .step = 1,
                                       .first = first,
                                       .last = d->nest->output_stationary ? first + d->rows - 1 : first});
    }
}

static void touch_results(const dot *d) {
  const sched_plan *plan = d->nest->plan;
  for (uint32_t n = 0; n < plan->n.count; n++)
    for (uint32_t m = 0; m < d->rows; m++) {
      const sched_dot_run *rows = &plan->m.runs[m], *columns = &plan->n.runs[n];
      const uint32_t first = d->nest->first + n * d->column + m;
      sched_streams_write(&d->e->streams,
                          &(sched_span){.local = d->nest->target + rows->first_local + columns->first_local,
                                        .count = (uint32_t)rows->count,
                                        .step = 1,
                                        .first = first,
                                        .last = first + (d->depth - 1) * d->rows});
    }
}

// Tells the rows which products touch them.
static void touch_rows(sched_expand *e, const block_statement *s, const sched_nest *nest) {
  const uint32_t rows = (uint32_t)nest->plan->m.count, depth = (uint32_t)sched_plan_depth(nest->plan);
  const dot d = {.e = e, .s = s, .nest = nest, .rows = rows, .depth = depth, .column = depth * rows};
  if (!nest->kept || nest->output_stationary) touch_weights(&d);
  touch_inputs(&d);
  touch_results(&d);
}

// ---- products

static bool check(sched_expand *e, const block_statement *s) {
  const char *reason = NULL;
  bool os = e->program->dataflow == BLOCK_OS;
  if (e->program->buffers[s->dot.target.buffer].scope != BLOCK_ACC)
    reason = "the result of a product belongs into the accumulator";
  else if (e->program->buffers[s->dot.a.buffer].scope != BLOCK_SP ||
           e->program->buffers[s->dot.b.buffer].scope != BLOCK_SP)
    reason = "operands of a product belong into the scratchpad";
  else if ((s->dot.a_transposed || s->dot.b_transposed) && !e->array->units.transposer)
    reason = "this array cannot transpose operands";
  else if (!os && s->dot.a_transposed && s->dot.b_transposed)
    reason = "weight-stationary products transpose one operand only";
  else if (os && !s->dot.a_transposed && s->dot.b_transposed)
    reason = "output-stationary products transpose B only if they transpose A too";
  else if (e->array->mesh.dataflow == (os ? HW_DATAFLOW_WS : HW_DATAFLOW_OS))
    reason = os ? "this array has no output-stationary products" : "this array has no weight-stationary products";
  else if (!e->array->accumulator.execute_writes)
    reason = "this array's execute unit cannot write to the accumulator";
  if (reason == NULL) return true;
  wf_error(e->diag, s->where, "product into '%s': %s", e->program->buffers[s->dot.target.buffer].name, reason);
  return false;
}

// `kept`: the weights of the product before serve this one as well. `starts`: a stage begins.
static bool expand_part(sched_expand *e, const sched_walk *w, const block_statement *s, int64_t part, bool kept,
                        bool starts) {
  const sched_plan *plan = sched_plan_of(&e->planner, w, s, part);
  if (!plan->needed) return true;
  if (plan->unaligned) {
    wf_error(e->diag, s->where, "product into '%s': its operands do not start at whole blocks of %u columns",
             e->program->buffers[s->dot.target.buffer].name, e->derived.dim);
    return false;
  }
  const int t = s->dot.target.buffer, a = s->dot.a.buffer, b = s->dot.b.buffer;
  const bool overwrite = sched_plan_overwrites(w, s);
  if (plan->k.count == 0 && !overwrite) return true;
  e->macs += plan->macs;
  if (starts) sched_streams_stage(&e->streams);
  const sched_nest *nest = sched_streams_products(
      &e->streams, &(sched_nest){.plan = plan,
                                 .target = block_layout_of_instance(&e->layouts[t], w->instance[t]),
                                 .a = block_layout_of_instance(&e->layouts[a], w->instance[a]),
                                 .b = block_layout_of_instance(&e->layouts[b], w->instance[b]),
                                 .kept = kept,
                                 .accumulate = !overwrite,
                                 .output_stationary = e->program->dataflow == BLOCK_OS,
                                 .a_transposed = s->dot.a_transposed,
                                 .b_transposed = s->dot.b_transposed});
  touch_rows(e, s, nest);
  return true;
}

// Whether the statement behind this one multiplies the same blocks with another shared matrix.
static bool goes_on(const sched_expand *e, const block_statement *s) {
  const block_statement *next = s->next;
  return block_is_shared(e->program, s) && next != NULL && next->kind == BLOCK_DOT &&
         block_is_shared(e->program, next) && next->dot.target.buffer == s->dot.target.buffer &&
         next->dot.a.buffer == s->dot.a.buffer;
}

// Products of the same blocks go block by block through all their statements, so that the columns of the result are
// complete one after the other, as behind any other product.
bool sched_expand_dot(sched_expand *e, const sched_walk *w, const block_statement *s) {
  if (!check(e, s)) return false;
  if (e->dots_ahead > 0) {
    e->dots_ahead--;
    return true;
  }
  const block_statement *last = s;
  for (; goes_on(e, last); last = last->next) e->dots_ahead++;
  int weights = BLOCK_NONE;
  const uint32_t first = e->streams.product_count;
  for (int64_t n = 0; n < sched_plan_parts(&e->planner, s); n++)
    for (const block_statement *part = s; part != last->next; part = part->next) {
      const uint32_t before = e->streams.product_count;
      const bool kept = part->dot.b.buffer == weights, starts = s->dot.blocks ? !kept : before == first;
      if (!expand_part(e, w, part, n, kept, starts)) return false;
      if (block_is_shared(e->program, part) && e->streams.product_count > before) weights = part->dot.b.buffer;
    }
  return true;
}
