// SPDX-License-Identifier: Apache-2.0
// A placed program of convolutions through LOOP_CONV_WS.
//
// The product statements between two loads of operands are one loop: each is an element of the kernel, and where the
// mapping keeps the operands through the loops over kernel rows and columns, the unroller goes through them. Loops of
// one result make a chain, which is known as a whole at its store: what is cut off is not computed by any of them.
//
// Depthwise convolutions come as products of blocks: channels by DIM, each with a matrix of its own. Each block is a
// chain of its own. A residual that is multiplied is a convolution by one element, whose weights are a multiple of the
// unit matrix.
#include "compiler/schedule/loop_conv.h"

#include "base/number.h"
#include "compiler/block/build.h"

// The latest load of a buffer.
typedef struct conv_load {
  const block_statement *statement;
  int64_t base, at[BLOCK_RANK_MAX];
} conv_load;

typedef struct convolutions {
  sched_loop *l;
  conv_load *loads;  // per buffer
  int result;        // the buffer whose parts are collected
  sched_conv_part *parts;
  size_t count, room;
} convolutions;

// Elements of a dimension from `at` on that exist.
static int64_t existing(const block_access_dim *d, int64_t at) {
  const int64_t count = (d->extent - at + d->step - 1) / d->step;
  return count < 0 ? 0 : wf_min(d->size, count);
}

static bool is_image(const block_access *access) {
  return access->rank == SCHED_IMAGE_RANK && access->dim[0].step == 1 && access->dim[3].stride == 1 &&
         access->dim[3].step == 1;
}

static sched_conv_image image_of(const block_access *access, const int64_t *at, int64_t base) {
  const block_access_dim *d = access->dim;
  sched_conv_image image = {.tensor = access->tensor,
                            .offset = base + at[0] * d[0].stride + at[3],
                            .image_stride = d[0].stride,
                            .images = existing(&d[0], at[0]),
                            .channels = existing(&d[3], at[3])};
  for (int axis = 0; axis < SCHED_AXES; axis++) {
    image.first[axis] = at[1 + axis];
    image.step[axis] = d[1 + axis].step;
    image.extent[axis] = d[1 + axis].extent;
    image.stride[axis] = d[1 + axis].stride;
    image.size[axis] = existing(&d[1 + axis], at[1 + axis]);
  }
  return image;
}

static void evaluate(const sched_walk *w, const block_access *access, int64_t *base, int64_t *at) {
  *base = block_affine_at(&access->base, w->iteration);
  for (int d = 0; d < access->rank; d++) at[d] = block_affine_at(&access->dim[d].offset, w->iteration);
}

// ---- loads

static bool on_load(convolutions *c, const sched_walk *w, const block_statement *s) {
  if (s->load.accumulate || s->load.overwrite_first != 0)
    return sched_loop_refuse(c->l, s, "the loop unroller loads nothing but a bias into a result");
  if (s->load.scaled && s->load.scale != 1.0F)
    return sched_loop_refuse(c->l, s, "the loop unroller of convolutions does not scale what it loads");
  conv_load *load = &c->loads[s->load.target.buffer];
  load->statement = s;
  evaluate(w, &s->load.access, &load->base, load->at);
  return true;
}

// ---- products

static bool is_all_of(const sched_walk *w, const block_view_dim *view, const block_access_dim *access) {
  return view->step == 1 && view->size == access->size && block_affine_at(&view->offset, w->iteration) == 0;
}

// The weights under a product: the place of its first, and what holds for all of the load.
static bool weights_of(const convolutions *c, const sched_walk *w, const block_statement *s, sched_conv_part *part,
                       sched_conv_tap *tap) {
  const conv_load *load = &c->loads[s->dot.b.buffer];
  const block_access *access = &load->statement->load.access;
  const block_access_dim *row = &access->dim[access->rank - 2], *column = row + 1;
  if (access->rank < 2 || column->stride != 1 || column->step != 1 || row->step != 1) return false;
  for (int d = access->rank - (s->dot.blocks ? 3 : 2); d < access->rank; d++)
    if (!is_all_of(w, &s->dot.b.dim[d], &access->dim[d])) return false;
  tap->weights = load->base;
  for (int d = 0; d < access->rank; d++) {
    const int64_t moved = block_affine_at(&s->dot.b.dim[d].offset, w->iteration);
    tap->weights += (load->at[d] + access->dim[d].step * moved) * access->dim[d].stride;
  }
  part->weight_tensor = access->tensor;
  part->row_stride = row->stride;
  part->rows = existing(row, load->at[access->rank - 2]);
  part->columns = existing(column, load->at[access->rank - 1]);
  part->block = s->dot.blocks ? row->size : 0;
  part->block_step = s->dot.blocks ? access->dim[access->rank - 3].stride : 0;
  return true;
}

// The pixels under a product.
static bool pixels_of(const convolutions *c, const sched_walk *w, const block_statement *s, sched_conv_part *part,
                      sched_conv_tap *tap) {
  const conv_load *load = &c->loads[s->dot.a.buffer];
  const block_view *view = &s->dot.a;
  const block_access *access = &load->statement->load.access;
  if (!is_image(access) || !is_all_of(w, &view->dim[0], &access->dim[0]) ||
      !is_all_of(w, &view->dim[SCHED_IMAGE_RANK - 1], &access->dim[SCHED_IMAGE_RANK - 1]))
    return false;
  part->input = image_of(access, load->at, load->base);
  for (int axis = 0; axis < SCHED_AXES; axis++) {
    const block_view_dim *d = &view->dim[1 + axis];
    tap->at[axis] = part->input.first[axis] + part->input.step[axis] * block_affine_at(&d->offset, w->iteration);
    part->stride[axis] = part->input.step[axis] * d->step;
  }
  return true;
}

// The residual's weights: one matrix for all channels, as wide as the block of results.
static void unit_weights(const convolutions *c, const block_statement *s, int64_t pitch, sched_conv_part *part) {
  const block_buffer *result = &c->l->program->buffers[s->dot.target.buffer];
  const int64_t size = result->size[SCHED_IMAGE_RANK - 1];
  part->row_stride = pitch == 0 ? size : pitch;
  part->weight_tensor = sched_loop_unit_matrix(c->l, sched_loop_unit_number(c->l, s), size, part->row_stride);
  part->rows = part->columns = size;
}

static bool is_residual(const sched_loop *l, const block_statement *s) { return block_is_shared(l->program, s); }

static bool part_of(const convolutions *c, const sched_walk *w, const block_statement *s, sched_conv_part *part,
                    sched_conv_tap *tap) {
  *part = (sched_conv_part){
      .dot = s, .input_instance = w->instance[s->dot.a.buffer], .weight_instance = w->instance[s->dot.b.buffer]};
  *tap = (sched_conv_tap){.weights = 0};
  if (!block_is_whole(c->l->program, &s->dot.target))
    return sched_loop_refuse(c->l, s, "the loop unroller computes whole blocks of results");
  if (s->dot.a_transposed || s->dot.b_transposed)
    return sched_loop_refuse(c->l, s, "the loop unroller of convolutions transposes nothing");
  if (c->loads[s->dot.a.buffer].statement == NULL || c->loads[s->dot.b.buffer].statement == NULL)
    return sched_loop_refuse(c->l, s, "the loop unroller loads both operands of a product");
  if (!pixels_of(c, w, s, part, tap))
    return sched_loop_refuse(c->l, s, "the loop unroller takes inputs by image, row, column and channel");
  if (!is_residual(c->l, s) && !weights_of(c, w, s, part, tap))
    return sched_loop_refuse(c->l, s, "the loop unroller takes weights whose output channels lie side by side");
  return true;
}

static bool shares_operands(const sched_conv_part *a, const sched_conv_part *b) {
  return a->dot == b->dot && a->input_instance == b->input_instance && a->weight_instance == b->weight_instance;
}

static bool starts_result(const sched_walk *w, const block_statement *s) {
  return !s->dot.accumulate && !sched_walk_repeats(w, s->dot.overwrite_first);
}

static bool on_dot(convolutions *c, const sched_walk *w, const block_statement *s) {
  const int result = s->dot.target.buffer;
  sched_conv_part part;
  sched_conv_tap tap;
  if (starts_result(w, s) || result != c->result) c->count = 0;
  if (c->count == 0 && starts_result(w, s)) c->loads[result].statement = NULL;  // what was loaded is overwritten
  if (c->count == 0 && !starts_result(w, s) && c->loads[result].statement == NULL)
    return sched_loop_refuse(c->l, s, "the loop unroller adds to a bias or to products that it has just made");
  c->result = result;
  if (!part_of(c, w, s, &part, &tap)) return false;
  if (c->count == 0 || !shares_operands(&c->parts[c->count - 1], &part))
    *WF_ARENA_PUSH(c->l->arena, c->parts, c->count, &c->room) = part;
  sched_conv_part *last = &c->parts[c->count - 1];
  *WF_ARENA_PUSH(c->l->arena, last->taps, last->tap_count, &last->tap_room) = tap;
  return true;
}

// ---- stores

static bool take_bias(const convolutions *c, const block_statement *s, sched_conv_chain *chain) {
  const conv_load *load = &c->loads[chain->parts[0].dot->dot.target.buffer];
  if (load->statement == NULL) return true;
  const block_access *access = &load->statement->load.access;
  bool good = c->l->program->tensors[access->tensor].type == BLOCK_I32 && access->rank == SCHED_IMAGE_RANK &&
              access->dim[3].stride == 1 && access->dim[3].step == 1 &&
              existing(&access->dim[3], load->at[3]) >= chain->output.channels;
  for (int d = 0; d < SCHED_IMAGE_RANK - 1 && good; d++) good = access->dim[d].stride == 0 || access->dim[d].size == 1;
  if (!good)
    return sched_loop_refuse(c->l, s, "the loop unroller starts a result with an int32 per channel, or with zeros");
  chain->has_bias = true;
  chain->bias_tensor = access->tensor;
  chain->bias = load->base;
  for (int d = 0; d < SCHED_IMAGE_RANK; d++) chain->bias += load->at[d] * access->dim[d].stride;
  return true;
}

// The unit matrices of residuals: revision 1 has one stride for rows of weights and pixels of results.
static void take_units(const convolutions *c, sched_conv_chain *chain) {
  const int64_t pitch = c->l->array->isa.revision == 1 ? chain->output.stride[1] : 0;
  for (size_t n = 0; n < chain->count; n++)
    if (is_residual(c->l, chain->parts[n].dot)) unit_weights(c, chain->parts[n].dot, pitch, &chain->parts[n]);
}

static const char *reason_against(const convolutions *c, const block_statement *s, const sched_conv_image *output) {
  const block_view *view = &s->store.source;
  if (c->count == 0 || c->result != view->buffer) return "the loop unroller stores results of products, once";
  if (!s->store.epilogue.scaled) return "the loop unroller of convolutions stores int8 results";
  if (s->store.epilogue.norm.kind != BLOCK_NO_NORM) return "rows are not normalised by the loop unroller";
  if (s->store.epilogue.pool.stride != 0) return "results of convolutions are not pooled by the loop unroller";
  for (int d = 0; d < SCHED_IMAGE_RANK; d++)
    if (view->dim[d].step != 1 || view->dim[d].size != c->l->program->buffers[view->buffer].size[d])
      return "the loop unroller stores whole blocks";
  if (!is_image(&s->store.access) || output->first[0] < 0 || output->first[1] < 0 || output->step[0] != 1 ||
      output->step[1] != 1)
    return "the loop unroller stores images whose rows and columns follow each other";
  return NULL;
}

static bool on_store(convolutions *c, const sched_walk *w, const block_statement *s) {
  sched_conv_chain chain = {.where = s,
                            .parts = c->parts,
                            .count = c->count,
                            .relu = s->store.epilogue.relu,
                            .scale = s->store.epilogue.scale};
  int64_t base, at[BLOCK_RANK_MAX];
  evaluate(w, &s->store.access, &base, at);
  if (s->store.access.rank == SCHED_IMAGE_RANK) chain.output = image_of(&s->store.access, at, base);
  const char *reason = reason_against(c, s, &chain.output);
  if (reason != NULL) return sched_loop_refuse(c->l, s, reason);
  const sched_conv_image *out = &chain.output;
  if (out->images > 0 && out->size[0] > 0 && out->size[1] > 0 && out->channels > 0) {
    if (!take_bias(c, s, &chain)) return false;
    take_units(c, &chain);
    if (!sched_conv_put_chain(c->l, &chain)) return false;
  }
  c->loads[c->result].statement = NULL;
  c->count = 0;
  return true;
}

static bool visit(void *context, const sched_walk *w, const block_statement *s) {
  convolutions *c = context;
  switch (s->kind) {
    case BLOCK_LOAD:
      return on_load(c, w, s);
    case BLOCK_DOT:
      return on_dot(c, w, s);
    case BLOCK_STORE:
      return on_store(c, w, s);
    case BLOCK_ELEMENTWISE:
      break;
    case BLOCK_FOR:
      break;
  }
  return sched_loop_refuse(c->l, s, "the loop unroller has no element-wise operations");
}

bool sched_loop_convolutions(sched_loop *l, sched_walk *w) {
  convolutions c = {.l = l, .result = BLOCK_NONE};
  c.loads = WF_ARENA_ARRAY(l->arena, (size_t)l->program->buffer_count + 1, conv_load);
  return sched_walk_run(w, visit, &c);
}
