// SPDX-License-Identifier: Apache-2.0
// libweft in several threads: two sessions on objects that they share, and calls that are cancelled.
#include <pthread.h>

#include "api/tests/session.h"

// ---- two sessions in two threads, on objects that they share

typedef struct worker {
  const weft_array *array;
  const weft_network *net;
  const weft_kernel *kernel;
  uint64_t digest;
  bool good;
} worker;

static void *work(void *context) {
  worker *w = context;
  weft_session *s = weft_session_create();
  int8_t a[M * K], b[K * N];
  int32_t c[M * N], want[M * N];
  w->good = true;
  for (unsigned round = 0; round < 3 && w->good; round++) {
    fill(a, sizeof a, round);
    fill(b, sizeof b, round + 9);
    multiply(a, b, want);
    weft_run *run = weft_kernel_run(s, w->kernel, NULL, (void *const[]){a, b, c});
    w->good = run != NULL && memcmp(c, want, sizeof c) == 0;
    weft_run_destroy(run);
    weft_kernel *none = weft_kernel_compile(s, w->array, &(weft_kernel_options){.size = sizeof(weft_kernel_options)});
    w->good = w->good && none == NULL && weft_session_status(s) == WEFT_USAGE;
  }
  weft_run *run = weft_network_run(s, w->net, NULL, NULL);
  weft_totals totals = {.size = sizeof totals};
  w->good = w->good && weft_run_totals(run, &totals) == WEFT_OK;
  w->digest = totals.digest;
  weft_run_destroy(run);
  weft_session_destroy(s);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_kernel *kernel = compile(s, array, "M=40,N=24,K=56");
  weft_network *net = network(s, array);
  worker workers[2];
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) {
    workers[i] = (worker){.array = array, .net = net, .kernel = kernel};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
  }
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert_true(workers[0].good && workers[1].good);
  assert_true(workers[0].digest == workers[1].digest);
  weft_network_destroy(net);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

// ---- the end before the end

static void test_cancelled_runs(void **state) {
  (void)state;
  weft_session *s = open_session();
  weft_array *array = load(s, "gemmini-default");
  weft_kernel *kernel = compile(s, array, "M=512,N=512,K=512");
  weft_network *net = network(s, array);
  counting c = {.stop_at = 2};
  weft_session_watch(s, count, &c);
  assert_null(weft_kernel_run(s, kernel, NULL, NULL));
  expect_message(s, WEFT_CANCELLED, "cancelled");
  assert_int_equal(c.calls, 2);
  c = (counting){.stop_at = 3};
  assert_null(weft_network_run(s, net, NULL, NULL));
  expect(s, WEFT_CANCELLED);
  assert_int_equal(c.calls, 3);
  c = (counting){0};
  weft_run *run = weft_network_run(s, net, NULL, NULL);  // and the session goes on
  expect(s, WEFT_OK);
  assert_int_equal(c.calls, c.total);
  assert_int_equal(c.calls, weft_run_steps(run));
  weft_run_destroy(run);
  weft_network_destroy(net);
  weft_kernel_destroy(kernel);
  weft_array_destroy(array);
  weft_session_destroy(s);
}

static void *search(void *context) {
  weft_array *array = weft_array_load(context, "gemmini-default");
  const weft_search_options options = {.size = sizeof options, .starts = 60000};  // takes hours
  weft_answer *answer = weft_search(context, array, "resnet50", &options);
  weft_array_destroy(array);
  return answer;
}

// From another thread; again, in case that the call had not begun.
static void test_cancel_from_outside(void **state) {
  (void)state;
  weft_session *s = open_session();
  pthread_t thread;
  void *answer = s;
  assert_int_equal(pthread_create(&thread, NULL, search, s), 0);
  struct timespec soon = {0};
  do {
    weft_session_cancel(s);
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 100 * 1000 * 1000;
    if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
  } while (pthread_timedjoin_np(thread, &answer, &soon) != 0);
  assert_null(answer);
  expect(s, WEFT_CANCELLED);
  weft_session_destroy(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_threads), cmocka_unit_test(test_cancelled_runs),
                                     cmocka_unit_test(test_cancel_from_outside)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
