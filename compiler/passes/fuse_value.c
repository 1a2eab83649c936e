// SPDX-License-Identifier: Apache-2.0
// The algebra of what blocks stand for: see fuse_value.h. Each rule holds for every input, bit by bit:
//
// - Sums in int32 wrap, so their order does not matter.
// - (float)x * scale, rounding and saturation are monotone and map 0 to 0 when scale is finite and not negative;
//   then a maximum with 0 afterwards equals one before.
// - A minimum with 127 or more or a maximum with -128 or less, followed by saturation to int8, is saturation alone.
// - (x + y) * n is x * n + y * n for integers that wrap.
// - Saturating an int32 to int8 equals scaling it by 1, rounding and saturating: binary32 is exact where it matters.
#include "compiler/passes/fuse_value.h"

#include <math.h>
#include <string.h>

static bool refuse(fuse_context *c, const char *what, const char *hint) {
  wf_error(c->diag, c->where, "the accelerator has no %s", what);
  wf_hint(c->diag, "%s", hint);
  return false;
}

fuse_value fuse_number(double number, block_type type) {
  return (fuse_value){.kind = FUSE_NUMBER, .type = type, .number = number, .carried = BLOCK_NONE};
}

fuse_value fuse_loaded(block_statement *load, block_type type) {
  return (fuse_value){.kind = FUSE_LOADED,
                      .type = type,
                      .load = load,
                      .carried = BLOCK_NONE,
                      .scaled = load->load.scaled,
                      .scale = load->load.scale};
}

fuse_value fuse_carried(int buffer, block_type type) {
  return (fuse_value){.kind = FUSE_CARRIED, .type = type, .carried = buffer};
}

static fuse_value sum_of(fuse_context *c, int carried, const fuse_term *term) {
  fuse_value value = {.kind = FUSE_SUM, .type = BLOCK_I32, .carried = BLOCK_NONE, .sum = {.carried = carried}};
  if (term == NULL) return value;
  value.sum.terms = WF_ARENA_NEW(c->arena, fuse_term);
  value.sum.terms[0] = *term;
  value.sum.terms[0].factor = 1;
  value.sum.count = 1;
  return value;
}

static fuse_value sum_of_load(fuse_context *c, const fuse_value *v) {
  return sum_of(
      c, BLOCK_NONE,
      &(fuse_term){
          .statement = v->load, .top = v->load, .scaled = v->scaled, .scale = v->scale, .narrow = v->type == BLOCK_I8});
}

fuse_value fuse_product(fuse_context *c, block_statement *dot) {
  return sum_of(c, BLOCK_NONE, &(fuse_term){.statement = dot, .top = dot});
}

bool fuse_refuse_widened(fuse_context *c) {
  return refuse(c, "way back from rounded results to int32", "store them as int8 and load them in a second kernel");
}

// ---- products, element by element

// int8 elements of one load, as they come.
static bool is_plain_load(const fuse_value *v) {
  if (v->kind != FUSE_SUM || v->sum.carried != BLOCK_NONE || v->sum.count != 1 || v->relu || v->clamped) return false;
  const fuse_term *term = &v->sum.terms[0];
  return term->narrow && term->loops == 0 && term->factor == 1 && !v->scaled && v->gate == NULL;
}

static bool is_factors(const fuse_value *v) { return is_plain_load(v) && !v->sum.terms[0].scaled; }

// a * b of int8, which were widened: b from the scratchpad, a from the accumulator, perhaps scaled on its way in or
// out.
static bool multiply_by_load(fuse_value *v, const fuse_value *other) {
  const fuse_value a = *v;
  const bool first = is_factors(other) && (a.widened || is_plain_load(&a));
  const fuse_value *by = first ? other : &a;
  if (!first && !(is_factors(&a) && (other->widened || is_plain_load(other)))) return false;
  if (!first) *v = *other;
  if (!v->widened) v->scale = 1;
  v->scaled = true;
  v->widened = false;
  v->gate = by->sum.terms[0].statement;
  v->gate_scale = 1;
  return true;
}

// What may follow: one scale and rounding.
static bool behind_gate(fuse_context *c, block_op op, fuse_value *v, const fuse_value *other) {
  const bool number = other != NULL && other->kind == FUSE_NUMBER && isfinite((float)other->number);
  if (op == BLOCK_OP_COPY || (op == BLOCK_OP_MUL && number && other->number == 1)) return true;
  if (op == BLOCK_OP_SCALE && number && !v->gate_scaled && v->type == BLOCK_I32) {
    v->gate_scaled = true;
    v->gate_scale = (float)other->number;
    v->type = BLOCK_F32;
    return true;
  }
  if (op == BLOCK_OP_MUL && number && v->gate_scaled && v->gate_scale == 1 && v->type == BLOCK_F32) {
    v->gate_scale = (float)other->number;
    return true;
  }
  if (op == BLOCK_OP_TO_I8 && v->type != BLOCK_I8) {
    v->type = BLOCK_I8;
    return true;
  }
  return refuse(c, "other operation on a product of blocks than one scale and rounding to int8",
                "(a * b * scale).to(int8) is what the gate makes; store it, and go on with what is loaded");
}

// ---- sums

bool fuse_to_sum(fuse_context *c, fuse_value *v) {
  switch (v->kind) {
    case FUSE_NUMBER:
      if (v->number != 0)
        return refuse(c, "way to add a number to a block", "put it into the bias tensor, which is loaded and added");
      *v = sum_of(c, BLOCK_NONE, NULL);
      return true;
    case FUSE_LOADED:
      if (v->type == BLOCK_F32)
        return refuse(c, "sum of scaled values before they are rounded", "round to int8 first, then widen to int32");
      *v = sum_of_load(c, v);
      return true;
    case FUSE_CARRIED:
      if (v->type != BLOCK_I32)
        return refuse(c, "way to carry scaled or rounded results through a loop", "scale and round after the loop");
      *v = sum_of(c, v->carried, NULL);
      return true;
    case FUSE_SUM:
      if (!v->relu && !v->scaled && !v->clamped && v->gate == NULL) return true;
      return refuse(c, "sum of results that were clamped or scaled before",
                    "add first, or store the results and load them in a second kernel");
    case FUSE_LARGEST:
      return refuse(c, "sum of pooled results", "store them and load them in a second kernel");
    case FUSE_NOTHING:
      break;
  }
  return refuse(c, "value for a block that is set inside of a loop only", "set it before the loop");
}

static bool has_product(const fuse_sum *sum, const block_statement *dot) {
  for (int t = 0; t < sum->count; t++)
    if (sum->terms[t].statement == dot && dot->kind == BLOCK_DOT) return true;
  return false;
}

static bool joined(fuse_context *c, fuse_sum *a, const fuse_sum *b) {
  if (a->carried != BLOCK_NONE && b->carried != BLOCK_NONE)
    return refuse(c, "sum that takes its own results twice", "multiply the scale instead");
  for (int t = 0; t < b->count; t++)
    if (has_product(a, b->terms[t].statement))
      return refuse(c, "sum that takes a product twice", "multiply the scale instead");
  fuse_term *terms = WF_ARENA_ARRAY(c->arena, (size_t)(a->count + b->count) + 1, fuse_term);
  if (a->count != 0) memcpy(terms, a->terms, (size_t)a->count * sizeof *terms);
  if (b->count != 0) memcpy(terms + a->count, b->terms, (size_t)b->count * sizeof *terms);
  a->terms = terms;
  a->count += b->count;
  if (b->carried != BLOCK_NONE) a->carried = b->carried;
  a->overwrites |= b->overwrites;
  return true;
}

bool fuse_add(fuse_context *c, fuse_value *v, const fuse_value *other) {
  fuse_value right = *other;
  return fuse_to_sum(c, v) && fuse_to_sum(c, &right) && joined(c, &v->sum, &right.sum);
}

static bool add(fuse_context *c, fuse_value *v, const fuse_value *other) {
  if (v->type != BLOCK_I32)
    return refuse(c, "addition of float32 values",
                  "add in int32 before scaling; a scale for one of the inputs goes with its rounding to int8");
  return fuse_add(c, v, other);
}

void fuse_to_i8_sum(fuse_context *c, fuse_value *v) {
  *v = sum_of_load(c, v);
  v->type = BLOCK_I8;
  v->scaled = true;
  v->scale = 1;
}

// ---- the way out

static bool relu(fuse_context *c, fuse_value *v) {
  if (v->kind == FUSE_LOADED && v->type == BLOCK_F32)
    return refuse(c, "maximum of scaled values before they are rounded", "round to int8 first");
  if (v->kind == FUSE_LOADED && v->type == BLOCK_I8) fuse_to_i8_sum(c, v);
  if (v->kind != FUSE_SUM && !fuse_to_sum(c, v)) return false;
  if (v->scaled && !(v->scale >= 0))
    return refuse(c, "maximum with 0 after a negative scale", "take the maximum before scaling, or a positive scale");
  v->relu = true;
  return true;
}

// A minimum or maximum that saturation does anyway.
static bool clamp(fuse_context *c, fuse_value *v) {
  bool wide = v->type == BLOCK_I32 && (v->kind == FUSE_LOADED || v->kind == FUSE_CARRIED);
  if (wide && !fuse_to_sum(c, v)) return false;
  if (v->type != BLOCK_I8) v->clamped = true;
  return true;
}

// Loads and what is carried that a running maximum is taken of.
static bool largest_of(fuse_context *c, fuse_value *v) {
  if (v->kind == FUSE_LARGEST && v->loops == 0) return true;
  if (v->kind == FUSE_CARRIED && v->type == BLOCK_I8) {
    *v = (fuse_value){.kind = FUSE_LARGEST, .type = BLOCK_I8, .carried = v->carried};
    return true;
  }
  if (v->kind != FUSE_LOADED || v->type != BLOCK_I8 || v->scaled) return false;
  block_statement **loads = WF_ARENA_NEW(c->arena, block_statement *);
  loads[0] = v->load;
  *v = (fuse_value){.kind = FUSE_LARGEST, .type = BLOCK_I8, .carried = BLOCK_NONE, .loads = loads, .load_count = 1};
  return true;
}

static bool largest(fuse_context *c, fuse_value *v, const fuse_value *other) {
  fuse_value right = *other;
  bool one_carried = v->kind != FUSE_CARRIED || right.kind != FUSE_CARRIED;
  bool fits = one_carried && largest_of(c, v) && largest_of(c, &right);
  if (!fits || (v->carried != BLOCK_NONE && right.carried != BLOCK_NONE))
    return refuse(c, "maximum of two blocks",
                  "what there is: maximum(x, 0); pooling, a running maximum over loaded int8 blocks; and leaky ReLU "
                  "as two results that are added (workloads/kernels/leaky.py)");
  size_t left_count = (size_t)v->load_count, right_count = (size_t)right.load_count;
  block_statement **loads = WF_ARENA_ARRAY(c->arena, left_count + right_count, block_statement *);
  if (left_count != 0) memcpy(loads, v->loads, left_count * sizeof *loads);
  if (right_count != 0) memcpy(loads + left_count, right.loads, right_count * sizeof *loads);
  v->loads = loads;
  v->load_count += right.load_count;
  if (v->carried == BLOCK_NONE) v->carried = right.carried;
  return true;
}

static bool bounded(fuse_context *c, block_op op, fuse_value *v, const fuse_value *other) {
  if (other->kind == FUSE_NUMBER && v->kind == FUSE_NUMBER) {
    bool first = op == BLOCK_OP_MAX ? v->number > other->number : v->number < other->number;
    if (!first) v->number = other->number;
    return true;
  }
  if (other->kind != FUSE_NUMBER && v->kind != FUSE_NUMBER && op == BLOCK_OP_MAX) return largest(c, v, other);
  if (v->kind == FUSE_NUMBER) {
    fuse_value number = *v;
    *v = *other;
    return bounded(c, op, v, &number);
  }
  if (op == BLOCK_OP_MAX && other->kind == FUSE_NUMBER && other->number == 0) return relu(c, v);
  if (op == BLOCK_OP_MAX && other->kind == FUSE_NUMBER && other->number <= INT8_MIN) return clamp(c, v);
  if (op == BLOCK_OP_MIN && other->kind == FUSE_NUMBER && other->number >= INT8_MAX) return clamp(c, v);
  return refuse(c, op == BLOCK_OP_MIN ? "minimum other than saturation at 127" : "maximum other than 0 and -128",
                "choose the scale so that the bound falls on 127 or -128, where results saturate");
}

static bool scale(fuse_context *c, fuse_value *v, const fuse_value *other) {
  if (other->kind != FUSE_NUMBER) return refuse(c, "scale that is no number", "one scale for all results of a kernel");
  float factor = (float)other->number;
  if (!isfinite(factor)) return refuse(c, "scale that is not finite", "choose another one");
  if ((v->kind == FUSE_CARRIED || v->kind == FUSE_NUMBER || (v->kind == FUSE_LOADED && v->type == BLOCK_I32)) &&
      !fuse_to_sum(c, v))
    return false;
  bool possible = (v->kind == FUSE_LOADED || v->kind == FUSE_SUM) && !v->scaled && !v->clamped && v->type != BLOCK_F32;
  if (v->clamped) return refuse(c, "scaling of clamped results", "scale first; results saturate at -128 and 127");
  if (!possible) return refuse(c, "second scaling of a result", "multiply the two scales in the kernel's arguments");
  v->type = BLOCK_F32;
  v->scaled = true;
  v->scale = factor;
  return true;
}

// A sum of loads of int8 times an integer.
static bool multiply_loads(fuse_context *c, fuse_value *v, double number) {
  const char *const hint = "what can be multiplied: int8 blocks that were loaded, by integers of at most 4064";
  bool possible = fuse_to_sum(c, v);
  if (!possible) return false;
  possible = v->sum.carried == BLOCK_NONE && fabs(number) <= FUSE_FACTOR_MAX;
  for (int t = 0; t < v->sum.count; t++)
    possible = possible && v->sum.terms[t].narrow && v->sum.terms[t].loops == 0 &&
               fabs((double)v->sum.terms[t].factor * number) <= FUSE_FACTOR_MAX;
  if (!possible) return refuse(c, "multiplication of such a block by this number", hint);
  fuse_term *terms = WF_ARENA_ARRAY(c->arena, (size_t)v->sum.count + 1, fuse_term);
  for (int t = 0; t < v->sum.count; t++) {
    terms[t] = v->sum.terms[t];
    terms[t].factor *= (int64_t)number;
  }
  v->sum.terms = terms;
  if (number == 0) v->sum.count = 0;
  return true;
}

// x * 1.0 * factor is x * factor.
static bool multiply(fuse_context *c, fuse_value *v, const fuse_value *other) {
  if (v->kind == FUSE_NUMBER && other->kind != FUSE_NUMBER) {
    const fuse_value number = *v;
    *v = *other;
    return multiply(c, v, &number);
  }
  if (other->kind == FUSE_NUMBER && v->type == BLOCK_I32) return multiply_loads(c, v, other->number);
  if (c->gate && other->kind != FUSE_NUMBER && v->type == BLOCK_I32 && multiply_by_load(v, other)) return true;
  if (other->kind != FUSE_NUMBER || v->type != BLOCK_F32 || !v->scaled)
    return refuse(c, "multiplication of blocks element by element",
                  c->gate ? "the gate multiplies two int8 blocks that were loaded or computed: a * b, then one scale "
                            "and .to(int8)"
                          : "an array with the gate (units.gate, as gated-16) multiplies two int8 blocks; others have "
                            "dot and one scale for results: factors per column go into the weights of a product");
  if (other->number == 1) return true;
  if (v->scale != 1 || v->clamped || v->relu || !isfinite((float)other->number))
    return refuse(c, "second scaling of a result", "multiply the two scales in the kernel's arguments");
  v->scale = (float)other->number;
  return true;
}

static bool round_to_i8(fuse_context *c, fuse_value *v) {
  if (v->kind == FUSE_LOADED && v->type == BLOCK_F32) {
    v->type = BLOCK_I8;
    v->clamped = false;
    return true;
  }
  if (v->kind != FUSE_SUM && !fuse_to_sum(c, v)) return false;
  if (v->type == BLOCK_I32) {
    v->scaled = true;
    v->scale = 1;
  }
  v->type = BLOCK_I8;
  v->clamped = false;
  return true;
}

static bool to_i32(fuse_context *c, fuse_value *v) {
  if (v->kind == FUSE_LOADED && v->type == BLOCK_I8) return fuse_to_sum(c, v);
  if (v->kind == FUSE_SUM && v->type == BLOCK_I8 && v->scaled) {
    v->type = BLOCK_I32;
    v->widened = true;
    return true;
  }
  return fuse_refuse_widened(c);
}

bool fuse_apply(fuse_context *c, block_op op, block_type result, fuse_value *v, const fuse_value *other) {
  if (v->gate != NULL) return behind_gate(c, op, v, other);
  if (op != BLOCK_OP_MUL && op != BLOCK_OP_COPY && (v->widened || (other != NULL && other->widened)))
    return fuse_refuse_widened(c);
  switch (op) {
    case BLOCK_OP_COPY:
      if (v->kind == FUSE_NUMBER) v->type = result;
      return true;
    case BLOCK_OP_ADD:
      return add(c, v, other);
    case BLOCK_OP_SUB:
      return refuse(c, "subtraction", "negate what is loaded, or load it with a scale of -1");
    case BLOCK_OP_MUL:
      return multiply(c, v, other);
    case BLOCK_OP_MAX:
    case BLOCK_OP_MIN:
      return bounded(c, op, v, other);
    case BLOCK_OP_SCALE:
      return scale(c, v, other);
    case BLOCK_OP_TO_I8:
      return round_to_i8(c, v);
    case BLOCK_OP_TO_I32:
      return to_i32(c, v);
    case BLOCK_OP_COUNT:
      break;
  }
  return false;
}

// ---- loops

static bool is_in(const block_statement *list, const block_statement *statement) {
  while (list != NULL && list != statement) list = list->next;
  return list != NULL;
}

static bool largest_after_loop(fuse_context *c, block_statement *loop, const fuse_value *before, fuse_value *v) {
  for (int n = 0; n < v->load_count; n++)
    if (v->loops == 0 && !is_in(loop->loop.body, v->loads[n]))
      return refuse(c, "maximum over a block from outside of the loop", "load it inside of the loop");
  v->loops |= UINT32_C(1) << loop->loop.loop;
  if (before->kind == FUSE_NUMBER && before->number > INT8_MIN)
    return refuse(c, "maximum that starts above -128", "start with -128; a maximum with 0 belongs to the layer before");
  if (before->kind != FUSE_NUMBER && before->kind != FUSE_CARRIED)
    return refuse(c, "maximum of two blocks", "start the running maximum with the number -128");
  v->carried = before->kind == FUSE_CARRIED ? before->carried : BLOCK_NONE;
  return true;
}

static bool mark_terms(fuse_context *c, block_statement *loop, const fuse_sum *sum) {
  for (int t = 0; t < sum->count; t++) {
    if (sum->terms[t].loops == 0 && !is_in(loop->loop.body, sum->terms[t].statement))
      return refuse(c, "repeated sum of a block from outside of the loop", "load it inside of the loop");
    if (sum->terms[t].factor != 1)
      return refuse(c, "sum over a loop of blocks that are multiplied by a number", "multiply what is added once");
    sum->terms[t].top = loop;
    sum->terms[t].loops |= UINT32_C(1) << loop->loop.loop;
  }
  return true;
}

bool fuse_overwrite(fuse_context *c, uint32_t loops, int buffer, const fuse_value *before, fuse_value *v) {
  bool untouched = before->kind == FUSE_NOTHING || (before->kind == FUSE_CARRIED && before->carried == buffer);
  if (!untouched) return refuse(c, "sum that overwrites a part of itself", "add everything up behind its first part");
  v->sum.carried = buffer;
  v->sum.overwrites = loops;
  return true;
}

// A sum that overwrites in the first iteration of some loops is complete behind the outermost of them.
static bool overwritten_after_loop(fuse_context *c, const block_statement *loop, const fuse_value *before,
                                   fuse_value *v) {
  uint32_t bit = UINT32_C(1) << loop->loop.loop, rest = v->sum.overwrites & ~bit;
  if ((v->sum.overwrites & bit) == 0)
    return refuse(c, "sum that starts again in a loop and goes on in another", "sum over all loops up to its result");
  if (rest != 0) return fuse_overwrite(c, rest, v->sum.carried, before, v);
  v->sum.carried = BLOCK_NONE;
  v->sum.overwrites = 0;
  return true;
}

bool fuse_after_loop(fuse_context *c, block_statement *loop, const fuse_value *before, fuse_value *v) {
  if (v->kind == FUSE_LARGEST) return largest_after_loop(c, loop, before, v);
  if (v->relu || v->scaled || v->clamped)
    return refuse(c, "sum whose parts are clamped or scaled", "do this after the loop");
  if (!mark_terms(c, loop, &v->sum)) return false;
  if (v->sum.overwrites != 0) return overwritten_after_loop(c, loop, before, v);
  v->sum.carried = BLOCK_NONE;
  fuse_value sum = *before;
  if (!fuse_add(c, &sum, v)) return false;
  *v = sum;
  return true;
}
