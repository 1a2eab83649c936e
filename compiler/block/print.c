// SPDX-License-Identifier: Apache-2.0
// Prints a block program in the syntax that parse.c reads.
//
//   program NAME [style loop] [dataflow os]
//   tensor NAME TYPE[ELEMENTS] [read] [write] [packed] [= VALUE[*COUNT] ...]
//   loop NAME TRIPS [parallel] [dim D] [split OUTER limit N]
//   buffer NAME TYPE[SIZE, ...] [sp | acc] [depth N] [row N] [slot N] [tiled]
//   for LOOP { ... }
//   load VIEW = | += ACCESS [scale F] [sum_over LOOP, ...]
//   dot VIEW = | += VIEW[.T] * VIEW[.T] [blocks] [sum_over LOOP, ...]
//   OP VIEW = VIEW | NUMBER [, VIEW | NUMBER]
//   store ACCESS = VIEW [relu] [scale F] [NORM] [pool SIZE stride N [border N] [pad UPPER LEFT]]
//   NORM: softmax B C LN2 INVERSE [columns N [below INDEX [step N]]] | gelu B C | layernorm [of VIEW]
//
// One statement per line; # starts a comment. A VIEW is NAME[INDEX:SIZE [step N], ...] or NAME for the whole buffer, an
// ACCESS is NAME[[BASE;] INDEX:SIZE [step N] of EXTENT stride N, ...], an INDEX a sum like pid_m*64+k*16+3. TYPE is i8,
// i32 or f32. What is left out has the value that block_add_... gives.
#include <inttypes.h>
#include <stdlib.h>

#include "compiler/block/build.h"

// In as few digits as give the number back. A scale is printed as the shortest number that rounds to it.
static void print_number(double number, bool binary32, FILE *out) {
  char text[40];
  for (int digits = 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, number);
    double back = strtod(text, NULL);
    if (back == number || (binary32 && (float)back == (float)number)) break;
  }
  fputs(text, out);
}

static void print_affine(const block_program *p, const block_affine *affine, FILE *out) {
  const char *plus = "";
  for (int l = 0; l < p->loop_count; l++) {
    int64_t factor = affine->per_loop[l];
    if (factor == 0) continue;
    fprintf(out, "%s%s", plus, p->loops[l].name);
    if (factor != 1) fprintf(out, "*%" PRId64, factor);
    plus = "+";
  }
  if (affine->constant == 0 && plus[0] != '\0') return;
  fprintf(out, "%s%" PRId64, affine->constant < 0 ? "" : plus, affine->constant);
}

static void print_box(const block_program *p, const block_affine *offset, int64_t size, int64_t step, FILE *out) {
  print_affine(p, offset, out);
  fprintf(out, ":%" PRId64, size);
  if (step != 1) fprintf(out, " step %" PRId64, step);
}

static void print_view(const block_program *p, const block_view *view, FILE *out) {
  const block_buffer *buffer = &p->buffers[view->buffer];
  fputs(buffer->name, out);
  if (block_is_whole(p, view)) return;
  for (int d = 0; d < buffer->rank; d++) {
    fputs(d == 0 ? "[" : ", ", out);
    print_box(p, &view->dim[d].offset, view->dim[d].size, view->dim[d].step, out);
  }
  fputc(']', out);
}

static void print_access(const block_program *p, const block_access *access, FILE *out) {
  const block_affine none = {0};
  fprintf(out, "%s[", p->tensors[access->tensor].name);
  if (!block_affine_equal(&access->base, &none)) {
    print_affine(p, &access->base, out);
    fputs("; ", out);
  }
  for (int d = 0; d < access->rank; d++) {
    const block_access_dim *dim = &access->dim[d];
    if (d != 0) fputs(", ", out);
    print_box(p, &dim->offset, dim->size, dim->step, out);
    fprintf(out, " of %" PRId64 " stride %" PRId64, dim->extent, dim->stride);
  }
  fputc(']', out);
}

static void print_loops(const block_program *p, const char *word, uint32_t loops, FILE *out) {
  for (int l = 0; l < p->loop_count; l++) {
    if ((loops >> l & 1) == 0) continue;
    fprintf(out, "%s%s", word, p->loops[l].name);
    word = ", ";
  }
}

static void print_scale(float scale, FILE *out) {
  fputs(" scale ", out);
  print_number((double)scale, true, out);
}

static void print_load(const block_program *p, const block_statement *s, FILE *out) {
  fputs("load ", out);
  print_view(p, &s->load.target, out);
  fputs(s->load.accumulate ? " += " : " = ", out);
  print_access(p, &s->load.access, out);
  if (s->load.scaled) print_scale(s->load.scale, out);
  print_loops(p, " sum_over ", s->load.overwrite_first, out);
}

static void print_dot(const block_program *p, const block_statement *s, FILE *out) {
  fputs("dot ", out);
  print_view(p, &s->dot.target, out);
  fputs(s->dot.accumulate ? " += " : " = ", out);
  print_view(p, &s->dot.a, out);
  fputs(s->dot.a_transposed ? ".T * " : " * ", out);
  print_view(p, &s->dot.b, out);
  if (s->dot.b_transposed) fputs(".T", out);
  if (s->dot.blocks) fputs(" blocks", out);
  print_loops(p, " sum_over ", s->dot.overwrite_first, out);
}

static void print_operand(const block_program *p, const block_operand *operand, FILE *out) {
  if (operand->is_number)
    print_number(operand->number, false, out);
  else
    print_view(p, &operand->view, out);
}

static void print_elementwise(const block_program *p, const block_statement *s, FILE *out) {
  fprintf(out, "%s ", block_op_names[s->elementwise.op]);
  print_view(p, &s->elementwise.target, out);
  fputs(" = ", out);
  print_operand(p, &s->elementwise.a, out);
  if (block_op_arity(s->elementwise.op) == 1) return;
  fputs(", ", out);
  print_operand(p, &s->elementwise.b, out);
}

static void print_norm(const block_norm *norm, FILE *out) {
  if (norm->kind == BLOCK_NO_NORM) return;
  fprintf(out, " %s", block_norm_names[norm->kind]);
  if (norm->kind == BLOCK_GELU) fprintf(out, " %" PRId32 " %" PRId32, -norm->b, -norm->c);
  if (norm->kind == BLOCK_SOFTMAX)
    fprintf(out, " %" PRId32 " %" PRId32 " %" PRId32 " %" PRId32, norm->b, norm->c, norm->ln2, norm->ln2_inverse);
}

// The columns of each row that count: a number, or up to a number that varies from row to row.
static void print_lengths(const block_program *p, const block_lengths *lengths, FILE *out) {
  if (lengths->most == 0) return;
  fprintf(out, " columns %" PRId64, lengths->most);
  if (lengths->step == 0 && block_affine_is_constant(&lengths->first) && lengths->first.constant == lengths->most)
    return;
  fputs(" below ", out);
  print_affine(p, &lengths->first, out);
  if (lengths->step != 0) fprintf(out, " step %" PRId64, lengths->step);
}

static void print_store(const block_program *p, const block_statement *s, FILE *out) {
  const block_epilogue *e = &s->store.epilogue;
  fputs("store ", out);
  print_access(p, &s->store.access, out);
  fputs(" = ", out);
  print_view(p, &s->store.source, out);
  if (e->relu) fputs(" relu", out);
  if (e->scaled && !block_norm_is_of_rows(e->norm.kind)) print_scale(e->scale, out);
  print_norm(&e->norm, out);
  if (s->store.apart) {
    fputs(" of ", out);
    print_view(p, &s->store.statistics, out);
  }
  print_lengths(p, &s->store.lengths, out);
  if (s->store.gated) {
    fputs(" gate ", out);
    print_view(p, &s->store.factors, out);
    print_scale(s->store.gate_scale, out);
  }
  if (e->pool.stride == 0) return;
  fprintf(out, " pool %" PRIu32 " stride %" PRIu32, e->pool.size, e->pool.stride);
  if (e->pool.border != 0) fprintf(out, " border %" PRIu32, e->pool.border);
  if (e->pool.upper_padding != 0 || e->pool.left_padding != 0)
    fprintf(out, " pad %" PRIu32 " %" PRIu32, e->pool.upper_padding, e->pool.left_padding);
}

static void print_list(const block_program *p, const block_statement *list, int depth, FILE *out) {
  static void (*const print[])(const block_program *, const block_statement *, FILE *) = {
      [BLOCK_LOAD] = print_load,
      [BLOCK_DOT] = print_dot,
      [BLOCK_ELEMENTWISE] = print_elementwise,
      [BLOCK_STORE] = print_store};
  for (; list != NULL; list = list->next) {
    fprintf(out, "%*s", 2 * depth, "");
    if (list->kind == BLOCK_FOR) {
      const block_loop *loop = &p->loops[list->loop.loop];
      fprintf(out, "for %s {  # %" PRId64 "%s\n", loop->name, loop->trips, loop->parallel ? " parallel" : "");
      print_list(p, list->loop.body, depth + 1, out);
      fprintf(out, "%*s}\n", 2 * depth, "");
    } else {
      print[list->kind](p, list, out);
      fputc('\n', out);
    }
  }
}

static void print_loop(const block_program *p, const block_loop *loop, FILE *out) {
  fprintf(out, "loop %s %" PRId64, loop->name, loop->trips);
  if (loop->parallel) fputs(" parallel", out);
  if (loop->dim != BLOCK_DIM_NONE) fprintf(out, " dim %s", block_dim_names[loop->dim]);
  if (loop->split_of != BLOCK_NONE)
    fprintf(out, " split %s limit %" PRId64, p->loops[loop->split_of].name, loop->limit);
  fputc('\n', out);
}

static void print_buffer(const block_buffer *buffer, FILE *out) {
  static const char *const scopes[] = {[BLOCK_UNPLACED] = "", [BLOCK_SP] = " sp", [BLOCK_ACC] = " acc"};
  fprintf(out, "buffer %s %s", buffer->name, block_type_names[buffer->type]);
  for (int d = 0; d < buffer->rank; d++) fprintf(out, "%s%" PRId64, d == 0 ? "[" : ", ", buffer->size[d]);
  fprintf(out, "]%s", scopes[buffer->scope]);
  if (buffer->depth != 1) fprintf(out, " depth %" PRIu32, buffer->depth);
  if (buffer->first_row != 0) fprintf(out, " row %" PRIu32, buffer->first_row);
  if (buffer->slot_rows != 0) fprintf(out, " slot %" PRIu32, buffer->slot_rows);
  fputs(buffer->tiled ? " tiled\n" : "\n", out);
}

// Equal elements one behind the other as VALUE*COUNT.
static void print_contents(const block_tensor *tensor, FILE *out) {
  fputs(" =", out);
  for (int64_t first = 0, end; first < tensor->elements; first = end) {
    for (end = first; end < tensor->elements && tensor->contents[end] == tensor->contents[first];) end++;
    fprintf(out, " %d", tensor->contents[first]);
    if (end - first > 1) fprintf(out, "*%" PRId64, end - first);
  }
}

static void print_tensor(const block_tensor *tensor, FILE *out) {
  fprintf(out, "tensor %s %s[%" PRId64 "]%s%s", tensor->name, block_type_names[tensor->type], tensor->elements,
          tensor->read ? " read" : "", tensor->written ? " write" : "");
  if (tensor->packed) fputs(" packed", out);
  if (tensor->contents != NULL) print_contents(tensor, out);
  fputc('\n', out);
}

void block_print(const block_program *p, FILE *out) {
  fprintf(out, "program %s%s%s\n", p->name, p->style == BLOCK_STYLE_LOOP ? " style loop" : "",
          p->dataflow == BLOCK_OS ? " dataflow os" : "");
  for (int t = 0; t < p->tensor_count; t++) print_tensor(&p->tensors[t], out);
  for (int l = 0; l < p->loop_count; l++) print_loop(p, &p->loops[l], out);
  for (int b = 0; b < p->buffer_count; b++) print_buffer(&p->buffers[b], out);
  print_list(p, p->body, 0, out);
}
