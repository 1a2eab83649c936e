// SPDX-License-Identifier: Apache-2.0
// Recurrent networks and lists of matrix products.
#include <math.h>

#include "workloads/networks/build.h"

static int lstm_layer(net *n, int x, int64_t cells) {
  const graph_tensor in = *net_tensor(n, x);
  const int64_t steps = in.dim[0], batch = in.dim[1], width = in.dim[2];
  const double gain = 1.5;  // keeps the gates off the middle of their curves
  const int weight = net_weights(n, "W", 3, (int64_t[]){1, 4 * cells, width}, gain / sqrt((double)width)),
            recurrence = net_weights(n, "R", 3, (int64_t[]){1, 4 * cells, cells}, gain / sqrt((double)cells)),
            bias = net_weights(n, "B", 2, (int64_t[]){1, 8 * cells}, 0.1);
  const int y = net_node(n, GRAPH_OP_LSTM, "lstm", (int[]){x, weight, recurrence, bias}, 4, 4,
                         (int64_t[]){steps, 1, batch, cells}, 0.2);
  graph_set_int(n->g, net_last(n), "hidden_size", cells);
  const int axes = net_ints(n, "axes", (int64_t[]){1}, 1);
  return net_node(n, GRAPH_OP_SQUEEZE, "squeeze", (int[]){y, axes}, 2, 3, (int64_t[]){steps, batch, cells}, 0.2);
}

void net_lstm(net *n) {
  const int64_t cells = net_width(n, 512);
  int x = net_input(n, "input", 3, (int64_t[]){n->options.sequence, n->options.batch, cells});
  for (int64_t i = 0; i < n->options.layers; i++) {
    net_prefix(n, "layer%d.", (int)i);
    x = lstm_layer(n, x, cells);
  }
  net_output(n, x);
}

void net_deepbench(net *n) {
  static const int64_t products[][3] = {// M, N, K: training and inference sets
                                        {1760, 16, 1760},  {1760, 64, 1760}, {1760, 128, 1760}, {2048, 32, 2048},
                                        {2560, 64, 2560},  {4096, 16, 4096}, {35, 700, 2048},   {3072, 128, 1024},
                                        {512, 6000, 2816}, {1024, 700, 512}, {7680, 1, 2560},   {5124, 700, 2048}};
  for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
    const int64_t *p = products[i];
    net_prefix(n, "gemm_%d_%d_%d.", (int)p[0], (int)p[1], (int)p[2]);
    const int64_t m = p[0] / n->options.divisor, k = net_width(n, p[2]),
                  columns = p[1] < 16 ? p[1] : net_width(n, p[1]);
    const int x = net_input(n, "input", 2, (int64_t[]){columns, k});  // M is the width of the layer, N its batch
    net_output(n, net_linear(n, "product", x, m < 1 ? 1 : m, false));
  }
}
