// The pool of workers: all results come, a worker that dies or hangs costs its own request, a remote one that goes
// gives its request back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
// cmocka.h needs the four above.
#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "search/sweep/pool.h"

enum { CRASH = 1000, HANG = 2000 };

// The id says what the worker is to do.
static void work(const work_request *request, work_result *result) {
  if (request->id == CRASH) abort();
  if (request->id == HANG) sleep(60);
  work_fail(result, request->id, WORK_GOOD, "");
  result->cycles = 2 * request->id;
}

typedef struct seen {
  unsigned count, statuses[WORK_STATUS_COUNT];
  uint64_t ids;
} seen;

static void done(void *context, const work_request *request, const work_result *result) {
  seen *s = context;
  assert_int_equal(request->id, result->id);
  if (result->status == WORK_GOOD) assert_int_equal(result->cycles, 2 * result->id);
  s->count++;
  s->statuses[result->status]++;
  s->ids += result->id;
}

static void give_all(pool *p, const uint64_t *ids, size_t count, seen *s) {
  for (size_t i = 0; i < count;) {
    while (i < count && pool_has_free(p)) pool_give(p, &(work_request){.id = ids[i++]});
    pool_wait(p, 100, -1, done, s);
  }
  while (pool_busy(p) > 0) pool_wait(p, 100, -1, done, s);
}

static void many(void **state) {
  (void)state;
  uint64_t ids[200];
  for (size_t i = 0; i < 200; i++) ids[i] = i;
  pool *p = pool_create(3, 0, work);
  seen s = {0};
  give_all(p, ids, 200, &s);
  assert_int_equal(s.count, 200);
  assert_int_equal(s.ids, 199 * 200 / 2);
  assert_int_equal(s.statuses[WORK_GOOD], 200);
  pool_destroy(p);
}

static void failures(void **state) {
  (void)state;
  static const uint64_t ids[] = {1, CRASH, 2, HANG, 3, CRASH, 4};
  pool *p = pool_create(2, 0.3, work);
  seen s = {0};
  give_all(p, ids, sizeof ids / sizeof *ids, &s);
  assert_int_equal(s.count, 7);
  assert_int_equal(s.statuses[WORK_GOOD], 4);
  assert_int_equal(s.statuses[WORK_CRASHED], 2);
  assert_int_equal(s.statuses[WORK_TIMEOUT], 1);
  assert_int_equal(pool_workers(p), 2);
  pool_destroy(p);
}

static pid_t serve(int ends[2], double timeout) {
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    pool_serve(ends[1], timeout, work);
    _exit(0);
  }
  close(ends[1]);
  return pid;
}

static void remote(void **state) {
  (void)state;
  int ends[2];
  const pid_t pid = serve(ends, 0.3);
  static const uint64_t ids[] = {1, CRASH, HANG, 2};
  pool *p = pool_create(0, 0, work);
  assert_false(pool_has_free(p));
  pool_add_remote(p, ends[0]);
  seen s = {0};
  give_all(p, ids, 4, &s);
  assert_int_equal(s.statuses[WORK_GOOD], 2);
  assert_int_equal(s.statuses[WORK_CRASHED], 1);
  assert_int_equal(s.statuses[WORK_TIMEOUT], 1);
  // It goes while it works.
  pool_give(p, &(work_request){.id = HANG});
  pool_wait(p, 50, -1, done, &s);
  kill(pid, SIGKILL);
  while (pool_busy(p) > 0) pool_wait(p, 100, -1, done, &s);
  assert_int_equal(s.statuses[WORK_LOST], 1);
  assert_int_equal(pool_workers(p), 0);
  pool_destroy(p);
  waitpid(pid, NULL, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(many), cmocka_unit_test(failures), cmocka_unit_test(remote)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
