// SPDX-License-Identifier: Apache-2.0
// Meeting of the ranks of a sweep: see remote.h. The part that calls MPI is a shared object of its own, loaded only
// when a launcher started this process: a plain `weft` needs no MPI.
#define _GNU_SOURCE  // accept4
#include "search/sweep/remote.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "search/sweep/mpi.h"

enum { BACKLOG = 1024, HELLO_MILLISECONDS = 5000 };

// What mpirun and srun say about the number of ranks.
static int launched_ranks(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value != NULL) return atoi(value);
  }
  return 1;
}

static bool fail(wf_diag *diag, const char *what) {
  wf_error(diag, wf_in_file(NULL), "%s: %s", what, strerror(errno));
  return false;
}

// ---- rank 0

static void find_addresses(sweep_remote_place *place) {
  struct ifaddrs *all;
  if (getifaddrs(&all) != 0) return;
  for (struct ifaddrs *at = all; at != NULL && place->count < REMOTE_ADDRESSES; at = at->ifa_next)
    if (at->ifa_addr != NULL && at->ifa_addr->sa_family == AF_INET)
      place->addresses[place->count++] = ((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr.s_addr;
  freeifaddrs(all);
}

static bool listen_here(sweep_remote_group *group, const char *version, wf_diag *diag) {
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
  socklen_t length = sizeof here;
  group->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (group->socket < 0 || bind(group->socket, (const struct sockaddr *)&here, sizeof here) != 0 ||
      listen(group->socket, BACKLOG) != 0 || getsockname(group->socket, (struct sockaddr *)&here, &length) != 0)
    return fail(diag, "cannot listen for the other ranks");
  sweep_remote_place *place = &group->place;
  place->port = here.sin_port;
  if (getrandom(place->token, sizeof place->token, 0) != sizeof place->token) return fail(diag, "no random numbers");
  snprintf(place->version, sizeof place->version, "%s", version);
  find_addresses(place);
  return true;
}

static void set_quick(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

int sweep_remote_accept(const sweep_remote_group *group) {
  const int socket = accept4(group->socket, NULL, NULL, SOCK_CLOEXEC);
  if (socket < 0) return -1;
  uint8_t token[REMOTE_TOKEN];
  struct pollfd wait = {.fd = socket, .events = POLLIN};
  const bool known = poll(&wait, 1, HELLO_MILLISECONDS) == 1 &&
                     recv(socket, token, sizeof token, MSG_WAITALL) == sizeof token &&
                     memcmp(token, group->place.token, sizeof token) == 0;
  if (known) {
    set_quick(socket);
    return socket;
  }
  close(socket);
  return -1;
}

// ---- the others

static int connect_to(const sweep_remote_place *place, uint32_t address) {
  const struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = place->port, .sin_addr.s_addr = address};
  const int socket_there = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_there < 0) return -1;
  if (connect(socket_there, (const struct sockaddr *)&there, sizeof there) == 0 &&
      send(socket_there, place->token, sizeof place->token, MSG_NOSIGNAL) == sizeof place->token)
    return socket_there;
  close(socket_there);
  return -1;
}

static bool connect_there(sweep_remote_group *group, const char *version, wf_diag *diag) {
  if (strncmp(group->place.version, version, sizeof group->place.version - 1) != 0) {
    wf_error(diag, wf_in_file(NULL), "rank 0 is weft %s, this is %s", group->place.version, version);
    return false;
  }
  for (uint32_t i = 0; i < group->place.count; i++) {
    group->socket = connect_to(&group->place, group->place.addresses[i]);
    if (group->socket < 0) continue;
    set_quick(group->socket);
    return true;
  }
  wf_error(diag, wf_in_file(NULL), "rank %d cannot reach rank 0", group->rank);
  return false;
}

// ---- meeting

typedef struct plugin {
  void *object;
  sweep_mpi_begin *begin;
  sweep_mpi_share *share;
  sweep_mpi_end *end;
} plugin;

static bool load(plugin *p, wf_diag *diag) {
  p->object = dlopen("libweft_sweep_mpi.so", RTLD_NOW | RTLD_GLOBAL);
  if (p->object != NULL) {
    p->begin = (sweep_mpi_begin *)dlsym(p->object, "sweep_mpi_begin_ranks");
    p->share = (sweep_mpi_share *)dlsym(p->object, "sweep_mpi_share_bytes");
    p->end = (sweep_mpi_end *)dlsym(p->object, "sweep_mpi_end_ranks");
  }
  if (p->begin != NULL && p->share != NULL && p->end != NULL) return true;
  wf_error(diag, wf_in_file(NULL), "started as one of several ranks, but MPI cannot be used: %s", dlerror());
  wf_hint(diag, "apt-get install libopenmpi-dev openmpi-bin, then build again");
  return false;
}

// MPI ends before the work begins: it would end all ranks when one is gone.
bool sweep_remote_join(sweep_remote_group *group, const char *version, wf_diag *diag) {
  *group = (sweep_remote_group){.socket = -1, .ranks = 1};
  if (launched_ranks() <= 1) return true;
  plugin p = {0};
  if (!load(&p, diag)) return false;
  p.begin(&group->rank, &group->ranks);
  group->launched = group->ranks > 1;
  bool good = group->rank != 0 || listen_here(group, version, diag);
  if (!good) group->place.count = 0;
  p.share(&group->place, sizeof group->place);
  p.end();
  if (group->rank != 0) good = connect_there(group, version, diag);
  return good;
}

void sweep_remote_leave(sweep_remote_group *group) {
  if (group->socket >= 0) close(group->socket);
  group->socket = -1;
}
