// SPDX-License-Identifier: Apache-2.0
// Ways to run what both the hart and the array's normaliser can do. Each is compiled and simulated as a whole, and the
// best one is the network.
#ifndef API_WAYS_H
#define API_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "api/include/weft/weft.h"

enum { API_WAYS = 3 };

typedef struct api_way {
  const char *name, *refused;  // refused: why it cannot be; NULL: it was simulated
  uint64_t cycles;
  double energy_uj;
  bool has_energy, chosen;
} api_way;

struct api_loaded;

// Whether the options ask for it.
bool api_ways_asked(const weft_network_options *options);
// The network by its best way, or NULL behind the end of the session's call.
struct api_loaded *api_ways_open(weft_session *session, const weft_array *array, const char *path,
                                 const weft_network_options *options);

#endif
