// SPDX-License-Identifier: Apache-2.0
// For fuzzers of texts that name networks: whether reading one would run a generated network in full size, which takes
// the sanitizers longer than an input may.
#ifndef SEARCH_LAYERS_TESTS_RUNS_H
#define SEARCH_LAYERS_TESTS_RUNS_H

#include <string.h>

#include "search/layers/network.h"
#include "workloads/networks/networks.h"

static inline bool text_has(const uint8_t *data, size_t size, const char *word) {
  const size_t length = strlen(word);
  for (size_t at = 0; at + length <= size; at++)
    if (memcmp(data + at, word, length) == 0) return true;
  return false;
}

// A shipped table goes before the generated network of its name, but behind `net:`.
static inline bool text_runs_network(const uint8_t *data, size_t size) {
  const bool has_net = text_has(data, size, "net:");
  for (size_t n = 0; n < networks_count(); n++) {
    const char *name = networks_at(n)->name;
    if (text_has(data, size, name) && (has_net || layers_is_network(name))) return true;
  }
  return false;
}

#endif
