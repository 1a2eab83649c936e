// SPDX-License-Identifier: Apache-2.0
// Tables of layers: the shipped ones, both forms, and what the readers refuse, each with its place.
#include "search/layers/layers.h"

#include <dirent.h>

#include "base/test.h"
#include "compiler/layer/layer.h"

static layers_network shipped(const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s.yaml", LAYERS, name);
  wf_diag diag = wf_diag_to(stderr);
  layers_network network;
  assert_true(layers_load(&network, path, &diag));
  assert_string_equal(network.name, name);
  return network;
}

static double macs_of(const layers_network *network) {
  double sum = 0;
  for (size_t i = 0; i < network->count; i++)
    sum += layers_macs(&network->layers[i]) * (double)network->layers[i].count;
  return sum;
}

// Rows, layers with their counts, and products, as published.
static void the_targets_are_those_of_the_literature(void **state) {
  (void)state;
  static const struct {
    const char *name;
    size_t rows;
    int64_t layers;
    double macs;
  } targets[] = {
      {"resnet50", 24, 54, 4.09e9}, {"bert", 5, 6, 7.57e8}, {"retinanet", 22, 27, 3.32e9}, {"unet", 23, 23, 1.67e11}};
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    layers_network n = shipped(targets[i].name);
    int64_t layers = 0;
    for (size_t l = 0; l < n.count; l++) layers += n.layers[l].count;
    assert_int_equal(n.count, targets[i].rows);
    assert_int_equal(layers, targets[i].layers);
    assert_true(macs_of(&n) > 0.995 * targets[i].macs && macs_of(&n) < 1.005 * targets[i].macs);
    layers_release(&n);
  }
}

static char *printed(const layers_network *network) {
  char *text;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  layers_print_yaml(network, out);
  fclose(out);
  return text;
}

static void assert_same(const layers_network *a, const layers_network *b) {
  assert_int_equal(a->count, b->count);
  for (size_t i = 0; i < a->count; i++) {
    assert_string_equal(a->layers[i].name, b->layers[i].name);
    assert_memory_equal(a->layers[i].size, b->layers[i].size, sizeof a->layers[i].size);
    assert_memory_equal(a->layers[i].stride, b->layers[i].stride, sizeof a->layers[i].stride);
    assert_memory_equal(a->layers[i].dilation, b->layers[i].dilation, sizeof a->layers[i].dilation);
    assert_int_equal(a->layers[i].count, b->layers[i].count);
    assert_int_equal(layers_groups(&a->layers[i]), layers_groups(&b->layers[i]));
    assert_int_equal(a->layers[i].depthwise, b->layers[i].depthwise);
  }
}

static void every_table_reads_and_prints_alike(void **state) {
  (void)state;
  DIR *folder = opendir(LAYERS);
  assert_non_null(folder);
  int tables = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(entry->d_name, "."), entry->d_name);
    if (name[0] == '\0' || strcmp(entry->d_name + strlen(name), ".yaml") != 0) continue;
    layers_network n = shipped(name), again;
    char *text = printed(&n);
    wf_diag diag = wf_diag_to(stderr);
    assert_true(layers_parse_yaml(&again, "printed", text, strlen(text), &diag));
    assert_same(&n, &again);
    free(text);
    layers_release(&again);
    layers_release(&n);
    tables++;
  }
  closedir(folder);
  assert_true(tables >= 16);
}

// By their names they are in the library.
static void names_stand_for_the_files(void **state) {
  (void)state;
  size_t count = 0;
  wf_diag diag = wf_diag_to(stderr);
  for (; layers_builtin_name(count) != NULL; count++) {
    layers_network file = shipped(layers_builtin_name(count)), builtin;
    assert_true(layers_load(&builtin, layers_builtin_name(count), &diag));
    assert_same(&file, &builtin);
    layers_release(&file);
    layers_release(&builtin);
  }
  assert_true(count >= 16);
}

#define COLUMNS "layer,R,S,P,Q,C,K,N,Wstride,Hstride,Wdilation,Hdilation,count,macs\n"

static void both_forms_say_the_same(void **state) {
  (void)state;
  static const char csv[] = COLUMNS
      "a,7,5,112,110,3,64,1,2,3,1,1,1,82790400\n"
      "b,1,1,8,1,4,16,2,1,0,1,0,9,1024\n";
  static const char yaml[] =
      "name: x\nlayers:\n"
      "  - {name: a, P: 112, Q: 110, K: 64, C: 3, R: 7, S: 5, stride: [2, 3]}\n"
      "  - {name: b, N: 2, P: 8, K: 16, C: 4, count: 9}\n";
  wf_diag diag = wf_diag_to(stderr);
  layers_network a, b;
  assert_true(layers_parse_csv(&a, "dir/x.csv", csv, strlen(csv), &diag));
  assert_true(layers_parse_yaml(&b, "x.yaml", yaml, strlen(yaml), &diag));
  assert_string_equal(a.name, b.name);
  assert_same(&a, &b);
  layers_release(&a);
  layers_release(&b);
}

#define SHAPE                                                                                               \
  "  shape:\n    name: cnn\n    dimensions: [C, M, R, S, N, P, Q]\n"                                        \
  "    coefficients: [{name: Wstride, default: 1}, {name: Hstride, default: 1},"                            \
  " {name: Wdilation, default: 1}, {name: Hdilation, default: 1}]\n"                                        \
  "    data-spaces:\n"                                                                                      \
  "    - {name: Weights, projection: [[[C]], [[M]], [[R]], [[S]]]}\n"                                       \
  "    - {name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S], [Q, Hstride]]]}\n" \
  "    - {name: Outputs, projection: [[[N]], [[M]], [[Q]], [[P]]], read-write: true}\n"

// A convolution and a product as other tools write them down.
static void other_tools_files_are_tables(void **state) {
  (void)state;
  static const struct {
    const char *file, *text, *same;
  } files[] = {
      {"dir/conv1.yaml",
       "problem:\n" SHAPE "  instance: {C: 3, M: 64, R: 7, S: 5, N: 1, P: 112, Q: 110, Wstride: 2, Hstride: 3}\n",
       "name: conv1\nlayers: [{name: conv1, P: 112, Q: 110, K: 64, C: 3, R: 7, S: 5, stride: [2, 3]}]\n"},
      {"old.yaml", "problem: {shape: cnn-layer, C: 8, K: 4, P: 1, Q: 6, S: 3, Wstride: 2, Hdilation: 2}\n",
       "name: old\nlayers: [{name: old, Q: 6, K: 4, C: 8, S: 3, dilation: [1, 2]}]\n"},
      {"mm.yml",
       "problem:\n  version: 0.4\n  shape: {dimensions: [M, N, K], data_spaces: [{projection: [[[M]], [[K]]]},"
       " {projection: [[[K]], [[N]]]}, {projection: [[[M]], [[N]]]}]}\n  instance: {M: 128, N: 64, K: 32}\n",
       "name: mm\nlayers: [{name: mm, P: 128, K: 64, C: 32}]\n"},
      {"net.csv",
       "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
       "Conv1, 230, 229, 7, 5, 3, 64, 2,\r\n\nFC, 1, 1, 1, 1, 2048, 1000, 1\n# that is all\n",
       "name: net\nlayers: [{name: Conv1, P: 113, Q: 113, K: 64, C: 3, R: 7, S: 5, stride: 2},"
       " {name: FC, C: 2048, K: 1000}]\n"},
      {"gemm.csv", "Layer, M, N, K,\na, 128, 64, 32,\n", "name: gemm\nlayers: [{name: a, P: 128, K: 64, C: 32}]\n"},
  };
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    wf_diag diag = wf_diag_to(stderr);
    layers_network read, same;
    const bool csv = strstr(files[i].file, ".csv") != NULL;
    assert_true((csv ? layers_parse_csv : layers_parse_yaml)(&read, files[i].file, files[i].text, strlen(files[i].text),
                                                             &diag));
    assert_true(layers_parse_yaml(&same, "same", files[i].same, strlen(files[i].same), &diag));
    assert_string_equal(read.name, same.name);
    assert_same(&read, &same);
    layers_release(&read);
    layers_release(&same);
  }
}

static void layers_become_the_compilers(void **state) {
  (void)state;
  layers_layer layer = {.size = {1, 128, 1, 64, 32, 1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .count = 1};
  const map_layer product = layers_to_map(&layer);
  assert_int_equal(product.kind, MAP_GEMM);
  assert_int_equal(map_macs(&product), 128 * 64 * 32);
  layer.size[BLOCK_DIM_P] = 1;
  assert_int_equal(layers_to_map(&layer).kind, MAP_GEMV);
  layer.size[BLOCK_DIM_Q] = 7;
  layer.stride[1] = 2;
  const map_layer map = layers_to_map(&layer);
  assert_int_equal(map.kind, MAP_CONV);
  assert_int_equal(map.stride[1], 2);
  assert_int_equal(map.stride[0], 2);  // one row of results, one of the window: no stride of its own
  layer.size[BLOCK_DIM_R] = 3;
  assert_int_equal(layers_to_map(&layer).stride[0], 1);
}

static const char grouped_text[] =
    "name: g\nlayers:\n"
    "  - {name: depthwise, P: 14, Q: 14, K: 96, C: 96, R: 3, S: 3, groups: 96, stride: 2}\n"
    "  - {name: grouped, P: 14, Q: 14, K: 64, C: 32, R: 3, S: 3, groups: 4, count: 2}\n"
    "  - {name: plain, P: 14, Q: 14, K: 64, C: 32, R: 3, S: 3, groups: 1}\n";

// C and K of a table are those of all groups; the kernels are those of networks.
static void groups_have_their_kernels(void **state) {
  (void)state;
  wf_diag diag = wf_diag_to(stderr);
  layers_network n, again;
  assert_true(layers_parse_yaml(&n, "g", grouped_text, strlen(grouped_text), &diag));
  static const double macs[] = {14 * 14 * 96 * 9, 14 * 14 * 64 * 8 * 9, 14 * 14 * 64 * 32 * 9};
  static const layer_kernel kernels[] = {LAYER_DEPTHWISE_CONV2D, LAYER_GROUPED_CONV2D, LAYER_CONV2D};
  static const int64_t groups[] = {96, 4, 1};
  hw_array array;
  hw_array_default(&array);
  for (size_t i = 0; i < 3; i++) {
    const map_layer map = layers_to_map(&n.layers[i]);
    assert_true(layers_macs(&n.layers[i]) == macs[i] && map_macs(&map) == (int64_t)macs[i]);
    assert_true(layers_products(&n.layers[i]) * layers_product_macs(&n.layers[i]) ==
                macs[i] * (double)n.layers[i].count);
    assert_int_equal(layers_groups(&n.layers[i]), groups[i]);
    assert_int_equal(layer_kernel_of(&map, &array), kernels[i]);
  }
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  layers_print_yaml(&n, out);
  fclose(out);
  assert_true(layers_parse_yaml(&again, "again", text, length, &diag));
  assert_same(&n, &again);
  free(text);
  layers_release(&n);
  layers_release(&again);
}

// ---- refused input

typedef struct slip {
  bool csv;
  const char *text, *message;
} slip;

static const slip slips[] = {
    {false, "", "t:1:1: error: the file is empty"},
    {false, "name: a\nlayers: [{name: l, C: 12, K: 8, groups: 3}]", "t:2:41: error: groups must divide C and K"},
    {false, "3", "t:1:1: error: a table of layers must be a map"},
    {false, "name: a\nlayers: []", "t:2:9: error: a network has a list of \"layers\""},
    {false, "name: a", "a network has a list of \"layers\""},
    {false, "layers: [{name: b}]", "has no \"name\""},
    {false, "name: a\nlayers: [{P: 2}]", "t:2:10: error: a layer has no \"name\""},
    {false, "name: a\nlayers: [{name: b, P: 0}]", "t:2:23: error: P must be a whole number from 1 to"},
    {false, "name: a\nlayers: [{name: b, P: 1.5}]", "not '1.5'"},
    {false, "name: a\nlayers: [{name: b, P: 99999999999999999999}]", "P must be a whole number"},
    {false, "name: a\nlayers: [{name: b, stirde: 2}]", "unknown key 'stirde' in a layer"},
    {false, "name: a\nlayers: [{name: b, stride: [1, 2, 3]}]", "stride is one number, or two"},
    {false, "name: a\nlayers: [{name: b, P: 2, P: 3}]", "key 'P' appears twice"},
    {false, "name: a\nlayers: [{name: &x b}]", "anchor"},
    {false, "name: a\nlayers: [{name: b}", "not valid YAML"},
    {false, "name: a\nlayers: [{name: b}]\n---\n{}", "t:3:1: error: "},
    {false, "name: a\nlayers: [3]", "a layer must be a map, not a single value"},
    {true, "a,b\n", "t:1:1: error: the columns of a table"},
    {true, COLUMNS, "a table without layers"},
    {true, COLUMNS "a,1,1\n", "t:2:1: error: fewer cells"},
    {true, COLUMNS "a,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n", "more cells"},
    {true, COLUMNS "a,1,1,x,1,1,1,1,1,1,1,1,1,1\n", "t:2:7: error: not a whole number"},
    {true, COLUMNS "a,1,1,0,1,1,1,1,1,1,1,1,1,0\n", "a size of 0"},
    {true, COLUMNS "a,1,1,2,1,1,1,1,1,1,1,1,1,1\n", "t:2:27: error: the products are not those of the sizes"},
    {true, COLUMNS "a,1,1,1,1,1,1,1,1,1,1,1,0,1\n", "a count of 0"},
    {false, "problem: 3", "t:1:10: error: a problem must be a map"},
    {false, "problem: {}", "t:1:10: error: a problem without sizes"},
    {false, "problem: {C: 3}\nmapper: {}", "t:2:1: error: unknown key 'mapper'"},
    {false, "problem: {C: 3, E: 4}", "t:1:17: error: 'E' is no dimension"},
    {false, "problem: {C: 0}", "C must be a whole number from 1"},
    {false, "problem: {C: 3, M: 4, K: 4}", "t:1:26: error: M and K are both results"},
    {false, "problem: {instance: {C: 3, densities: {}}}", "'densities' is no dimension"},
    {false, "problem:\n  shape: {dimensions: [C, M, X]}\n  instance: {C: 3}", "t:2:30: error: no dimension of"},
    {false, "problem:\n  shape: {dimensions: [C, C]}\n  instance: {C: 3}", "t:2:27: error: this dimension appears"},
    {false, "problem:\n  shape: {dimensions: [C]}\n  instance: {C: 3, M: 4}", "not one of the shape's dimensions"},
    {false, "problem:\n  shape: {coefficients: [{name: Stride}]}\n  instance: {C: 3}",
     "t:2:33: error: coefficients are"},
    {false, "problem:\n  shape: {coefficients: [{default: 2}]}\n  instance: {C: 3}", "a coefficient has a name"},
    // Each channel by itself.
    {false,
     "problem:\n  shape:\n    dimensions: [C, R, S, P, Q]\n    data-spaces: [{projection: [C, R, S]},"
     " {projection: [C, [R, P], [S, Q]]}, {projection: [C, P, Q]}]\n  instance: {C: 3, P: 8, Q: 8}",
     "t:4:18: error: the data spaces are neither"},
    {true, "Layer, M, N\n", "t:1:1: error: the columns of a table"},
    {true, "Layer, M, N, K, L\n", "t:1:1: error: the columns of a table"},
    {true, "Layer, M, N, K\n", "a table without layers"},
    {true, "Layer, M, N, K\na, 1, 2,\n", "t:2:1: error: fewer cells"},
    {true, "Layer, M, N, K\na, 1, 2, 3, 4\n", "t:2:1: error: more cells"},
    {true, "Layer, M, N, K\n\na, 1, x, 3,\n", "t:3:7: error: not a whole number"},
    {true, "Layer, M, N, K\na, 1, 2, 0\n", "t:2:10: error: not from 1 to"},
    {true,
     "Layer name, IFMAP Height, IFMAP Width, Filter Height, Filter Width, Channels, Num Filter, Strides,\n"
     "a, 4, 4, 3, 5, 1, 1, 1,\n",
     "t:2:13: error: the window is larger"},
};

static void slips_are_refused_in_place(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
    char *messages;
    size_t size;
    FILE *out = open_memstream(&messages, &size);
    assert_non_null(out);
    wf_diag diag = wf_diag_to(out);
    layers_network n;
    const size_t length = strlen(slips[i].text);
    const bool good = slips[i].csv ? layers_parse_csv(&n, "t", slips[i].text, length, &diag)
                                   : layers_parse_yaml(&n, "t", slips[i].text, length, &diag);
    fclose(out);
    if (good || strstr(messages, slips[i].message) == NULL) fail_msg("\"%s\" gave: %s", slips[i].text, messages);
    free(messages);
    layers_release(&n);
  }
}

static void other_files_are_refused(void **state) {
  (void)state;
  FILE *null = fopen("/dev/null", "w");
  wf_diag diag = wf_diag_to(null);
  layers_network n;
  assert_false(layers_load(&n, "/dev/null", &diag));
  layers_release(&n);
  assert_false(layers_load(&n, "/nowhere/x.yaml", &diag));
  layers_release(&n);
  assert_int_equal(diag.errors, 2);
  fclose(null);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_targets_are_those_of_the_literature),
      cmocka_unit_test(every_table_reads_and_prints_alike),
      cmocka_unit_test(names_stand_for_the_files),
      cmocka_unit_test(both_forms_say_the_same),
      cmocka_unit_test(other_tools_files_are_tables),
      cmocka_unit_test(layers_become_the_compilers),
      cmocka_unit_test(groups_have_their_kernels),
      cmocka_unit_test(slips_are_refused_in_place),
      cmocka_unit_test(other_files_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
