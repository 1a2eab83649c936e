// SPDX-License-Identifier: Apache-2.0
// How far each tensor of the placed graph is from the float model's: signal to noise of all that the nodes before it
// and itself lose. Which node loses it follows from its inputs.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/graph/run.h"
#include "compiler/quantise/quantise.h"

#define RELEVANT_DB 15.0
#define UNKNOWN_DB 400.0  // of what nothing has changed yet; above all that binary32 can show

typedef struct comparison {
  const graph *model, *placed;
  const quantise_forms *forms;
  int *form_of;            // by tensor of the placed graph: its entry, or GRAPH_NONE
  bool *wanted;            // by tensor of the model
  float **values;          // by tensor of the model: of the sample that runs
  double *signal, *noise;  // by tensor of the placed graph
  int *maker;              // by tensor of the placed graph: the node, or GRAPH_NONE
} comparison;

// The tensor has the bytes of a multiple of what the form stands for.
static bool is_multiple(const quantise_form *f, const graph_tensor *t) {
  return f->scale < t->scale || f->scale > t->scale;
}

static void find_forms(comparison *c) {
  for (int t = 0; t < c->placed->tensor_count; t++) c->form_of[t] = c->maker[t] = GRAPH_NONE;
  for (int n = 0; n < c->placed->node_count; n++)
    for (int o = 0; o < c->placed->nodes[n].output_count; o++)
      if (c->placed->nodes[n].outputs[o] != GRAPH_NONE) c->maker[c->placed->nodes[n].outputs[o]] = n;
  for (int i = 0; i < c->forms->count; i++) {
    const quantise_form *f = &c->forms->of[i];
    const int t = graph_find_tensor(c->placed, f->tensor);
    if (t == GRAPH_NONE) continue;
    const graph_tensor *a = &c->model->tensors[f->model], *b = &c->placed->tensors[t];
    if (a->type != GRAPH_F32 || a->data != NULL || graph_elements(a) != graph_elements(b)) continue;
    if (c->form_of[t] != GRAPH_NONE && is_multiple(f, b)) continue;
    c->form_of[t] = i;
    c->wanted[f->model] = true;
  }
}

static void keep_value(comparison *c, int tensor, const void *value) {
  if (!c->wanted[tensor] || value == NULL || c->values[tensor] != NULL) return;
  const size_t bytes = graph_bytes(&c->model->tensors[tensor]);
  c->values[tensor] = memcpy(wf_alloc(bytes + 1, 1), value, bytes);
}

static bool after_model(void *context, const graph *g, const graph_node *node, void *const *values) {
  (void)g;
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE) keep_value(context, node->outputs[o], values[node->outputs[o]]);
  return true;
}

// Element i of the model's tensor in one with the channels last.
static int64_t place_of(const graph_tensor *t, bool last, int64_t i) {
  if (!last) return i;
  const int64_t channels = t->dim[1], places = t->dim[2] * t->dim[3];
  return (i / (channels * places) * places + i % places) * channels + i / places % channels;
}

static double number_of(const graph_tensor *t, const void *data, int64_t i) {
  if (t->type == GRAPH_F32) return (double)((const float *)data)[i];
  return (double)t->scale * (double)(((const int8_t *)data)[i] - t->zero);
}

static void compare(comparison *c, int tensor, const void *data) {
  const quantise_form *f = &c->forms->of[c->form_of[tensor]];
  const graph_tensor *a = &c->model->tensors[f->model], *b = &c->placed->tensors[tensor];
  const float *want = c->values[f->model];
  if (want == NULL || data == NULL || (b->type != GRAPH_F32 && b->type != GRAPH_I8)) return;
  for (int64_t i = 0, n = graph_elements(a); i < n; i++) {
    const double error = number_of(b, data, place_of(a, f->last, i)) - (double)want[i];
    c->signal[tensor] += (double)want[i] * (double)want[i];
    c->noise[tensor] += error * error;
  }
}

static bool after_placed(void *context, const graph *g, const graph_node *node, void *const *values) {
  comparison *c = context;
  (void)g;
  for (int o = 0; o < node->output_count; o++)
    if (node->outputs[o] != GRAPH_NONE && c->form_of[node->outputs[o]] != GRAPH_NONE)
      compare(c, node->outputs[o], values[node->outputs[o]]);
  return true;
}

static bool run(const graph *g, const void *const *inputs, graph_run_options *options, wf_diag *diag) {
  void **outputs = WF_NEW_ARRAY((size_t)g->output_count + 1, void *);
  options->file = g->name;
  const bool ran = graph_run(g, inputs, outputs, options, diag);
  wf_free(outputs);
  return ran;
}

static bool run_sample(comparison *c, const void *const *inputs, wf_diag *diag) {
  graph_run_options model = {.after = after_model, .context = c}, placed = {.after = after_placed, .context = c};
  for (int i = 0; i < c->model->input_count; i++) keep_value(c, c->model->inputs[i], inputs[i]);
  const bool ran = run(c->model, inputs, &model, diag) && run(c->placed, inputs, &placed, diag);
  for (int t = 0; t < c->model->tensor_count; t++) {
    wf_free(c->values[t]);
    c->values[t] = NULL;
  }
  return ran;
}

static bool run_samples(comparison *c, const quantise_options *o, wf_diag *diag) {
  enum { OTHER_INPUTS = 1000 };  // as in network.c
  for (int i = 0; i < o->input_sets; i++)
    if (!run_sample(c, o->inputs + i * c->model->input_count, diag)) return false;
  const int samples = o->input_sets > 0 ? 0 : o->samples > 0 ? o->samples : 2;
  for (int i = 0; i < samples; i++) {
    void **inputs = quantise_random_inputs(c->model, o->seed + OTHER_INPUTS + (uint64_t)i);
    const bool ran = run_sample(c, (const void *const *)inputs, diag);
    quantise_free_inputs(c->model, inputs);
    if (!ran) return false;
  }
  return true;
}

// ---- rows

static double ratio_db(double signal, double noise) {
  return noise <= 0 || signal <= 0 ? UNKNOWN_DB : fmin(10 * log10(signal / noise), UNKNOWN_DB);
}

// What lies far above the worst output is not lost by it.
static double loss_of(const quantise_layer *layer, double worst_db) {
  const double most = worst_db + RELEVANT_DB;
  return fmin(layer->input_db, most) - fmin(layer->sqnr_db, most);
}

static double worst_output(const graph *g, const double *db) {
  double worst = UNKNOWN_DB;
  for (int o = 0; o < g->output_count; o++) worst = fmin(worst, db[g->outputs[o]]);
  return worst;
}

static double least_input(const comparison *c, const graph_node *node, const double *db) {
  double least = UNKNOWN_DB;
  for (int i = 0; i < node->input_count; i++) {
    const int t = node->inputs[i];
    if (t != GRAPH_NONE && c->placed->tensors[t].data == NULL) least = fmin(least, db[t]);
  }
  return least;
}

static bool moves(graph_op op) {
  static const graph_op ops[] = {GRAPH_OP_RESHAPE, GRAPH_OP_FLATTEN, GRAPH_OP_SQUEEZE,        GRAPH_OP_UNSQUEEZE,
                                 GRAPH_OP_SLICE,   GRAPH_OP_SPLIT,   GRAPH_OP_TRANSPOSE,      GRAPH_OP_GATHER,
                                 GRAPH_OP_EXPAND,  GRAPH_OP_TILE,    GRAPH_OP_DEPTH_TO_SPACE, GRAPH_OP_PAD};
  for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
    if (ops[i] == op) return true;
  return false;
}

// Numbers that were small beside others may be all that is left: their noise is that of the node that made them.
static const char *cause_of(const comparison *c, int n) {
  const graph *g = c->placed;
  while (moves(g->nodes[n].op) && g->nodes[n].inputs[0] != GRAPH_NONE && c->maker[g->nodes[n].inputs[0]] != GRAPH_NONE)
    n = c->maker[g->nodes[n].inputs[0]];
  return g->nodes[n].name;
}

// What is not compared is as good as what it is made of.
static void fill_rows(const comparison *c, quantise_layers *layers) {
  const graph *g = c->placed;
  double *db = WF_NEW_ARRAY((size_t)g->tensor_count + 1, double);
  for (int t = 0; t < g->tensor_count; t++) db[t] = UNKNOWN_DB;
  for (int n = 0; n < g->node_count; n++) {
    const graph_node *node = &g->nodes[n];
    const double least = least_input(c, node, db);
    bool compared = false;
    for (int o = 0; o < node->output_count; o++) {
      const int t = node->outputs[o];
      if (t == GRAPH_NONE) continue;
      const bool known = c->form_of[t] != GRAPH_NONE && c->signal[t] > 0;
      db[t] = known ? ratio_db(c->signal[t], c->noise[t]) : least;
      if (!known || compared) continue;
      compared = true;
      layers->rows[layers->count++] =
          (quantise_layer){node->name, g->tensors[t].name, cause_of(c, n), node->op, db[t], least, 0};
    }
  }
  const double worst = worst_output(g, db);
  for (int i = 0; i < layers->count; i++) layers->rows[i].loss = loss_of(&layers->rows[i], worst);
  wf_free(db);
}

bool quantise_compare_layers(const graph *model, const graph *placed, const quantise_forms *forms,
                             const quantise_options *options, quantise_layers *layers, wf_diag *diag) {
  const size_t model_count = (size_t)model->tensor_count + 1, count = (size_t)placed->tensor_count + 1;
  comparison c = {model,
                  placed,
                  forms,
                  WF_NEW_ARRAY(count, int),
                  WF_NEW_ARRAY(model_count, bool),
                  WF_NEW_ARRAY(model_count, float *),
                  WF_NEW_ARRAY(count, double),
                  WF_NEW_ARRAY(count, double),
                  WF_NEW_ARRAY(count, int)};
  *layers = (quantise_layers){WF_NEW_ARRAY((size_t)placed->node_count + 1, quantise_layer), 0};
  find_forms(&c);
  const bool ran = run_samples(&c, options, diag);
  if (ran) fill_rows(&c, layers);
  wf_free(c.form_of);
  wf_free(c.wanted);
  wf_free(c.values);
  wf_free(c.signal);
  wf_free(c.noise);
  wf_free(c.maker);
  if (!ran) quantise_layers_release(layers);
  return ran;
}

void quantise_layers_release(quantise_layers *layers) {
  wf_free(layers->rows);
  *layers = (quantise_layers){0};
}

const quantise_layer *quantise_worst_layer(const quantise_layers *layers) {
  const quantise_layer *worst = NULL;
  for (int i = 0; i < layers->count; i++)
    if (worst == NULL || layers->rows[i].loss > worst->loss) worst = &layers->rows[i];
  return worst;
}
