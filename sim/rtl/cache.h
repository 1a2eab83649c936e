// SPDX-License-Identifier: Apache-2.0
// A directory of things that take long to build: $WEFT_CACHE, else $XDG_CACHE_HOME/weft, else ~/.cache/weft.
//
// An entry is a directory named by a key that says everything its contents depend on. It appears in one step, by
// renaming the directory it was built in, after its files are on the disk. A list of its files with their sizes and
// digests is kept in it: an entry that is not as its list says, for instance after the machine or the disk failed, is
// not there, and is built again. One process builds an entry at a time: it
// holds a lock that the kernel (or, after a kill, the last of its compilers to end) gives back, and clears what an
// earlier builder left behind.
#ifndef SIM_RTL_CACHE_H
#define SIM_RTL_CACHE_H

#include <stdbool.h>

#include "base/diag.h"

typedef struct sim_cache_entry {
  char *path;      // of the entry
  char *building;  // where to build it; an empty directory while `present` is false
  bool present;
  int lock;
} sim_cache_entry;

// Finds the entry, or makes this process its builder, after waiting for another one (`waiting` is called once before;
// may be NULL). False after an error was reported.
bool sim_cache_open(sim_cache_entry *entry, const char *key, void (*waiting)(void *context), void *context,
                    wf_diag *diag);
// Makes the built directory the entry. False after an error was reported.
bool sim_cache_publish(sim_cache_entry *entry, wf_diag *diag);
// Gives up the lock and what was not published.
void sim_cache_close(sim_cache_entry *entry);

#endif
