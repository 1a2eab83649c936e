// SPDX-License-Identifier: Apache-2.0
// The cycles of step lists against those of whole runs, on every generated network. With all steps run they are the
// same; where the hart reads numbers of floating point, which the interpreter rounds another way here and there, within
// 0.05 %. With some of equal steps run they are within 3 %: the others find other things in the caches.
#include "runner/steps.h"

#include <math.h>
#include <string.h>

#include "base/test.h"
#include "runner/tests/job.h"

typedef struct small {
  const char *name;
  networks_options options;
} small;

static const small nets[] = {
    {"resnet18", {.size = 32, .divisor = 4}},
    {"resnet50", {.size = 64, .divisor = 2}},
    {"mobilenetv2", {.size = 64, .divisor = 2}},
    {"mobilenetv3-small", {.size = 64, .divisor = 4}},
    {"efficientnet-b0", {.size = 64, .divisor = 8}},
    {"shufflenetv2", {.size = 64, .divisor = 4}},
    {"resnext50-32x4d", {.size = 64, .divisor = 8}},
    {"densenet-121", {.size = 64, .divisor = 8}},
    {"convnext-t", {.size = 64, .divisor = 8}},
    {"swin-t", {.size = 64, .divisor = 3}},
    {"vgg16", {.size = 32, .divisor = 8}},
    {"unet", {.size = 32, .divisor = 8}},
    {"retinanet", {.size = 64, .divisor = 8}},
    {"bert-base", {.sequence = 16, .divisor = 4, .layers = 4}},
    {"vit-b16", {.size = 32, .divisor = 4, .layers = 3}},
    {"gpt2-block", {.sequence = 16, .divisor = 4}},
    {"llama2-7b-block", {.sequence = 8, .divisor = 32}},
    {"llama3-8b-block", {.sequence = 8, .divisor = 8}},
    {"lstm", {.sequence = 3, .divisor = 8, .layers = 1}},
    {"bottleneck", {.size = 14, .divisor = 4}},
    {"deepbench", {.divisor = 16}},
};
enum { NETS = sizeof nets / sizeof *nets };

static const char *const arrays[] = {"gemmini-default", "dim8"};
enum { ARRAYS = sizeof arrays / sizeof *arrays };

static job open_job(const small *s, const char *array, bool int8_ends) {
  wf_diag diag = wf_diag_to(stderr);
  networks_options options = s->options;
  options.seed = 1;
  job j = job_open(s->name, &options, array, int8_ends);
  j.values = run_steps_values(j.placed, (const void *const *)j.inputs, &diag);
  assert_non_null(j.values);
  return j;
}

static network *lower(const job *j, bool timing) {
  wf_diag diag = wf_diag_to(stderr);
  network *net = network_create(j->placed, &(network_options){.array = &j->array, .timing = timing}, &diag);
  assert_non_null(net);
  return net;
}

// As `weft sim` runs it.
static run_network_result whole_run(const job *j, const network *net) {
  wf_diag diag = wf_diag_to(stderr);
  const sim_engine_options options = {.quiet = true};
  const run_network_config config = {
      .engine = &sim_cycle_engine, .options = &options, .inputs = (const void *const *)j->inputs};
  run_network_result result;
  assert_true(run_network(net, &config, &result, &diag));
  return result;
}

static void check_sums(const network_step_list *list, const run_steps_result *r, const network *net,
                       const run_network_result *whole, bool all) {
  uint64_t steps = 0;
  for (int e = 0; e < list->count; e++) steps += (uint64_t)list->entries[e].count;
  assert_int_equal(steps, net->step_count);
  assert_int_equal(r->macs, whole->macs);
  assert_int_equal(r->commands, whole->commands);
  const double away = fabs((double)r->cycles - (double)whole->cycles) / (double)whole->cycles;
  if (away > 0) assert_true(whole->host_cycles > 0 || !all);
  assert_true(away < (all ? 0.0005 : 0.03));
  if (all) assert_int_equal(r->runs, net->step_count);
}

static void check(const small *s, const char *array, bool int8_ends) {
  wf_diag diag = wf_diag_to(stderr);
  job j = open_job(s, array, int8_ends);
  network *net = lower(&j, false), *timed = lower(&j, true);
  network_step_list list = network_list_steps(timed);
  run_network_result whole = whole_run(&j, net);
  run_steps_result all, once;
  run_steps_request request = {
      .net = timed, .list = &list, .inputs = (const void *const *)j.inputs, .values = j.values, .all = true};
  assert_true(run_steps(&request, &all, &diag));
  request.all = false;
  assert_true(run_steps(&request, &once, &diag));
  check_sums(&list, &all, timed, &whole, true);
  check_sums(&list, &once, timed, &whole, false);
  printf("%-16s %-16s %3d steps, %3d entries, %3u runs, %10.0f cycles: all %+.3f %%, some of equal steps %+.3f %%\n",
         s->name, array, net->step_count, list.count, once.runs, (double)whole.cycles,
         100 * ((double)all.cycles / (double)whole.cycles - 1), 100 * ((double)once.cycles / (double)whole.cycles - 1));
  run_steps_release(&all);
  run_steps_release(&once);
  run_network_release(net, &whole);
  network_list_release(&list);
  network_destroy(net);
  network_destroy(timed);
  job_close(&j);
}

static void sums_are_those_of_runs(void **state) {
  (void)state;
  // Under sanitizers every fourth network, on the arrays in turn.
  for (int n = 0; n < NETS; n += TEST_SANITIZED ? 4 : 1)
    for (int a = 0; a < ARRAYS; a++)
      if (!TEST_SANITIZED || n / 4 % ARRAYS == a) check(&nets[n], arrays[a], a == 1);
}

// Every generated network is tried.
static void no_network_is_missing(void **state) {
  (void)state;
  for (size_t i = 0; i < networks_count(); i++) {
    int n = 0;
    while (n < NETS && strcmp(nets[n].name, networks_at(i)->name) != 0) n++;
    if (n == NETS) fail_msg("network %s is not tried", networks_at(i)->name);
  }
}

// Layers of a transformer are alike but for their curves, which may have more ramps or fewer: two layers more are steps
// more, and no entries but those of such curves.
static void repeated_layers_are_one(void **state) {
  (void)state;
  int entries[2], steps[2];
  for (int i = 0; i < 2; i++) {
    job j = open_job(&(small){"bert-base", {.sequence = 16, .divisor = 4, .layers = 4 + 2 * i}}, "dim8", true);
    network *net = lower(&j, true);
    network_step_list list = network_list_steps(net);
    entries[i] = list.count, steps[i] = net->step_count;
    network_list_release(&list);
    network_destroy(net);
    job_close(&j);
  }
  enum { MORE_LAYERS = 2, CURVES = 1 };  // in a layer: GELU
  assert_true(entries[1] - entries[0] <= MORE_LAYERS * CURVES);
  assert_true(steps[1] - steps[0] > 4 * MORE_LAYERS * CURVES);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_network_is_missing), cmocka_unit_test(repeated_layers_are_one),
                                     cmocka_unit_test(sums_are_those_of_runs)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
