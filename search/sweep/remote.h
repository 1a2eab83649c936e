// SPDX-License-Identifier: Apache-2.0
// Workers on other machines: one rank listens, the others connect to it and serve (docs/sweeps.md).
//
// MPI is only asked who is who and to hand round where the first rank listens; the work goes over sockets of our own.
// So a rank that is gone is a socket that has ended, and costs only what it had.
#ifndef SEARCH_SWEEP_REMOTE_H
#define SEARCH_SWEEP_REMOTE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"

enum { REMOTE_ADDRESSES = 16, REMOTE_TOKEN = 16 };

// Where the first rank listens: plain bytes, the same in all ranks.
typedef struct sweep_remote_place {
  uint32_t addresses[REMOTE_ADDRESSES];  // IPv4, as in in_addr
  uint32_t count;
  uint16_t port;
  uint8_t token[REMOTE_TOKEN];  // who connects must know it
  char version[64];
} sweep_remote_place;

typedef struct sweep_remote_group {
  bool launched;  // by mpirun or srun, with more than one rank
  int rank, ranks;
  int socket;  // of rank 0: listens; of the others: connected to it
  sweep_remote_place place;
} sweep_remote_group;

// Whether this process is one of several that a launcher started; if so, all of them call this and are connected when
// it returns. False after an error was reported.
bool sweep_remote_join(sweep_remote_group *group, const char *version, wf_diag *diag);
// The next worker that connected: its socket, or -1 if it was another program.
int sweep_remote_accept(const sweep_remote_group *group);
void sweep_remote_leave(sweep_remote_group *group);

#endif
