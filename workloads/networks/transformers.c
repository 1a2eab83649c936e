// SPDX-License-Identifier: Apache-2.0
// Transformers: BERT, GPT-2, Llama 2, ViT. Products on [batch, sequence, width]; heads by Reshape and Transpose.
#include <math.h>

#include "base/alloc.h"
#include "workloads/networks/build.h"

enum { HEAD = 64 };  // width of a head; narrow variants have fewer heads

// A width that whole heads fill.
static int64_t model_width(const net *n, int64_t width, int64_t head) {
  const int64_t heads = width / n->options.divisor / head;
  return heads < 1 ? head : heads * head;
}

static int hidden_states(net *n, int64_t width) {
  return net_input(n, "hidden_states", 3, (int64_t[]){n->options.batch, n->options.sequence, width});
}

int net_heads(net *n, const char *name, int x, int64_t heads, bool keys) {
  char text[96];
  const graph_tensor in = *net_tensor(n, x);
  const int64_t dims[4] = {in.dim[0], in.dim[1], heads, in.dim[2] / heads};
  snprintf(text, sizeof text, "%s.view", name);
  x = net_reshape(n, text, x, 4, dims);
  snprintf(text, sizeof text, "%s.permute", name);
  return net_transpose(n, text, x, keys ? (int64_t[]){0, 2, 3, 1} : (int64_t[]){0, 2, 1, 3});
}

static int scores_of(net *n, const char *name, const char *scaled, int q, int k) {
  const double root = sqrt((double)net_tensor(n, q)->dim[3]);
  char text[96];
  snprintf(text, sizeof text, "%s.root", name);
  const int x = net_mat_mul(n, name, q, k);
  return net_binary(n, GRAPH_OP_DIV, scaled, x, net_number(n, text, root), n->power[x] / (root * root));
}

static int shares(net *n, int scores, int mask) {
  if (mask != GRAPH_NONE) scores = net_binary(n, GRAPH_OP_ADD, "masked", scores, mask, n->power[scores]);
  return net_softmax(n, "softmax", scores);
}

static int join_heads(net *n, int x, int64_t width) {
  n->power[x] = 0.1;  // values of many tokens, averaged
  const graph_tensor heads = *net_tensor(n, x);
  x = net_transpose(n, "context.permute", x, (int64_t[]){0, 2, 1, 3});
  return net_reshape(n, "context.view", x, 3, (int64_t[]){heads.dim[0], heads.dim[2], width});
}

int net_attend(net *n, int q, int k, int v, int mask, int64_t width) {
  const int x = shares(n, scores_of(n, "scores", "scaled", q, k), mask);
  return join_heads(n, net_mat_mul(n, "context", x, v), width);
}

// Heads [B,H,S,D] of keys or values, each for as many heads of queries as there are more: [B,times H,S,D], the same
// one behind the other, as exporters write it.
static int repeat_heads(net *n, const char *name, int x, int64_t times) {
  const graph_tensor in = *net_tensor(n, x);
  char text[4][96];
  static const char *const parts[] = {"axes", "unsqueeze", "sizes", "expand"};
  if (times == 1) return x;
  for (int i = 0; i < 4; i++) snprintf(text[i], sizeof text[i], "%s.%s", name, parts[i]);
  const int axes = net_ints(n, text[0], (int64_t[]){2}, 1);
  const int64_t one[5] = {in.dim[0], in.dim[1], 1, in.dim[2], in.dim[3]},
                all[5] = {in.dim[0], in.dim[1], times, in.dim[2], in.dim[3]};
  const int apart = net_node(n, GRAPH_OP_UNSQUEEZE, text[1], (int[]){x, axes}, 2, 5, one, n->power[x]);
  const int shape = net_ints(n, text[2], all, 5);
  const int repeated = net_node(n, GRAPH_OP_EXPAND, text[3], (int[]){apart, shape}, 2, 5, all, n->power[x]);
  return net_reshape(n, name, repeated, 4, (int64_t[]){in.dim[0], times * in.dim[1], in.dim[2], in.dim[3]});
}

// Keys or values of earlier tokens: an input [B H,past,D], in this order in memory.
static int cache(net *n, const char *name, const graph_tensor *heads, int64_t times) {
  char text[2][96];
  const int64_t batch = heads->dim[0], count = heads->dim[1] / times, past = n->options.past, head = heads->dim[3];
  const int in = net_input(n, name, 3, (int64_t[]){batch * count, past, head});
  snprintf(text[0], sizeof text[0], "%s.view", name);
  snprintf(text[1], sizeof text[1], "%s.repeat", name);
  return repeat_heads(n, text[1], net_reshape(n, text[0], in, 4, (int64_t[]){batch, count, past, head}), times);
}

// Attention to earlier tokens, too, of which each head is there `times` times. The cache is read where it lies: not
// keys and values are joined with the new token's, but the scores and the sums of both.
static int attend_cache(net *n, int q, int k, int v, int mask, int64_t width, int64_t times) {
  const graph_tensor heads = *net_tensor(n, v);
  const int64_t past = n->options.past;
  const int keys = cache(n, "past_key", &heads, times), values = cache(n, "past_value", &heads, times);
  const int turned = net_transpose(n, "past_key.transpose", keys, (int64_t[]){0, 1, 3, 2});
  const int old = scores_of(n, "scores_past", "scaled_past", q, turned);
  const int x =
      shares(n, net_concat(n, "scaled", (int[]){old, scores_of(n, "scores_new", "scaled_new", q, k)}, 2, 3), mask);
  const int64_t all = past + heads.dim[2];
  const int before = net_mat_mul(n, "context_past", net_slice(n, "softmax_past", x, 3, 0, past), values);
  const int now = net_mat_mul(n, "context_new", net_slice(n, "softmax_new", x, 3, past, all), v);
  return join_heads(n, net_add(n, "context", before, now), width);
}

// Keys and values of the new tokens, [B H,S,D], as they belong behind those of the cache.
static void present(net *n, int keys, int values) {
  static const char *const names[] = {"present_key", "present_value"};
  const int heads[] = {keys, values};
  for (int i = 0; i < 2 && n->options.past != 0 && n->options.present; i++) {
    const graph_tensor t = *net_tensor(n, heads[i]);
    const int64_t dims[3] = {t.dim[0] * t.dim[1], t.dim[2], t.dim[3]};
    net_output(n, net_reshape(n, names[i], heads[i], 3, dims));
  }
}

// The result of all comes before them.
static void result(net *n, int x) {
  net_output(n, x);
  int *outputs = n->g->outputs;
  for (int o = n->g->output_count - 1; o > 0; o--) outputs[o] = outputs[o - 1];
  outputs[0] = x;
}

// Heads of k and v stand there `times` times.
static int attend(net *n, int q, int k, int v, int mask, int64_t width, int64_t times) {
  return n->options.past == 0 ? net_attend(n, q, k, v, mask, width) : attend_cache(n, q, k, v, mask, width, times);
}

int net_causal_mask(net *n, int64_t past, int64_t sequence) {
  const int64_t all = past + sequence;
  float *values = wf_alloc((size_t)(sequence * all), sizeof *values);
  for (int64_t i = 0; i < sequence; i++)
    for (int64_t j = 0; j < all; j++) values[i * all + j] = j <= past + i ? 0.0F : -10000.0F;
  const int mask = net_floats(n, "mask", 4, (int64_t[]){1, 1, sequence, all}, values);
  wf_free(values);
  return mask;
}

// One token sees all.
static int mask_of(net *n) {
  const networks_options *o = &n->options;
  return o->past != 0 && o->sequence == 1 ? GRAPH_NONE : net_causal_mask(n, o->past, o->sequence);
}

int net_gelu(net *n, const char *name, int x) {
  char text[8][96];
  static const char *const parts[] = {"sqrt2", "div", "erf", "one", "add", "mul", "half"};
  for (int i = 0; i < 7; i++) snprintf(text[i], sizeof text[i], "%s.%s", name, parts[i]);
  const double power = n->power[x];
  int y = net_binary(n, GRAPH_OP_DIV, text[1], x, net_number(n, text[0], sqrt(2)), power / 2);
  y = net_unary(n, GRAPH_OP_ERF, text[2], y, 0.5);
  y = net_binary(n, GRAPH_OP_ADD, text[4], y, net_number(n, text[3], 1), 1.5);
  y = net_binary(n, GRAPH_OP_MUL, text[5], x, y, 2 * power);
  return net_binary(n, GRAPH_OP_MUL, name, y, net_number(n, text[6], 0.5), power / 2);
}

static int self_attention(net *n, int x, int64_t width, int64_t heads) {
  const int q = net_linear(n, "query", x, width, true), k = net_linear(n, "key", x, width, true),
            v = net_linear(n, "value", x, width, true);
  return net_attend(n, net_heads(n, "q", q, heads, false), net_heads(n, "k", k, heads, true),
                    net_heads(n, "v", v, heads, false), GRAPH_NONE, width);
}

void net_bert(net *n) {
  const int64_t width = model_width(n, 768, HEAD);
  int x = hidden_states(n, width);
  for (int64_t i = 0; i < n->options.layers; i++) {
    net_prefix(n, "encoder.layer.%d.attention.", (int)i);
    int y = net_linear(n, "output.dense", self_attention(n, x, width, width / HEAD), width, true);
    x = net_layer_norm(n, "output.LayerNorm", net_add(n, "output.add", y, x));
    net_prefix(n, "encoder.layer.%d.", (int)i);
    y = net_gelu(n, "intermediate.gelu", net_linear(n, "intermediate.dense", x, 4 * width, true));
    y = net_linear(n, "output.dense", y, width, true);
    x = net_layer_norm(n, "output.LayerNorm", net_add(n, "output.add", y, x));
  }
  net_output(n, x);
}

// The approximation by Tanh.
static int gelu_new(net *n, int x) {
  const double power = n->power[x];
  int y = net_binary(n, GRAPH_OP_POW, "gelu.pow", x, net_number(n, "gelu.three", 3), 15 * power * power * power);
  y = net_binary(n, GRAPH_OP_MUL, "gelu.mul", y, net_number(n, "gelu.cubic", 0.044715), 0.03 * power);
  y = net_add(n, "gelu.add", x, y);
  y = net_binary(n, GRAPH_OP_MUL, "gelu.mul_1", y, net_number(n, "gelu.root", sqrt(2 / M_PI)), power);
  y = net_binary(n, GRAPH_OP_ADD, "gelu.add_1", net_unary(n, GRAPH_OP_TANH, "gelu.tanh", y, 0.5),
                 net_number(n, "gelu.one", 1), 1.5);
  x = net_binary(n, GRAPH_OP_MUL, "gelu.mul_2", x, net_number(n, "gelu.half", 0.5), power / 4);
  return net_binary(n, GRAPH_OP_MUL, "gelu", x, y, power / 2);
}

static int gpt2_block(net *n, int x, int64_t width, int mask) {
  const int64_t heads = width / HEAD;
  int parts[3];
  const int qkv = net_linear(n, "attn.c_attn", net_layer_norm(n, "ln_1", x), 3 * width, true);
  for (int i = 0; i < 3; i++) {
    static const char *const names[] = {"attn.q", "attn.k", "attn.v"};
    parts[i] = net_slice(n, names[i], qkv, 2, i * width, (i + 1) * width);
  }
  const int q = net_heads(n, "attn.q", parts[0], heads, false);
  int k = net_heads(n, "attn.k", parts[1], heads, !n->options.present);
  const int v = net_heads(n, "attn.v", parts[2], heads, false);
  present(n, k, v);
  if (n->options.present) k = net_transpose(n, "attn.k.transpose", k, (int64_t[]){0, 1, 3, 2});
  int y = attend(n, q, k, v, mask, width, 1);
  x = net_add(n, "add_1", net_linear(n, "attn.c_proj", y, width, true), x);
  y = gelu_new(n, net_linear(n, "mlp.c_fc", net_layer_norm(n, "ln_2", x), 4 * width, true));
  return net_add(n, "add_2", net_linear(n, "mlp.c_proj", y, width, true), x);
}

void net_gpt2(net *n) {
  const int64_t width = model_width(n, 768, HEAD);
  int x = hidden_states(n, width);
  const int mask = mask_of(n);
  for (int64_t i = 0; i < n->options.layers; i++) {
    net_prefix(n, "h.%d.", (int)i);
    x = gpt2_block(n, x, width, mask);
  }
  result(n, x);
}

static int rms_norm(net *n, const char *name, int x) {
  char text[6][96];
  static const char *const parts[] = {"pow", "mean", "add", "sqrt", "div", "weight"};
  for (int i = 0; i < 6; i++) snprintf(text[i], sizeof text[i], "%s.%s", name, parts[i]);
  const graph_tensor in = *net_tensor(n, x);
  char two[96], epsilon[96];
  snprintf(two, sizeof two, "%s.two", name);
  snprintf(epsilon, sizeof epsilon, "%s.epsilon", name);
  int y = net_binary(n, GRAPH_OP_POW, text[0], x, net_number(n, two, 2), n->power[x] * n->power[x]);
  y = net_node(n, GRAPH_OP_REDUCE_MEAN, text[1], &y, 1, 3, (int64_t[]){in.dim[0], in.dim[1], 1}, n->power[x]);
  graph_set_ints(n->g, net_last(n), "axes", (int64_t[]){-1}, 1);
  graph_set_int(n->g, net_last(n), "keepdims", 1);
  y = net_binary(n, GRAPH_OP_ADD, text[2], y, net_number(n, epsilon, 1e-5), n->power[y]);
  y = net_binary(n, GRAPH_OP_DIV, text[4], x, net_unary(n, GRAPH_OP_SQRT, text[3], y, 1), 1);
  float *gains = wf_alloc((size_t)in.dim[2], sizeof *gains);
  for (int64_t i = 0; i < in.dim[2]; i++) gains[i] = (float)net_uniform(n, 0.8, 1.2);
  const int weight = net_floats(n, text[5], 1, &in.dim[2], gains);
  wf_free(gains);
  return net_binary(n, GRAPH_OP_MUL, name, y, weight, 1);
}

// Cosines (or sines) of the rotary embedding, [1,1,S,D]: both halves of a head turn alike.
static int rotary_table(net *n, const char *name, int64_t head, double phase) {
  const int64_t sequence = n->options.sequence, past = n->options.past;
  float *values = wf_alloc((size_t)(sequence * head), sizeof *values);
  for (int64_t s = 0; s < sequence; s++)
    for (int64_t d = 0; d < head; d++) {
      const double angle = (double)(past + s) * pow(10000, -2.0 * (double)(d % (head / 2)) / (double)head);
      values[s * head + d] = (float)cos(angle + phase);
    }
  const int table = net_floats(n, name, 4, (int64_t[]){1, 1, sequence, head}, values);
  wf_free(values);
  return table;
}

static int rotate(net *n, const char *name, int x, int cosines, int sines) {
  char text[6][96];
  static const char *const parts[] = {"low", "high", "neg", "turned", "cos", "sin"};
  for (int i = 0; i < 6; i++) snprintf(text[i], sizeof text[i], "%s.%s", name, parts[i]);
  const int64_t head = net_tensor(n, x)->dim[3];
  const double power = n->power[x];
  const int low = net_slice(n, text[0], x, 3, 0, head / 2), high = net_slice(n, text[1], x, 3, head / 2, head);
  const int turned = net_concat(n, text[3], (int[]){net_unary(n, GRAPH_OP_NEG, text[2], high, power), low}, 2, 3);
  return net_add(n, name, net_binary(n, GRAPH_OP_MUL, text[4], x, cosines, power / 2),
                 net_binary(n, GRAPH_OP_MUL, text[5], turned, sines, power / 2));
}

typedef struct llama {
  int64_t width, hidden, head;
  int64_t times;             // heads of queries for each one of keys and values
  int mask, cosines, sines;  // tensors
} llama;

static int llama_attention(net *n, int x, const llama *l) {
  const int64_t heads = l->width / l->head, shared = heads / l->times;
  const int q = net_heads(n, "q", net_linear(n, "self_attn.q_proj", x, l->width, false), heads, false),
            k = net_heads(n, "k", net_linear(n, "self_attn.k_proj", x, shared * l->head, false), shared, false),
            v = net_heads(n, "v", net_linear(n, "self_attn.v_proj", x, shared * l->head, false), shared, false);
  const int rotated = rotate(n, "k.rotary", k, l->cosines, l->sines);
  present(n, rotated, v);
  const int turned = repeat_heads(n, "k.repeat", rotated, l->times);
  const int keys = net_transpose(n, "k.transpose", turned, (int64_t[]){0, 1, 3, 2});
  const int values = repeat_heads(n, "v.repeat", v, l->times);
  const int queries = rotate(n, "q.rotary", q, l->cosines, l->sines);
  return net_linear(n, "self_attn.o_proj", attend(n, queries, keys, values, l->mask, l->width, l->times), l->width,
                    false);
}

static int llama_block(net *n, int x, const llama *l) {
  x = net_add(n, "add_1", llama_attention(n, rms_norm(n, "input_layernorm", x), l), x);
  const int y = rms_norm(n, "post_attention_layernorm", x);
  const int gate = net_linear(n, "mlp.gate_proj", y, l->hidden, false),
            up = net_linear(n, "mlp.up_proj", y, l->hidden, false);
  const int silu =
      net_binary(n, GRAPH_OP_MUL, "mlp.act", gate, net_unary(n, GRAPH_OP_SIGMOID, "mlp.sigmoid", gate, 0.3), 0.35);
  const int gated = net_binary(n, GRAPH_OP_MUL, "mlp.mul", silu, up, 0.35);
  return net_add(n, "add_2", net_linear(n, "mlp.down_proj", gated, l->width, false), x);
}

static void llama_blocks(net *n, int64_t hidden, int64_t times) {
  llama l = {.width = model_width(n, 4096, 128), .hidden = net_width(n, hidden), .head = 128, .times = times};
  while ((l.width / l.head) % l.times != 0) l.times--;  // narrow variants
  int x = hidden_states(n, l.width);
  l.mask = mask_of(n);
  l.cosines = rotary_table(n, "cos", l.head, 0);
  l.sines = rotary_table(n, "sin", l.head, -M_PI / 2);
  for (int64_t i = 0; i < n->options.layers; i++) {
    net_prefix(n, "layers.%d.", (int)i);
    x = llama_block(n, x, &l);
  }
  result(n, x);
}

void net_llama2(net *n) { llama_blocks(n, 11008, 1); }

void net_llama3(net *n) { llama_blocks(n, 14336, 4); }

// Patches to tokens, a class token in front, positions added.
static int patches(net *n, int64_t width) {
  const int64_t side = n->options.size / 16, tokens = side * side, batch = n->options.batch;
  int x = net_input(n, "input", 4, (int64_t[]){batch, 3, n->options.size, n->options.size});
  x = net_conv(n, "conv_proj", x, width, (net_window){.kernel = 16, .stride = 16, .groups = 1}, true);
  x = net_reshape(n, "patches", x, 3, (int64_t[]){batch, width, tokens});
  x = net_transpose(n, "tokens", x, (int64_t[]){0, 2, 1});
  const int token = net_weights(n, "class_token", 3, (int64_t[]){1, 1, width}, 1);
  const int shape = net_ints(n, "class_shape", (int64_t[]){batch, 1, width}, 3);
  const int first = net_node(n, GRAPH_OP_EXPAND, "class", (int[]){token, shape}, 2, 3, (int64_t[]){batch, 1, width}, 1);
  x = net_concat(n, "concat", (int[]){first, x}, 2, 1);
  return net_add(n, "embedded", x, net_weights(n, "pos_embedding", 3, (int64_t[]){1, tokens + 1, width}, 0.3));
}

void net_vit(net *n) {
  const int64_t width = model_width(n, 768, HEAD);
  int x = patches(n, width);
  for (int64_t i = 0; i < n->options.layers; i++) {
    net_prefix(n, "encoder.layers.%d.", (int)i);
    int y = self_attention(n, net_layer_norm(n, "ln_1", x), width, width / HEAD);
    x = net_add(n, "add_1", net_linear(n, "out_proj", y, width, true), x);
    y = net_gelu(n, "mlp.1", net_linear(n, "mlp.0", net_layer_norm(n, "ln_2", x), 4 * width, true));
    x = net_add(n, "add_2", net_linear(n, "mlp.3", y, width, true), x);
  }
  net_prefix(n, "%s", "");
  x = net_slice(n, "first", net_layer_norm(n, "encoder.ln", x), 1, 0, 1);
  x = net_reshape(n, "class_state", x, 2, (int64_t[]){n->options.batch, width});
  net_output(n, net_gemm(n, "heads.head", x, 1000));
}
