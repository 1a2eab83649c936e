// SPDX-License-Identifier: Apache-2.0
// See agenda.h. Times are estimates: a loop of the hardware takes an equal part of its step's cycles, a piece of a call
// its part by elements. The unit of loops has room for two: the hart gives one as soon as less than that is left, and
// computes before. A wrong estimate costs time, no result.
#include "compiler/network/overlap/agenda.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "compiler/network/overlap/pieces.h"
#include "compiler/network/private.h"
#include "isa/isa_fields.h"

enum { PIECE_CYCLES = 4000, PIECES_MAX = 4000, AHEAD = 2 };  // AHEAD: loops

// Commands up to one that starts a loop, and it; or the rest of a step's.
typedef struct chunk {
  int first, count;  // of the agenda's commands
  double cycles;
  bool fence;  // in front of it
} chunk;

typedef struct piece {
  struct weft_host_turn turn;
  double cycles;
} piece;

typedef struct maker {
  const network *net;
  const network_step *const *steps;
  const uint64_t *cycles;
  int count;
  network_agenda agenda;
  size_t command_room, call_room, turn_room;
  chunk *chunks;
  size_t chunk_count, chunk_room;
  piece *pieces;
  size_t piece_count, piece_room, next_piece;
  double hart, array;  // the cycle up to which each is busy
  const network_step *step;
} maker;

// ---- commands of the array

static network_place place_of(const maker *m, int16_t tensor) {
  const command_program *program = m->net->kernels[m->step->kernel].loops;
  return tensor == COMMAND_NO_TENSOR ? (network_place){.buffer = -1}
                                     : network_operand_of(m->step, program->tensors[tensor].name);
}

static bool starts_loop(const command_insn *insn) {
  return insn->funct == ISA_FUNCT_LOOP_WS || insn->funct == ISA_FUNCT_LOOP_CONV_WS;
}

static chunk *open_chunk(maker *m) {
  chunk *new = WF_ARENA_PUSH(m->net->arena, m->chunks, m->chunk_count, &m->chunk_room);
  *new = (chunk){.first = m->agenda.command_count};
  return new;
}

static bool take_command(void *context, const command_insn *insn) {
  maker *m = context;
  if (insn == NULL) return true;  // a fence inside of a kernel: there is none in loops
  chunk *last = &m->chunks[m->chunk_count - 1];
  size_t count = (size_t)m->agenda.command_count++;
  *WF_ARENA_PUSH(m->net->arena, m->agenda.commands, count, &m->command_room) =
      (network_slot_command){.funct = insn->funct,
                             .rs1 = insn->rs1,
                             .rs2 = insn->rs2,
                             .place_rs1 = place_of(m, insn->tensor_rs1),
                             .place_rs2 = place_of(m, insn->tensor_rs2)};
  last->count++;
  if (starts_loop(insn)) open_chunk(m);
  return true;
}

static void add_chunks(maker *m, int step, bool fence) {
  m->step = m->steps[step];
  const size_t first = m->chunk_count;
  open_chunk(m)->fence = fence;
  command_walk(m->net->kernels[m->step->kernel].loops, take_command, m);
  if (m->chunk_count - 1 > first && m->chunks[m->chunk_count - 1].count == 0) m->chunk_count--;
  const double each = (double)m->cycles[step] / (double)(m->chunk_count - first);
  for (size_t c = first; c < m->chunk_count; c++) m->chunks[c].cycles = each;
}

// Commands of one step that come while the loops of another still run could change what these are configured with.
static void find_chunks(maker *m) {
  for (int s = 0; s < m->count; s++)
    if (m->steps[s]->place == GRAPH_ON_ARRAY) add_chunks(m, s, m->chunk_count > 0);
}

// ---- pieces of the hart's calls

static network_call *add_call(maker *m, const network_call *call) {
  size_t count = (size_t)m->agenda.call_count++;
  network_call *new = WF_ARENA_PUSH(m->net->arena, m->agenda.calls, count, &m->call_room);
  *new = *call;
  return new;
}

static void add_pieces(maker *m, const network_calls_of_one *together, double cycles, double most_cycles) {
  const int64_t pieces = network_count_pieces(together, wf_whole(ceil(cycles / most_cycles)));
  const uint32_t first = (uint32_t)m->agenda.call_count - 1;
  for (int c = 0; c < together->count; c++) add_call(m, &together->calls[c]);
  for (int64_t n = 0; n < pieces; n++)
    *WF_ARENA_PUSH(m->net->arena, m->pieces, m->piece_count, &m->piece_room) =
        (piece){.turn = network_piece_turn(together, n, pieces, first), .cycles = cycles / (double)pieces};
}

static void add_calls(maker *m, int step, double most_cycles) {
  const network_step *s = m->steps[step];
  int64_t elements = 0;
  network_calls_of_one together;
  for (int c = 0; c < s->call_count; c += together.count) {
    together = network_calls_together(&s->calls[c]);
    elements += together.elements;
  }
  for (int c = 0; c < s->call_count; c += together.count) {
    together = network_calls_together(&s->calls[c]);
    const double part = (double)together.elements / (double)wf_max(elements, INT64_C(1));
    add_pieces(m, &together, part * (double)m->cycles[step], most_cycles);
  }
}

static void find_pieces(maker *m) {
  double all = 0;
  for (int s = 0; s < m->count; s++)
    if (m->steps[s]->place == GRAPH_ON_HOST) all += (double)m->cycles[s];
  for (int s = 0; s < m->count; s++)
    if (m->steps[s]->place == GRAPH_ON_HOST) add_calls(m, s, wf_max((double)PIECE_CYCLES, all / PIECES_MAX));
}

// ---- the order

static void put_turn(maker *m, const struct weft_host_turn *turn) {
  size_t count = (size_t)m->agenda.turn_count++;
  *WF_ARENA_PUSH(m->net->arena, m->agenda.turns, count, &m->turn_room) = *turn;
}

static void put_fence(maker *m) {
  put_turn(m, &(struct weft_host_turn){.kind = WEFT_HOST_TURN_FENCE});
  m->hart = m->array = wf_max(m->hart, m->array);
}

static void put_chunk(maker *m, const chunk *c) {
  put_turn(m, &(struct weft_host_turn){
                  .kind = WEFT_HOST_TURN_COMMANDS, .first = (uint32_t)c->first, .count = (uint32_t)c->count});
  m->hart = wf_max(m->hart, m->array - AHEAD * c->cycles);
  m->array = wf_max(m->hart, m->array) + c->cycles;
}

// Whether a part of a call goes on where another one ends.
static bool goes_on(const struct weft_host_turn *turn, const struct weft_host_turn *behind) {
  if (turn->kind != WEFT_HOST_TURN_CALLS || turn->first != behind->first || turn->dim != behind->dim) return false;
  const uint16_t dim = turn->dim;
  return turn->count != 0 && memcmp(turn->at, behind->at, dim * sizeof *turn->at) == 0 &&
         turn->at[dim] + turn->count == behind->at[dim];
}

static void put_piece(maker *m) {
  const piece *p = &m->pieces[m->next_piece++];
  struct weft_host_turn *last = m->agenda.turn_count == 0 ? NULL : &m->agenda.turns[m->agenda.turn_count - 1];
  if (last != NULL && goes_on(last, &p->turn))
    last->count += p->turn.count;
  else
    put_turn(m, &p->turn);
  m->hart += p->cycles;
}

// The hart computes while the array has more than so many cycles left.
static void put_pieces(maker *m, double left) {
  while (m->next_piece < m->piece_count && m->array - m->hart > left) put_piece(m);
}

static void put_all(maker *m) {
  for (size_t c = 0; c < m->chunk_count; c++) {
    const chunk *next = &m->chunks[c];
    put_pieces(m, next->fence ? 0 : next->cycles);
    if (next->fence) put_fence(m);
    put_chunk(m, next);
  }
  while (m->next_piece < m->piece_count) put_piece(m);
  put_fence(m);
}

network_agenda network_make_agenda(const network *net, const network_step *const *steps, const uint64_t *cycles,
                                   int count) {
  maker m = {.net = net, .steps = steps, .cycles = cycles, .count = count};
  network_call turns = {.call = {.op = WEFT_HOST_TURNS}};
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) turns.place[o].buffer = -1;
  add_call(&m, &turns);
  find_chunks(&m);
  find_pieces(&m);
  put_all(&m);
  m.agenda.calls[0].call.chain = (uint16_t)m.agenda.call_count;
  m.agenda.calls[0].call.integer[0] = m.agenda.turn_count;
  return m.agenda;
}
