// SPDX-License-Identifier: Apache-2.0
// A pooled store: one command per block of columns reads an image of the accumulator and stores the largest of each
// window. What lies before the image is no part of it: the command begins behind it and pads. Rows keep their distance,
// so that windows must not reach over the last column.
#include "base/number.h"
#include "compiler/block/build.h"
#include "compiler/schedule/expand.h"

enum { POOL_RANK = 4, POOL_FIELD_MAX = 255, POOL_SIZE_MAX = 3 };

typedef struct pool_shape {
  int64_t rows, cols;              // of results that are stored
  int64_t image_rows, image_cols;  // of what they are taken from
  int64_t before[2];               // rows and columns before the image
} pool_shape;

static const char *reason_against(const sched_expand *e, const sched_walk *w, const block_statement *s,
                                  const sched_box *inside) {
  const block_buffer *buffer = &e->program->buffers[s->store.source.buffer];
  const block_view *view = &s->store.source;
  const block_pool *pool = &s->store.epilogue.pool;
  if (buffer->rank != POOL_RANK) return "pooling needs images: image, row, column, channel";
  if (e->layouts[view->buffer].tile != 0) return "pooling needs an accumulator buffer that is not tiled";
  if (pool->size > POOL_SIZE_MAX || pool->stride > POOL_SIZE_MAX || pool->upper_padding > POOL_SIZE_MAX ||
      pool->left_padding > POOL_SIZE_MAX || pool->border > POOL_SIZE_MAX)
    return "windows, strides and padding of more than 3 do not fit the store unit";
  for (int d = 1; d < POOL_RANK - 1; d++) {
    if (view->dim[d].step != 1 || view->dim[d].size > POOL_FIELD_MAX || s->store.access.dim[d].step != 1)
      return "the image does not fit the store unit";
    if (inside->lo[d] != block_affine_at(&view->dim[d].offset, w->iteration))
      return "pooled results start at the first";
  }
  if (view->dim[2].size != buffer->size[2]) return "pooling reads whole rows of the image";
  return NULL;
}

static void put(sched_expand *e, const sched_walk *w, const block_statement *s, const pool_shape *shape, int64_t image,
                int64_t column, int64_t columns) {
  const block_access *access = &s->store.access;
  const block_view *view = &s->store.source;
  int64_t index[BLOCK_RANK_MAX], at = block_affine_at(&access->base, w->iteration);
  for (int d = 0; d < POOL_RANK; d++) {
    index[d] = block_affine_at(&view->dim[d].offset, w->iteration);
    at += block_affine_at(&access->dim[d].offset, w->iteration) * access->dim[d].stride;
  }
  at += image * access->dim[0].step * access->dim[0].stride + (column - index[POOL_RANK - 1]);
  index[0] += image * view->dim[0].step;
  for (int d = 1; d <= 2; d++) index[d] += shape->before[d - 1];
  sched_store store = {.queue = view->buffer,
                       .tensor = access->tensor,
                       .offset = at,
                       .stride = access->dim[2].stride,
                       .rows = 1,
                       .cols = (uint16_t)columns,
                       .relu = s->store.epilogue.relu,
                       .scale = s->store.epilogue.scale,
                       .pool = s->store.epilogue.pool,
                       .pool_rows = (uint8_t)shape->rows,
                       .pool_cols = (uint8_t)shape->cols,
                       .image_rows = (uint8_t)shape->image_rows,
                       .image_cols = (uint8_t)shape->image_cols,
                       .image_skipped = (uint8_t)shape->before[1],
                       .pool_out_dim = (uint8_t)(access->dim[1].stride / access->dim[2].stride),
                       .instance = w->instance[view->buffer]};
  store.pool.upper_padding += (uint32_t)shape->before[0];
  store.pool.left_padding += (uint32_t)shape->before[1];
  store.local = block_layout_local(&e->layouts[view->buffer], store.instance,
                                   block_layout_flat(&e->program->buffers[view->buffer], index), column);
  sched_streams_store(&e->streams, &store);
}

bool sched_expand_pooled_store(sched_expand *e, const sched_walk *w, const block_statement *s) {
  const block_view *view = &s->store.source;
  const block_access *access = &s->store.access;
  const block_buffer *buffer = &e->program->buffers[view->buffer];
  sched_box inside = sched_region_inside(w, view, access);
  if (sched_box_empty(&inside, buffer->rank)) return true;
  const char *reason = reason_against(e, w, s, &inside);
  int64_t pitch = access->dim[2].stride;
  if (reason == NULL &&
      (pitch <= 0 || access->dim[1].stride % pitch != 0 || access->dim[1].stride / pitch > POOL_FIELD_MAX))
    reason = "the result's rows do not fit the store unit";
  if (reason != NULL) {
    wf_error(e->diag, s->where, "store of '%s': %s", buffer->name, reason);
    return false;
  }
  pool_shape shape = {.rows = inside.hi[1] - inside.lo[1],
                      .cols = inside.hi[2] - inside.lo[2],
                      .image_cols = view->dim[2].size,
                      .before = {block_before_image(s, 1, w->iteration), block_before_image(s, 2, w->iteration)}};
  const block_pool *pool = &s->store.epilogue.pool;
  shape.image_rows =
      wf_min(view->dim[1].size, (shape.rows - 1) * pool->stride + pool->size - pool->upper_padding) - shape.before[0];
  int64_t dim = e->derived.dim;
  for (int64_t image = 0; image < inside.hi[0] - inside.lo[0]; image++)
    for (int64_t column = inside.lo[3]; column < inside.hi[3]; column += dim)
      put(e, w, s, &shape, image, column, inside.hi[3] - column < dim ? inside.hi[3] - column : dim);
  return true;
}
