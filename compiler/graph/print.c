// SPDX-License-Identifier: Apache-2.0
// Prints a graph in the syntax that parse.c reads.
//
//   graph NAME
//   input NAME TYPE[DIM, ...] [scale F zero N]
//   constant NAME TYPE[DIM, ...] [scale F zero N] = [VALUE, ...] | hex "BYTES" | digest "HASH"
//   node NAME OP(NAME, _, ...) -> NAME TYPE[DIM, ...] ..., _ [{NAME = VALUE, ...}] [array | host ["REASON"]]
//   output NAME
//
// One statement per line; # starts a comment. NAME is a word of letters, digits and _ . / : or a quoted text; _ is an
// input or output that is left out. A VALUE is an integer, a float (with a point, an exponent, inf or nan), a quoted
// text or a list of one of the first two; an empty list of floats is [.]. A digest stands for data that was not printed
// and is not read.
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "compiler/graph/element.h"
#include "compiler/graph/graph.h"

enum { SHORT_ELEMENTS = 8, NUMBER_ROOM = 40 };

static bool is_word(const char *name) {
  if (!isalpha((unsigned char)name[0]) && (name[0] != '_' || name[1] == '\0') && name[0] != '/') return false;
  if (strcmp(name, "inf") == 0 || strcmp(name, "nan") == 0) return false;
  for (; *name != '\0'; name++)
    if (!isalnum((unsigned char)*name) && strchr("_./:", *name) == NULL) return false;
  return true;
}

static void print_quoted(const char *text, FILE *out) {
  fputc('"', out);
  for (; *text != '\0'; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else if (c < 0x20 || c == 0x7f)
      fprintf(out, "\\x%02x", c);
    else
      fputc(c, out);
  }
  fputc('"', out);
}

static void print_name(const char *name, FILE *out) {
  if (is_word(name))
    fputs(name, out);
  else
    print_quoted(name, out);
}

// In as few digits as give the number back.
static void print_real(double number, bool binary32, FILE *out) {
  char text[NUMBER_ROOM];
  if (isnan(number)) {
    fputs("nan", out);
    return;
  }
  for (int digits = binary32 ? 6 : 15; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    double back = strtod(text, NULL);
    if (back == number || (binary32 && (float)back == (float)number)) break;
  }
  fputs(text, out);
  if (strpbrk(text, ".en") == NULL) fputs(".0", out);
}

static void print_shape(const graph_tensor *t, FILE *out) {
  fprintf(out, "%s[", graph_type_names[t->type]);
  for (int d = 0; d < t->rank; d++) fprintf(out, "%s%" PRId64, d == 0 ? "" : ", ", t->dim[d]);
  fputc(']', out);
  if (t->scale == 0.0f) return;
  fputs(" scale ", out);
  print_real((double)t->scale, true, out);
  fprintf(out, " zero %" PRId32, t->zero);
}

static void print_element(const graph_tensor *t, size_t index, FILE *out) {
  if (t->type == GRAPH_F32 || t->type == GRAPH_F64)
    print_real(graph_real_at(t->type, t->data, index), t->type == GRAPH_F32, out);
  else if (t->type == GRAPH_U64)
    fprintf(out, "%" PRIu64, (uint64_t)graph_int_at(t->type, t->data, index));
  else
    fprintf(out, "%" PRId64, graph_int_at(t->type, t->data, index));
}

static void print_data(const graph_tensor *t, bool all, FILE *out) {
  size_t elements = (size_t)graph_elements(t), bytes = graph_bytes(t);
  const unsigned char *data = t->data;
  if (elements <= SHORT_ELEMENTS) {
    fputc('[', out);
    for (size_t i = 0; i < elements; i++) {
      if (i != 0) fputs(", ", out);
      print_element(t, i, out);
    }
    fputc(']', out);
  } else if (all) {
    fputs("hex \"", out);
    for (size_t i = 0; i < bytes; i++) fprintf(out, "%02x", data[i]);
    fputc('"', out);
  } else {
    fprintf(out, "digest \"%016" PRIx64 "\"", wf_hash(WF_HASH_START, data, bytes));
  }
}

static void print_tensor(const graph *g, int tensor, FILE *out) {
  if (tensor == GRAPH_NONE) {
    fputc('_', out);
    return;
  }
  print_name(g->tensors[tensor].name, out);
  fputc(' ', out);
  print_shape(&g->tensors[tensor], out);
}

static void print_value(const graph_attribute *a, FILE *out) {
  const char *comma = "";
  if (a->kind == GRAPH_INT) {
    fprintf(out, "%" PRId64, a->integer);
  } else if (a->kind == GRAPH_FLOAT) {
    print_real((double)a->number, true, out);
  } else if (a->kind == GRAPH_TEXT) {
    print_quoted(a->text, out);
  } else {
    fputs(a->kind == GRAPH_FLOATS && a->count == 0 ? "[." : "[", out);
    for (int i = 0; i < a->count; i++, comma = ", ") {
      fputs(comma, out);
      if (a->kind == GRAPH_INTS)
        fprintf(out, "%" PRId64, a->integers[i]);
      else
        print_real((double)a->numbers[i], true, out);
    }
    fputc(']', out);
  }
}

static void print_attributes(const graph_node *node, FILE *out) {
  const char *before = " {";
  for (int a = 0; a < node->attribute_count; a++, before = ", ") {
    fputs(before, out);
    print_name(node->attributes[a].name, out);
    fputs(" = ", out);
    print_value(&node->attributes[a], out);
  }
  if (node->attribute_count != 0) fputc('}', out);
}

static void print_node(const graph *g, const graph_node *node, FILE *out) {
  static const char *const places[] = {[GRAPH_UNPLACED] = "", [GRAPH_ON_ARRAY] = " array", [GRAPH_ON_HOST] = " host"};
  fputs("node ", out);
  print_name(node->name, out);
  fprintf(out, " %s(", graph_op_name(node->op));
  for (int i = 0; i < node->input_count; i++) {
    if (i != 0) fputs(", ", out);
    if (node->inputs[i] == GRAPH_NONE)
      fputc('_', out);
    else
      print_name(g->tensors[node->inputs[i]].name, out);
  }
  fputs(") -> ", out);
  for (int o = 0; o < node->output_count; o++) {
    if (o != 0) fputs(", ", out);
    print_tensor(g, node->outputs[o], out);
  }
  print_attributes(node, out);
  fputs(places[node->place], out);
  if (node->place != GRAPH_UNPLACED && node->reason != NULL) {
    fputc(' ', out);
    print_quoted(node->reason, out);
  }
  fputc('\n', out);
}

void graph_print(const graph *g, bool all, FILE *out) {
  fputs("graph ", out);
  print_name(g->name, out);
  fputc('\n', out);
  for (int i = 0; i < g->input_count; i++) {
    fputs("input ", out);
    print_tensor(g, g->inputs[i], out);
    fputc('\n', out);
  }
  for (int t = 0; t < g->tensor_count; t++) {
    if (g->tensors[t].data == NULL) continue;
    fputs("constant ", out);
    print_tensor(g, t, out);
    fputs(" = ", out);
    print_data(&g->tensors[t], all, out);
    fputc('\n', out);
  }
  for (int n = 0; n < g->node_count; n++) print_node(g, &g->nodes[n], out);
  for (int o = 0; o < g->output_count; o++) {
    fputs("output ", out);
    print_name(g->tensors[g->outputs[o]].name, out);
    fputc('\n', out);
  }
}
