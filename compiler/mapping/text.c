// SPDX-License-Identifier: Apache-2.0
// The text of a mapping: a line per part, words separated by blanks, `#` starts a comment. See mapping.h.
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/mapping/mapping.h"

static const char *const styles[] = {"primitive", "loop"};
static const char *const dataflows[] = {"ws", "os"};

// ---- printing

static void print_factors(FILE *out, const char *name, const int64_t *factors) {
  fprintf(out, "%-5s", name);
  for (int d = 0; d < BLOCK_DIMS; d++) fprintf(out, " %s %" PRId64, block_dim_names[d], factors[d]);
  fputc('\n', out);
}

static void print_order(FILE *out, const char *name, const uint8_t *order) {
  fprintf(out, "%-5s", name);
  for (int i = 0; i < BLOCK_DIMS; i++) fprintf(out, " %s", block_dim_names[order[i]]);
  fputc('\n', out);
}

static void print_residency(const map_mapping *m, FILE *out, map_operand operand) {
  const int inside = m->residency[operand];
  fprintf(out, "%s depth %u ", map_operand_names[operand], m->depth[operand]);
  if (inside == 0)
    fputs("resident\n", out);
  else
    fprintf(out, "inside %s %s\n", inside <= BLOCK_DIMS ? "outer" : "inner",
            block_dim_names[map_loop_dim(m, inside - 1)]);
}

void map_print(const map_mapping *m, FILE *out) {
  fprintf(out, "mapping %s %s\n", styles[m->style], dataflows[m->dataflow]);
  print_factors(out, "tile", m->tile);
  print_factors(out, "sp", m->sp);
  print_factors(out, "dram", m->dram);
  print_order(out, "outer", m->outer);
  print_order(out, "inner", m->inner);
  print_residency(m, out, MAP_WEIGHTS);
  print_residency(m, out, MAP_INPUTS);
  fprintf(out, "%s depth %u\n", map_operand_names[MAP_RESULTS], m->depth[MAP_RESULTS]);
}

bool map_print_c(const map_layer *layer, const map_mapping *m, FILE *out) {
  if (layer->kind != MAP_GEMM && layer->kind != MAP_GEMV) return false;
  bool columns_outside = false;
  for (int position = MAP_POSITIONS; position-- > 0;) {
    const block_dim_id dim = map_loop_dim(m, position);
    if (map_loop_trips(m, position) > 1 && (dim == BLOCK_DIM_P || dim == BLOCK_DIM_K))
      columns_outside = dim == BLOCK_DIM_K;
  }
  fprintf(out, "(struct weft_mapping){.m = %" PRId64 ", .n = %" PRId64 ", .k = %" PRId64 ", .n_outer = %s}\n",
          m->tile[BLOCK_DIM_P], m->tile[BLOCK_DIM_K], m->tile[BLOCK_DIM_C], columns_outside ? "true" : "false");
  return true;
}

// ---- parsing

typedef struct reader {
  const char *file;
  const char *at, *end;
  unsigned line;
  const char *line_start;
  char word[32];  // "" at the end of the line
  unsigned column;
  wf_diag *diag;
} reader;

static wf_location here(const reader *r) {
  return (wf_location){.file = r->file, .line = r->line, .column = r->column};
}

static bool line_ends(const reader *r) { return r->at == r->end || *r->at == '\n' || *r->at == '#'; }

static void next_word(reader *r) {
  while (!line_ends(r) && (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')) r->at++;
  r->column = (unsigned)(r->at - r->line_start) + 1;
  size_t length = 0;
  while (!line_ends(r) && *r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
    if (length < sizeof r->word - 1) r->word[length++] = *r->at >= ' ' ? *r->at : '?';
    r->at++;
  }
  r->word[length] = '\0';
}

static bool fail(reader *r, const char *expected) {
  const char *found = r->word[0] == '\0' ? "the end of the line" : r->word;
  wf_error(r->diag, here(r), "expected %s, found %s", expected, found);
  return false;
}

// To the first word of the next line that has one.
static bool next_line(reader *r) {
  for (;;) {
    while (r->at != r->end && *r->at != '\n') r->at++;
    if (r->at == r->end) {
      r->word[0] = '\0';
      return false;
    }
    r->at++;
    r->line++;
    r->line_start = r->at;
    next_word(r);
    if (r->word[0] != '\0') return true;
  }
}

static int find(const char *word, const char *const *names, int count) {
  for (int i = 0; i < count; i++)
    if (strcmp(word, names[i]) == 0) return i;
  return -1;
}

static bool read_choice(reader *r, const char *const *names, int count, const char *expected, uint8_t *value) {
  next_word(r);
  int found = find(r->word, names, count);
  if (found < 0) return fail(r, expected);
  *value = (uint8_t)found;
  return true;
}

static bool read_dim(reader *r, uint8_t *dim) {
  return read_choice(r, block_dim_names, BLOCK_DIMS, "a dimension (N P Q K C R S)", dim);
}

static bool read_count(reader *r, int64_t limit, int64_t *value) {
  next_word(r);
  char *end;
  errno = 0;
  long long number = strtoll(r->word, &end, 10);
  if (r->word[0] == '\0' || *end != '\0' || errno != 0 || number < 1 || number > limit)
    return fail(r, "a number from 1 up");
  *value = number;
  return true;
}

static bool read_keyword(reader *r, const char *keyword) {
  next_word(r);
  return strcmp(r->word, keyword) == 0 || fail(r, keyword);
}

static bool read_end(reader *r) {
  next_word(r);
  return r->word[0] == '\0' || fail(r, "the end of the line");
}

static bool read_factors(reader *r, int64_t *factors) {
  unsigned seen = 0;
  for (int i = 0; i < BLOCK_DIMS; i++) {
    uint8_t dim;
    if (!read_dim(r, &dim)) return false;
    if ((seen & 1U << dim) != 0) return fail(r, "each dimension once");
    seen |= 1U << dim;
    if (!read_count(r, INT32_MAX, &factors[dim])) return false;
  }
  return read_end(r);
}

static bool read_order(reader *r, uint8_t *order) {
  unsigned seen = 0;
  for (int i = 0; i < BLOCK_DIMS; i++) {
    if (!read_dim(r, &order[i])) return false;
    if ((seen & 1U << order[i]) != 0) return fail(r, "each dimension once");
    seen |= 1U << order[i];
  }
  return read_end(r);
}

static bool read_depth(reader *r, map_mapping *m, map_operand operand) {
  int64_t depth;
  if (!read_keyword(r, "depth") || !read_count(r, MAP_DEPTH_MAX, &depth)) return false;
  m->depth[operand] = (uint8_t)depth;
  return true;
}

// `resident` or `inside outer|inner DIM`; needs the orders, which stand before it.
static bool read_operand(reader *r, map_mapping *m, map_operand operand) {
  static const char *const levels[] = {"outer", "inner"};
  if (!read_depth(r, m, operand)) return false;
  if (operand == MAP_RESULTS) return read_end(r);
  next_word(r);
  uint8_t inner = 0, dim = 0;
  if (strcmp(r->word, "resident") == 0) {
    m->residency[operand] = 0;
    return read_end(r);
  }
  if (strcmp(r->word, "inside") != 0) return fail(r, "resident, or inside");
  if (!read_choice(r, levels, 2, "outer or inner", &inner) || !read_dim(r, &dim)) return false;
  m->residency[operand] = (uint8_t)(map_position(m, (block_dim_id)dim, inner == 1) + 1);
  return read_end(r);
}

static bool read_style(reader *r, map_mapping *m) {
  return read_choice(r, styles, 2, "primitive or loop", &m->style) &&
         read_choice(r, dataflows, 2, "ws or os", &m->dataflow) && read_end(r);
}

bool map_parse(map_mapping *mapping, const char *file, const char *text, size_t length, wf_diag *diag) {
  static const char *const lines[] = {"mapping", "tile",    "sp",     "dram",   "outer",
                                      "inner",   "weights", "inputs", "results"};
  enum { LINES = sizeof lines / sizeof lines[0] };
  reader r = {.file = file, .at = text, .end = text + length, .line = 1, .line_start = text, .diag = diag};
  *mapping = (map_mapping){0};
  next_word(&r);
  bool more = r.word[0] != '\0' || next_line(&r);
  for (int i = 0; i < LINES; i++, more = next_line(&r)) {
    if (!more || strcmp(r.word, lines[i]) != 0) return fail(&r, lines[i]);
    int64_t *const factors[] = {mapping->tile, mapping->sp, mapping->dram};
    bool good = i == 0  ? read_style(&r, mapping)
                : i < 4 ? read_factors(&r, factors[i - 1])
                : i < 6 ? read_order(&r, i == 4 ? mapping->outer : mapping->inner)
                        : read_operand(&r, mapping, (map_operand)(i - 6));
    if (!good) return false;
  }
  return !more || fail(&r, "the end of the file");
}
