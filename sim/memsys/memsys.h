// SPDX-License-Identifier: Apache-2.0
// Timing of main memory as the accelerator's bus port sees it: an optional shared L2 in front of a memory with latency
// and bandwidth. It holds no data (arch/memory.h does); every timed engine drives this one model, so they agree by
// construction.
//
// Request channel: one beat per cycle, shared by reads (one beat each) and writes (one beat per bus word); a write
// burst is never interrupted; otherwise the two alternate when both want the same cycle. With an L2 a request is taken
// while fewer than six beats wait on the way to it. Response channel: one beat per cycle; a burst is never interrupted;
// answers come in the order in which the L2 gives them, without L2 in that of their first beats.
//
// With t the cycle of the request (of its first beat) and b the bytes of the bus, on an idle memory system:
//   L2 hit        first response beat at t + l2.hit_latency, then one per cycle
//   L2 miss       fixed: the first beat memory.latency_cycles later, the next ones as fast as memory sends them
//                 (memory.bytes_per_cycle, if that is less than b); a request that does not start with its line waits
//                 for the whole line. DRAM models: see dram.h, and memory.path_cycles
//   write         answered like the first beat of a read, a miss as soon as the first word of the line came; of a whole
//                 line that misses nothing is fetched: it is answered four cycles later than a hit
//   no L2         every request goes to memory in units of b bytes, and takes one cycle on the way; a write is answered
//                 when memory has it
// How requests get in each other's way: l2.h, backing.h.
// Cycles given to the functions never go back.
#ifndef SIM_MEMSYS_MEMSYS_H
#define SIM_MEMSYS_MEMSYS_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct memsys memsys;

typedef struct memsys_request {
  unsigned id;       // of the channel; unique among those of its kind under way
  uint64_t address;  // naturally aligned to the burst
  unsigned bytes;    // of the whole burst, a power of two
  bool partial;      // a write: some of them keep their value
} memsys_request;

typedef struct memsys_beat {
  bool write;  // answer of a write (one beat) or data of a read
  unsigned id;
  unsigned index;  // of the beat in its burst
  bool last;
} memsys_beat;

typedef enum { MEMSYS_NOBODY, MEMSYS_READ, MEMSYS_WRITE } memsys_grant;

typedef struct memsys_counts {
  uint64_t reads, writes;                      // requests of the port
  uint64_t read_bytes, written_bytes;          // by port and host
  uint64_t hits, misses;                       // lines
  uint64_t fetched_bytes, written_back_bytes;  // between L2 and memory
} memsys_counts;

memsys *memsys_create(const hw_array *array);
void memsys_destroy(memsys *m);

// Which of the two may send a beat in this cycle; NULL: it has none. A write brings its whole burst at every beat.
memsys_grant memsys_arbitrate(memsys *m, uint64_t cycle, const memsys_request *read, const memsys_request *write);
// No caller may send in `cycle`: the earliest later cycle in which one may, if the host sends nothing before.
uint64_t memsys_next_grant(memsys *m, uint64_t cycle);
// The granted beat is sent.
void memsys_read(memsys *m, uint64_t cycle, const memsys_request *request);
void memsys_write(memsys *m, uint64_t cycle, const memsys_request *request);

// The response beat of this cycle, or NULL. It stays until taken.
const memsys_beat *memsys_response(memsys *m, uint64_t cycle);
void memsys_take(memsys *m, uint64_t cycle);

// Takes all beats of the read burst whose first one is shown in `cycle`, each as soon as it is there: beat n in cycle
// max(cycle + n, ready + n * spacing). The next burst is shown after its last beat, at the earliest.
typedef struct memsys_burst {
  uint64_t ready, spacing;
  unsigned beats;
} memsys_burst;
memsys_burst memsys_take_burst(memsys *m, uint64_t cycle);

// The earliest cycle, from `cycle` on, in which a response beat can be there; UINT64_MAX when nothing is under way.
uint64_t memsys_next_response(memsys *m, uint64_t cycle);
// The same from the next cycle on, after a request was sent in this one; `before` is the answer from before the
// request.
uint64_t memsys_next_response_with(memsys *m, uint64_t cycle, uint64_t before);
// The earliest answer to a read that is sent in `cycle` or later.
uint64_t memsys_soonest_answer(const memsys *m, uint64_t cycle);

// The host asks for a line of the L2 (without one: for a bus word) in `cycle`, or writes one back. It goes the way of
// the port's requests, behind those that were sent before `cycle`, and is answered in turn with them.
void memsys_host_ask(memsys *m, uint64_t cycle, uint64_t address, bool write);
// The cycle in which the last beat of the lines asked for is there, if the cycles before `cycle` decide it and the port
// has taken the answers before it: that does not depend on how the port takes them. Else MEMSYS_UNKNOWN, and *next is
// the cycle in which to ask again.
#define MEMSYS_UNKNOWN UINT64_MAX
uint64_t memsys_host_there(memsys *m, uint64_t cycle, uint64_t *next);

// Of the cycles before `cycle`.
memsys_counts memsys_totals(memsys *m, uint64_t cycle);

// A request of the port that was answered, told when its last beat is known.
typedef struct memsys_seen {
  bool write;
  unsigned id, bytes;
  uint64_t address, asked;  // cycle of its first beat on the request channel
  unsigned beats;
  const uint64_t *beat_cycles;  // of the answer
} memsys_seen;
typedef void memsys_observer(void *context, const memsys_seen *seen);
// Tells of requests that are sent from here on; NULL ends it.
void memsys_observe(memsys *m, memsys_observer *observer, void *context);

// Delays requests and answers at random on top of the model, as a function of the seed (not 0), the cycle and the order
// of the requests: engines that behave alike stay alike. For tests that want many interleavings.
void memsys_disturb(memsys *m, uint64_t seed);

#endif
