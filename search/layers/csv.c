// The reader of layer tables as comma-separated lines, one per layer under the line of column names. A stride or
// dilation of 0 is that of an axis without extent and counts as 1. `macs` is checked against the sizes.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "search/layers/layers.h"

static const char header[] = "layer,R,S,P,Q,C,K,N,Wstride,Hstride,Wdilation,Hdilation,count,macs";
static const block_dim_id size_columns[] = {BLOCK_DIM_R, BLOCK_DIM_S, BLOCK_DIM_P, BLOCK_DIM_Q,
                                            BLOCK_DIM_C, BLOCK_DIM_K, BLOCK_DIM_N};
enum { LAYER, SIZES, STRIDES = SIZES + BLOCK_DIMS, DILATIONS = STRIDES + 2, COUNT = DILATIONS + 2, MACS, FIELDS };

typedef struct csv_reader {
  layers_network *network;
  const char *file;
  wf_diag *diag;
  size_t room;
  unsigned line;
} csv_reader;

static bool refuse(const csv_reader *r, size_t column, const char *what) {
  wf_error(r->diag, (wf_location){r->file, r->line, (unsigned)column + 1}, "%s", what);
  return false;
}

static bool read_number(const csv_reader *r, const char *line, const char *field, int64_t *value) {
  char *end;
  errno = 0;
  *value = strtoll(field, &end, 10);
  if (errno == 0 && end != field && *end == '\0' && *value >= 0) return true;
  return refuse(r, (size_t)(field - line), "not a whole number of 0 or more");
}

// The cells of a line, which is cut at the commas.
static bool cut(const csv_reader *r, char *line, char *field[FIELDS]) {
  size_t count = 0;
  for (char *at = line; at != NULL; count++) {
    if (count == FIELDS) return refuse(r, 0, "more cells than columns");
    field[count] = at;
    at = strchr(at, ',');
    if (at != NULL) *at++ = '\0';
  }
  return count == FIELDS || refuse(r, 0, "fewer cells than columns");
}

static bool read_layer(const csv_reader *r, char *line, layers_layer *layer) {
  char *field[FIELDS];
  int64_t numbers[FIELDS] = {0};
  if (!cut(r, line, field)) return false;
  for (int i = SIZES; i < FIELDS; i++)
    if (!read_number(r, line, field[i], &numbers[i])) return false;
  layer->name = wf_arena_text(r->network->arena, field[LAYER], strlen(field[LAYER]));
  for (int i = 0; i < BLOCK_DIMS; i++) {
    layer->size[size_columns[i]] = numbers[SIZES + i];
    if (numbers[SIZES + i] == 0) return refuse(r, (size_t)(field[SIZES + i] - line), "a size of 0");
  }
  for (int i = 0; i < 2; i++) {
    layer->stride[i] = numbers[STRIDES + i] == 0 ? 1 : numbers[STRIDES + i];
    layer->dilation[i] = numbers[DILATIONS + i] == 0 ? 1 : numbers[DILATIONS + i];
  }
  layer->count = numbers[COUNT];
  if (layer->count == 0) return refuse(r, (size_t)(field[COUNT] - line), "a count of 0");
  return (double)numbers[MACS] == layers_macs(layer) ||
         refuse(r, (size_t)(field[MACS] - line), "the products are not those of the sizes");
}

static bool read_lines(csv_reader *r, char *text) {
  layers_network *network = r->network;
  bool good = true;
  for (char *line = text; line != NULL && *line != '\0';) {
    char *next = strchr(line, '\n');
    if (next != NULL) *next++ = '\0';
    line[strcspn(line, "\r")] = '\0';
    if (r->line++ == 0) {
      if (strcmp(line, header) != 0) return refuse(r, 0, "the columns of a table of layers are others");
    } else if (*line != '\0' && *line != '#') {
      layers_layer layer = {0};
      good &= read_layer(r, line, &layer);
      *WF_ARENA_PUSH(network->arena, network->layers, network->count, &r->room) = layer;
    }
    line = next;
  }
  if (good && network->count == 0) wf_error(r->diag, wf_in_file(r->file), "a table without layers");
  return good && network->count != 0;
}

static const char *base_name(layers_network *network, const char *file) {
  const char *slash = strrchr(file, '/');
  const char *start = slash == NULL ? file : slash + 1;
  return wf_arena_text(network->arena, start, strcspn(start, "."));
}

bool layers_parse_csv(layers_network *network, const char *file, const char *text, size_t length, wf_diag *diag) {
  *network = (layers_network){.arena = wf_arena_create(), .description = ""};
  csv_reader r = {.network = network, .file = file, .diag = diag};
  network->name = base_name(network, file);
  char *copy = wf_arena_text(network->arena, text, length);
  if (strlen(copy) != length) {
    wf_error(diag, wf_in_file(file), "a zero byte inside of the text");
    return false;
  }
  return read_lines(&r, copy);
}
