// SPDX-License-Identifier: Apache-2.0
// Draws the cases of `weft bench operators`: see operators.h.
//
// Published are classes with numbers of shapes, models, lengths and batches, and how many cases were used, but not the
// shapes. So a group's cases are shared out over its classes by these numbers; a shape is drawn from the models until
// it falls into its class. Shapes are distinct as long as the class has enough of them.
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "bench/operators.h"

const bench_operator_row bench_operator_groups[BENCH_OPERATOR_GROUP_COUNT] = {
#define X(NAME, name, cases, over_default, over_search) {name, cases, over_default, over_search},
    BENCH_OPERATOR_GROUPS(X)
#undef X
};

enum { TRIES = 4096, LENGTH_MAX = 512, BATCH_MAX = 8 };

// ---- products

typedef struct bounds {
  const char *text;
  int64_t m[2], n[2], k[2];
  unsigned shapes;  // published
} bounds;

static const bounds products[BENCH_PRODUCT_CLASSES] = {
    {"1-256; 1-256; 1-256", {1, 256}, {1, 256}, {1, 256}, 100},
    {"1-256; 1-256; 257-65536", {1, 256}, {1, 256}, {257, 65536}, 88},
    {"257-1024; 1-256; 1-65536", {257, 1024}, {1, 256}, {1, 65536}, 64},
    {"257-1024; 257-65536; 1-65536", {257, 1024}, {257, 65536}, {1, 65536}, 98},
    {"1025-8192; 1-256; 1-65536", {1025, 8192}, {1, 256}, {1, 65536}, 66},
    {"1025-8192; 257-8192; 1-65536", {1025, 8192}, {257, 8192}, {1, 65536}, 128},
};

typedef struct model {
  int64_t hidden, wide, head, words;
  int64_t length;  // fixed; 0: drawn
} model;

static const model models[] = {
    {768, 3072, 64, 30522, 0},     // BERT-base
    {768, 3072, 64, 30522, 0},     // DistilBERT
    {768, 3072, 64, 50265, 0},     // RoBERTa-base
    {4096, 11008, 128, 32000, 0},  // Llama 2 7B
    {768, 3072, 64, 50257, 0},     // GPT-2
    {768, 3072, 64, 1000, 197},    // ViT-B/16
};

typedef struct product {
  int64_t m, n, k;
} product;

typedef enum { PROJECTION, JOINED, UP, DOWN, SCORES, VALUES, WORDS, KINDS } kind;

// Of `columns` columns at a time: tokens of all sequences, or a vector for each.
static product product_of(const model *m, kind what, int64_t length, int64_t columns, int64_t queries) {
  switch (what) {
    case PROJECTION:
      return (product){m->hidden, columns, m->hidden};
    case JOINED:  // queries, keys and values in one
      return (product){3 * m->hidden, columns, m->hidden};
    case UP:
      return (product){m->wide, columns, m->hidden};
    case DOWN:
      return (product){m->hidden, columns, m->wide};
    case SCORES:
      return (product){length, queries, m->head};
    case VALUES:
      return (product){m->head, queries, length};
    case WORDS:
    case KINDS:
      break;
  }
  return (product){m->words, columns, m->hidden};
}

static product draw_product(bool vector, uint64_t *rng) {
  const model *m = &WF_RANDOM_PICK(rng, models);
  const kind what = (kind)wf_random_below(rng, KINDS);
  const int64_t length = m->length != 0 ? m->length : wf_random_in(rng, 1, LENGTH_MAX);
  const int64_t batch = wf_random_in(rng, 1, BATCH_MAX);
  if (vector) return product_of(m, what, length, batch, 1);
  // Keys may be there from before: then there are fewer queries than keys.
  const int64_t queries = wf_random_one_in(rng, 2) ? length : wf_random_in(rng, 1, length);
  product p = product_of(m, what, length, length * batch, queries);
  if (wf_random_one_in(rng, 2)) p = (product){p.n, p.m, p.k};  // the transposed result
  return p;
}

static bool is_in(int64_t value, const int64_t range[2]) { return value >= range[0] && value <= range[1]; }

static bool fits(const product *p, const bounds *b) {
  return is_in(p->m, b->m) && is_in(p->n, b->n) && is_in(p->k, b->k);
}

// A vector has up to a column for each sequence of the batch: the weights are used that often.
static layers_layer layer_of_product(const product *p, bool vector) {
  layers_layer l = {.size = {1, 1, 1, 1, 1, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  l.size[BLOCK_DIM_P] = vector ? p->n : p->m;
  l.size[BLOCK_DIM_K] = vector ? p->m : p->n;
  l.size[BLOCK_DIM_C] = p->k;
  return l;
}

static bool draw_in_products(bool vector, unsigned in_class, uint64_t *rng, layers_layer *layer) {
  for (int n = 0; n < TRIES; n++) {
    const product p = draw_product(vector, rng);
    if (p.m == 1 || (!vector && p.n == 1) || !fits(&p, &products[in_class])) continue;
    *layer = layer_of_product(&p, vector);
    return true;
  }
  return false;
}

// ---- convolutions

typedef struct channels {
  int64_t in, out;
} channels;

static const channels unet[] = {{64, 64},    {64, 128},    {128, 128},  {128, 256}, {256, 256}, {256, 512}, {512, 512},
                                {512, 1024}, {1024, 1024}, {1024, 512}, {512, 256}, {256, 128}, {128, 64}};
static const channels resnet_1[] = {{64, 64},   {64, 256},   {256, 64},   {256, 128},  {128, 512},  {512, 128},
                                    {512, 256}, {256, 1024}, {1024, 256}, {1024, 512}, {512, 2048}, {2048, 512}};
static const channels resnet_3[] = {{64, 64}, {128, 128}, {256, 256}, {512, 512}};
static const channels retina_1[] = {{512, 256}, {1024, 256}, {2048, 256}, {1024, 512}, {512, 2048}, {256, 1024}};
static const channels retina_3[] = {{256, 256}, {256, 720}, {256, 36}, {2048, 256}, {512, 512}};

#define CHANNELS(table) (table), sizeof(table) / sizeof *(table)
static const struct {
  const char *text, *network;
  int64_t image[2], filter;
  unsigned shapes;  // published
  const channels *of;
  size_t count;
} convs[BENCH_CONV_CLASSES] = {
    {"U-Net 280-568, 3", "unet", {280, 568}, 3, 80, CHANNELS(unet)},
    {"U-Net 56-138, 3", "unet", {56, 138}, 3, 88, CHANNELS(unet)},
    {"U-Net 8-52, 1", "unet", {8, 52}, 1, 64, CHANNELS(unet)},
    {"ResNet 56-120, 1", "resnet50", {56, 120}, 1, 80, CHANNELS(resnet_1)},
    {"ResNet 32-80, 3", "resnet50", {32, 80}, 3, 120, CHANNELS(resnet_3)},
    {"ResNet 4-40, 1", "resnet50", {4, 40}, 1, 68, CHANNELS(resnet_1)},
    {"RetinaNet 2-30, 3", "retinanet", {2, 30}, 3, 140, CHANNELS(retina_3)},
    {"RetinaNet 2-28, 1", "retinanet", {2, 28}, 1, 98, CHANNELS(retina_1)},
    {"RetinaNet 2-28, 3", "retinanet", {2, 28}, 3, 108, CHANNELS(retina_3)},
};

static bool draw_in_convs(bool flat, unsigned in_class, uint64_t *rng, layers_layer *layer) {
  const int64_t image = wf_random_in(rng, convs[in_class].image[0], convs[in_class].image[1]);
  const channels c = convs[in_class].of[wf_random_below(rng, convs[in_class].count)];
  const int64_t filter = convs[in_class].filter;
  *layer = (layers_layer){.size = {1, 1, 1, 1, 1, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  layer->size[BLOCK_DIM_P] = image;
  layer->size[BLOCK_DIM_R] = filter;
  layer->size[BLOCK_DIM_K] = c.out;
  layer->size[BLOCK_DIM_C] = c.in;
  if (flat) return true;
  layer->size[BLOCK_DIM_Q] = image;
  layer->size[BLOCK_DIM_S] = filter;
  return true;
}

// ---- groups

static bool is_product(bench_operator_group g) { return g == BENCH_PRODUCT || g == BENCH_VECTOR; }

unsigned bench_operator_classes(bench_operator_group group) {
  return is_product(group) ? BENCH_PRODUCT_CLASSES : BENCH_CONV_CLASSES;
}

const char *bench_operator_class(bench_operator_group group, unsigned in_class) {
  return is_product(group) ? products[in_class].text : convs[in_class].text;
}

// A class's part in a group: vectors have at most BATCH_MAX columns.
static unsigned weight_of(bench_operator_group g, unsigned c) {
  if (!is_product(g)) return convs[c].shapes;
  return g == BENCH_VECTOR && products[c].n[0] > BATCH_MAX ? 0 : products[c].shapes;
}

// How many of `cases` are in the classes up to this one.
static unsigned share_up_to(bench_operator_group g, unsigned c) {
  unsigned sum = 0, all = 0;
  for (unsigned i = 0; i < bench_operator_classes(g); i++) {
    all += weight_of(g, i);
    if (i <= c) sum += weight_of(g, i);
  }
  return (2 * bench_operator_groups[g].cases * sum + all) / (2 * all);
}

static bool draw_in_class(bench_operator_group g, unsigned c, uint64_t *rng, layers_layer *layer) {
  return is_product(g) ? draw_in_products(g == BENCH_VECTOR, c, rng, layer)
                       : draw_in_convs(g == BENCH_CONV_1D, c, rng, layer);
}

static bool is_known(const bench_operator *cases, const bench_operator *end, const bench_operator *one) {
  for (; cases < end; cases++)
    if (cases->group == one->group && memcmp(cases->layer.size, one->layer.size, sizeof one->layer.size) == 0)
      return true;
  return false;
}

static void draw_one(const bench_operator *cases, bench_operator *one, uint64_t *rng) {
  enum { AGAIN = 256 };
  for (int n = 0; n < AGAIN; n++)
    if (draw_in_class(one->group, one->in_class, rng, &one->layer) && !is_known(cases, one, one)) return;
}

void bench_operators_draw(uint64_t seed, bench_operator *cases) {
  uint64_t rng = seed;
  bench_operator *one = cases;
  for (int g = 0; g < BENCH_OPERATOR_GROUP_COUNT; g++) {
    unsigned n = 0;
    for (unsigned c = 0; c < bench_operator_classes((bench_operator_group)g); c++)
      for (; n < share_up_to((bench_operator_group)g, c); n++, one++) {
        *one = (bench_operator){.group = (bench_operator_group)g, .in_class = c};
        one->network = is_product(one->group) ? "bert" : convs[c].network;
        draw_one(cases, one, &rng);
        snprintf(one->name, sizeof one->name, "%s_%u", bench_operator_groups[g].name, n);
        for (char *at = one->name; *at != '\0'; at++)
          if (*at == ' ' || *at == '-') *at = '_';
        one->layer.name = one->name;
      }
  }
}
