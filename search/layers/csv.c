// SPDX-License-Identifier: Apache-2.0
// The reader of layer tables as comma-separated lines, one per layer under the line of column names. A stride or
// dilation of 0 is that of an axis without extent and counts as 1. `macs` is checked against the sizes.
//
// Other lines of column names are those of SCALE-Sim's topologies: see scalesim.c.
#include <string.h>

#include "search/layers/lines.h"
#include "search/layers/scalesim.h"

static const char header[] = "layer,R,S,P,Q,C,K,N,Wstride,Hstride,Wdilation,Hdilation,count,macs";
static const block_dim_id size_columns[] = {BLOCK_DIM_R, BLOCK_DIM_S, BLOCK_DIM_P, BLOCK_DIM_Q,
                                            BLOCK_DIM_C, BLOCK_DIM_K, BLOCK_DIM_N};
enum { LAYER, SIZES, STRIDES = SIZES + BLOCK_DIMS, DILATIONS = STRIDES + 2, COUNT = DILATIONS + 2, MACS, FIELDS };

static bool read_layer(const layers_lines_reader *r, const layers_lines_cells *cells, layers_layer *layer) {
  int64_t numbers[FIELDS] = {0};
  for (size_t i = SIZES; i < FIELDS; i++)
    if (!layers_lines_number(r, cells, i, &numbers[i])) return false;
  layer->name = wf_arena_text(r->network->arena, cells->cell[LAYER], strlen(cells->cell[LAYER]));
  for (size_t i = 0; i < BLOCK_DIMS; i++) {
    layer->size[size_columns[i]] = numbers[SIZES + i];
    if (numbers[SIZES + i] == 0) return layers_lines_refuse(r, cells, SIZES + i, "a size of 0");
  }
  for (int i = 0; i < 2; i++) {
    layer->stride[i] = numbers[STRIDES + i] == 0 ? 1 : numbers[STRIDES + i];
    layer->dilation[i] = numbers[DILATIONS + i] == 0 ? 1 : numbers[DILATIONS + i];
  }
  layer->count = numbers[COUNT];
  if (layer->count == 0) return layers_lines_refuse(r, cells, COUNT, "a count of 0");
  return (double)numbers[MACS] == layers_macs(layer) ||
         layers_lines_refuse(r, cells, MACS, "the products are not those of the sizes");
}

// The columns that a table has, by the first line.
static const layers_columns *columns_of(const char *text) {
  static const layers_columns own = {FIELDS, read_layer};
  const size_t length = strcspn(text, "\r\n");
  return length == strlen(header) && strncmp(text, header, length) == 0 ? &own : layers_scalesim_columns(text);
}

bool layers_parse_csv(layers_network *network, const char *file, const char *text, size_t length, wf_diag *diag) {
  *network = (layers_network){.arena = wf_arena_create(), .description = ""};
  network->name = layers_lines_base_name(network->arena, file);
  char *copy = wf_arena_text(network->arena, text, length);
  if (strlen(copy) != length) {
    wf_error(diag, wf_in_file(file), "a zero byte inside of the text");
    return false;
  }
  const layers_columns *columns = columns_of(copy);
  if (columns == NULL) {
    wf_error(diag, (wf_location){file, 1, 1}, "the columns of a table of layers are others");
    wf_hint(diag, "%s, or a topology of SCALE-Sim", header);
    return false;
  }
  layers_lines_reader r = {.network = network, .file = file, .diag = diag};
  return layers_lines_read(&r, copy, columns->count, columns->read);
}
