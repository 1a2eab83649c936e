// Tags of the shared L2: set-associative, least recently used, write-back, write-allocate.
#ifndef SIM_MEMSYS_L2_H
#define SIM_MEMSYS_L2_H

#include <stdbool.h>
#include <stdint.h>

#include "hw/array.h"

typedef struct memsys_l2 memsys_l2;

#define MEMSYS_L2_UNKNOWN UINT64_MAX

typedef struct memsys_l2_result {
  bool hit;
  bool victim_dirty;
  uint64_t victim;     // line address of a dirty victim
  uint64_t available;  // of a hit: the line's first byte is there from this cycle on; unknown while it waits for memory
} memsys_l2_result;

memsys_l2 *memsys_l2_create(const hw_array *array);
void memsys_l2_destroy(memsys_l2 *l2);
// True if the line is there or on its way. Changes nothing.
bool memsys_l2_holds(const memsys_l2 *l2, uint64_t address);
// Looks the line up, makes it the most recent, and allocates it on a miss. A line allocated by a write of its whole is
// there at once, any other one when memsys_l2_arrives says so.
memsys_l2_result memsys_l2_access(memsys_l2 *l2, uint64_t address, bool write, bool whole);
// Tells when the data of a line under way arrives. The line may have been evicted again.
void memsys_l2_arrives(memsys_l2 *l2, uint64_t address, uint64_t cycle);

#endif
