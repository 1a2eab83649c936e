// SPDX-License-Identifier: Apache-2.0
// The generators against published figures: multiply-accumulates and parameters of each network, valid graphs, the same
// bytes for the same seed, options that are checked.
#include "workloads/networks/networks.h"

#include <math.h>

#include "base/hash.h"
#include "base/test.h"
#include "compiler/graph/run.h"

static graph *create(const char *name, networks_options options) {
  wf_diag diag = wf_diag_to(stderr);
  graph *g = networks_create(name, &options, &diag);
  assert_non_null(g);
  assert_true(graph_verify(g, &diag));
  return g;
}

// Published figures; tolerance as relative error. Sizes and sequences are those of the figures.
static const struct figure {
  const char *name;
  networks_options options;
  double gmacs, mparameters, tolerance;
} figures[] = {
    {"resnet18", {.size = 224}, 1.814, 11.690, 0.002},
    {"resnet50", {.size = 224}, 4.089, 25.557, 0.002},
    {"mobilenetv2", {.size = 224}, 0.3008, 3.505, 0.002},
    {"mobilenetv3-small", {.size = 224}, 0.0565, 2.543, 0.002},
    {"efficientnet-b0", {.size = 224}, 0.386, 5.289, 0.002},
    {"shufflenetv2", {.size = 224}, 0.1446, 2.279, 0.005},
    {"resnext50-32x4d", {.size = 224}, 4.230, 25.029, 0.002},
    {"densenet-121", {.size = 224}, 2.834, 7.979, 0.002},
    {"convnext-t", {.size = 224}, 4.456, 28.589, 0.001},
    {"swin-t", {.size = 224}, 4.491, 28.288, 0.002},
    {"vgg16", {.size = 224}, 15.47, 138.358, 0.001},
    {"unet", {.size = 256}, 48.17, 31.04, 0.001},
    {"retinanet", {.size = 64}, 0, 34.015, 0.005},
    {"bert-base", {.sequence = 128, .layers = 1}, 0.9312, 7.088, 0.001},
    {"gpt2-block", {.sequence = 1}, 0.00708, 7.088, 0.002},
    {"llama2-7b-block", {.sequence = 1}, 0.2024, 202.4, 0.001},
    {"llama3-8b-block", {.sequence = 1}, 0.2181, 218.1, 0.001},
    {"vit-b16", {.size = 224}, 17.56, 86.57, 0.005},
    {"lstm", {.sequence = 16}, 0.1342, 8.405, 0.001},
};

static void assert_near(const char *name, double value, double expected, double tolerance) {
  if (fabs(value - expected) > tolerance * expected) fail_msg("%s: %g instead of %g", name, value, expected);
}

static void published_figures(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
    const struct figure *f = &figures[i];
    graph *g = create(f->name, f->options);
    assert_near(f->name, networks_parameters(g) / 1e6, f->mparameters, f->tolerance);
    if (f->gmacs > 0) assert_near(f->name, networks_macs(g) / 1e9, f->gmacs, f->tolerance);
    graph_destroy(g);
  }
}

static uint64_t digest(const graph *g) {
  uint64_t hash = WF_HASH_START;
  for (int i = 0; i < g->tensor_count; i++)
    if (g->tensors[i].data != NULL) hash = wf_hash(hash, g->tensors[i].data, graph_bytes(&g->tensors[i]));
  return hash;
}

static networks_options small(const networks_row *row, uint64_t seed) {
  return (networks_options){.divisor = 16, .seed = seed, .size = row->size ? 64 : 0, .sequence = row->sequence ? 8 : 0};
}

static void small_variants_repeat(void **state) {
  (void)state;
  for (size_t i = 0; i < networks_count(); i++) {
    const networks_row *row = networks_at(i);
    graph *a = create(row->name, small(row, 7)), *b = create(row->name, small(row, 7)),
          *c = create(row->name, small(row, 8));
    assert_int_equal(digest(a), digest(b));
    assert_int_not_equal(digest(a), digest(c));
    assert_true(a->output_count > 0);
    graph_destroy(a);
    graph_destroy(b);
    graph_destroy(c);
  }
}

static void refuse(const char *name, networks_options options) {
  FILE *sink = tmpfile();
  wf_diag diag = wf_diag_to(sink);
  assert_null(networks_create(name, &options, &diag));
  assert_int_equal(diag.errors, 1);
  fclose(sink);
}

static void options_are_checked(void **state) {
  (void)state;
  refuse("resnet51", (networks_options){0});
  refuse("bert-base", (networks_options){.size = 224});
  refuse("resnet50", (networks_options){.sequence = 8});
  refuse("vit-b16", (networks_options){.size = 100});
  refuse("resnet50", (networks_options){.batch = -1});
  refuse("bert-base", (networks_options){.past = 8});
  refuse("gpt2-block", (networks_options){.past = 1 << 17});
}

// ---- decoding

enum { LAYERS = 2, ALL = 9, PAST = 7 };

// Keys and values of all tokens, as the whole sequence has them, [B H,S,D].
typedef struct caches {
  const char *key, *value;  // names of tensors, with the layer's number
  bool turned;              // keys are [B,H,D,S] there
  float *of[2 * LAYERS];    // keys and values, layer by layer
} caches;

// Rows of [.., S, D], or columns of [.., D, S], as rows.
static float *rows_of(const graph_tensor *t, const float *from, bool turned) {
  const int64_t heads = t->dim[0] * t->dim[1], tokens = t->dim[turned ? 3 : 2], width = t->dim[turned ? 2 : 3];
  float *to = test_malloc((size_t)(heads * tokens * width) * sizeof *to);
  for (int64_t h = 0; h < heads; h++)
    for (int64_t s = 0; s < tokens; s++)
      for (int64_t d = 0; d < width; d++)
        to[(h * tokens + s) * width + d] = from[h * tokens * width + (turned ? d * tokens + s : s * width + d)];
  return to;
}

static bool keep_caches(void *context, const graph *g, const graph_node *node, void *const *values) {
  caches *c = context;
  for (int layer = 0; layer < LAYERS; layer++)
    for (int v = 0; v < 2; v++) {
      char name[64];
      snprintf(name, sizeof name, v == 0 ? c->key : c->value, layer);
      const int t = node->outputs[0];
      if (strcmp(g->tensors[t].name, name) == 0)
        c->of[2 * layer + v] = rows_of(&g->tensors[t], values[t], v == 0 && c->turned);
    }
  return true;
}

// The first `tokens` of each of `count` pieces of `all`.
static float *first_of(const float *from, int64_t count, int64_t all, int64_t tokens, int64_t width) {
  float *to = test_malloc((size_t)(count * tokens * width) * sizeof *to);
  for (int64_t i = 0; i < count; i++)
    memcpy(to + i * tokens * width, from + i * all * width, (size_t)(tokens * width) * sizeof *to);
  return to;
}

// The new tokens' part is what stands behind the others' in the whole.
static void check_present(const graph_tensor *t, float *found, const float *all) {
  const int64_t tokens = t->dim[1], width = t->dim[2];
  assert_int_equal(tokens, ALL - PAST);
  for (int64_t h = 0; h < t->dim[0]; h++)
    for (int64_t i = 0; i < tokens * width; i++)
      assert_true(fabsf(found[h * tokens * width + i] - all[(h * ALL + PAST) * width + i]) < 1e-4F);
  test_free(found);
}

static void decodes_as_the_whole_sequence(const char *name, caches c) {
  const int64_t batch = 2, new_tokens = ALL - PAST;
  const networks_options options = {.divisor = 8, .layers = LAYERS, .batch = batch, .sequence = ALL, .seed = 5};
  networks_options cached = options;
  cached.sequence = new_tokens;
  cached.past = PAST;
  cached.present = true;
  graph *whole = create(name, options), *step = create(name, cached);
  const int64_t width = whole->tensors[whole->inputs[0]].dim[2];
  float *x = test_malloc((size_t)(batch * ALL * width) * sizeof *x), *y = test_calloc((size_t)(batch * ALL * width), 4);
  for (int64_t i = 0; i < batch * ALL * width; i++) x[i] = (float)sin((double)i * 1.7);
  wf_diag diag = wf_diag_to(stderr);
  const graph_run_options keep = {.after = keep_caches, .context = &c};
  assert_true(graph_run(whole, (const void *[]){x}, (void *[]){y}, &keep, &diag));
  assert_int_equal(step->input_count, 1 + 2 * LAYERS);
  float *inputs[1 + 2 * LAYERS], *z = test_calloc((size_t)(batch * new_tokens * width), sizeof *z);
  inputs[0] = test_malloc((size_t)(batch * new_tokens * width) * sizeof *x);
  for (int64_t b = 0; b < batch; b++)
    memcpy(inputs[0] + b * new_tokens * width, x + (b * ALL + PAST) * width, (size_t)(new_tokens * width) * sizeof *x);
  for (int i = 0; i < 2 * LAYERS; i++) {
    const graph_tensor *cache = &step->tensors[step->inputs[1 + i]];
    assert_non_null(c.of[i]);
    inputs[1 + i] = first_of(c.of[i], cache->dim[0], ALL, PAST, cache->dim[2]);
  }
  void *results[1 + 2 * LAYERS] = {z};
  assert_int_equal(step->output_count, 1 + 2 * LAYERS);
  for (int i = 0; i < 2 * LAYERS; i++) results[1 + i] = test_malloc(graph_bytes(&step->tensors[step->outputs[1 + i]]));
  assert_true(graph_run(step, (const void *const *)inputs, results, &(graph_run_options){0}, &diag));
  for (int i = 0; i < 2 * LAYERS; i++) check_present(&step->tensors[step->outputs[1 + i]], results[1 + i], c.of[i]);
  for (int64_t b = 0; b < batch; b++)
    for (int64_t i = 0; i < new_tokens * width; i++)
      assert_true(fabsf(z[b * new_tokens * width + i] - y[(b * ALL + PAST) * width + i]) < 1e-4F);
  for (int i = 0; i < 1 + 2 * LAYERS; i++) test_free(inputs[i]);
  for (int i = 0; i < 2 * LAYERS; i++) test_free(c.of[i]);
  test_free(x), test_free(y), test_free(z);
  graph_destroy(whole);
  graph_destroy(step);
}

// Two new tokens behind a cache of seven leave what they leave at the end of nine.
static void caches_stand_for_tokens(void **state) {
  (void)state;
  decodes_as_the_whole_sequence("gpt2-block",
                                (caches){.key = "h.%d.attn.k.permute", .value = "h.%d.attn.v.permute", .turned = true});
  decodes_as_the_whole_sequence("llama2-7b-block",
                                (caches){.key = "layers.%d.k.rotary", .value = "layers.%d.v.permute"});
  decodes_as_the_whole_sequence("llama3-8b-block",
                                (caches){.key = "layers.%d.k.rotary", .value = "layers.%d.v.permute"});
}

// One token without a mask; a network of its own size by default.
static void one_token_by_default(void **state) {
  (void)state;
  graph *g = create("gpt2-block", (networks_options){.past = 5, .divisor = 8});
  assert_int_equal(g->tensors[g->inputs[0]].dim[1], 1);
  assert_int_equal(graph_find_tensor(g, "mask"), GRAPH_NONE);
  graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(published_figures), cmocka_unit_test(small_variants_repeat),
                                     cmocka_unit_test(options_are_checked), cmocka_unit_test(caches_stand_for_tokens),
                                     cmocka_unit_test(one_token_by_default)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
