// SPDX-License-Identifier: Apache-2.0
// The generators against published figures: multiply-accumulates and parameters of each network, valid graphs, the same
// bytes for the same seed, options that are checked.
#include "workloads/networks/networks.h"

#include <math.h>

#include "base/hash.h"
#include "base/test.h"

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
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(published_figures), cmocka_unit_test(small_variants_repeat),
                                     cmocka_unit_test(options_are_checked)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
