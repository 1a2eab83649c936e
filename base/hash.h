// SPDX-License-Identifier: Apache-2.0
// FNV-1a, 64 bits: the content hash of arrays and memory digests. Start from WF_HASH_START and feed bytes.
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define WF_HASH_START UINT64_C(0xcbf29ce484222325)

static inline uint64_t wf_hash(uint64_t state, const void *bytes, size_t length) {
  const unsigned char *p = bytes;
  for (size_t i = 0; i < length; i++) state = (state ^ p[i]) * UINT64_C(0x100000001b3);
  return state;
}

#endif
