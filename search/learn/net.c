// SPDX-License-Identifier: Apache-2.0
// The network forwards and backwards: see net.h. Matrices are stored row by row, from inputs to outputs.
#include "search/learn/net.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "search/learn/matrix.h"

enum { D = LEARN_WIDTH, T = LEARN_SITES, HEAD = D / LEARN_HEADS, INNER = LEARN_INNER };

// Where weights begin.
typedef struct encoder_places {
  size_t norm[2], query, key, value, mix, mix_bias, up, up_bias, down, down_bias;
} encoder_places;

typedef struct places {
  size_t in[T], in_bias[T], embed[T], embed_bias[T];
  encoder_places layer[LEARN_LAYERS];
  size_t out, out_bias, count;
} places;

// What a layer keeps for the way back, for all tokens.
typedef struct encoder_kept {
  float *x, *normed[2], *spread[2], *query, *key, *value, *attention, *mixed, *middle, *inner;
} encoder_kept;

struct learn_net {
  learn_places sites;
  places at;
  float mean[LEARN_FEATURES], scale[LEARN_FEATURES];
  float *weights;
  size_t room;               // rows
  float *features, *hidden;  // by site and row: what is embedded
  float *tokens;             // by row and site
  encoder_kept kept[LEARN_LAYERS];
  float *slope, *slope2, *wide;  // on the way back
};

static size_t take(size_t *count, size_t weights) {
  const size_t first = *count;
  *count += weights;
  return first;
}

static places places_of(const learn_places *sites) {
  places p = {0};
  size_t n = 0;
  for (int t = 0; t < T; t++) {
    p.in[t] = take(&n, (size_t)(sites->first[t + 1] - sites->first[t]) * D);
    p.in_bias[t] = take(&n, D);
    p.embed[t] = take(&n, D * D);
    p.embed_bias[t] = take(&n, D);
  }
  for (int i = 0; i < LEARN_LAYERS; i++) {
    encoder_places *l = &p.layer[i];
    *l = (encoder_places){.norm = {take(&n, 2 * D), take(&n, 2 * D)}};
    l->query = take(&n, D * D);
    l->key = take(&n, D * D);
    l->value = take(&n, D * D);
    l->mix = take(&n, D * D);
    l->mix_bias = take(&n, D);
    l->up = take(&n, D * INNER);
    l->up_bias = take(&n, INNER);
    l->down = take(&n, INNER * D);
    l->down_bias = take(&n, D);
  }
  p.out = take(&n, D);
  p.out_bias = take(&n, 1);
  p.count = n;
  return p;
}

// ---- creation

// Sums of twelve are near to normal.
static float draw(uint64_t *seed, double spread) {
  double sum = -6;
  for (int i = 0; i < 12; i++) sum += wf_random_unit(seed);
  return (float)(spread * sum);
}

static void draw_matrix(learn_net *net, uint64_t *seed, size_t at, size_t rows, size_t columns) {
  for (size_t i = 0; i < rows * columns; i++) net->weights[at + i] = draw(seed, sqrt(1.0 / (double)rows));
}

static void draw_weights(learn_net *net, uint64_t seed) {
  const places *p = &net->at;
  for (int t = 0; t < T; t++) {
    draw_matrix(net, &seed, p->in[t], (size_t)(net->sites.first[t + 1] - net->sites.first[t]), D);
    draw_matrix(net, &seed, p->embed[t], D, D);
  }
  for (int i = 0; i < LEARN_LAYERS; i++) {
    const encoder_places *l = &p->layer[i];
    for (int n = 0; n < 2; n++)
      for (int d = 0; d < D; d++) net->weights[l->norm[n] + (size_t)d] = 1;
    draw_matrix(net, &seed, l->query, D, D);
    draw_matrix(net, &seed, l->key, D, D);
    draw_matrix(net, &seed, l->value, D, D);
    draw_matrix(net, &seed, l->mix, D, D);
    draw_matrix(net, &seed, l->up, D, INNER);
    draw_matrix(net, &seed, l->down, INNER, D);
  }
}

static void measure_features(learn_net *net, const learn_set *set) {
  for (int f = 0; f < LEARN_FEATURES; f++) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < set->count; i++) sum += set->rows[i].features[f];
    const double mean = set->count == 0 ? 0 : sum / (double)set->count;
    for (size_t i = 0; i < set->count; i++) squares += pow(set->rows[i].features[f] - mean, 2);
    const double spread = set->count == 0 ? 0 : sqrt(squares / (double)set->count);
    net->mean[f] = (float)mean;
    net->scale[f] = spread > 1e-6 ? (float)(1 / spread) : 0;
  }
}

learn_net *learn_net_create(const learn_set *set, uint64_t seed) {
  learn_net *net = WF_NEW(learn_net);
  net->sites = learn_places_of();
  net->at = places_of(&net->sites);
  net->weights = WF_NEW_ARRAY(net->at.count, float);
  draw_weights(net, seed);
  measure_features(net, set);
  return net;
}

static void release_rows(learn_net *net) {
  wf_free(net->features);
  wf_free(net->hidden);
  wf_free(net->tokens);
  wf_free(net->slope);
  wf_free(net->slope2);
  wf_free(net->wide);
  for (int i = 0; i < LEARN_LAYERS; i++) {
    encoder_kept *k = &net->kept[i];
    wf_free(k->x);
    for (int n = 0; n < 2; n++) {
      wf_free(k->normed[n]);
      wf_free(k->spread[n]);
    }
    wf_free(k->query);
    wf_free(k->key);
    wf_free(k->value);
    wf_free(k->attention);
    wf_free(k->mixed);
    wf_free(k->middle);
    wf_free(k->inner);
  }
}

void learn_net_destroy(learn_net *net) {
  if (net == NULL) return;
  release_rows(net);
  wf_free(net->weights);
  wf_free(net);
}

size_t learn_net_weights(const learn_net *net) { return net->at.count; }

float *learn_net_weight(learn_net *net) { return net->weights; }

static float *floats(size_t count) { return WF_NEW_ARRAY(count, float); }

static void make_room(learn_net *net, size_t rows) {
  if (rows <= net->room) return;
  release_rows(net);
  net->room = rows;
  const size_t tokens = rows * T;
  net->features = floats(rows * LEARN_FEATURES);
  net->hidden = floats(tokens * D);
  net->tokens = floats(tokens * D);
  net->slope = floats(tokens * D);
  net->slope2 = floats(tokens * D);
  net->wide = floats(tokens * INNER);
  for (int i = 0; i < LEARN_LAYERS; i++) {
    encoder_kept *k = &net->kept[i];
    *k = (encoder_kept){.x = floats(tokens * D),
                        .normed = {floats(tokens * D), floats(tokens * D)},
                        .spread = {floats(tokens), floats(tokens)},
                        .query = floats(tokens * D),
                        .key = floats(tokens * D),
                        .value = floats(tokens * D),
                        .attention = floats(rows * LEARN_HEADS * T * T),
                        .mixed = floats(tokens * D),
                        .middle = floats(tokens * D),
                        .inner = floats(tokens * INNER)};
  }
}

// ---- matrices

static void add_bias(const float *bias, float *y, size_t rows, size_t out) {
  for (size_t r = 0; r < rows; r++) memcpy(&y[r * out], bias, out * sizeof *y);
}

// Slopes of x and of w from those of y; both are added.
static void multiply_back(const float *x, const float *w, const float *dy, float *dx, float *dw, size_t rows, size_t in,
                          size_t out) {
  float turned[INNER * D];
  learn_multiply_turned(x, dy, dw, rows, in, out);
  if (dx == NULL) return;
  for (size_t i = 0; i < in; i++)
    for (size_t o = 0; o < out; o++) turned[o * in + i] = w[i * out + o];
  learn_multiply(dy, turned, dx, rows, out, in);
}

static void bias_back(const float *dy, float *db, size_t rows, size_t out) {
  for (size_t r = 0; r < rows; r++)
    for (size_t o = 0; o < out; o++) db[o] += dy[r * out + o];
}

static void relu(float *x, size_t count) {
  for (size_t i = 0; i < count; i++) x[i] = x[i] > 0 ? x[i] : 0;
}

static void relu_back(const float *y, float *dy, size_t count) {
  for (size_t i = 0; i < count; i++) dy[i] = y[i] > 0 ? dy[i] : 0;
}

// ---- norms: to mean 0 and spread 1, then scaled and moved by weights

static void norm(const float *x, const float *weights, float *normed, float *spread, float *y, size_t tokens) {
  for (size_t t = 0; t < tokens; t++) {
    float mean = 0, squares = 0;
    for (int d = 0; d < D; d++) mean += x[t * D + (size_t)d] / D;
    for (int d = 0; d < D; d++) squares += (x[t * D + (size_t)d] - mean) * (x[t * D + (size_t)d] - mean) / D;
    spread[t] = 1 / sqrtf(squares + 1e-5F);
    for (int d = 0; d < D; d++) {
      const size_t i = t * D + (size_t)d;
      normed[i] = (x[i] - mean) * spread[t];
      y[i] = normed[i] * weights[d] + weights[D + d];
    }
  }
}

static void norm_back(const float *normed, const float *spread, const float *weights, const float *dy, float *dx,
                      float *dw, size_t tokens) {
  for (size_t t = 0; t < tokens; t++) {
    float sum = 0, along = 0;
    for (int d = 0; d < D; d++) {
      const size_t i = t * D + (size_t)d;
      dw[d] += dy[i] * normed[i];
      dw[D + d] += dy[i];
      sum += dy[i] * weights[d] / D;
      along += dy[i] * weights[d] * normed[i] / D;
    }
    for (int d = 0; d < D; d++) {
      const size_t i = t * D + (size_t)d;
      dx[i] += spread[t] * (dy[i] * weights[d] - sum - along * normed[i]);
    }
  }
}

// ---- attention of the tokens of a row to each other, by heads

static void attend_head(const encoder_kept *k, size_t row, int head) {
  const size_t first = row * T * D + (size_t)head * HEAD;
  float *a = &k->attention[(row * LEARN_HEADS + (size_t)head) * T * T];
  for (int t = 0; t < T; t++) {
    float most = -INFINITY, sum = 0;
    for (int u = 0; u < T; u++) {
      float dot = 0;
      for (int d = 0; d < HEAD; d++) dot += k->query[first + (size_t)(t * D + d)] * k->key[first + (size_t)(u * D + d)];
      a[t * T + u] = dot / sqrtf(HEAD);
      most = fmaxf(most, a[t * T + u]);
    }
    for (int u = 0; u < T; u++) sum += a[t * T + u] = expf(a[t * T + u] - most);
    for (int u = 0; u < T; u++) a[t * T + u] /= sum;
    for (int d = 0; d < HEAD; d++) {
      float mixed = 0;
      for (int u = 0; u < T; u++) mixed += a[t * T + u] * k->value[first + (size_t)(u * D + d)];
      k->mixed[first + (size_t)(t * D + d)] = mixed;
    }
  }
}

typedef struct attention_slopes {
  float *query, *key, *value;
} attention_slopes;

static void attend_head_back(const encoder_kept *k, size_t row, int head, const float *dmixed,
                             const attention_slopes *s) {
  const size_t first = row * T * D + (size_t)head * HEAD;
  const float *a = &k->attention[(row * LEARN_HEADS + (size_t)head) * T * T];
  for (int t = 0; t < T; t++) {
    float da[T], sum = 0;
    for (int u = 0; u < T; u++) {
      da[u] = 0;
      for (int d = 0; d < HEAD; d++) {
        const size_t from = first + (size_t)(u * D + d), to = first + (size_t)(t * D + d);
        da[u] += dmixed[to] * k->value[from];
        s->value[from] += a[t * T + u] * dmixed[to];
      }
      sum += da[u] * a[t * T + u];
    }
    for (int u = 0; u < T; u++) {
      const float by = a[t * T + u] * (da[u] - sum) / sqrtf(HEAD);
      for (int d = 0; d < HEAD; d++) {
        const size_t from = first + (size_t)(u * D + d), to = first + (size_t)(t * D + d);
        s->query[to] += by * k->key[from];
        s->key[from] += by * k->query[to];
      }
    }
  }
}

// ---- one encoder layer: x + mix(attend(norm x)), then x + down(relu(up(norm x)))

static void clear(float *values, size_t count) { memset(values, 0, count * sizeof *values); }

static void encode(learn_net *net, int layer, size_t rows) {
  const encoder_places *l = &net->at.layer[layer];
  const encoder_kept *k = &net->kept[layer];
  const float *w = net->weights;
  const size_t tokens = rows * T;
  float *x = net->tokens, *y = net->slope;
  memcpy(k->x, x, tokens * D * sizeof *x);
  norm(x, &w[l->norm[0]], k->normed[0], k->spread[0], y, tokens);
  clear(k->query, tokens * D);
  clear(k->key, tokens * D);
  clear(k->value, tokens * D);
  learn_multiply(y, &w[l->query], k->query, tokens, D, D);
  learn_multiply(y, &w[l->key], k->key, tokens, D, D);
  learn_multiply(y, &w[l->value], k->value, tokens, D, D);
  for (size_t r = 0; r < rows; r++)
    for (int h = 0; h < LEARN_HEADS; h++) attend_head(k, r, h);
  for (size_t i = 0; i < tokens; i++)
    for (int d = 0; d < D; d++) x[i * D + (size_t)d] += w[l->mix_bias + (size_t)d];
  learn_multiply(k->mixed, &w[l->mix], x, tokens, D, D);
  memcpy(k->middle, x, tokens * D * sizeof *x);
  norm(x, &w[l->norm[1]], k->normed[1], k->spread[1], y, tokens);
  add_bias(&w[l->up_bias], k->inner, tokens, INNER);
  learn_multiply(y, &w[l->up], k->inner, tokens, D, INNER);
  relu(k->inner, tokens * INNER);
  for (size_t i = 0; i < tokens; i++)
    for (int d = 0; d < D; d++) x[i * D + (size_t)d] += w[l->down_bias + (size_t)d];
  learn_multiply(k->inner, &w[l->down], x, tokens, INNER, D);
}

// What a norm gave is not kept: it is scaled again.
static void scaled(const float *normed, const float *weights, float *y, size_t tokens) {
  for (size_t t = 0; t < tokens; t++)
    for (int d = 0; d < D; d++) y[t * D + (size_t)d] = normed[t * D + (size_t)d] * weights[d] + weights[D + d];
}

// `dx` are the slopes of what the layer gives, and become those of what it got.
static void encode_back(learn_net *net, int layer, size_t rows, float *dx, float *dw) {
  const encoder_places *l = &net->at.layer[layer];
  const encoder_kept *k = &net->kept[layer];
  const float *w = net->weights;
  const size_t tokens = rows * T, values = tokens * D;
  float *y = net->tokens, *dy = net->slope2, *inner = net->wide;
  // The second half.
  bias_back(dx, &dw[l->down_bias], tokens, D);
  clear(inner, tokens * INNER);
  multiply_back(k->inner, &w[l->down], dx, inner, &dw[l->down], tokens, INNER, D);
  relu_back(k->inner, inner, tokens * INNER);
  bias_back(inner, &dw[l->up_bias], tokens, INNER);
  scaled(k->normed[1], &w[l->norm[1]], y, tokens);
  clear(dy, values);
  multiply_back(y, &w[l->up], inner, dy, &dw[l->up], tokens, D, INNER);
  norm_back(k->normed[1], k->spread[1], &w[l->norm[1]], dy, dx, &dw[l->norm[1]], tokens);
  // The first half.
  bias_back(dx, &dw[l->mix_bias], tokens, D);
  clear(dy, values);
  multiply_back(k->mixed, &w[l->mix], dx, dy, &dw[l->mix], tokens, D, D);
  const attention_slopes s = {.query = inner, .key = inner + values, .value = inner + 2 * values};
  clear(inner, 3 * values);
  for (size_t r = 0; r < rows; r++)
    for (int h = 0; h < LEARN_HEADS; h++) attend_head_back(k, r, h, dy, &s);
  scaled(k->normed[0], &w[l->norm[0]], y, tokens);
  clear(dy, values);
  multiply_back(y, &w[l->query], s.query, dy, &dw[l->query], tokens, D, D);
  multiply_back(y, &w[l->key], s.key, dy, &dw[l->key], tokens, D, D);
  multiply_back(y, &w[l->value], s.value, dy, &dw[l->value], tokens, D, D);
  norm_back(k->normed[0], k->spread[0], &w[l->norm[0]], dy, dx, &dw[l->norm[0]], tokens);
}

// ---- the whole

static size_t width_of(const learn_net *net, int site) {
  return (size_t)(net->sites.first[site + 1] - net->sites.first[site]);
}

static void embed(learn_net *net, const learn_set *set, size_t first, size_t rows) {
  const float *w = net->weights;
  float *features = net->features;
  for (int t = 0; t < T; t++) {
    const size_t width = width_of(net, t), from = (size_t)net->sites.first[t];
    float *hidden = &net->hidden[(size_t)t * rows * D], *token = net->slope;
    for (size_t r = 0; r < rows; r++)
      for (size_t f = 0; f < width; f++)
        features[r * width + f] =
            (set->rows[first + r].features[from + f] - net->mean[from + f]) * net->scale[from + f];
    add_bias(&w[net->at.in_bias[t]], hidden, rows, D);
    learn_multiply(features, &w[net->at.in[t]], hidden, rows, width, D);
    relu(hidden, rows * D);
    add_bias(&w[net->at.embed_bias[t]], token, rows, D);
    learn_multiply(hidden, &w[net->at.embed[t]], token, rows, D, D);
    for (size_t r = 0; r < rows; r++) memcpy(&net->tokens[(r * T + (size_t)t) * D], &token[r * D], D * sizeof *token);
    features += rows * width;
  }
}

static void embed_back(learn_net *net, size_t rows, const float *dx, float *dw) {
  const float *w = net->weights, *features = net->features;
  for (int t = 0; t < T; t++) {
    const size_t width = width_of(net, t);
    const float *hidden = &net->hidden[(size_t)t * rows * D];
    float *dtoken = net->slope2, *dhidden = net->wide;
    for (size_t r = 0; r < rows; r++) memcpy(&dtoken[r * D], &dx[(r * T + (size_t)t) * D], D * sizeof *dtoken);
    bias_back(dtoken, &dw[net->at.embed_bias[t]], rows, D);
    clear(dhidden, rows * D);
    multiply_back(hidden, &w[net->at.embed[t]], dtoken, dhidden, &dw[net->at.embed[t]], rows, D, D);
    relu_back(hidden, dhidden, rows * D);
    bias_back(dhidden, &dw[net->at.in_bias[t]], rows, D);
    multiply_back(features, &w[net->at.in[t]], dhidden, NULL, &dw[net->at.in[t]], rows, width, D);
    features += rows * width;
  }
}

void learn_net_say(learn_net *net, const learn_set *set, size_t first, size_t rows, float *said) {
  make_room(net, rows);
  embed(net, set, first, rows);
  for (int i = 0; i < LEARN_LAYERS; i++) encode(net, i, rows);
  const float *out = &net->weights[net->at.out];
  for (size_t r = 0; r < rows; r++) {
    said[r] = net->weights[net->at.out_bias];
    for (size_t i = 0; i < T * D; i++) said[r] += net->tokens[r * T * D + i] * out[i % D] / T;
  }
}

void learn_net_back(learn_net *net, size_t rows, const float *by, float *slopes) {
  const float *out = &net->weights[net->at.out];
  float *dx = net->slope;
  for (size_t r = 0; r < rows; r++) {
    slopes[net->at.out_bias] += by[r];
    for (size_t i = 0; i < T * D; i++) {
      slopes[net->at.out + i % D] += by[r] * net->tokens[r * T * D + i] / T;
      dx[r * T * D + i] = by[r] * out[i % D] / T;
    }
  }
  for (int i = LEARN_LAYERS; i-- > 0;) encode_back(net, i, rows, dx, slopes);
  embed_back(net, rows, dx, slopes);
}
