// SPDX-License-Identifier: Apache-2.0
// Chains: steps of the hart that follow each other and go element by element through tensors of one size become one
// step, which takes a piece of all of them in turn. A piece of every tensor fits into the hart's data cache; a tensor
// that lives inside the chain alone is never more than a piece, and costs no line of main memory.
//
// Only operators whose results are those of the interpreter to the bit are chained: what is quantised at the end of a
// chain is compared byte by byte, and what leads there is not compared at all.
#include <string.h>

#include "compiler/network/private.h"

enum { WORTH = 4096, PIECE_MAX = 1024, PIECE_MIN = 64 };  // elements

// Who uses a buffer, in numbers of steps before anything is joined. Outputs of the network are used behind all steps.
typedef struct chain_use {
  int first, last;
  int tensor;  // one that lies there, and by `next` the others; GRAPH_NONE: none
} chain_use;

typedef struct chain_index {
  chain_use *uses;  // by buffer
  int *next;        // by tensor
} chain_index;

typedef struct chain {
  network *net;
  const chain_index *index;
  network_step *steps;  // the first one
  int first, end;       // its number, and the one behind the last
  int count;
  int64_t piece;
  network_place slots[WEFT_HOST_CHAIN];    // memory of results that live in the chain alone
  int slot_count, taken[WEFT_HOST_CHAIN];  // up to which call of the chain
} chain;

static network_call *call_of(const chain *c, int n) { return &c->steps[n].calls[0]; }

// ---- what may be chained

static bool is_exact(uint32_t op) {
  switch ((enum weft_host_op)op) {
    case WEFT_HOST_LUT:
    case WEFT_HOST_QUANTIZE:
    case WEFT_HOST_DEQUANTIZE:
    case WEFT_HOST_REQUANTIZE:
    case WEFT_HOST_ABS:
    case WEFT_HOST_NEG:
    case WEFT_HOST_ADD:
    case WEFT_HOST_SUB:
    case WEFT_HOST_MUL:
    case WEFT_HOST_MIN:
    case WEFT_HOST_MAX:
      return true;
    default:
      return false;
  }
}

// The operand goes through its elements in their order.
static bool is_dense(const struct weft_host_call *call, int operand) {
  const struct weft_host_operand *o = &call->operand[operand];
  int64_t step = o->element_bytes;
  for (uint32_t d = call->rank; d-- > 0; step *= call->dim[d])
    if (call->dim[d] > 1 && o->step[d] != step) return false;
  return true;
}

static bool may_stand_in(const network *net, int s) {
  const network_step *step = &net->steps[s];
  if (step->place != GRAPH_ON_HOST || step->call_count != 1 || step->edge) return false;
  if (s > 0 && net->steps[s - 1].node == step->node) return false;
  const network_call *call = &step->calls[0];
  return step->makes && is_exact(call->call.op) && call->call.outer == call->call.rank && is_dense(&call->call, 0) &&
         call->place[0].offset == 0 && network_call_elements(&call->call) >= WORTH;
}

// The call of the chain that writes what the operand reads; -1: none.
static int writer_of(const chain *c, int n, int operand) {
  const int buffer = call_of(c, n)->place[operand].buffer;
  for (int w = 0; buffer >= 0 && w < n; w++)
    if (call_of(c, w)->place[0].buffer == buffer) return w;
  return -1;
}

// Whether call n may follow those before: it reads what they write element for element, and writes none of theirs.
static bool may_follow(const chain *c, int n) {
  const network_call *call = call_of(c, n);
  if (network_call_elements(&call->call) != network_call_elements(&call_of(c, 0)->call)) return false;
  for (int o = 1; o < WEFT_HOST_OPERANDS; o++)
    if (writer_of(c, n, o) >= 0 && (call->place[o].offset != 0 || !is_dense(&call->call, o))) return false;
  for (int w = 0; w < n; w++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if (call_of(c, w)->place[o].buffer == call->place[0].buffer) return false;
  return true;
}

static bool reads_chain(const chain *c, int n) {
  for (int o = 1; o < WEFT_HOST_OPERANDS; o++)
    if (writer_of(c, n, o) >= 0) return true;
  return false;
}

static bool is_read_in_chain(const chain *c, int n) {
  for (int r = n + 1; r < c->count; r++)
    for (int o = 1; o < WEFT_HOST_OPERANDS; o++)
      if (writer_of(c, r, o) == n) return true;
  return false;
}

// ---- results that no other step reads

static bool is_inside(const chain *c, int n) {
  const chain_use *use = &c->index->uses[call_of(c, n)->place[0].buffer];
  return use->first >= c->first && use->last < c->end && is_read_in_chain(c, n);
}

static int last_reader(const chain *c, int n) {
  int last = n;
  for (int r = n + 1; r < c->count; r++)
    for (int o = 1; o < WEFT_HOST_OPERANDS; o++)
      if (writer_of(c, r, o) == n) last = r;
  return last;
}

static void forget_tensors(chain *c, int buffer) {
  for (int t = c->index->uses[buffer].tensor; t != GRAPH_NONE; t = c->index->next[t]) c->net->tensors[t].buffer = -1;
}

// ---- two calls in one

// The operand of a product that call n makes, if nothing else reads it and it is made of bytes in their order.
static int factor_of(const chain *c, int n) {
  const network_call *made = call_of(c, n), *product = call_of(c, n + 1);
  if (made->call.op != WEFT_HOST_DEQUANTIZE || made->call.operand[1].type != WEFT_I8 || !is_dense(&made->call, 1) ||
      product->call.op != WEFT_HOST_MUL || product->call.operand[1].type != WEFT_F32 || !is_inside(c, n) ||
      last_reader(c, n) != n + 1)
    return 0;
  const int first = writer_of(c, n + 1, 1), second = writer_of(c, n + 1, 2);
  return first == n && second != n ? 1 : second == n && first != n ? 2 : 0;
}

// The product takes the bytes themselves.
static void merge(chain *c, int n, int factor) {
  const network_call *made = call_of(c, n);
  network_call *product = call_of(c, n + 1);
  struct weft_host_call *call = &product->call;
  const int other = 3 - factor;
  call->op = WEFT_HOST_DEQUANTIZE_MUL;
  call->number[0] = made->call.number[0];
  call->integer[0] = made->call.integer[0];
  call->operand[2] = call->operand[other];
  product->place[2] = product->place[other];
  call->operand[1] = (struct weft_host_operand){.type = WEFT_I8, .element_bytes = 1};
  product->place[1] = made->place[1];
  int64_t step = 1;
  for (uint32_t d = call->rank; d-- > 0; step *= call->dim[d]) call->operand[1].step[d] = step;
  forget_tensors(c, made->place[0].buffer);
  c->steps[n + 1].what = network_host_op_name(WEFT_HOST_DEQUANTIZE_MUL);
}

// Calls that are left, side by side.
static void merge_pairs(chain *c) {
  int kept = 0;
  bool gone[WEFT_HOST_CHAIN] = {false};
  for (int n = 0; n + 1 < c->count; n++) {
    const int factor = gone[n] ? 0 : factor_of(c, n);
    gone[n] = factor != 0;
    if (gone[n]) merge(c, n, factor);
  }
  for (int n = 0; n < c->count; n++)
    if (!gone[n]) c->steps[kept++] = c->steps[n];
  c->count = kept;
}

// ---- pieces

// The dimensions of a piece are the last ones, the first of them perhaps in part. False: it does not fit the loops.
static bool takes_piece(const struct weft_host_call *call, int64_t piece) {
  for (uint32_t d = call->rank; d-- > 0; piece /= call->dim[d]) {
    if (piece < call->dim[d]) return call->dim[d] % piece == 0 && call->rank < WEFT_HOST_RANK;
    if (piece % call->dim[d] != 0) return false;
  }
  return piece == 1;
}

static int64_t piece_of(const chain *c) {
  for (int64_t piece = PIECE_MAX; piece >= PIECE_MIN; piece--) {
    bool fits = true;
    for (int n = 0; n < c->count && fits; n++) fits = takes_piece(&call_of(c, n)->call, piece);
    if (fits) return piece;
  }
  return 0;
}

// Dimension d becomes two, the second of `inner` points.
static void split_dim(struct weft_host_call *call, uint32_t d, int64_t inner) {
  for (uint32_t i = call->rank; i > d; i--) {
    call->dim[i] = call->dim[i - 1];
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) call->operand[o].step[i] = call->operand[o].step[i - 1];
  }
  call->rank++, call->outer++;
  call->dim[d] /= inner;
  call->dim[d + 1] = inner;
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) call->operand[o].step[d] *= inner;
}

static void cut(struct weft_host_call *call, int64_t piece) {
  uint32_t d = call->rank;
  for (; d > 0 && piece >= call->dim[d - 1]; d--) piece /= call->dim[d - 1];
  if (piece > 1) split_dim(call, --d, piece), d++;
  call->lead = (uint16_t)d;
}

// ---- memory of results that no other step reads

// A slot that is free from call n on, until call `last` has read it. Every slot holds a piece of the widest type.
static int take_slot(chain *c, int n, int last) {
  int slot = 0;
  while (slot < c->slot_count && c->taken[slot] >= n) slot++;
  if (slot == c->slot_count) {
    const uint64_t bytes = (uint64_t)c->piece * sizeof(int64_t);
    c->slots[c->slot_count++] =
        network_add_buffer(c->net, &(network_buffer){.name = c->steps[c->count - 1].name, .bytes = bytes});
  }
  c->taken[slot] = last;
  return slot;
}

static void put_in_slot(network_call *call, int operand, network_place slot) {
  call->place[operand] = slot;
  for (uint32_t d = 0; d < call->call.lead; d++) call->call.operand[operand].step[d] = 0;
}

// Slots are given while all results still have their own buffers, and put in behind.
static void place_results(chain *c) {
  int slot_of[WEFT_HOST_CHAIN], from[WEFT_HOST_CHAIN][WEFT_HOST_OPERANDS];
  for (int n = 0; n < c->count; n++) {
    slot_of[n] = is_inside(c, n) ? take_slot(c, n, last_reader(c, n)) : -1;
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) from[n][o] = o == 0 ? n : writer_of(c, n, o);
  }
  for (int n = 0; n < c->count; n++)
    if (slot_of[n] >= 0) forget_tensors(c, call_of(c, n)->place[0].buffer);
  for (int n = 0; n < c->count; n++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++)
      if (from[n][o] >= 0 && slot_of[from[n][o]] >= 0) put_in_slot(call_of(c, n), o, c->slots[slot_of[from[n][o]]]);
}

// ---- chains

// The last step with all calls.
static network_step joined(const chain *c) {
  wf_arena *arena = c->net->arena;
  network_step step = c->steps[c->count - 1];
  step.calls = WF_ARENA_ARRAY(arena, (size_t)c->count, network_call);
  step.call_count = c->count;
  step.call_room = (size_t)c->count;
  step.what = c->steps[0].what;
  for (int n = 0; n < c->count; n++) {
    step.calls[n] = *call_of(c, n);
    if (n > 0) step.what = wf_arena_format(arena, "%s, %s", step.what, c->steps[n].what);
  }
  step.calls[0].call.chain = (uint16_t)c->count;
  return step;
}

// As many steps as make a chain: each reads what one before it wrote, or is read by one behind.
static void lengthen(chain *c) {
  const network *net = c->net;
  c->count = 0;
  while (c->count < WEFT_HOST_CHAIN && c->first + c->count < net->step_count &&
         may_stand_in(net, c->first + c->count) && may_follow(c, c->count))
    c->count++;
  while (c->count > 1 && !reads_chain(c, c->count - 1)) c->count--;
}

// The chain that begins with a step; of one step: none.
static chain chain_from(network *net, const chain_index *index, int s) {
  chain c = {.net = net, .index = index, .steps = &net->steps[s], .first = s};
  lengthen(&c);
  c.piece = c.count < 2 || !is_read_in_chain(&c, 0) ? 0 : piece_of(&c);
  if (c.piece == 0) c.count = 1;
  c.end = s + (c.count < 1 ? 1 : c.count);
  return c;
}

// ---- all steps

static void use(const chain_index *index, network_place place, int s) {
  if (place.buffer < 0) return;
  chain_use *u = &index->uses[place.buffer];
  if (s < u->first) u->first = s;
  if (s > u->last) u->last = s;
}

static void use_step(const chain_index *index, const network_step *step, int s) {
  for (int o = 0; o < step->operand_count; o++) use(index, step->operands[o].place, s);
  for (int n = 0; n < step->call_count; n++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) use(index, step->calls[n].place[o], s);
}

static void use_tensors(const chain_index *index, const network *net) {
  for (int t = 0; t < net->graph->tensor_count; t++) {
    if (net->tensors[t].buffer < 0) continue;
    chain_use *u = &index->uses[net->tensors[t].buffer];
    index->next[t] = u->tensor;
    u->tensor = t;
  }
}

static chain_index index_of(const network *net) {
  const chain_index index = {WF_ARENA_ARRAY(net->arena, (size_t)net->buffer_count + 1, chain_use),
                             WF_ARENA_ARRAY(net->arena, (size_t)net->graph->tensor_count + 1, int)};
  for (int b = 0; b < net->buffer_count; b++) index.uses[b] = (chain_use){net->step_count, -1, GRAPH_NONE};
  for (int s = 0; s < net->step_count; s++) use_step(&index, &net->steps[s], s);
  for (int o = 0; o < net->graph->output_count; o++) use(&index, net->tensors[net->graph->outputs[o]], net->step_count);
  use_tensors(&index, net);
  return index;
}

void network_chain(network *net) {
  const chain_index index = index_of(net);
  network_step *to = net->steps;  // steps are moved to the front only
  for (int s = 0; s < net->step_count;) {
    chain c = chain_from(net, &index, s);
    s = c.end;
    if (c.count < 2) {
      *to++ = *c.steps;
      continue;
    }
    merge_pairs(&c);
    for (int n = 0; n < c.count; n++) cut(&call_of(&c, n)->call, c.piece);
    place_results(&c);
    *to++ = joined(&c);
  }
  net->step_count = (int)(to - net->steps);
}
