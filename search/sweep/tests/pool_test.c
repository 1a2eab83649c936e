// SPDX-License-Identifier: Apache-2.0
// The pool of workers: all results come, a worker that dies or hangs costs its own request, a remote one that goes
// gives its request back.
#include "search/sweep/pool.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/test.h"

enum { CRASH = 1000, HANG = 2000 };

// The id says what the worker is to do.
static void work(const sweep_work_context *context, const sweep_work_memory *memory, const sweep_work_request *request,
                 sweep_work_result *result) {
  (void)memory, (void)context;
  if (request->id == CRASH) kill(getpid(), SIGKILL);
  while (request->id == HANG) pause();
  sweep_work_fail(result, request->id, WORK_GOOD, "");
  result->cycles = 2 * request->id;
}

typedef struct seen {
  unsigned count, statuses[WORK_STATUS_COUNT];
  uint64_t ids;
} seen;

static void done(void *context, const sweep_work_request *request, const sweep_work_result *result) {
  seen *s = context;
  assert_int_equal(request->id, result->id);
  if (result->status == WORK_GOOD) assert_int_equal(result->cycles, 2 * result->id);
  s->count++;
  s->statuses[result->status]++;
  s->ids += result->id;
}

static void give_all(sweep_pool *p, const uint64_t *ids, size_t count, seen *s) {
  for (size_t i = 0; i < count;) {
    while (i < count && sweep_pool_has_free(p)) sweep_pool_give(p, &(sweep_work_request){.id = ids[i++]});
    sweep_pool_wait(p, 100, -1, done, s);
  }
  while (sweep_pool_busy(p) > 0) sweep_pool_wait(p, 100, -1, done, s);
}

static void many(void **state) {
  (void)state;
  uint64_t ids[200];
  for (size_t i = 0; i < 200; i++) ids[i] = i;
  sweep_pool *p = sweep_pool_create(3, 0, work, NULL);
  seen s = {0};
  give_all(p, ids, 200, &s);
  assert_int_equal(s.count, 200);
  assert_int_equal(s.ids, 199 * 200 / 2);
  assert_int_equal(s.statuses[WORK_GOOD], 200);
  sweep_pool_destroy(p);
}

// A worker that dies.
static void crashes(void **state) {
  (void)state;
  static const uint64_t ids[] = {1, CRASH, 2, 3, CRASH, 4};
  sweep_pool *p = sweep_pool_create(2, 0, work, NULL);
  seen s = {0};
  give_all(p, ids, sizeof ids / sizeof *ids, &s);
  assert_int_equal(s.count, 6);
  assert_int_equal(s.statuses[WORK_GOOD], 4);
  assert_int_equal(s.statuses[WORK_CRASHED], 2);
  assert_int_equal(sweep_pool_workers(p), 2);
  sweep_pool_destroy(p);
}

// Gives a request until it ends so. On a busy machine any request may take longer than a pool allows.
static void give_until(sweep_pool *p, uint64_t id, sweep_work_status status) {
  seen s = {0};
  while (s.statuses[status] == 0) {
    give_all(p, &id, 1, &s);
    assert_int_equal(s.count, s.statuses[status] + (status == WORK_TIMEOUT ? 0 : s.statuses[WORK_TIMEOUT]));
  }
}

// A worker that hangs: it is replaced by one that works.
static void timeouts(void **state) {
  (void)state;
  static const uint64_t ids[] = {HANG, HANG, HANG};
  sweep_pool *p = sweep_pool_create(2, 0.2, work, NULL);
  seen s = {0};
  give_all(p, ids, 3, &s);
  assert_int_equal(s.statuses[WORK_TIMEOUT], 3);
  assert_int_equal(sweep_pool_workers(p), 2);
  give_until(p, 5, WORK_GOOD);
  sweep_pool_destroy(p);
}

static pid_t serve(int ends[2], double timeout) {
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    sweep_pool_serve(ends[1], timeout, work, NULL);
    _exit(0);
  }
  close(ends[1]);
  return pid;
}

static void remote(void **state) {
  (void)state;
  int ends[2];
  const pid_t pid = serve(ends, 0.2);
  sweep_pool *p = sweep_pool_create(0, 0, work, NULL);
  assert_false(sweep_pool_has_free(p));
  sweep_pool_add_remote(p, ends[0]);
  give_until(p, 1, WORK_GOOD);
  give_until(p, CRASH, WORK_CRASHED);
  give_until(p, HANG, WORK_TIMEOUT);
  give_until(p, 2, WORK_GOOD);
  sweep_pool_destroy(p);
  waitpid(pid, NULL, 0);
}

// A remote worker goes while it works.
static void remote_lost(void **state) {
  (void)state;
  int ends[2];
  const pid_t pid = serve(ends, 0);
  sweep_pool *p = sweep_pool_create(0, 0, work, NULL);
  sweep_pool_add_remote(p, ends[0]);
  seen s = {0};
  sweep_pool_give(p, &(sweep_work_request){.id = HANG});
  sweep_pool_wait(p, 50, -1, done, &s);
  kill(pid, SIGKILL);
  while (sweep_pool_busy(p) > 0) sweep_pool_wait(p, 100, -1, done, &s);
  assert_int_equal(s.count, 1);
  assert_int_equal(s.statuses[WORK_LOST], 1);
  assert_int_equal(sweep_pool_workers(p), 0);
  sweep_pool_destroy(p);
  waitpid(pid, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(crashes), cmocka_unit_test(timeouts),
                                     cmocka_unit_test(remote), cmocka_unit_test(remote_lost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
