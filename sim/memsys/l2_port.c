// SPDX-License-Identifier: Apache-2.0
// The L2 as the port and the host see it: see l2.h for the rules.
#include <assert.h>

#include "sim/memsys/l2_state.h"

// ---- requests

bool memsys_l2_room(const memsys_l2 *l2) { return l2->queue_beats < QUEUE_BEATS; }

// Of all registers, the cycle before which none is free.
static uint64_t next_free(memsys_l2 *l2) {
  const uint64_t hits = ~(l2->evictions | l2->asks | l2->arriving);
  uint64_t data = l2_data_from(l2), next = wf_min(l2_decisions_from(l2), l2->departs_at);
  if (data == NEVER) data = 0;
  for (uint64_t left = l2->used; left != 0; left &= left - 1) {
    const unsigned index = (unsigned)__builtin_ctzll(left);
    const uint64_t from = l2->free_from[index];
    next = wf_min(next, (hits >> index & 1) != 0 ? wf_max(from, data) : from);
  }
  return wf_max(next, l2->now);
}

uint64_t memsys_l2_next_room(memsys_l2 *l2) {
  if (l2->gate == NEVER && l2->queue.head != NONE) return next_free(l2) + 2;
  return wf_max(wf_max(l2->head_entered, l2->enter_from), l2->now) + 1;
}

// A place for an item, at the end of the queue; the caller fills it in.
static l2_item *enqueue(memsys_l2 *l2, uint64_t entered, unsigned queue_beats) {
  const uint16_t place = l2->pool_free;
  assert(place != NONE);
  l2_item *added = &l2->pool[place];
  l2->pool_free = added->next;
  if (l2->queue.head == NONE) l2->head_entered = entered;
  l2_append(l2, &l2->queue, place);
  l2->queue_beats += queue_beats;
  return added;
}

static unsigned beats_of(const memsys_l2 *l2, unsigned bytes) {
  const unsigned beats = bytes >> l2->bus_shift;
  return beats == 0 ? 1 : beats;
}

// `bytes` of the request, `done` behind its start, that lie in one line. `common`: what all parts share.
static void send_part(memsys_l2 *l2, const memsys_request *request, const l2_item *common, unsigned done,
                      unsigned bytes) {
  const uint64_t address = request->address + done;
  const unsigned beats = beats_of(l2, bytes);
  l2_item *part = enqueue(l2, common->entered, common->write ? beats : 1);
  const uint16_t next = part->next;
  *part = *common;
  part->next = next;
  part->number = address >> l2->tags.line_shift;
  part->offset = (uint16_t)(address & (l2->line_bytes - 1));
  part->beats = (uint16_t)beats;
  part->whole = common->write && !common->partial && bytes == l2->line_bytes;
}

// A request that lies in several lines.
static void send_parts(memsys_l2 *l2, const memsys_request *request, const l2_item *common) {
  uint16_t *parts = &l2->parts[common->order % ITEMS];
  *parts = 0;
  for (unsigned done = 0; done < request->bytes; ++*parts) {
    const unsigned room = l2->line_bytes - ((unsigned)(request->address + done) & (l2->line_bytes - 1)),
                   bytes = request->bytes - done < room ? request->bytes - done : room;
    send_part(l2, request, common, done, bytes);
    done += bytes;
  }
}

void memsys_l2_send(memsys_l2 *l2, uint64_t cycle, const memsys_request *request, bool write, uint64_t order,
                    uint64_t late) {
  assert(l2->now <= cycle + ENTER_CYCLES);
  const bool first = l2->queue.head == NONE;
  const unsigned offset = (unsigned)request->address & (l2->line_bytes - 1);
  const l2_item common = {.entered = cycle + ENTER_CYCLES,
                          .order = order,
                          .late = late,
                          .id = (uint16_t)request->id,
                          .total = (uint16_t)beats_of(l2, request->bytes),
                          .write = write,
                          .partial = write && request->partial,
                          .parted = offset + request->bytes > l2->line_bytes};
  if (common.parted)
    send_parts(l2, request, &common);
  else
    send_part(l2, request, &common, 0, request->bytes);
  if (first) l2_set_gate(l2);
}

// ---- answers

uint64_t memsys_l2_next_data(memsys_l2 *l2) {
  const uint64_t pipe = l2_data_from(l2), data = wf_max(l2->now, pipe == NEVER ? 0 : pipe);
  if ((l2->awake & l2->needs_pipe) != 0) return data;
  uint64_t next = wf_min(l2_decisions_from(l2), l2->departs_at);
  for (uint64_t left = l2->used; left != 0; left &= left - 1)
    next = wf_min(next, l2->answer_from[__builtin_ctzll(left)]);
  if (l2->head_entered != NEVER) {
    // Behind a register that is done with the same line it needs not look.
    const bool follows = l2->owner[l2_set_of(&l2->tags, l2->pool[l2->queue.head].number)] != 0;
    const uint64_t enters = wf_max(wf_max(l2->head_entered, l2->enter_from), l2->now);
    next = wf_min(next, enters + (follows ? 1 : LOOK_CYCLES));
  }
  return next == NEVER ? NEVER : wf_max(next, data);
}

uint64_t memsys_l2_next_answer(memsys_l2 *l2) {
  const uint64_t next = memsys_l2_next_data(l2);
  return next == NEVER ? NEVER : next + l2->tail;
}

// A register that served the same line before answers a cycle after it took the request up. Until then the data pipe
// is not free sooner than now.
uint64_t memsys_l2_next_own(const memsys_l2 *l2, uint64_t cycle) {
  return wf_max(wf_max(cycle + ENTER_CYCLES, l2->enter_from) + 1, l2->data_free) + l2->tail;
}

// ---- the host

// What is written back replaces the whole line; nobody waits for it.
void memsys_l2_host(memsys_l2 *l2, uint64_t cycle, uint64_t address, bool write) {
  const bool first = l2->queue.head == NONE;
  const unsigned beats = l2->line_bytes >> l2->bus_shift;
  l2_item *line = enqueue(l2, cycle + ENTER_CYCLES, write ? beats : 1);
  const uint16_t next = line->next;
  *line = (l2_item){.number = address >> l2->tags.line_shift,
                    .entered = cycle + ENTER_CYCLES,
                    .order = NEVER,
                    .beats = (uint16_t)beats,
                    .total = (uint16_t)beats,
                    .next = next,
                    .write = write,
                    .whole = write,
                    .host = true};
  if (first) l2_set_gate(l2);
}
