// SPDX-License-Identifier: Apache-2.0
// TOPK: the places of the m largest (n: smallest) numbers of the inner dimension, best first, equal ones by place. The
// result is the list itself: a number that is better than the last of them moves up to where it belongs.
#include "private.h"

struct best {
  const char *x;
  int64_t x_step;
  char *list;
  int64_t list_step;
  bool is_float, smallest;
};

static int64_t listed(const struct best *b, int64_t rank) { return host_i64(b->list + rank * b->list_step); }

static bool is_better(const struct best *b, int64_t one, int64_t than) {
  const char *p = b->x + one * b->x_step, *q = b->x + than * b->x_step;
  const float x = b->is_float ? host_f32(p) : (float)host_i8(p), y = b->is_float ? host_f32(q) : (float)host_i8(q);
  return b->smallest ? x < y : x > y;
}

static void insert(const struct best *b, int64_t rank, int64_t one) {
  for (; rank > 0 && is_better(b, one, listed(b, rank - 1)); rank--)
    host_put_i64(b->list + rank * b->list_step, listed(b, rank - 1));
  host_put_i64(b->list + rank * b->list_step, one);
}

static enum weft_host_status top_k(void *context, const struct weft_host_call *call, const struct host_place *p) {
  (void)context;
  const unsigned d = call->rank - 1;
  const int64_t most = call->integer[0];
  const struct best b = {p->at[1],
                         call->operand[1].step[d],
                         p->at[0],
                         call->operand[0].step[d],
                         host_is(call, 1, WEFT_F32),
                         call->integer[1] != 0};
  int64_t count = 0;
  for (int64_t i = 0; i < call->dim[d] && most > 0; i++) {
    if (count < most)
      insert(&b, count++, i);
    else if (is_better(&b, i, listed(&b, most - 1)))
      insert(&b, most - 1, i);
  }
  return WEFT_HOST_OK;
}

host_visit *host_top_visit(const struct weft_host_call *call) {
  const bool fits = call->op == WEFT_HOST_TOPK && call->outer + 1 == call->rank && host_is(call, 0, WEFT_I64);
  return fits && (host_is(call, 1, WEFT_F32) || host_is(call, 1, WEFT_I8)) ? top_k : NULL;
}
