// What the L2 consists of: shared by l2.c (registers, entrance, polls) and l2_data.c (data pipe and banks). Private to
// them.
#ifndef SIM_MEMSYS_L2_STATE_H
#define SIM_MEMSYS_L2_STATE_H

#include "sim/memsys/l2.h"
#include "sim/memsys/l2_tags.h"

#define NEVER UINT64_MAX

enum {
  REGISTERS = 64,
  NEARBY = 64,  // cycles, as many as bits in a word
  ITEMS = 4096,
  TRANSFERS = 256,
  RECENT = 16,
  BANKS = 4,         // of the data, as wide as a beat
  WRITE_CYCLES = 3,  // a beat is written behind its place in the data pipe
  NONE = UINT16_MAX,
  ENTER_CYCLES = 1,    // from the port
  LOOK_CYCLES = 2,     // from reading the tags to the first step
  PERMIT_CYCLES = 3,   // from asking for a line without data to having it
  RELEASE_CYCLES = 4,  // until memory has taken note of a clean victim
  QUEUE_BEATS = 6,     // on the way from the port
  SPARE_BEATS = 8,     // that find room behind the data pipe while the port takes nothing
};

enum { EVICT = 1, ASK = 2, ACKNOWLEDGE = 4, ANSWER = 8, NOTE = 16 };  // what a register has still to do

// The part of a request that lies in one line.
typedef struct item {
  uint64_t number;  // of the line
  uint64_t entered;
  uint64_t order, late;
  uint16_t id;
  uint16_t beats;   // in this line
  uint16_t total;   // of the answer
  uint16_t next;    // behind it at the same register
  uint16_t offset;  // in the line
  bool write, whole;
  bool poll;
  bool parted;  // the request lies in several lines: the last part that is served gives the answer
} item;

typedef struct station {
  item work;
  l2_line *line;
  uint64_t victim;
  uint64_t ripe;         // first cycle of the next step that does not wait for memory
  uint64_t first, last;  // words of the line; NEVER: not known yet; 0: nothing to wait for
  uint64_t released;     // the victim is
  uint16_t head, tail;   // requests that wait for the set
  uint8_t todo;
  bool dirty_victim;
} station;

// Lines that memory's side moves in or out, one after the other: word k in start + k, for `line_cycles`. By time.
typedef struct transfers {
  uint64_t start[TRANSFERS];
  uint32_t head, end;
} transfers;

typedef enum { MOVE_IN, MOVE_OUT, MOVES } move;

// A beat that is written.
typedef struct written {
  uint64_t cycle;
  unsigned bank;
} written;

struct memsys_l2 {
  l2_tags tags;
  backing *memory;
  memsys_answers *answers;
  memsys_counts *counts;
  unsigned bus_shift, bank_shift, line_bytes;  // bank: words that follow each other in one, as a power of two
  uint64_t poll_cycles, poll_at;
  uint64_t tail, spacing, line_cycles;
  uint64_t now;      // the first cycle that was not carried out
  uint64_t quiet;    // nothing happens before, unless somebody sends or takes
  uint64_t horizon;  // of the run under way: it ends before
  // registers
  uint64_t all, used;  // masks
  // Those used are parted: `ready` have nothing left to do but to answer, and can as soon as the pipe can; `due` wait
  // for their turn, or for a pipe; `nearby` and `far` sleep until wake[], or until memory has decided.
  uint64_t ready, due, far;
  uint64_t hits, evictions;  // what those that sleep or are due have to do next: answer alone; evict
  uint64_t first_far;        // none of `far` wakes before
  uint64_t nearby_cycles;    // cycle n of those to come at bit n % NEARBY: somebody wakes in it
  uint64_t nearby[NEARBY];   // who
  uint64_t wake[REGISTERS];  // of `far`: no step before
  uint16_t *owner;           // by set: the register that works for it + 1
  unsigned last_chosen;
  station stations[REGISTERS];
  // pipes
  transfers moved[MOVES];
  written written[RECENT];  // by cycle
  uint64_t written_until;   // the last of them
  uint64_t data_free, evict_free;
  uint64_t waiting_beats, beat_limit;  // between data pipe and port
  bool tags_full;                      // the queue of writes
  // on the way from the port
  item queue[ITEMS];
  uint16_t parts[ITEMS];  // of a request that lies in several lines, by its order: not served yet
  uint32_t queue_head, queue_end, queue_beats;
  uint64_t enter_from;
  // requests that wait for a set
  item *pool;
  uint16_t pool_free;
};

static inline uint64_t l2_later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Answers that the port took make room behind the data pipe.
uint64_t l2_data_drain(memsys_l2 *l2);
// From when on the data pipe takes an answer, as far as it is known.
static inline uint64_t l2_data_from(memsys_l2 *l2) {
  return l2->waiting_beats < l2->beat_limit ? l2->data_free : l2_data_drain(l2);
}
// The register's answer enters the data pipe.
void l2_answer(memsys_l2 *l2, station *s, uint64_t cycle);
// Memory's side moves a line, from `start` on.
void l2_move_words(memsys_l2 *l2, move direction, uint64_t start);
// Whether it moves one in `cycle` or later.
bool l2_moves(memsys_l2 *l2, uint64_t cycle);

#endif
