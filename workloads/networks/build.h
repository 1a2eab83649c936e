// SPDX-License-Identifier: Apache-2.0
// What the generators share: a graph under construction, operators with their shapes, weights from a seeded generator.
//
// Each tensor has an estimate of its mean square (`power`), which the operators carry along as for independent values
// of zero mean. Weights of a product over n inputs get the variance 1 / n; the statistics of a batch normalisation
// follow the estimate. So the values keep their range through any depth, as in a trained network.
//
// A node has its name from the network (as exporters write them), its result the same name, its weights NAME.weight.
#ifndef WORKLOADS_NETWORKS_BUILD_H
#define WORKLOADS_NETWORKS_BUILD_H

#include "workloads/networks/networks.h"

typedef struct net {
  graph *g;
  networks_options options;  // without zeros
  uint64_t random;
  double *power;  // per tensor
  size_t power_room;
  size_t power_count;
  char prefix[64];  // of all names: "layer1.0."
} net;

typedef void (*net_function)(net *n);
#define NETWORK(name, function, ...) void function(net *n);
#include "workloads/networks/networks.def"
#undef NETWORK

// Wide layers divided as the options say, but at least 4 and a multiple of 4 (heads and groups stay whole).
int64_t net_width(const net *n, int64_t channels);
const graph_tensor *net_tensor(const net *n, int tensor);
double net_normal(net *n);  // of variance 1
double net_uniform(net *n, double low, double high);
void net_prefix(net *n, const char *format, ...) WF_PRINTF(2, 3);

// ---- tensors (build.c)
int net_input(net *n, const char *name, int rank, const int64_t *dims);
int net_weights(net *n, const char *name, int rank, const int64_t *dims, double deviation);
int net_floats(net *n, const char *name, int rank, const int64_t *dims, const float *values);
int net_number(net *n, const char *name, double value);  // a scalar
int net_ints(net *n, const char *name, const int64_t *values, int count);
// A node with one result of the given shape and power.
int net_node(net *n, graph_op op, const char *name, const int *inputs, int input_count, int rank, const int64_t *dims,
             double power);
graph_node *net_last(net *n);
void net_output(net *n, int tensor);

// ---- operators (operators.c)
typedef struct net_window {
  int64_t kernel, stride, pad, groups;
} net_window;
int net_conv(net *n, const char *name, int x, int64_t channels, net_window window, bool bias);
int net_conv_transpose(net *n, const char *name, int x, int64_t channels, net_window window);
int net_batch_norm(net *n, const char *name, int x, double gain);
int net_relu(net *n, const char *name, int x);
int net_relu6(net *n, const char *name, int x);
int net_max_pool(net *n, const char *name, int x, net_window window);
int net_global_pool(net *n, const char *name, int x);
int net_flatten(net *n, const char *name, int x);
int net_gemm(net *n, const char *name, int x, int64_t features);
int net_linear(net *n, const char *name, int x, int64_t features, bool bias);  // MatMul and Add, on any rank
int net_mat_mul(net *n, const char *name, int a, int b);
int net_unary(net *n, graph_op op, const char *name, int x, double power);
int net_binary(net *n, graph_op op, const char *name, int a, int b, double power);  // shapes broadcast
int net_add(net *n, const char *name, int a, int b);
int net_reshape(net *n, const char *name, int x, int rank, const int64_t *dims);
int net_transpose(net *n, const char *name, int x, const int64_t *perm);
int net_concat(net *n, const char *name, const int *inputs, int count, int axis);
int net_slice(net *n, const char *name, int x, int axis, int64_t from, int64_t to);
int net_softmax(net *n, const char *name, int x);
int net_layer_norm(net *n, const char *name, int x);
int net_upsample(net *n, const char *name, int x, int64_t rows, int64_t columns);   // nearest
int net_gather(net *n, const char *name, int x, int axis, const int64_t *indices);  // an axis in another order
int net_pick(net *n, const char *name, int x, int axis, int64_t index);             // one place of an axis
int net_silu(net *n, const char *name, int x);                                      // x * sigmoid(x)

// ---- parts of several networks
int net_image(net *n);
int net_conv_bn(net *n, const char *conv, const char *bn, int x, int64_t channels, net_window window, double gain);
void net_classify(net *n, const char *name, int x);                 // an image: the mean of each channel, 1000 classes
typedef enum { NET_BASIC, NET_BOTTLENECK, NET_GROUPED } net_block;  // grouped: ResNeXt's bottleneck
int net_residual_stage(net *n, int x, int stage, int blocks, int64_t channels, int64_t stride, net_block kind);
int net_resnet50_stage(net *n, int x, int stage);  // 1 to 4
int net_resnet_stem(net *n);                       // from the image to the first pooled features
int net_heads(net *n, const char *name, int x, int64_t heads, bool keys);  // [B,S,D] to [B,H,S,D/H]; keys: [B,H,D/H,S]
int net_attend(net *n, int q, int k, int v, int mask, int64_t width);      // to [B,S,D]; mask: a tensor or GRAPH_NONE
int net_causal_mask(net *n, int64_t past, int64_t sequence);               // [1,1,S,past + S]
int net_gelu(net *n, const char *name, int x);                             // by Erf, as exporters write it

#endif
