// SPDX-License-Identifier: Apache-2.0
// Runs published test models: every folder below the given ones that holds a model.onnx and test_data_set_*/input_*.pb
// and output_*.pb. Prints a row per operator and what was refused and why; exit code 1 if a result differs.
//
//   onnx_nodes [--markdown] [--verbose] FOLDER...
//
// quantise_nodes is the same behind quantise_prepare.
#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "compiler/graph/element.h"
#include "compiler/onnx/private.h"
#ifdef NODES_PREPARED
#include "compiler/quantise/quantise.h"
#endif

enum { SLOTS = 64 };

typedef enum { PASSED, REFUSED, FAILED, OUTCOMES } outcome;

typedef struct row {
  char *operator, * reason;
  unsigned count[OUTCOMES];
} row;

typedef struct report {
  row *rows;
  size_t row_count, room;
  unsigned count[OUTCOMES];
  bool verbose;
  wf_arena *arena;
} report;

// ---- one data set

typedef struct data_set {
  graph_tensor inputs[SLOTS], outputs[SLOTS];
  bool has_input[SLOTS], has_output[SLOTS];
  double tolerance[SLOTS];  // of results: as many bits as the file's type has
} data_set;

static bool exists(const char *path) {
  struct stat info;
  return stat(path, &info) == 0;
}

// false: a value is no tensor.
static bool load(wf_arena *arena, const char *folder, const char *what, graph_tensor *to, bool *has, wf_diag *diag) {
  bool ok = true;
  for (int i = 0; i < SLOTS && ok; i++) {
    char *path = wf_format("%s/%s_%d.pb", folder, what, i);
    has[i] = exists(path);
    if (has[i]) ok = onnx_read_tensor(path, arena, &to[i], diag);
    wf_free(path);
  }
  return ok;
}

static bool is_bf16(const Onnx__ValueInfoProto *info) {
  return info->type != NULL && info->type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
         info->type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16;
}

// The data of BFLOAT16 is stored as integers of 16 bits, the upper halves of f32.
static void widen_bf16(wf_arena *arena, const Onnx__ValueInfoProto *info, graph_tensor *t) {
  if (!is_bf16(info) || t->type != GRAPH_U16) return;
  const int64_t count = graph_elements(t);
  uint32_t *bits = WF_ARENA_ARRAY(arena, (size_t)count + 1, uint32_t);
  for (int64_t i = 0; i < count; i++) bits[i] = (uint32_t)((const uint16_t *)t->data)[i] << 16;
  t->type = GRAPH_F32;
  t->data = bits;
}

// What 7 bits of fraction lose is not an error.
static void take_bf16(wf_arena *arena, const Onnx__GraphProto *model, data_set *d) {
  for (size_t i = 0; i < model->n_input && i < SLOTS && d->has_input[i]; i++)
    widen_bf16(arena, model->input[i], &d->inputs[i]);
  for (size_t o = 0; o < model->n_output && o < SLOTS && d->has_output[o]; o++) {
    d->tolerance[o] = is_bf16(model->output[o]) ? 0x1p-7 : 1e-3;
    widen_bf16(arena, model->output[o], &d->outputs[o]);
  }
}

static bool is_close(const graph_tensor *a, const graph_tensor *b, size_t i, double tolerance) {
  if (!graph_is_real(a->type)) return graph_int_at(a->type, a->data, i) == graph_int_at(b->type, b->data, i);
  double x = graph_real_at(a->type, a->data, i), y = graph_real_at(b->type, b->data, i);
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y);
  return x == y || fabs(x - y) <= 1e-6 + tolerance * fabs(y);
}

static bool equal(const graph_tensor *got, const graph_tensor *expected, double tolerance, wf_diag *diag) {
  if (got->type != expected->type || !graph_same_shape(got, expected)) {
    wf_error(diag, wf_in_file(got->name), "another type or shape");
    return false;
  }
  for (size_t i = 0; i < (size_t)graph_elements(got); i++)
    if (!is_close(got, expected, i, tolerance)) {
      wf_error(diag, wf_in_file(got->name), "element %zu is %g instead of %g", i,
               graph_real_at(got->type, got->data, i), graph_real_at(expected->type, expected->data, i));
      return false;
    }
  return true;
}

// The value of an input, by the name in its file, or else by its place.
static const graph_tensor *value_of(const data_set *d, const Onnx__GraphProto *model, const char *name) {
  for (int i = 0; i < SLOTS; i++)
    if (d->has_input[i] && strcmp(d->inputs[i].name, name) == 0) return &d->inputs[i];
  for (size_t i = 0; i < model->n_input && i < SLOTS; i++)
    if (d->has_input[i] && strcmp(model->input[i]->name, name) == 0) return &d->inputs[i];
  return NULL;
}

// The data of an input whose type alone counts may have any shape.
static bool is_read(const graph *g, int tensor) {
  for (int n = 0; n < g->node_count; n++)
    for (int i = 0; i < g->nodes[n].input_count; i++)
      if (g->nodes[n].inputs[i] == tensor) return true;
  for (int o = 0; o < g->output_count; o++)
    if (g->outputs[o] == tensor) return true;
  return false;
}

static outcome run(const graph *g, const data_set *d, const Onnx__GraphProto *model, wf_arena *arena, wf_diag *diag) {
  const void *inputs[SLOTS];
  void *outputs[SLOTS];
  if (g->input_count > SLOTS || g->output_count > SLOTS) return REFUSED;
  for (int i = 0; i < g->input_count; i++) {
    const graph_tensor *t = &g->tensors[g->inputs[i]], *given = value_of(d, model, t->name);
    inputs[i] = NULL;
    if (!is_read(g, g->inputs[i])) continue;
    if (given == NULL || given->type != t->type || !graph_same_shape(given, t)) {
      wf_error(diag, wf_in_file(t->name), "the data does not fit the input");
      return FAILED;
    }
    inputs[i] = given->data;
  }
  for (int o = 0; o < g->output_count; o++)
    outputs[o] = wf_arena_alloc(arena, graph_bytes(&g->tensors[g->outputs[o]]) + 1, 1);
  if (!graph_run(g, inputs, outputs, NULL, diag)) return FAILED;
  for (int o = 0; o < g->output_count; o++) {
    graph_tensor got = g->tensors[g->outputs[o]];
    got.data = outputs[o];
    if (!d->has_output[o] || !equal(&got, &d->outputs[o], d->tolerance[o], diag)) return FAILED;
  }
  return PASSED;
}

// ---- one model: at first as it is; if its shapes depend on inputs, with these as constants

static bool is_small(const graph_tensor *t) { return graph_elements(t) <= 16 && t->rank <= 1; }

static graph *read_bound(const char *path, const data_set *d, const Onnx__GraphProto *model, bool floats,
                         wf_diag *diag) {
  onnx_value values[SLOTS];
  onnx_options options = {.values = values};
  for (size_t i = 0; i < model->n_input && i < SLOTS; i++) {
    const graph_tensor *t = value_of(d, model, model->input[i]->name);
    if (t == NULL || (!floats && (t->type == GRAPH_F32 || !is_small(t)))) continue;
    values[options.value_count++] = (onnx_value){model->input[i]->name, t};
  }
  return onnx_read(path, &options, diag);
}

static graph *read_some_way(const char *path, const data_set *d, const Onnx__GraphProto *model, wf_diag *diag) {
  wf_diag quiet = wf_diag_to(NULL);
  graph *g = onnx_read(path, NULL, &quiet);
  if (g == NULL) g = read_bound(path, d, model, false, &quiet);
  if (g == NULL) g = read_bound(path, d, model, true, &quiet);
  return g != NULL ? g : onnx_read(path, NULL, diag);
}

#ifdef NODES_PREPARED
// As the quantiser prepares them: what operators are written as computes the same.
static graph *prepared(graph *g, wf_diag *diag) {
  quantise_pins pins;
  if (g == NULL || quantise_prepare(g, &pins, diag)) return g;
  graph_destroy(g);
  return NULL;
}
#else
static graph *prepared(graph *g, wf_diag *diag) {
  (void)diag;
  return g;
}
#endif

static outcome run_model(const char *folder, const char *path, const Onnx__GraphProto *model, wf_diag *diag) {
  outcome result = REFUSED;
  for (int s = 0; s < SLOTS; s++) {
    char *set = wf_format("%s/test_data_set_%d", folder, s);
    bool there = exists(set);
    wf_arena *arena = wf_arena_create();
    data_set *d = WF_ARENA_NEW(arena, data_set);
    wf_diag quiet = wf_diag_to(NULL);
    bool tensors = there && load(arena, set, "input", d->inputs, d->has_input, &quiet) &&
                   load(arena, set, "output", d->outputs, d->has_output, &quiet);
    if (tensors) take_bf16(arena, model, d);
    if (there && !tensors) {
      graph *g = onnx_read(path, NULL, diag);
      if (g != NULL) wf_error(diag, wf_in_file(set), "its data is no tensor");
      graph_destroy(g);
    } else if (there) {
      graph *g = prepared(read_some_way(path, d, model, diag), diag);
      result = g == NULL ? REFUSED : run(g, d, model, arena, diag);
      graph_destroy(g);
    }
    wf_arena_destroy(arena);
    wf_free(set);
    if (!there || result != PASSED) break;
  }
  return result;
}

// ---- the report

static row *row_of(report *r, const char *operator) {
  for (size_t i = 0; i < r->row_count; i++)
    if (strcmp(r->rows[i].operator, operator) == 0) return &r->rows[i];
  row *added = WF_ARENA_PUSH(r->arena, r->rows, r->row_count, &r->room);
  *added = (row){.operator= wf_arena_text(r->arena, operator, strlen(operator))};
  return added;
}

// What one model says, without the file and the node.
static char *reason_of(report *r, const char *message) {
  const char *from = strstr(message, "): ");
  from = from != NULL ? from + 3 : strstr(message, "error: ") != NULL ? strstr(message, "error: ") + 7 : message;
  return wf_arena_text(r->arena, from, strcspn(from, "\n"));
}

// The operator that a model of one node tests.
static const char *operator_of(const Onnx__ModelProto *model) {
  if (model == NULL || model->graph == NULL || model->graph->n_node == 0) return "(none)";
  return model->graph->n_node == 1 ? model->graph->node[0]->op_type : "(several)";
}

static void test_folder(report *r, const char *folder, const char *path) {
  onnx_file file;
  char *message = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&message, &length);
  wf_diag diag = wf_diag_to(out);
  Onnx__ModelProto *model = NULL;
  if (onnx_file_open(path, &file, &diag)) {
    model = onnx__model_proto__unpack(NULL, file.length, file.bytes);
    onnx_file_close(&file);
  }
  outcome result = REFUSED;
  if (model != NULL && model->graph != NULL) result = run_model(folder, path, model->graph, &diag);
  fclose(out);
  row *of = row_of(r, operator_of(model));
  of->count[result]++;
  r->count[result]++;
  if (result == REFUSED && of->reason == NULL) of->reason = reason_of(r, message);
  if (result == FAILED || (r->verbose && result == REFUSED)) fprintf(stderr, "%s: %s", folder, message);
  if (model != NULL) onnx__model_proto__free_unpacked(model, NULL);
  free(message);
}

static void walk(report *r, const char *folder) {
  struct dirent **entries;
  char *path = wf_format("%s/model.onnx", folder);
  if (exists(path)) {
    test_folder(r, folder, path);
  } else {
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
      char *inner = wf_format("%s/%s", folder, entries[i]->d_name);
      if (entries[i]->d_name[0] != '.' && entries[i]->d_type != DT_REG) walk(r, inner);
      wf_free(inner);
      free(entries[i]);
    }
    if (count >= 0) free(entries);
  }
  wf_free(path);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const row *)a)->operator,((const row *)b)->operator);
}

static void print_table(const report *r) {
  printf("%-28s %7s %8s %7s  %s\n", "operator", "passed", "refused", "failed", "why refused");
  for (size_t i = 0; i < r->row_count; i++) {
    const row *of = &r->rows[i];
    printf("%-28s %7u %8u %7u  %s\n", of->operator, of->count[PASSED], of->count[REFUSED], of->count[FAILED],
           of->reason != NULL ? of->reason : "");
  }
  printf("all %32u %8u %7u\n", r->count[PASSED], r->count[REFUSED], r->count[FAILED]);
}

// Operators of the graph that no test model of one node has are named as well, so that the page lists all.
static void print_page(report *r) {
  for (int op = 0; op < GRAPH_OP_COUNT; op++)
    if (graph_op_info((graph_op)op)->of_onnx) row_of(r, graph_op_name((graph_op)op));
  qsort(r->rows, r->row_count, sizeof r->rows[0], by_name);
  printf(
      "# ONNX operators\n\nWritten by\n`build/release/compiler/onnx/tests/onnx_nodes --markdown "
      "/usr/share/libonnx-testdata/data > docs/onnx-operators.md`:\n"
      "the models of the ONNX project's tests (opset 1 to 17), by the operator of models of one node.\n"
      "Passed: the result is right (integers equal, real numbers within 0.1 %%). Refused: reading the model\n"
      "names the reason; the first one is given. A row without models has an operator that other tests\n"
      "cover.\n\n| operator | passed | refused | why refused |\n|---|---|---|---|\n");
  for (size_t i = 0; i < r->row_count; i++)
    printf("| %s | %u | %u | %s |\n", r->rows[i].operator, r->rows[i].count[PASSED], r->rows[i].count[REFUSED],
           r->rows[i].reason != NULL ? r->rows[i].reason : "");
  printf("| all | %u | %u | |\n", r->count[PASSED], r->count[REFUSED]);
}

int main(int argc, char **argv) {
  report r = {.arena = wf_arena_create()};
  bool markdown = false;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--markdown") == 0)
      markdown = true;
    else if (strcmp(argv[i], "--verbose") == 0)
      r.verbose = true;
    else
      walk(&r, argv[i]);
  }
  qsort(r.rows, r.row_count, sizeof r.rows[0], by_name);
  if (markdown)
    print_page(&r);
  else
    print_table(&r);
  bool ok = r.count[FAILED] == 0 && r.count[PASSED] != 0;
  wf_arena_destroy(r.arena);
  return ok ? 0 : 1;
}
