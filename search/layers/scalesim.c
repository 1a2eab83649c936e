// SPDX-License-Identifier: Apache-2.0
// The reader of SCALE-Sim's topologies: convolutions by the sizes of image and window, or products M x N x K. A line
// may end with a comma.
//
//   Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,
//   Layer, M, N, K,
//
// Images have their padding. As there, results are counted upwards: a last window that reaches over the edge counts.
#include "search/layers/scalesim.h"

#include <ctype.h>
#include <string.h>

enum { NAME, IMAGE_ROWS, IMAGE_COLUMNS, WINDOW_ROWS, WINDOW_COLUMNS, CHANNELS, FILTERS, STRIDE, CONV_CELLS };
enum { ROWS = 1, COLUMNS, DEPTH, PRODUCT_CELLS };
enum { EXTENT_MAX = 1 << 24 };

static bool read_numbers(const layers_lines_reader *r, const layers_lines_cells *cells, int64_t *numbers) {
  for (size_t i = 1; i < cells->count; i++) {
    if (!layers_lines_number(r, cells, i, &numbers[i])) return false;
    if (numbers[i] < 1 || numbers[i] > EXTENT_MAX) return layers_lines_refuse(r, cells, i, "not from 1 to 16777216");
  }
  return true;
}

static layers_layer named(const layers_lines_reader *r, const layers_lines_cells *cells) {
  return (layers_layer){.name = wf_arena_text(r->network->arena, cells->cell[NAME], strlen(cells->cell[NAME])),
                        .size = {1, 1, 1, 1, 1, 1, 1},
                        .stride = {1, 1},
                        .dilation = {1, 1},
                        .count = 1};
}

static int64_t results(int64_t image, int64_t window, int64_t stride) {
  return (image - window + stride - 1) / stride + 1;
}

static bool read_conv(const layers_lines_reader *r, const layers_lines_cells *cells, layers_layer *layer) {
  int64_t n[CONV_CELLS];
  if (!read_numbers(r, cells, n)) return false;
  for (size_t i = 0; i < 2; i++)
    if (n[WINDOW_ROWS + i] > n[IMAGE_ROWS + i])
      return layers_lines_refuse(r, cells, WINDOW_ROWS + i, "the window is larger than the image");
  *layer = named(r, cells);
  layer->size[BLOCK_DIM_P] = results(n[IMAGE_ROWS], n[WINDOW_ROWS], n[STRIDE]);
  layer->size[BLOCK_DIM_Q] = results(n[IMAGE_COLUMNS], n[WINDOW_COLUMNS], n[STRIDE]);
  layer->size[BLOCK_DIM_R] = n[WINDOW_ROWS];
  layer->size[BLOCK_DIM_S] = n[WINDOW_COLUMNS];
  layer->size[BLOCK_DIM_C] = n[CHANNELS];
  layer->size[BLOCK_DIM_K] = n[FILTERS];
  for (int i = 0; i < 2; i++)
    if (layer->size[i == 0 ? BLOCK_DIM_P : BLOCK_DIM_Q] > 1) layer->stride[i] = n[STRIDE];
  return true;
}

static bool read_product(const layers_lines_reader *r, const layers_lines_cells *cells, layers_layer *layer) {
  int64_t n[PRODUCT_CELLS];
  if (!read_numbers(r, cells, n)) return false;
  *layer = named(r, cells);
  layer->size[BLOCK_DIM_P] = n[ROWS];
  layer->size[BLOCK_DIM_K] = n[COLUMNS];
  layer->size[BLOCK_DIM_C] = n[DEPTH];
  return true;
}

// Whether the first line has these names: without blanks, in small letters, perhaps with a comma at the end.
static bool is_header(const char *text, const char *names) {
  for (; *text != '\0' && *text != '\n'; text++) {
    if (isspace((unsigned char)*text)) continue;
    if (*names == '\0') return *text == ',' && text[1 + strspn(text + 1, " \t\r")] == '\n';
    if (tolower((unsigned char)*text) != *names++) return false;
  }
  return *names == '\0';
}

const layers_columns *layers_scalesim_columns(const char *text) {
  static const struct {
    const char *names;
    layers_columns columns;
  } known[] = {
      {"layername,ifmapheight,ifmapwidth,filterheight,filterwidth,channels,numfilter,strides", {CONV_CELLS, read_conv}},
      {"layer,m,n,k", {PRODUCT_CELLS, read_product}},
      {"layername,m,n,k", {PRODUCT_CELLS, read_product}},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (is_header(text, known[i].names)) return &known[i].columns;
  return NULL;
}
