// SPDX-License-Identifier: Apache-2.0
// From a placed block program to commands: three walks over its loops (what stores keep, what products read, the
// commands), then one order for loads, products and stores.
#include "compiler/schedule/schedule.h"

#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/block/part.h"
#include "compiler/schedule/emit.h"
#include "compiler/schedule/expand.h"
#include "compiler/schedule/loop.h"

static bool expand_statement(void *context, const sched_walk *w, const block_statement *s) {
  sched_expand *e = context;
  switch (s->kind) {
    case BLOCK_LOAD:
      sched_region_note_load(&e->regions, w, s);
      return sched_expand_load(e, w, s);
    case BLOCK_DOT:
      return sched_expand_dot(e, w, s);
    case BLOCK_STORE:
      return sched_expand_store(e, w, s);
    case BLOCK_ELEMENTWISE:
      break;
    case BLOCK_FOR:
      break;
  }
  wf_error(e->diag, s->where, "the accelerator has no element-wise operations of their own");
  wf_hint(e->diag, "only chains before and after a product become part of its loads and stores");
  return false;
}

static bool check_buffers(const block_program *program, wf_diag *diag) {
  for (int b = 0; b < program->buffer_count; b++)
    if (program->buffers[b].scope == BLOCK_UNPLACED && program->buffers[b].name != NULL) {
      wf_error(diag, (wf_location){0}, "buffer '%s' has no place", program->buffers[b].name);
      return false;
    }
  return true;
}

static const block_layout *layouts_of(const block_program *program, const hw_derived *derived, wf_arena *arena) {
  block_layout *layouts = WF_ARENA_ARRAY(arena, (size_t)program->buffer_count + 1, block_layout);
  for (int b = 0; b < program->buffer_count; b++) layouts[b] = block_layout_of(&program->buffers[b], derived);
  return layouts;
}

// Makes the parts of an expansion whose options are set.
static void start(sched_expand *e) {
  e->derived = e->cost.hw;
  e->layouts = layouts_of(e->program, &e->derived, e->arena);
  sched_regions_create(&e->regions, e->program, e->arena);
  if (e->pack) sched_regions_pack(&e->regions, &e->derived);
  sched_streams_create(&e->streams, e->program, &e->cost, e->arena);
  e->planner = (sched_planner){.program = e->program,
                               .layouts = e->layouts,
                               .regions = &e->regions,
                               .cost = &e->cost,
                               .dim = e->derived.dim,
                               .arena = e->arena};
}

// The first look at the program: what stores keep, and how much there is to multiply.
static bool look(void *context, const sched_walk *w, const block_statement *s) {
  sched_expand *e = context;
  if (s->kind == BLOCK_DOT) {
    const block_view *result = &s->dot.target, *a = &s->dot.a;
    const int last = e->program->buffers[a->buffer].rank - 1;
    double work = 1;
    for (int d = 0; d < e->program->buffers[result->buffer].rank; d++) work *= (double)result->dim[d].size;
    for (int d = s->dot.a_transposed ? 0 : last; d < (s->dot.a_transposed ? last : last + 1); d++)
      work *= (double)a->dim[d].size;
    e->work += work;
  }
  return sched_region_store_needs(&e->regions, w, s);
}

// Where memory is the bound, shorter products gain nothing, and loads like products of equal length.
static bool saves_rows(const sched_expand *e) {
  double bytes = 0;
  for (int t = 0; t < e->program->tensor_count; t++) {
    const block_tensor *tensor = &e->program->tensors[t];
    bytes += (double)tensor->elements * (double)block_type_bytes(tensor->type);
  }
  const double products = e->work / (e->cost.dim * e->cost.dim);
  return cost_missed_cycles(&e->cost, bytes) < e->cost.c->memory_bound * products;
}

static bool fill_streams(sched_expand *e) {
  sched_walk w;
  sched_walk_create(&w, e->program, e->arena);
  if (!sched_walk_run(&w, look, e)) return false;
  e->planner.cuts = saves_rows(e);
  if (!sched_walk_run(&w, sched_expand_dot_needs, e)) return false;
  sched_region_forget_loads(&e->regions);
  if (e->regions.pack != NULL) sched_pack_lay_out(e->regions.pack);
  if (!sched_walk_run(&w, expand_statement, e)) return false;
  sched_streams_finish(&e->streams, e->program);
  return true;
}

static void fill_from(sched_expand *e, const sched_source *source) {
  source->fill(source->context, &e->streams);
  sched_streams_finish(&e->streams, e->program);
}

bool sched_expand_source(sched_expand *e, const sched_source *source, const sched_options *options, wf_arena *arena,
                         wf_diag *diag) {
  *e = (sched_expand){.program = source->program,
                      .array = options->array,
                      .diag = diag,
                      .arena = arena,
                      .cost = cost_model_of(options->array, options->costs),
                      .whole_stores = options->whole_stores,
                      .pack = options->pack};
  if (!check_buffers(source->program, diag)) return false;
  start(e);
  if (source->fill == NULL) return fill_streams(e);
  fill_from(e, source);
  return true;
}

bool sched_expand_packed(const sched_expand *e, wf_arena *arena, command_tensor *packed) {
  const sched_pack *pack = e->regions.pack;
  if (pack == NULL) return false;
  const uint64_t bytes = (uint64_t)wf_max(pack->bytes, 1);
  int8_t *contents = wf_arena_alloc(arena, bytes, 1);
  sched_pack_fill(pack, contents);
  *packed =
      (command_tensor){.name = "packed", .element_bytes = 1, .elements = bytes, .read = true, .contents = contents};
  return true;
}

// Packed weights are a tensor behind the others.
static void add_packed(const sched_expand *e, command_program *out) {
  command_tensor packed;
  if (!sched_expand_packed(e, e->arena, &packed)) return;
  for (int t = 0; t < e->program->tensor_count; t++)  // no command loads the weights as they are
    if (e->program->tensors[t].known != NULL) out->tensors[t].read = false;
  command_add_tensor(out, &packed);
}

static void put_behind(const sched_expand *e, command_program *out) {
  sched_order order = {0};
  sched_interleave(&e->streams, &order, e->arena);
  sched_emit(&e->streams, &order, out, e->arena);
  out->macs += e->macs;
}

static command_program *put_in_order(const sched_expand *e) {
  command_program *out = command_create(e->program->name, e->array);
  sched_emit_tensors(e->program, out);
  add_packed(e, out);
  put_behind(e, out);
  return out;
}

static command_program *expand(const sched_source *source, const sched_options *options, bool *failed, wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  sched_expand e;
  command_program *out = NULL;
  const bool good = sched_expand_source(&e, source, options, arena, diag);
  *failed = good && e.regions.pack != NULL && e.regions.pack->failed;
  if (good && !*failed) out = put_in_order(&e);
  wf_arena_destroy(arena);
  return out;
}

// ---- programs in parts

static command_program *expand_parts(const block_part *part, const sched_options *options, wf_diag *diag) {
  command_program *out = command_create(part->program.name, options->array);
  bool good = true;
  sched_emit_tensors(&part->program, out);
  for (; part != NULL && good; part = part->next) {
    wf_arena *arena = wf_arena_create();
    sched_expand e;
    good = sched_expand_source(&e, &(sched_source){.program = &part->program}, options, arena, diag);
    if (good) put_behind(&e, out);
    wf_arena_destroy(arena);
  }
  if (good) return out;
  command_destroy(out);
  return NULL;
}

static command_program *in_parts(const block_program *program, const sched_options *options, bool *whole,
                                 wf_diag *diag) {
  wf_arena *arena = wf_arena_create();
  const block_part *first = block_parts_of(program, arena);
  *whole = first->next == NULL;
  command_program *out = *whole ? NULL : expand_parts(first, options, diag);
  wf_arena_destroy(arena);
  return out;
}

// Loop unrollers count in elements of a byte.
static bool has_packed(const block_program *program, wf_diag *diag) {
  for (int t = 0; t < program->tensor_count; t++) {
    if (!program->tensors[t].packed) continue;
    wf_error(diag, wf_in_file(program->name), "tensor '%s' is packed int4, which style loop cannot load",
             program->tensors[t].name);
    return true;
  }
  return false;
}

static void find_gate(void *context, block_statement *s) {
  const block_statement **found = context;
  if (s->kind == BLOCK_STORE && s->store.gated) *found = s;
}

// Nor do they multiply what they store.
static bool has_gate(const block_program *program, wf_diag *diag) {
  const block_statement *found = NULL;
  block_visit(program->body, find_gate, &found);
  if (found == NULL) return false;
  wf_error(diag, found->where, "a product of blocks, element by element, which style loop cannot store");
  return true;
}

command_program *sched_commands(const block_program *program, const sched_options *options, wf_diag *diag) {
  bool failed, whole;
  sched_options own = *options;
  if (!sched_check_size(program, options->array, diag)) return NULL;
  if (program->style == BLOCK_STYLE_LOOP && !has_packed(program, diag) && !has_gate(program, diag))
    return sched_loop_commands(program, options->array, diag);
  if (program->style == BLOCK_STYLE_LOOP) return NULL;
  command_program *out = in_parts(program, options, &whole, diag);
  if (!whole) return out;
  own.pack = true;
  out = expand(&(sched_source){.program = program}, &own, &failed, diag);
  own.pack = false;
  return failed ? expand(&(sched_source){.program = program}, &own, &failed, diag) : out;
}

command_program *sched_source_commands(const sched_source *source, const sched_options *options, wf_diag *diag) {
  bool failed;
  if (!sched_check_size(source->program, options->array, diag)) return NULL;
  return expand(source, options, &failed, diag);
}
