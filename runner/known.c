// SPDX-License-Identifier: Apache-2.0
// The table of known runs: see known.h. An entry's version is odd while a process writes it and 0 while it is empty;
// who read an entry looks at the version again.
#include "runner/known.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

enum { ENTRIES = 1 << 14, WAYS = 8 };

typedef struct entry {
  atomic_uint version;
  uint64_t timing, machine;
  run_known_run run;
} entry;

struct run_known {
  entry *entries;
};

run_known *run_known_create(void) {
  void *bytes =
      mmap(NULL, ENTRIES * sizeof(entry), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) return NULL;
  run_known *known = WF_NEW(run_known);
  known->entries = bytes;
  return known;
}

void run_known_destroy(run_known *known) {
  if (known == NULL) return;
  munmap(known->entries, ENTRIES * sizeof(entry));
  wf_free(known);
}

// The places where a run may be.
static entry *place(run_known *known, const run_digest *digest, unsigned way) {
  return &known->entries[((digest->timing ^ digest->machine) + way) % ENTRIES];
}

static bool read_entry(entry *e, const run_digest *digest, run_known_run *run) {
  const unsigned version = atomic_load_explicit(&e->version, memory_order_acquire);
  if (version == 0 || version % 2 != 0 || e->timing != digest->timing || e->machine != digest->machine) return false;
  *run = e->run;
  atomic_thread_fence(memory_order_acquire);
  return atomic_load_explicit(&e->version, memory_order_relaxed) == version;
}

bool run_known_find(run_known *known, const run_digest *digest, run_known_run *run) {
  if (known == NULL || !digest->has_timing) return false;
  for (unsigned way = 0; way < WAYS; way++)
    if (read_entry(place(known, digest, way), digest, run)) return true;
  return false;
}

static bool write_entry(entry *e, unsigned version, const run_digest *digest, const run_known_run *run) {
  if (version % 2 != 0 || !atomic_compare_exchange_strong(&e->version, &version, version + 1)) return false;
  e->timing = digest->timing;
  e->machine = digest->machine;
  e->run = *run;
  atomic_store_explicit(&e->version, version + 2, memory_order_release);
  return true;
}

// An empty place, else one of the others, which digests choose.
void run_known_add(run_known *known, const run_digest *digest, const run_known_run *run) {
  if (known == NULL || !digest->has_timing) return;
  for (unsigned way = 0; way < WAYS; way++)
    if (write_entry(place(known, digest, way), 0, digest, run)) return;
  entry *victim = place(known, digest, (unsigned)(digest->timing >> 32) % WAYS);
  write_entry(victim, atomic_load(&victim->version), digest, run);
}
