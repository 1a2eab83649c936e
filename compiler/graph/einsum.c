// SPDX-License-Identifier: Apache-2.0
// Einsum: labels of the equation become dimensions; all combinations are summed up in binary64. An ellipsis stands for
// the leading dimensions that the labels leave over, and broadcasts.
#include "compiler/graph/einsum.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "compiler/graph/element.h"

static bool find_label(graph_call *c, graph_einsum *e, char label, int *index) {
  for (*index = 0; *index < e->labels; ++*index)
    if (e->label[*index] == label) return true;
  if (e->labels == GRAPH_EINSUM_LABELS)
    return graph_call_fail(c, "its equation has more than %d labels", GRAPH_EINSUM_LABELS);
  e->label[e->labels] = label;
  e->dim[e->labels++] = 1;
  return true;
}

// Expands one term to the labels of `rank` dimensions (-1: as many as the ellipsis of earlier terms had).
static int expand(graph_call *c, const char *term, size_t length, int rank, char *labels) {
  int letters = 0, count = 0;
  for (size_t i = 0; i < length; i++) letters += isalpha((unsigned char)term[i]) != 0;
  for (size_t i = 0; i < length; i++) {
    if (term[i] == '.') {
      if (i + 3 > length || strncmp(term + i, "...", 3) != 0)
        return graph_call_fail(c, "its equation has a single point"), -1;
      for (int more = rank - letters; more > 0 && count < GRAPH_RANK_MAX; more--) labels[count++] = (char)more;
      i += 2;
    } else if (isalpha((unsigned char)term[i]) && count < GRAPH_RANK_MAX) {
      labels[count++] = term[i];
    } else if (term[i] != ' ') {
      return graph_call_fail(c, "its equation has a term that cannot be read"), -1;
    }
  }
  return count;
}

static bool read_input(graph_call *c, graph_einsum *e, int input, const char *term, size_t length) {
  const graph_tensor *x = c->in[input];
  char labels[GRAPH_RANK_MAX];
  int64_t steps[GRAPH_RANK_MAX];
  int count = expand(c, term, length, x->rank, labels), label;
  if (count < 0) return false;
  if (count != x->rank) return graph_call_fail(c, "input %d has %d dimensions and %d labels", input, x->rank, count);
  graph_steps(x->rank, x->dim, steps);
  for (int d = 0; d < x->rank; d++) {
    if (!find_label(c, e, labels[d], &label)) return false;
    if (e->dim[label] == 1) e->dim[label] = x->dim[d];
    if (x->dim[d] != 1 && x->dim[d] != e->dim[label])
      return graph_call_fail(c, "its inputs differ in a dimension of one label");
    if (x->dim[d] != 1) e->step[input][label] += steps[d];
  }
  return true;
}

// Labels of the result: those behind the arrow; without one the labels that occur once, in alphabetical order, behind
// the ellipsis.
static int result_labels(graph_call *c, const graph_einsum *e, const char *text, char *labels) {
  const char *arrow = strstr(text, "->");
  int ellipsis = 0, count = 0;
  for (int l = 0; l < e->labels; l++)
    if (e->label[l] < ' ' && e->label[l] > ellipsis) ellipsis = e->label[l];
  if (arrow != NULL) {
    int letters = 0;
    for (const char *p = arrow + 2; *p != '\0'; p++) letters += isalpha((unsigned char)*p) != 0;
    return expand(c, arrow + 2, strlen(arrow + 2), letters + ellipsis, labels);
  }
  for (int more = ellipsis; more > 0; more--) labels[count++] = (char)more;
  for (int letter = 'A'; letter <= 'z'; letter++) {
    int times = 0;
    for (const char *p = text; *p != '\0'; p++) times += *p == letter;
    if (isalpha(letter) && times == 1 && count < GRAPH_RANK_MAX) labels[count++] = (char)letter;
  }
  return count;
}

bool graph_einsum_of(graph_call *c, graph_einsum *e, int64_t *dim, int *rank) {
  const char *text = graph_text(c->node, "equation", ""), *term = text;
  char labels[GRAPH_RANK_MAX];
  int label;
  if (c->in_count > GRAPH_EINSUM_OPERANDS)
    return graph_call_fail(c, "it has more than %d inputs", GRAPH_EINSUM_OPERANDS);
  *e = (graph_einsum){0};
  for (int i = 0; i < c->in_count; i++) {
    size_t length = strcspn(term, ",-");
    if (!read_input(c, e, i, term, length)) return false;
    term += length;
    bool last = i + 1 == c->in_count;
    if (last ? *term == ',' : *term != ',') return graph_call_fail(c, "its equation has another number of inputs");
    term += *term == ',';
  }
  *rank = result_labels(c, e, text, labels);
  if (*rank < 0) return false;
  int64_t step = 1;
  for (int d = *rank - 1; d >= 0; d--) {
    int before = e->labels;
    if (!find_label(c, e, labels[d], &label)) return false;
    if (e->labels != before || e->step[c->in_count][label] != 0)
      return graph_call_fail(c, "its result has a label that is unknown or doubled");
    dim[d] = e->dim[label];
    e->is_result[label] = true;
    e->step[c->in_count][label] = step;
    step *= dim[d] == 0 ? 1 : dim[d];
  }
  return true;
}

bool graph_infer_einsum(graph_call *c) {
  graph_einsum e;
  int64_t dim[GRAPH_RANK_MAX];
  int rank;
  for (int i = 1; i < c->in_count; i++)
    if (c->in[i]->type != c->in[0]->type) return graph_call_fail(c, "its inputs have different types");
  return graph_einsum_of(c, &e, dim, &rank) && graph_call_result(c, 0, c->in[0]->type, rank, dim);
}

bool graph_run_einsum(graph_call *c) {
  graph_type type = c->in[0]->type;
  int64_t dim[GRAPH_RANK_MAX];
  int rank, y = c->in_count;
  graph_einsum e;
  if (!graph_einsum_of(c, &e, dim, &rank)) return false;
  memset(c->to[0], 0, graph_bytes(c->out[0]));
  graph_rows r;
  const int64_t *const steps[] = {e.step[0], e.step[1], e.step[2], e.step[3]};
  graph_rows_start(&r, e.labels, e.dim, y + 1, steps);
  while (graph_rows_next(&r))
    for (int64_t i = 0; i < r.length; i++) {
      double value = 1;
      for (int o = 0; o < y; o++) value *= graph_real_at(type, c->in[o]->data, (size_t)(r.at[o] + i * r.by[o]));
      size_t to = (size_t)(r.at[y] + i * r.by[y]);
      graph_put_real(type, c->to[0], to, graph_real_at(type, c->to[0], to) + value);
    }
  return true;
}
