// SPDX-License-Identifier: Apache-2.0
// See table.h. Requests are told apart by 128 bits of digest; new ones become tasks that threads take in order, each
// leaving its answer in its own place, so that answers do not depend on the number of threads.
#include "search/predict/table.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/tasks.h"

typedef struct entry {
  uint64_t key[2];  // both 0: empty
  predict_result *answer;
} entry;

struct predict_table {
  unsigned threads;  // 0: one for each processor
  learn_trees learned;
  entry *entries;  // open addressing, at most half full
  size_t room, count;
};

typedef struct task {
  const learn_trees *learned;
  const predict_request *request;
  predict_result *answer;
} task;

predict_table *predict_table_create(unsigned threads, bool learned) {
  enum { ROOM = 1024 };
  predict_table *t = WF_NEW(predict_table);
  *t = (predict_table){.threads = threads, .room = ROOM};
  t->entries = wf_calloc(ROOM, sizeof *t->entries);
  if (learned) t->learned = learn_trees_shipped();
  return t;
}

void predict_table_destroy(predict_table *t) {
  for (size_t i = 0; i < t->room; i++) {
    if (t->entries[i].answer == NULL) continue;
    predict_release(t->entries[i].answer);
    wf_free(t->entries[i].answer);
  }
  wf_free(t->entries);
  learn_trees_release(&t->learned);
  wf_free(t);
}

static void key_of(const predict_request *r, uint64_t key[2]) {
  const uint64_t numbers[] = {
      hw_array_hash(r->array), map_layer_hash(r->layer), (uint64_t)r->objective, r->tried, r->climbs, r->kept,
      r->given_count};
  key[0] = wf_hash(WF_HASH_START, numbers, sizeof numbers);
  key[1] = wf_hash(~WF_HASH_START, numbers, sizeof numbers);
  for (size_t i = 0; i < r->given_count; i++) {
    const uint64_t mapping = map_hash(&r->given[i]);
    key[0] = wf_hash(key[0], &mapping, sizeof mapping);
    key[1] = wf_hash(key[1], &mapping, sizeof mapping);
  }
}

static entry *place_of(entry *entries, size_t room, const uint64_t key[2]) {
  size_t at = key[0] & (room - 1);
  while (entries[at].answer != NULL && (entries[at].key[0] != key[0] || entries[at].key[1] != key[1]))
    at = (at + 1) & (room - 1);
  return &entries[at];
}

static void grow(predict_table *t) {
  const size_t room = 2 * t->room;
  entry *entries = wf_calloc(room, sizeof *entries);
  for (size_t i = 0; i < t->room; i++)
    if (t->entries[i].answer != NULL) *place_of(entries, room, t->entries[i].key) = t->entries[i];
  wf_free(t->entries);
  t->entries = entries;
  t->room = room;
}

// True: the request is new, and the caller has to answer it.
static bool enter(predict_table *t, const predict_request *request, const predict_result **answer) {
  uint64_t key[2];
  key_of(request, key);
  if (2 * t->count >= t->room) grow(t);
  entry *e = place_of(t->entries, t->room, key);
  const bool is_new = e->answer == NULL;
  if (is_new) {
    *e = (entry){.key = {key[0], key[1]}, .answer = WF_NEW(predict_result)};
    t->count++;
  }
  *answer = e->answer;
  return is_new;
}

static void predict(void *context, size_t number) {
  const task *t = (const task *)context + number;
  predict_request request = *t->request;
  request.learned = t->learned;
  *t->answer = predict_layer(&request);
}

void predict_table_ask(predict_table *t, const predict_request *requests, size_t count,
                       const predict_result **answers) {
  task *fresh = WF_NEW_ARRAY(count + 1, task);
  size_t found = 0;
  for (size_t n = 0; n < count; n++)
    if (enter(t, &requests[n], &answers[n]))
      fresh[found++] =
          (task){t->learned.count == 0 ? NULL : &t->learned, &requests[n], (predict_result *)(uintptr_t)answers[n]};
  wf_run_tasks(found, t->threads, predict, fresh);
  wf_free(fresh);
}
