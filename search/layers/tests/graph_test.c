// SPDX-License-Identifier: Apache-2.0
// Layer tables of placed graphs: the generated ResNet-50 has the layers of the shipped table, products of a batch count
// as several, depthwise convolutions are of their own kind, and no multiply-accumulate is lost.
#include "search/layers/graph.h"

#include <math.h>

#include "base/test.h"
#include "compiler/quantise/quantise.h"
#include "workloads/networks/networks.h"

static layers_network table_of(const char *name, networks_options options, double *macs) {
  wf_diag diag = wf_diag_to(stderr);
  const quantise_options quick = {.samples = 1};
  graph *model = networks_create(name, &options, &diag);
  *macs = networks_macs(model);
  graph *placed = quantise_network(model, &quick, QUANTISE_STAGE_PLACED, &diag);
  assert_non_null(placed);
  layers_network network;
  layers_of_graph(&network, placed);
  graph_destroy(placed);
  graph_destroy(model);
  return network;
}

static double all_macs(const layers_network *network) {
  double sum = 0;
  for (size_t i = 0; i < network->count; i++)
    sum += (double)network->layers[i].count * layers_macs(&network->layers[i]);
  return sum;
}

static const layers_layer *find(const layers_network *network, const layers_layer *layer) {
  for (size_t i = 0; i < network->count; i++)
    if (memcmp(network->layers[i].size, layer->size, sizeof layer->size) == 0 &&
        memcmp(network->layers[i].stride, layer->stride, sizeof layer->stride) == 0)
      return &network->layers[i];
  return NULL;
}

static void resnet50_is_the_shipped_table(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  double macs;
  layers_network shipped, made = table_of("resnet50", (networks_options){.size = 224}, &macs);
  assert_true(layers_load(&shipped, "resnet50", &diag));
  assert_int_equal(made.count, shipped.count);
  for (size_t i = 0; i < shipped.count; i++) {
    const layers_layer *layer = find(&made, &shipped.layers[i]);
    if (layer == NULL || layer->count != shipped.layers[i].count) fail_msg("layer %s differs", shipped.layers[i].name);
  }
  layers_release(&made);
  layers_release(&shipped);
}

static void no_work_is_lost(void **state) {
  (void)state;
  static const char *const names[] = {"mobilenetv2", "retinanet", "bert-base", "deepbench"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const networks_row *row = networks_find(names[i]);
    double macs;
    layers_network made = table_of(
        names[i], (networks_options){.divisor = 8, .size = row->size ? 64 : 0, .sequence = row->sequence ? 8 : 0},
        &macs);
    assert_true(fabs(all_macs(&made) - macs) < 0.5);
    layers_release(&made);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(resnet50_is_the_shipped_table),
                                     cmocka_unit_test(no_work_is_lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
