// SPDX-License-Identifier: Apache-2.0
// Recording: constants are folded at once, and a node that exists already is found again by a hash of its operation
// and operands, so a tape holds every expression once. Operands come before the operations that use them.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "search/tape/tape_internal.h"
#include "search/tape/tape_math.h"

const uint8_t tape_op_arity[TAPE_OPS] = {
#define TAPE_OP(name, arity, ...) [TAPE_##name] = arity,
#include "search/tape/tape_ops.def"
#undef TAPE_OP
};

static const uint8_t op_commutes[TAPE_OPS] = {
#define TAPE_OP(name, arity, commutes, ...) [TAPE_##name] = commutes,
#include "search/tape/tape_ops.def"
#undef TAPE_OP
};

tape *tape_create(void) { return WF_NEW(tape); }

void tape_destroy(tape *t) {
  if (!t) return;
  wf_free(t->nodes);
  wf_free(t->table);
  wf_free(t);
}

size_t tape_size(const tape *t) { return t->count; }

static double fold(tape_op op, double a, double b) {
  (void)b;
  switch (op) {
#define TAPE_OP(name, arity, commutes, value, da, db) \
  case TAPE_##name:                                   \
    return (value);
#include "search/tape/tape_ops.def"
#undef TAPE_OP
    default:
      assert(false && "an operation");
      return 0;
  }
}

static uint64_t hash_of(const tape_node *node) {
  uint32_t words[3] = {node->op, node->a, node->b};
  return wf_hash(wf_hash(WF_HASH_START, words, sizeof words), &node->value, sizeof node->value);
}

static bool same(const tape_node *x, const tape_node *y) {
  return x->op == y->op && x->a == y->a && x->b == y->b && memcmp(&x->value, &y->value, sizeof x->value) == 0;
}

static uint32_t *place_of(const tape *t, const tape_node *node) {
  uint32_t at = (uint32_t)hash_of(node) & (t->table_size - 1);
  while (t->table[at] && !same(&t->nodes[t->table[at] - 1], node)) at = (at + 1) & (t->table_size - 1);
  return &t->table[at];
}

// The table stays at most half full.
static void grow(tape *t) {
  t->room = t->room ? 2 * t->room : 256;
  t->nodes = wf_realloc(t->nodes, t->room, sizeof *t->nodes);
  wf_free(t->table);
  t->table_size = 2 * t->room;
  t->table = WF_NEW_ARRAY(t->table_size, uint32_t);
  for (uint32_t n = 0; n < t->count; n++) *place_of(t, &t->nodes[n]) = n + 1;
}

static tape_ref intern(tape *t, tape_node node) {
  if (t->count == t->room) grow(t);
  uint32_t *place = place_of(t, &node);
  if (!*place) {
    t->nodes[t->count] = node;
    *place = ++t->count;
  }
  return *place - 1;
}

tape_ref tape_constant(tape *t, double value) {
  // A negative zero would be a second zero.
  return intern(t, (tape_node){.op = TAPE_CONSTANT, .value = value == 0.0 ? 0.0 : value});
}

static tape_ref input(tape *t, tape_op op) {
  uint32_t number = t->inputs++;
  return intern(t, (tape_node){.op = (uint8_t)op, .a = number, .b = number});
}

tape_ref tape_variable(tape *t) { return input(t, TAPE_VARIABLE); }
tape_ref tape_parameter(tape *t) { return input(t, TAPE_PARAMETER); }

static bool is_constant(const tape *t, tape_ref ref) { return t->nodes[ref].op == TAPE_CONSTANT; }
static bool is_value(const tape *t, tape_ref ref, double value) {
  return is_constant(t, ref) && t->nodes[ref].value == value;
}

static tape_ref record(tape *t, tape_op op, tape_ref a, tape_ref b) {
  assert(a < t->count && b < t->count);
  if (is_constant(t, a) && is_constant(t, b)) return tape_constant(t, fold(op, t->nodes[a].value, t->nodes[b].value));
  if (op_commutes[op] && a > b) {
    tape_ref swap = a;
    a = b;
    b = swap;
  }
  return intern(t, (tape_node){.op = (uint8_t)op, .a = a, .b = b});
}

tape_ref tape_add(tape *t, tape_ref a, tape_ref b) {
  if (is_value(t, a, 0)) return b;
  if (is_value(t, b, 0)) return a;
  return record(t, TAPE_ADD, a, b);
}

tape_ref tape_sub(tape *t, tape_ref a, tape_ref b) {
  if (is_value(t, b, 0)) return a;
  return a == b ? tape_constant(t, 0) : record(t, TAPE_SUB, a, b);
}

tape_ref tape_mul(tape *t, tape_ref a, tape_ref b) {
  if (is_value(t, a, 1)) return b;
  if (is_value(t, b, 1)) return a;
  if (is_value(t, a, 0) || is_value(t, b, 0)) return tape_constant(t, 0);
  return record(t, TAPE_MUL, a, b);
}

tape_ref tape_div(tape *t, tape_ref a, tape_ref b) {
  return is_value(t, b, 1) || is_value(t, a, 0) ? a : record(t, TAPE_DIV, a, b);
}

tape_ref tape_max(tape *t, tape_ref a, tape_ref b) { return a == b ? a : record(t, TAPE_MAX, a, b); }
tape_ref tape_min(tape *t, tape_ref a, tape_ref b) { return a == b ? a : record(t, TAPE_MIN, a, b); }
tape_ref tape_exp(tape *t, tape_ref a) { return record(t, TAPE_EXP, a, a); }
tape_ref tape_log(tape *t, tape_ref a) { return record(t, TAPE_LOG, a, a); }
tape_ref tape_softplus(tape *t, tape_ref a) { return record(t, TAPE_SOFTPLUS, a, a); }
tape_ref tape_ramp(tape *t, tape_ref a) { return record(t, TAPE_RAMP, a, a); }
tape_ref tape_floor(tape *t, tape_ref a) { return record(t, TAPE_FLOOR, a, a); }
tape_ref tape_scale(tape *t, tape_ref a, double factor) { return tape_mul(t, a, tape_constant(t, factor)); }
tape_ref tape_offset(tape *t, tape_ref a, double term) { return tape_add(t, a, tape_constant(t, term)); }

// T log sum exp(x / T), with the largest x taken out so that nothing overflows.
tape_ref tape_smooth_max(tape *t, const tape_ref *terms, size_t count, tape_ref temperature) {
  assert(count > 0);
  tape_ref top = terms[0], sum = tape_constant(t, 0);
  for (size_t n = 1; n < count; n++) top = tape_max(t, top, terms[n]);
  if (count == 1) return top;
  for (size_t n = 0; n < count; n++)
    sum = tape_add(t, sum, tape_exp(t, tape_div(t, tape_sub(t, terms[n], top), temperature)));
  return tape_add(t, top, tape_mul(t, temperature, tape_log(t, sum)));
}

tape_ref tape_smooth_min(tape *t, const tape_ref *terms, size_t count, tape_ref temperature) {
  assert(count > 0);
  tape_ref bottom = terms[0], sum = tape_constant(t, 0);
  for (size_t n = 1; n < count; n++) bottom = tape_min(t, bottom, terms[n]);
  if (count == 1) return bottom;
  for (size_t n = 0; n < count; n++)
    sum = tape_add(t, sum, tape_exp(t, tape_div(t, tape_sub(t, bottom, terms[n]), temperature)));
  return tape_sub(t, bottom, tape_mul(t, temperature, tape_log(t, sum)));
}

// floor(a) + 1 - (1 - u)^(1/T), u the part of a behind the point; at u = 0 that is floor(a).
tape_ref tape_smooth_ceil(tape *t, tape_ref a, tape_ref temperature) {
  tape_ref below = tape_floor(t, a), missing = tape_sub(t, tape_constant(t, 1), tape_sub(t, a, below));
  tape_ref power = tape_exp(t, tape_div(t, tape_log(t, missing), temperature));
  return tape_sub(t, tape_offset(t, below, 1), power);
}
