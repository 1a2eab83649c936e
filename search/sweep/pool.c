// SPDX-License-Identifier: Apache-2.0
// Worker processes behind sockets: see pool.h. Messages are whole sweep_work_request and sweep_work_result structs; a
// worker has at most one request. The steps of a result follow it.
#include "search/sweep/pool.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

typedef struct worker {
  int socket;
  pid_t pid;  // 0: elsewhere
  bool busy;
  double since;
  sweep_work_request request;
  sweep_work_result result;  // as far as it has come
  size_t received;           // of the result, then of its steps
} worker;

struct sweep_pool {
  worker *workers;
  size_t count, room;
  double timeout;
  sweep_pool_work *work;
  const sweep_work_context *context;
  run_known *known;
};

// ---- whole messages

static bool send_all(int socket, const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    const ssize_t sent = send(socket, at, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += sent;
    size -= (size_t)sent;
  }
  return true;
}

static bool receive_all(int socket, void *bytes, size_t size) {
  for (char *at = bytes; size > 0;) {
    const ssize_t got = recv(socket, at, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += got;
    size -= (size_t)got;
  }
  return true;
}

// ---- children

static bool send_result(int socket, const sweep_work_result *result) {
  return send_all(socket, result, sizeof *result) &&
         send_all(socket, result->steps, result->step_count * sizeof *result->steps);
}

static void child(const sweep_pool *p, int socket) {
  const sweep_work_memory memory = {p->known, run_programs_create()};
  sweep_work_request request;
  sweep_work_result result;
  while (receive_all(socket, &request, sizeof request)) {
    p->work(p->context, &memory, &request, &result);
    const bool sent = send_result(socket, &result);
    sweep_work_release(&result);
    if (!sent) break;
  }
  _exit(0);
}

// A child must not outlive the pool's process, whatever ends that; nor answer its terminal's interrupt.
static void start(sweep_pool *p, worker *w) {
  int ends[2];
  *w = (worker){.socket = -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
  fflush(NULL);
  const pid_t parent = getpid();
  w->pid = fork();
  if (w->pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    signal(SIGINT, SIG_IGN);
    for (size_t i = 0; i < p->count; i++)
      if (p->workers[i].socket >= 0 && &p->workers[i] != w) close(p->workers[i].socket);
    close(ends[0]);
    child(p, ends[1]);
  }
  close(ends[1]);
  w->socket = ends[0];
  if (w->pid < 0) {
    close(ends[0]);
    *w = (worker){.socket = -1};
  }
}

static worker *add_worker(sweep_pool *p) {
  if (p->count == p->room) {
    p->room = p->room == 0 ? 8 : 2 * p->room;
    p->workers = wf_realloc(p->workers, p->room, sizeof *p->workers);
  }
  p->workers[p->count] = (worker){.socket = -1};
  return &p->workers[p->count++];
}

sweep_pool *sweep_pool_create(unsigned jobs, double timeout, sweep_pool_work *work, const sweep_work_context *context) {
  sweep_pool *p = wf_calloc(1, sizeof *p);
  p->timeout = timeout;
  p->work = work;
  p->context = context;
  p->known = run_known_create();
  for (unsigned n = 0; n < jobs; n++) start(p, add_worker(p));
  return p;
}

void sweep_pool_add_remote(sweep_pool *p, int socket) { add_worker(p)->socket = socket; }

// Those that have come, as far as they have.
static void forget_steps(worker *w) {
  if (w->received >= sizeof w->result) sweep_work_release(&w->result);
  w->received = 0;
}

static int end_child(worker *w) {
  int status = 0;
  kill(w->pid, SIGKILL);
  while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

void sweep_pool_destroy(sweep_pool *p) {
  for (size_t i = 0; i < p->count; i++) {
    if (p->workers[i].socket >= 0) close(p->workers[i].socket);
    if (p->workers[i].pid > 0) end_child(&p->workers[i]);
    forget_steps(&p->workers[i]);
  }
  run_known_destroy(p->known);
  wf_free(p->workers);
  wf_free(p);
}

// ---- requests

static bool is_free(const worker *w) { return w->socket >= 0 && !w->busy; }

size_t sweep_pool_free_worker(const sweep_pool *p) {
  for (size_t i = 0; i < p->count; i++)
    if (is_free(&p->workers[i])) return i;
  return SWEEP_POOL_NONE;
}

unsigned sweep_pool_busy(const sweep_pool *p) {
  unsigned busy = 0;
  for (size_t i = 0; i < p->count; i++) busy += p->workers[i].busy;
  return busy;
}

unsigned sweep_pool_workers(const sweep_pool *p) {
  unsigned count = 0;
  for (size_t i = 0; i < p->count; i++) count += p->workers[i].socket >= 0;
  return count;
}

void sweep_pool_give(sweep_pool *p, const sweep_work_request *request) {
  const size_t free_one = sweep_pool_free_worker(p);
  assert(free_one != SWEEP_POOL_NONE);
  worker *w = &p->workers[free_one];
  w->busy = true;
  w->received = 0;
  w->since = wf_seconds();
  w->request = *request;
  send_all(w->socket, request, sizeof *request);  // a failure shows as the end of the socket
}

// ---- what happens to workers

typedef struct delivery {
  sweep_pool *pool;
  sweep_pool_done *done;
  void *context;
} delivery;

static void deliver(const delivery *d, worker *w, const sweep_work_result *result) {
  const sweep_work_request request = w->request;
  sweep_work_result copy = *result;  // `done` may add workers and so move this one
  w->busy = false;
  w->result.steps = NULL;
  d->done(d->context, &request, &copy);
  sweep_work_release(&copy);
}

static void fail(const delivery *d, worker *w, sweep_work_status status, const char *reason) {
  sweep_work_result result;
  sweep_work_fail(&result, w->request.id, status, reason);
  result.wall_seconds = wf_seconds() - w->since;
  deliver(d, w, &result);
}

// A worker whose socket has ended.
static void bury(const delivery *d, worker *w) {
  const bool busy = w->busy, here = w->pid > 0;
  char reason[WORK_REASON] = "its worker is gone";
  close(w->socket);
  w->socket = -1;
  forget_steps(w);
  if (here) {
    const int status = end_child(w);
    if (WIFSIGNALED(status)) snprintf(reason, sizeof reason, "ended by signal %d", WTERMSIG(status));
    worker again = {.socket = -1};
    start(d->pool, &again);
    again.busy = busy;
    again.request = w->request;
    again.since = w->since;
    *w = again;
  }
  if (busy) fail(d, w, here ? WORK_CRASHED : WORK_LOST, reason);
}

// Bytes of the message as far as its length is known. The steps get their place when the result is there.
static size_t length_of(worker *w) {
  if (w->received < sizeof w->result) return sizeof w->result;
  const size_t steps = w->result.step_count;
  if (w->received == sizeof w->result) w->result.steps = steps == 0 ? NULL : wf_alloc(steps, sizeof *w->result.steps);
  return sizeof w->result + steps * sizeof *w->result.steps;
}

static void receive(const delivery *d, worker *w) {
  const bool head = w->received < sizeof w->result;
  const size_t whole = head ? sizeof w->result : sizeof w->result + w->result.step_count * sizeof *w->result.steps;
  char *into = head ? (char *)&w->result + w->received : (char *)w->result.steps + (w->received - sizeof w->result);
  const ssize_t got = recv(w->socket, into, whole - w->received, MSG_DONTWAIT);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    bury(d, w);
    return;
  }
  w->received += (size_t)got;
  if (w->received < sizeof w->result || w->received < length_of(w)) return;
  w->received = 0;
  if (w->busy) deliver(d, w, &w->result);
}

static void end_late(const delivery *d, worker *w, double now) {
  if (d->pool->timeout <= 0 || !w->busy || w->pid <= 0 || now - w->since < d->pool->timeout) return;
  char reason[WORK_REASON];
  snprintf(reason, sizeof reason, "more than %g seconds", d->pool->timeout);
  const sweep_work_request request = w->request;
  const double since = w->since;
  close(w->socket);
  end_child(w);
  forget_steps(w);
  start(d->pool, w);
  w->request = request;
  w->since = since;
  fail(d, w, WORK_TIMEOUT, reason);
}

// Until the first timeout, at most `milliseconds`.
static int patience(const sweep_pool *p, int milliseconds) {
  const double now = wf_seconds();
  double least = milliseconds / 1e3;
  for (size_t i = 0; i < p->count && p->timeout > 0; i++)
    if (p->workers[i].busy && p->workers[i].pid > 0) least = fmin(least, p->workers[i].since + p->timeout - now);
  return least <= 0 ? 0 : (int)ceil(1e3 * least);
}

bool sweep_pool_wait(sweep_pool *p, int milliseconds, int watched, sweep_pool_done *done, void *context) {
  const delivery d = {p, done, context};
  const size_t count = p->count;
  struct pollfd *fds = wf_calloc(count + 1, sizeof *fds);
  for (size_t i = 0; i < count; i++) fds[i] = (struct pollfd){.fd = p->workers[i].socket, .events = POLLIN};
  fds[count] = (struct pollfd){.fd = watched, .events = POLLIN};
  const int ready = poll(fds, (nfds_t)count + 1, patience(p, milliseconds));
  for (size_t i = 0; i < count && ready > 0; i++)
    if (fds[i].revents != 0 && p->workers[i].socket == fds[i].fd) receive(&d, &p->workers[i]);
  const double now = wf_seconds();
  for (size_t i = 0; i < count; i++) end_late(&d, &p->workers[i], now);
  const bool can_read = ready > 0 && fds[count].revents != 0;
  wf_free(fds);
  return can_read;
}

// ---- the other end of a remote worker

typedef struct server {
  int socket;
  bool gone;
} server;

static void answer(void *context, const sweep_work_request *request, const sweep_work_result *result) {
  (void)request;
  server *s = context;
  s->gone = !send_result(s->socket, result);
}

void sweep_pool_serve(int socket, double timeout, sweep_pool_work *work, const sweep_work_context *context) {
  server s = {.socket = socket};
  sweep_pool *p = sweep_pool_create(1, timeout, work, context);
  sweep_work_request request;
  while (!s.gone && receive_all(socket, &request, sizeof request)) {
    sweep_pool_give(p, &request);
    while (sweep_pool_busy(p) > 0) sweep_pool_wait(p, 1000, -1, answer, &s);
  }
  sweep_pool_destroy(p);
}
