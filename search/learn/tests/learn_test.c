// SPDX-License-Identifier: Apache-2.0
// Learned corrections: trees find what a target depends on and travel as text; the network's slopes are those of
// differences, and it learns an order.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/random.h"
#include "base/test.h"
#include "search/learn/net.h"
#include "search/learn/trees.h"

enum { ROWS = 600, GROUP = 6 };

// A target that depends on two features and their product, beside others that say nothing.
static learn_set make_set(uint64_t seed, size_t count) {
  learn_set set = {.rows = WF_NEW_ARRAY(count, learn_row), .count = count};
  for (size_t i = 0; i < count; i++) {
    learn_row *r = &set.rows[i];
    for (int f = 0; f < LEARN_FEATURES; f++) r->features[f] = (float)(2 * wf_random_unit(&seed) - 1);
    r->features[LEARN_FEATURE_l2] = wf_random_one_in(&seed, 2);
    r->model = (float)(5 + wf_random_unit(&seed));
    r->target = 0.3F * (r->features[LEARN_FEATURE_tile_k] > 0) * (r->features[LEARN_FEATURE_l2] > 0) - 0.1F;
    r->group = (uint32_t)(i / GROUP);
  }
  return set;
}

static double error_of(const learn_trees *trees, const learn_set *set) {
  double sum = 0;
  for (size_t i = 0; i < set->count; i++)
    sum += fabs(learn_trees_say(trees, set->rows[i].features) - set->rows[i].target) / (double)set->count;
  return sum;
}

static void trees_find_what_a_target_depends_on(void **state) {
  (void)state;
  learn_set set = make_set(1, ROWS), others = make_set(2, ROWS);
  learn_trees none = {0}, trees = learn_trees_fit(&set, &learn_trees_usual);
  assert_true(error_of(&none, &others) > 0.1);
  assert_true(error_of(&trees, &others) < 0.04);
  // More trees do no harm to what they were fitted to.
  const double before = error_of(&trees, &set);
  learn_trees_options more = learn_trees_usual;
  more.trees = 50;
  learn_trees_grow(&trees, &set, &more);
  assert_true(error_of(&trees, &set) <= before + 1e-4);
  learn_trees_release(&trees);
  learn_set_release(&set);
  learn_set_release(&others);
}

static char *text_of(const learn_trees *trees) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  learn_trees_write(trees, out);
  fclose(out);
  return text;
}

static bool parses(const char *text, learn_trees *trees) {
  wf_diag silent = wf_diag_to(NULL);
  const bool good = learn_trees_parse(trees, "x.trees", text, &silent);
  assert_int_equal(silent.errors, !good);
  return good;
}

static void trees_travel_as_text(void **state) {
  (void)state;
  learn_set set = make_set(3, ROWS);
  learn_trees_options few = learn_trees_usual;
  few.trees = 5;
  learn_trees trees = learn_trees_fit(&set, &few), same, other;
  char *text = text_of(&trees);
  assert_true(parses(text, &same));
  char *again = text_of(&same);
  assert_string_equal(text, again);
  for (size_t i = 0; i < set.count; i++)
    assert_float_equal(learn_trees_say(&trees, set.rows[i].features), learn_trees_say(&same, set.rows[i].features),
                       1e-5);
  // Every text that is cut short, or goes on, is refused; so are features of another version and ways in a circle.
  for (size_t cut = 0; cut < strlen(text); cut++) {
    char *part = wf_strdup(text);
    part[cut] = 0;
    assert_false(parses(part, &other));
    wf_free(part);
  }
  assert_false(parses("trees 1\ntree 1\n0\nmore\n", &other));
  assert_false(parses("trees 1\ntree 3\nno_feature 0 1\n0\n0\n", &other));
  assert_false(parses("trees 1\ntree 3\nside 0 0\n0\n0\n", &other));
  assert_false(parses("trees 1\ntree 3\nside 0 2\n0\n0\n", &other));
  assert_false(parses("trees 1\ntree 1\nnan\n", &other));
  assert_false(parses("trees 99999999999\n", &other));
  assert_true(parses("trees 1\ntree 3\nside 0 1\n-1\n1\n", &other));
  float features[LEARN_FEATURES] = {0};
  assert_float_equal(learn_trees_say(&other, features), 1, 0);
  features[LEARN_FEATURE_side] = -1;
  assert_float_equal(learn_trees_say(&other, features), -1, 0);
  learn_trees_release(&other);
  learn_trees_release(&same);
  learn_trees_release(&trees);
  learn_set_release(&set);
  free(text);
  free(again);
}

static void samples_travel_as_text(void **state) {
  (void)state;
  learn_set set = make_set(4, 20), same;
  char path[] = "/tmp/weft-learn-XXXXXX";
  const int file = mkstemp(path);
  assert_true(file >= 0);
  FILE *out = fdopen(file, "w");
  learn_set_write(&set, out);
  fclose(out);
  wf_diag silent = wf_diag_to(NULL);
  assert_true(learn_set_read(&same, path, &silent));
  assert_int_equal(same.count, set.count);
  for (size_t i = 0; i < set.count; i++) {
    assert_memory_equal(same.rows[i].features, set.rows[i].features, sizeof set.rows[i].features);
    assert_true(same.rows[i].group == set.rows[i].group && same.rows[i].target == set.rows[i].target);
  }
  learn_set_release(&same);
  out = fopen(path, "a");
  fprintf(out, "7 1 2 3\n");
  fclose(out);
  assert_false(learn_set_read(&same, path, &silent));
  out = fopen(path, "w");
  fprintf(out, "other names\n");
  fclose(out);
  assert_false(learn_set_read(&same, path, &silent));
  assert_int_equal(silent.errors, 2);
  remove(path);
  learn_set_release(&set);
}

static double loss_of(learn_net *net, const learn_set *set, size_t count, const float *by) {
  float said[GROUP];
  double sum = 0;
  learn_net_say(net, set, 0, count, said);
  for (size_t i = 0; i < count; i++) sum += (double)by[i] * said[i];
  return sum;
}

// The derivative along a random direction of some weights, from slopes and from differences.
static void slopes_are_differences(void **state) {
  (void)state;
  enum { PIECES = 40 };
  learn_set set = make_set(5, GROUP);
  learn_net *net = learn_net_create(&set, 7);
  const size_t weights = learn_net_weights(net);
  float said[GROUP], by[GROUP], *w = learn_net_weight(net);
  uint64_t seed = 3;
  learn_net_say(net, &set, 0, GROUP, said);
  for (size_t i = 0; i < GROUP; i++) assert_float_equal(said[i], 0, 0);
  for (size_t i = 0; i < weights; i++) w[i] += (float)(0.1 * (wf_random_unit(&seed) - 0.5));
  for (size_t i = 0; i < GROUP; i++) by[i] = (float)(wf_random_unit(&seed) - 0.3);
  float *slopes = WF_NEW_ARRAY(weights, float), *kept = WF_NEW_ARRAY(weights, float);
  memcpy(kept, w, weights * sizeof *w);
  (void)loss_of(net, &set, GROUP, by);
  learn_net_back(net, GROUP, by, slopes);
  for (size_t piece = 0; piece < PIECES; piece++) {
    const size_t first = weights * piece / PIECES, end = weights * (piece + 1) / PIECES;
    double along = 0, norm = 0;
    for (size_t i = first; i < end; i++) norm += (double)slopes[i] * slopes[i];
    norm = sqrt(norm);
    assert_true(norm > 0);
    const double step = 2e-2;
    double sides[2];
    for (int side = 0; side < 2; side++) {
      memcpy(w, kept, weights * sizeof *w);
      for (size_t i = first; i < end; i++) w[i] += (float)((side == 0 ? step : -step) * slopes[i] / norm);
      sides[side] = loss_of(net, &set, GROUP, by);
    }
    along = (sides[0] - sides[1]) / (2 * step);
    assert_true(fabs(along / norm - 1) < 0.02);
  }
  learn_net_destroy(net);
  learn_set_release(&set);
  wf_free(slopes);
  wf_free(kept);
}

static void the_network_learns(void **state) {
  (void)state;
  learn_set set = make_set(6, ROWS), others = make_set(7, ROWS);
  learn_net *net = learn_net_create(&set, 1);
  learn_net_options quick = learn_net_usual;
  quick.epochs = 12;
  learn_net_fit(net, &set, &quick);
  float said[ROWS];
  double before = 0, after = 0;
  learn_net_say(net, &others, 0, ROWS, said);
  for (size_t i = 0; i < ROWS; i++) {
    before += fabs((double)others.rows[i].target);
    after += fabs((double)(said[i] - others.rows[i].target));
  }
  assert_true(after < 0.6 * before);
  learn_net_destroy(net);
  learn_set_release(&set);
  learn_set_release(&others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_find_what_a_target_depends_on),
      cmocka_unit_test(trees_travel_as_text),
      cmocka_unit_test(samples_travel_as_text),
      cmocka_unit_test(slopes_are_differences),
      cmocka_unit_test(the_network_learns),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
