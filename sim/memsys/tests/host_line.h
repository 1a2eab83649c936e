// SPDX-License-Identifier: Apache-2.0
// For tests in which the host waits for its line and nothing else goes on.
#ifndef SIM_MEMSYS_TESTS_HOST_LINE_H
#define SIM_MEMSYS_TESTS_HOST_LINE_H

#include "sim/memsys/memsys.h"

// The cycle of the line's last beat.
static inline uint64_t host_line(memsys *m, uint64_t cycle, uint64_t address) {
  uint64_t there, next = cycle;
  memsys_host_ask(m, cycle, address, false);
  while ((there = memsys_host_there(m, next, &next)) == MEMSYS_UNKNOWN) continue;
  return there;
}

#endif
