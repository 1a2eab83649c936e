// SPDX-License-Identifier: Apache-2.0
// Every layer of the shipped tables on arrays of several sides: its kernel, lowered with any blocks, is the layer that
// the call names.
#include "base/test.h"
#include "compiler/layer/layer.h"
#include "search/layers/layers.h"

static hw_array array_of(unsigned side) {
  hw_array array;
  hw_array_default(&array);
  array.mesh.rows = array.mesh.columns = side;
  return array;
}

// The layer of the kernel's program.
static map_layer lowered(const layer_call *call) {
  wf_diag diag = wf_diag_to(stderr);
  const char *text = layer_kernel_text(call->kernel);
  lang_file *file = lang_parse(layer_kernels[call->kernel].name, text, strlen(text), &diag);
  assert_non_null(file);
  lang_instance *instance = lang_instantiate(file, lang_find_kernel(file, NULL, &diag));
  const lang_args arguments = layer_arguments(call);
  assert_true(lang_set_args(instance, &arguments, &diag) && lang_ready(instance, &diag));
  block_program *program = lang_lower(instance, &diag);
  map_layer layer = {0};
  map_mapping mapping;
  assert_true(program != NULL && map_of_block(program, &layer, &mapping));
  block_destroy(program);
  lang_destroy(file);
  return layer;
}

static void every_layer_of_the_tables(void **state) {
  (void)state;
  unsigned calls[LAYER_KERNEL_COUNT] = {0};
  for (size_t t = 0; layers_builtin_name(t) != NULL; t++) {
    wf_diag diag = wf_diag_to(stderr);
    layers_network network;
    assert_true(layers_load(&network, layers_builtin_name(t), &diag));
    for (size_t i = 0; i < network.count; i++)
      for (unsigned side = 8; side <= 128; side *= 2) {
        const hw_array array = array_of(side);
        const map_layer map = layers_to_map(&network.layers[i]);
        const layer_desc described = layer_of_table(&map);
        layer_call call;
        if (!layer_call_of(&described, &array, &call, &diag)) fail_msg("%s %s", network.name, network.layers[i].name);
        const map_layer found = lowered(&call);
        if (map_layer_hash(&found) != map_layer_hash(&call.layer) || map_macs(&found) != map_macs(&map))
          fail_msg("%s %s on side %u", network.name, network.layers[i].name, side);
        calls[call.kernel]++;
      }
    layers_release(&network);
  }
  assert_true(calls[LAYER_GEMM] > 0 && calls[LAYER_CONV2D] > 0 && calls[LAYER_CONV2D_NARROW] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(every_layer_of_the_tables)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
