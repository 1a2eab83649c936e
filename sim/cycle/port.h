// The memory port and what is in front of it on its side: bus, load_path, dma_writer, dma_reader, load_controller, in
// this order in a cycle. To the others they are one unit, which has a clock of its own. See port.c.
// Included by weft_accel.h.
#ifndef SIM_CYCLE_PORT_H
#define SIM_CYCLE_PORT_H

#include <stdbool.h>
#include <stdint.h>

enum { CYCLE_PORT_BANKS = 64 };

typedef struct cycle_port {
  uint64_t time;       // the first cycle that was not carried out
  uint64_t next;       // the first one that has to be
  uint32_t due;        // parts to be stepped in cycle `next`, a bit each from CYCLE_BUS up
  bool lags;           // cycles are carried out when somebody looks
  bool never_lags;     // a request leaves main memory
  bool room_wanted;    // the station's oldest load waits for room in the load controller's queue alone
  bool writer_wanted;  // the store path has a row that the writer did not take
  uint64_t lags_from;  // not before this cycle
  uint32_t others;     // commands queued or under way that add to the accumulator, or write zeros
  uint64_t banks;      // scratchpad banks of the commands queued or under way
  uint64_t acc_banks;  // and of the accumulator
  uint64_t wrote_at;   // while it lags: the cycle of the last write to the scratchpad that is known, and its bank
  uint32_t wrote;
  uint16_t users[CYCLE_PORT_BANKS], acc_users[CYCLE_PORT_BANKS];  // commands of each bank
} cycle_port;

// What a load writes, from the cycle in which it is given to the load controller until the station knows that it is
// done.
typedef struct cycle_port_use {
  uint64_t banks;      // of the scratchpad
  uint64_t acc_banks;  // of the accumulator, whose rows are not added
  bool other;          // anything else
} cycle_port_use;

#endif
