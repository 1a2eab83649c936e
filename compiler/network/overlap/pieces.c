// SPDX-License-Identifier: Apache-2.0
// See pieces.h.
#include "compiler/network/overlap/pieces.h"

#include "base/number.h"
#include "compiler/network/private.h"

// Operators whose rows are nothing to each other. Not QNORMALIZE_SUMS and QNORM_FACTORS, whose operands say how many
// rows there are.
static bool has_free_rows(uint32_t op) {
  switch ((enum weft_host_op)op) {
    case WEFT_HOST_QNORMALIZE_SUMS:
    case WEFT_HOST_QNORM_FACTORS:
    case WEFT_HOST_SCATTER:
    case WEFT_HOST_SCATTER_ADD:
    case WEFT_HOST_SCATTER_MUL:
    case WEFT_HOST_TURNS:
    case WEFT_HOST_OPS:
      return false;
    default:
      return true;
  }
}

network_calls_of_one network_calls_together(const network_call *calls) {
  network_calls_of_one together = {.calls = calls, .count = calls->call.chain == 0 ? 1 : calls->call.chain};
  for (int c = 0; c < together.count; c++) together.elements += network_call_elements(&calls[c].call);
  return together;
}

static int64_t most_pieces(const network_calls_of_one *together) {
  const struct weft_host_call *first = &together->calls[0].call;
  if (first->outer == 0) return 1;
  for (int c = 0; c < together->count; c++) {
    const struct weft_host_call *call = &together->calls[c].call;
    if (!has_free_rows(call->op) || call->outer == 0 || call->dim[0] != first->dim[0]) return 1;
    if (first->chain != 0 && call->lead == 0) return 1;
  }
  int64_t most = 1;
  const uint32_t dims = first->chain != 0 ? 1 : wf_min(first->outer, (uint32_t)WEFT_HOST_TURN_DIMS);
  for (uint32_t d = 0; d < dims; d++) most *= first->dim[d];
  return most;
}

// With as many pieces as are asked for, or fewer, so that each point of the first dimensions has equally many.
int64_t network_count_pieces(const network_calls_of_one *together, int64_t wanted) {
  const struct weft_host_call *first = &together->calls[0].call;
  int64_t pieces = wf_max(1, wf_min(wanted, most_pieces(together))), points = 1;
  for (uint32_t d = 0; d < first->outer && points * first->dim[d] <= pieces; d++) points *= first->dim[d];
  return pieces / points * points;
}

struct weft_host_turn network_piece_turn(const network_calls_of_one *together, int64_t number, int64_t pieces,
                                         uint32_t first) {
  const int64_t *dim = together->calls[0].call.dim;
  struct weft_host_turn turn = {.kind = WEFT_HOST_TURN_CALLS, .first = first};
  if (pieces == 1) return turn;
  for (; pieces > dim[turn.dim]; turn.dim++) {
    const int64_t each = pieces / dim[turn.dim];
    turn.at[turn.dim] = (uint32_t)(number / each);
    number %= each;
    pieces = each;
  }
  const int64_t points = dim[turn.dim], start = points * number / pieces;
  turn.at[turn.dim] = (uint32_t)start;
  turn.count = (uint32_t)(points * (number + 1) / pieces - start);
  return turn;
}
