// SPDX-License-Identifier: Apache-2.0
// Boosted trees: see trees.h. A feature is cut into at most 64 bins with about as many rows each; a tree grows where a
// cut lowers the sum of squares most, until it has all its leaves.
#include "search/learn/trees.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "base/random.h"

enum { BINS = 64 };

const learn_trees_options learn_trees_usual = {
    .trees = 400, .rate = 0.05, .clip = 0.3, .least = 60, .rows = 0.7, .sites = 0.5, .seed = 1};

// ---- bins

typedef struct binned {
  size_t rows;
  uint8_t *bin;  // by row and feature
  float limit[LEARN_FEATURES][BINS];
  unsigned limits[LEARN_FEATURES];
} binned;

static int by_value(const void *a, const void *b) {
  const float x = *(const float *)a, y = *(const float *)b;
  return (x > y) - (x < y);
}

static void cut_feature(binned *b, const learn_set *set, int feature, float *values) {
  for (size_t i = 0; i < set->count; i++) values[i] = set->rows[i].features[feature];
  qsort(values, set->count, sizeof *values, by_value);
  unsigned count = 0;
  size_t from = 0;
  for (size_t i = 1; i < set->count && count < BINS - 1; i++) {
    if (values[i] == values[i - 1] || (i - from) * BINS < set->count) continue;
    b->limit[feature][count++] = values[i];
    from = i;
  }
  b->limits[feature] = count;
}

static uint8_t bin_of(const binned *b, int feature, float value) {
  unsigned low = 0, high = b->limits[feature];
  while (low < high) {
    const unsigned middle = (low + high) / 2;
    if (value < b->limit[feature][middle])
      high = middle;
    else
      low = middle + 1;
  }
  return (uint8_t)low;
}

static binned *bin(const learn_set *set) {
  binned *b = WF_NEW(binned);
  b->rows = set->count;
  b->bin = WF_NEW_ARRAY(set->count * LEARN_FEATURES + 1, uint8_t);
  float *values = WF_NEW_ARRAY(set->count + 1, float);
  for (int f = 0; f < LEARN_FEATURES; f++) cut_feature(b, set, f, values);
  for (size_t i = 0; i < set->count; i++)
    for (int f = 0; f < LEARN_FEATURES; f++)
      b->bin[i * LEARN_FEATURES + (size_t)f] = bin_of(b, f, set->rows[i].features[f]);
  wf_free(values);
  return b;
}

static void release(binned *b) {
  wf_free(b->bin);
  wf_free(b);
}

// ---- one tree

typedef struct cut {
  double gain;
  int feature;
  unsigned bin;  // rows of lower bins go below the first
} cut;

// Rows of a node stand together in `order`.
typedef struct part {
  size_t first, count;
  double sum;
  cut best;
} part;

typedef struct grower {
  const binned *bins;
  const learn_trees_options *options;
  const float *left;  // of each row, to be explained
  uint32_t *order, *spare;
  bool seen[LEARN_FEATURES];
  part parts[LEARN_NODES];
} grower;

static void look_at_feature(const grower *g, part *p, int feature) {
  double sum[BINS] = {0}, below = 0;
  uint32_t count[BINS] = {0};
  for (size_t i = p->first; i < p->first + p->count; i++) {
    const uint32_t row = g->order[i];
    const uint8_t at = g->bins->bin[(size_t)row * LEARN_FEATURES + (size_t)feature];
    sum[at] += g->left[row];
    count[at]++;
  }
  size_t rows = 0;
  for (unsigned n = 1; n <= g->bins->limits[feature]; n++) {
    below += sum[n - 1];
    rows += count[n - 1];
    const size_t others = p->count - rows;
    if (rows < g->options->least || others < g->options->least) continue;
    const double above = p->sum - below;
    const double gain =
        below * below / (double)rows + above * above / (double)others - p->sum * p->sum / (double)p->count;
    if (gain > p->best.gain) p->best = (cut){gain, feature, n};
  }
}

static void look_at(const grower *g, part *p) {
  p->sum = 0;
  p->best = (cut){.gain = 1e-9};
  for (size_t i = p->first; i < p->first + p->count; i++) p->sum += g->left[g->order[i]];
  if (p->count < 2 * (size_t)g->options->least) return;
  for (int f = 0; f < LEARN_FEATURES; f++)
    if (g->seen[f]) look_at_feature(g, p, f);
}

// Keeps the order of rows on both sides.
static size_t part_rows(grower *g, const part *p) {
  size_t low = p->first, high = 0;
  for (size_t i = p->first; i < p->first + p->count; i++) {
    const uint32_t row = g->order[i];
    if (g->bins->bin[(size_t)row * LEARN_FEATURES + (size_t)p->best.feature] < p->best.bin)
      g->order[low++] = row;
    else
      g->spare[high++] = row;
  }
  memcpy(&g->order[low], g->spare, high * sizeof *g->order);
  return low - p->first;
}

static void split(grower *g, learn_tree *tree, unsigned node) {
  const part p = g->parts[node];
  const size_t below = part_rows(g, &p);
  const uint8_t low = tree->count, high = (uint8_t)(low + 1);
  tree->count += 2;
  tree->node[node] = (learn_node){.feature = (uint16_t)p.best.feature,
                                  .below = {low, high},
                                  .limit = g->bins->limit[p.best.feature][p.best.bin - 1]};
  g->parts[low] = (part){.first = p.first, .count = below};
  g->parts[high] = (part){.first = p.first + below, .count = p.count - below};
  look_at(g, &g->parts[low]);
  look_at(g, &g->parts[high]);
  g->parts[node].best.gain = 0;
}

static void grow(grower *g, learn_tree *tree, size_t rows) {
  *tree = (learn_tree){.count = 1};
  g->parts[0] = (part){.count = rows};
  look_at(g, &g->parts[0]);
  for (unsigned leaves = 1; leaves < LEARN_LEAVES; leaves++) {
    unsigned best = 0;
    for (unsigned n = 1; n < tree->count; n++)
      if (g->parts[n].best.gain > g->parts[best].best.gain) best = n;
    if (g->parts[best].best.gain <= 1e-9) break;
    split(g, tree, best);
  }
  for (unsigned n = 0; n < tree->count; n++)
    if (tree->node[n].below[0] == 0)
      tree->node[n].value = (float)(g->options->rate * g->parts[n].sum / (double)wf_max(g->parts[n].count, (size_t)1));
}

// ---- boosting

static double say_tree(const learn_tree *tree, const float *features) {
  unsigned n = 0;
  while (tree->node[n].below[0] != 0) n = tree->node[n].below[!(features[tree->node[n].feature] < tree->node[n].limit)];
  return tree->node[n].value;
}

static size_t draw_rows(grower *g, uint64_t *seed, size_t rows) {
  size_t count = 0;
  for (size_t i = 0; i < rows; i++)
    if (wf_random_unit(seed) < g->options->rows) g->order[count++] = (uint32_t)i;
  for (int f = 0; f < LEARN_FEATURES; f++) g->seen[f] = wf_random_unit(seed) < g->options->sites;
  return count;
}

void learn_trees_grow(learn_trees *trees, const learn_set *set, const learn_trees_options *options) {
  binned *bins = bin(set);
  float *left = WF_NEW_ARRAY(set->count + 1, float), *clipped = WF_NEW_ARRAY(set->count + 1, float);
  grower g = {.bins = bins,
              .options = options,
              .left = clipped,
              .order = WF_NEW_ARRAY(set->count + 1, uint32_t),
              .spare = WF_NEW_ARRAY(set->count + 1, uint32_t)};
  uint64_t seed = options->seed;
  for (size_t i = 0; i < set->count; i++)
    left[i] = (float)(set->rows[i].target - learn_trees_say(trees, set->rows[i].features));
  trees->trees = wf_realloc(trees->trees, trees->count + options->trees, sizeof *trees->trees);
  for (unsigned n = 0; n < options->trees; n++) {
    const float clip = (float)options->clip;
    for (size_t i = 0; i < set->count; i++) clipped[i] = wf_min(wf_max(left[i], -clip), clip);
    learn_tree *tree = &trees->trees[trees->count++];
    grow(&g, tree, draw_rows(&g, &seed, set->count));
    for (size_t i = 0; i < set->count; i++) left[i] -= (float)say_tree(tree, set->rows[i].features);
  }
  wf_free(left);
  wf_free(clipped);
  wf_free(g.order);
  wf_free(g.spare);
  release(bins);
}

learn_trees learn_trees_fit(const learn_set *set, const learn_trees_options *options) {
  learn_trees trees = {0};
  learn_trees_grow(&trees, set, options);
  return trees;
}

void learn_trees_release(learn_trees *trees) {
  wf_free(trees->trees);
  *trees = (learn_trees){0};
}

double learn_trees_say(const learn_trees *trees, const float features[LEARN_FEATURES]) {
  double sum = 0;
  for (size_t n = 0; n < trees->count; n++) sum += say_tree(&trees->trees[n], features);
  return sum;
}

// ---- text: a line for each node, `tree node feature limit below below` or `tree node value`

void learn_trees_write(const learn_trees *trees, FILE *out) {
  fprintf(out, "trees %zu\n", trees->count);
  for (size_t t = 0; t < trees->count; t++) {
    const learn_tree *tree = &trees->trees[t];
    fprintf(out, "tree %u\n", tree->count);
    for (unsigned n = 0; n < tree->count; n++) {
      const learn_node *node = &tree->node[n];
      if (node->below[0] == 0)
        fprintf(out, "%.6g\n", (double)node->value);
      else
        fprintf(out, "%s %.9g %u\n", learn_feature_names[node->feature], (double)node->limit, node->below[0]);
    }
  }
}

static int feature_of(const char *name, size_t length) {
  for (int f = 0; f < LEARN_FEATURES; f++)
    if (strncmp(learn_feature_names[f], name, length) == 0 && learn_feature_names[f][length] == 0) return f;
  return -1;
}

// A place in the text.
typedef struct reader {
  const char *at;
  unsigned line;
} reader;

static bool take_line(reader *r, char *line, size_t room) {
  const char *end = strchr(r->at, '\n');
  if (end == NULL || (size_t)(end - r->at) >= room) return false;
  memcpy(line, r->at, (size_t)(end - r->at));
  line[end - r->at] = 0;
  r->at = end + 1;
  r->line++;
  return true;
}

static bool take_count(reader *r, const char *word, size_t most, size_t *count) {
  char line[80], *end;
  const size_t length = strlen(word);
  if (!take_line(r, line, sizeof line) || strncmp(line, word, length) != 0 || line[length] != ' ') return false;
  *count = strtoul(line + length + 1, &end, 10);
  return end != line + length + 1 && *end == 0 && *count <= most;
}

// Nodes lie behind the one above them, so every way ends.
static bool take_node(reader *r, const learn_tree *tree, unsigned n, learn_node *node) {
  char line[80], *end;
  *node = (learn_node){0};
  if (!take_line(r, line, sizeof line)) return false;
  const char *space = strchr(line, ' ');
  if (space == NULL) {
    node->value = strtof(line, &end);
    return end != line && *end == 0 && isfinite(node->value);
  }
  const int feature = feature_of(line, (size_t)(space - line));
  node->limit = strtof(space, &end);
  if (feature < 0 || end == space || !isfinite(node->limit)) return false;
  const char *number = end;
  const unsigned long below = strtoul(number, &end, 10);
  if (end == number || *end != 0 || below <= n || below + 1 >= tree->count) return false;
  node->feature = (uint16_t)feature;
  node->below[0] = (uint8_t)below;
  node->below[1] = (uint8_t)(below + 1);
  return true;
}

static bool take_tree(reader *r, learn_tree *tree) {
  size_t count;
  if (!take_count(r, "tree", LEARN_NODES, &count) || count == 0) return false;
  *tree = (learn_tree){.count = (uint8_t)count};
  for (unsigned n = 0; n < count; n++)
    if (!take_node(r, tree, n, &tree->node[n])) return false;
  return true;
}

bool learn_trees_parse(learn_trees *trees, const char *file, const char *text, wf_diag *diag) {
  enum { MOST = 100000 };
  reader r = {.at = text};
  size_t count = 0;
  *trees = (learn_trees){0};
  bool good = take_count(&r, "trees", MOST, &count);
  if (good) trees->trees = WF_NEW_ARRAY(count + 1, learn_tree);
  while (good && trees->count < count) {
    good = take_tree(&r, &trees->trees[trees->count]);
    if (good) trees->count++;
  }
  if (good && *r.at == 0) return true;
  wf_error(diag, (wf_location){.file = file, .line = r.line + good}, "this is no line of boosted trees");
  learn_trees_release(trees);
  return false;
}
