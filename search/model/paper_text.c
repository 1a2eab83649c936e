// SPDX-License-Identifier: Apache-2.0
// Mappings of the plain model: orders, legality and the text form
// `L3[WIO] K48 - L2[WI] N1 K16X - L1[O] C48 P16 C16X - L0[W] P8`.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "search/model/paper.h"

const char *const paper_order_names[PAPER_ORDERS] = {"ws", "is", "os"};

#define ORDER(a, b, c, d, e, f, g) \
  { BLOCK_DIM_##a, BLOCK_DIM_##b, BLOCK_DIM_##c, BLOCK_DIM_##d, BLOCK_DIM_##e, BLOCK_DIM_##f, BLOCK_DIM_##g }
const uint8_t paper_dram_orders[PAPER_ORDERS][BLOCK_DIMS] = {
    ORDER(P, Q, N, R, S, C, K),
    ORDER(K, R, S, P, Q, C, N),
    ORDER(R, S, C, K, P, Q, N),
};
// The array's own, inside the scratchpad.
static const uint8_t inner_orders[PAPER_DRAM][BLOCK_DIMS] = {
    ORDER(P, Q, R, S, C, K, N),
    ORDER(P, Q, N, C, R, S, K),
    ORDER(P, Q, N, C, R, S, K),
};

static const char *const level_names[PAPER_LEVELS] = {"L0[W]", "L1[O]", "L2[WI]", "L3[WIO]"};

void paper_set_order(paper_mapping *mapping, paper_order order) {
  memcpy(mapping->order[PAPER_DRAM], paper_dram_orders[order], BLOCK_DIMS);
}

paper_order paper_order_of(const paper_mapping *mapping) {
  for (int o = 0; o < PAPER_ORDERS; o++)
    if (memcmp(mapping->order[PAPER_DRAM], paper_dram_orders[o], BLOCK_DIMS) == 0) return (paper_order)o;
  return PAPER_WS;
}

static paper_mapping ones(void) {
  paper_mapping m = {.rows = 1, .columns = 1};
  for (int l = 0; l < PAPER_LEVELS; l++)
    for (int d = 0; d < BLOCK_DIMS; d++) m.temporal[l][d] = 1;
  memcpy(m.order, inner_orders, sizeof inner_orders);
  paper_set_order(&m, PAPER_WS);
  return m;
}

paper_mapping paper_mapping_start(const layers_layer *layer) {
  paper_mapping m = ones();
  for (int d = 0; d < BLOCK_DIMS; d++) m.temporal[PAPER_DRAM][d] = (double)layer->size[d];
  return m;
}

static bool is_whole(double factor) { return factor >= 1 && factor == floor(factor); }

static bool orders_legal(const paper_mapping *m) {
  for (int l = 0; l < PAPER_LEVELS; l++) {
    unsigned seen = 0;
    for (int i = 0; i < BLOCK_DIMS; i++) seen |= m->order[l][i] < BLOCK_DIMS ? 1u << m->order[l][i] : 0;
    if (seen != (1u << BLOCK_DIMS) - 1) return false;
  }
  return true;
}

bool paper_mapping_legal(const layers_layer *layer, const paper_mapping *m) {
  if (!is_whole(m->rows) || !is_whole(m->columns) || !orders_legal(m)) return false;
  for (int d = 0; d < BLOCK_DIMS; d++) {
    double product = d == BLOCK_DIM_C ? m->rows : d == BLOCK_DIM_K ? m->columns : 1;
    for (int l = 0; l < PAPER_LEVELS; l++) {
      if (!is_whole(m->temporal[l][d])) return false;
      product *= m->temporal[l][d];
    }
    const bool in_registers = d == BLOCK_DIM_P || d == BLOCK_DIM_Q || m->temporal[PAPER_REGISTERS][d] == 1;
    if (product != (double)layer->size[d] || !in_registers || m->temporal[PAPER_SCRATCHPAD][d] != 1) return false;
  }
  return true;
}

static void print_level(const paper_mapping *m, paper_level level, FILE *out) {
  fputs(level_names[level], out);
  int printed = 0;
  for (int i = BLOCK_DIMS - 1; i >= 0; i--) {
    const unsigned d = m->order[level][i];
    if (m->temporal[level][d] == 1) continue;
    fprintf(out, " %s%g", block_dim_names[d], m->temporal[level][d]);
    printed++;
  }
  if (printed == 0) fputs(" N1", out);
  if (level == PAPER_ACCUMULATOR && m->rows != 1) fprintf(out, " C%gX", m->rows);
  if (level == PAPER_SCRATCHPAD && m->columns != 1) fprintf(out, " K%gX", m->columns);
}

void paper_mapping_print(const paper_mapping *mapping, FILE *out) {
  for (int l = PAPER_DRAM; l >= 0; l--) {
    print_level(mapping, (paper_level)l, out);
    if (l != 0) fputs(" - ", out);
  }
}

static int dim_of(char letter) {
  for (int d = 0; d < BLOCK_DIMS; d++)
    if (block_dim_names[d][0] == letter) return d;
  return BLOCK_DIM_NONE;
}

// Puts the dimensions that a level names, outermost first, inside of all that it does not name.
static void set_order(uint8_t order[BLOCK_DIMS], const uint8_t *named, int count) {
  uint8_t result[BLOCK_DIMS];
  unsigned seen = 0;
  int n = 0;
  for (int i = count - 1; i >= 0; i--) {
    result[n++] = named[i];
    seen |= 1u << named[i];
  }
  for (int i = 0; i < BLOCK_DIMS; i++)
    if (!(seen >> order[i] & 1)) result[n++] = order[i];
  memcpy(order, result, BLOCK_DIMS);
}

// ` K48` or ` C16X` at *at.
static bool parse_factor(paper_mapping *m, paper_level level, const char **at, uint8_t named[BLOCK_DIMS], int *count) {
  char *end;
  const int d = dim_of((*at)[1]);
  if (d == BLOCK_DIM_NONE) return false;
  const double factor = strtod(*at + 2, &end);
  if (end == *at + 2 || !(factor >= 1)) return false;
  const bool spatial = *end == 'X';
  *at = end + spatial;
  if (spatial) {
    if (d == BLOCK_DIM_C && level == PAPER_ACCUMULATOR) return m->rows = factor, true;
    if (d == BLOCK_DIM_K && level == PAPER_SCRATCHPAD) return m->columns = factor, true;
    return false;
  }
  for (int i = 0; i < *count; i++)
    if (named[i] == d) return false;
  named[(*count)++] = (uint8_t)d;
  m->temporal[level][d] = factor;
  return true;
}

bool paper_mapping_parse(paper_mapping *mapping, const char *text) {
  *mapping = ones();
  for (int l = PAPER_DRAM; l >= 0; l--) {
    const size_t length = strlen(level_names[l]);
    if (strncmp(text, level_names[l], length) != 0) return false;
    text += length;
    uint8_t named[BLOCK_DIMS];
    int count = 0;
    while (text[0] == ' ' && text[1] != '-')
      if (!parse_factor(mapping, (paper_level)l, &text, named, &count)) return false;
    set_order(mapping->order[l], named, count);
    if (l == 0) return *text == '\0';
    if (strncmp(text, " - ", 3) != 0) return false;
    text += 3;
  }
  return false;
}
