// SPDX-License-Identifier: Apache-2.0
// Layer norms on the mesh (QNormMesh in docs/networks.md): each row times a whole factor of its own, which the hart
// finds, then factors and offsets of the columns as products with diagonals.
//
// A factor is gain / (N deviation). Rows with the smallest deviation have the largest one, which is a sum of bytes;
// those with the largest deviation the coarsest.
#include <math.h>

#include "compiler/quantise/convert.h"

enum { COPIES_MAX = 3, WORTH = 1 << 13 };  // fewer elements are not worth steps of the array

// Of the largest factor, for the narrowest row that the calibration has seen: others may be narrower.
static const double room = 0.8;
// Factors of the widest row: as fine as can be had with a byte, and the least.
static const double fine = 64, coarse = 16;

// Bytes of a factor for rows whose deviations are that far apart; 0: factors would be too coarse.
static int copies_for(double ratio) {
  const double byte = INT8_MAX * room / ratio, wanted = ceil(fine / byte);
  const int copies = wanted < COPIES_MAX ? (int)wanted : COPIES_MAX;
  return copies * byte < coarse ? 0 : copies;
}

static bool takes(const quantise_converter *c, const quantise_convert_norm *n) {
  const graph_tensor *x = &c->model->tensors[n->x];
  return n->deviation.narrowest > 0 && graph_elements(x) >= WORTH;
}

bool quantise_convert_mesh_norm(quantise_converter *c, const graph_node *node, const quantise_convert_norm *n) {
  const quantise_deviation *d = &n->deviation;
  const graph_tensor rows = c->model->tensors[n->x];
  const double step = (double)d->largest / INT8_MAX;
  const int copies = takes(c, n) ? copies_for((double)d->widest / (double)d->narrowest) : 0;
  if (copies == 0 || !quantise_convert_scales_columns(c, n, step)) return false;
  const int from = quantise_convert_quant(c, n->x, LAYOUT_PLAIN);
  const double scale = (double)c->values[n->x].scale, wide = (double)rows.dim[rows.rank - 1] / scale;
  const double gain = INT8_MAX * copies * room * (double)d->narrowest * wide;
  const int normed =
      quantise_rewrite_tensor(c->out, c->model->tensors[n->out].name, ".normed", GRAPH_I8, rows.rank, rows.dim);
  const int form = quantise_convert_new(c, n->out, ".i8", GRAPH_I8, LAYOUT_PLAIN);
  graph_node *made = quantise_convert_emit(c, GRAPH_OP_QNORM_MESH, node->name, &from, 1, normed);
  graph_set_float(c->out, made, "gain", (float)gain);
  graph_set_int(c->out, made, "most", INT8_MAX * copies);
  if (!n->centred) graph_set_int(c->out, made, "center", 0);
  graph_set_float(c->out, made, "scale", (float)((double)rows.dim[rows.rank - 1] / (gain * step)));
  graph_set_float(c->out, made, "epsilon", (float)((double)n->epsilon * wide * wide));
  c->out->tensors[normed].scale = (float)step;
  quantise_convert_scale_columns(c, n, normed, step, form);
  quantise_convert_set_quant(c, n->out, LAYOUT_PLAIN, form, c->scale[n->out], 0);
  return true;
}
