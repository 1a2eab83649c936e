// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs: binary .ppm files (P6, three bytes per pixel), scaled to the input's rows and columns by the
// means of the pixels that each place covers, or by the nearest one where they are spread.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "api/calibration.h"
#include "base/alloc.h"
#include "base/file.h"

enum { PICTURE_MAX = 1 << 28, CHANNELS = 3 };

typedef struct picture {
  size_t rows, columns;
  const uint8_t *pixels;
} picture;

// Where the rows, columns and channels of an input are; false: it is none of pictures.
typedef struct places {
  int64_t rows, columns, row_step, column_step, channel_step;
} places;

static bool find_places(const graph_tensor *t, places *p) {
  const int64_t *dim = t->dim + (t->rank == 4);
  if ((t->rank != 3 && t->rank != 4) || (t->rank == 4 && t->dim[0] != 1)) return false;
  if (dim[0] == CHANNELS)
    *p = (places){dim[1], dim[2], dim[2], 1, dim[1] * dim[2]};
  else if (dim[2] == CHANNELS)
    *p = (places){dim[0], dim[1], dim[1] * CHANNELS, CHANNELS, 1};
  else
    return false;
  return p->rows > 0 && p->columns > 0 && (t->type == GRAPH_F32 || t->type == GRAPH_U8);
}

// A number of the header, behind blanks and comments.
static bool next_number(const char **at, const char *end, size_t *value) {
  while (*at < end && (isspace((unsigned char)**at) || **at == '#')) {
    if (**at == '#')
      while (*at < end && **at != '\n') ++*at;
    else
      ++*at;
  }
  *value = 0;
  const char *first = *at;
  while (*at < end && isdigit((unsigned char)**at) && *value < 1 << 20) *value = 10 * *value + (size_t)(*(*at)++ - '0');
  return *at > first && *at < end;
}

static bool parse(const char *text, size_t length, picture *p) {
  const char *at = text + 2, *end = text + length;
  size_t most;
  if (length < 3 || memcmp(text, "P6", 2) != 0 || !next_number(&at, end, &p->columns) ||
      !next_number(&at, end, &p->rows) || !next_number(&at, end, &most))
    return false;
  p->pixels = (const uint8_t *)at + 1;
  return most == 255 && p->rows > 0 && p->columns > 0 && p->rows < 1 << 16 && p->columns < 1 << 16 &&
         p->rows * p->columns * CHANNELS <= (size_t)(end - at - 1);
}

static double mean_of(const picture *p, const places *to, int64_t row, int64_t column, int channel) {
  size_t r0 = (size_t)row * p->rows / (size_t)to->rows, r1 = (size_t)(row + 1) * p->rows / (size_t)to->rows;
  size_t c0 = (size_t)column * p->columns / (size_t)to->columns,
         c1 = (size_t)(column + 1) * p->columns / (size_t)to->columns;
  if (r1 == r0) r1++;
  if (c1 == c0) c1++;
  double sum = 0;
  for (size_t r = r0; r < r1; r++)
    for (size_t c = c0; c < c1; c++) sum += p->pixels[(r * p->columns + c) * CHANNELS + (size_t)channel];
  return sum / (double)((r1 - r0) * (c1 - c0));
}

static void *scaled(const picture *p, const places *to, const graph_tensor *t, const api_pictures *how) {
  void *data = wf_calloc(graph_bytes(t) + 1, 1);
  for (int channel = 0; channel < CHANNELS; channel++)
    for (int64_t row = 0; row < to->rows; row++)
      for (int64_t column = 0; column < to->columns; column++) {
        const double value = mean_of(p, to, row, column, channel);
        const int64_t at = channel * to->channel_step + row * to->row_step + column * to->column_step;
        if (t->type == GRAPH_U8)
          ((uint8_t *)data)[at] = (uint8_t)(value + 0.5);
        else
          ((float *)data)[at] = (float)((value / 255 - (double)how->mean[channel]) / (double)how->deviation[channel]);
      }
  return data;
}

void *api_picture_read(const char *path, const graph_tensor *tensor, const api_pictures *pictures, wf_diag *diag) {
  places to;
  picture p;
  size_t length;
  if (!find_places(tensor, &to)) {
    wf_error(diag, wf_in_file(path), "input %s takes no pictures: it is not f32 or uint8 of one image with 3 channels",
             tensor->name);
    return NULL;
  }
  char *text = wf_read_file(path, PICTURE_MAX, &length, diag);
  if (text == NULL) return NULL;
  const bool good = length <= PICTURE_MAX && parse(text, length, &p);
  if (!good) wf_error(diag, wf_in_file(path), "is no binary .ppm picture (P6) of 8 bits");
  void *data = good ? scaled(&p, &to, tensor, pictures) : NULL;
  wf_free(text);
  return data;
}
