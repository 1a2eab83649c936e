// SPDX-License-Identifier: Apache-2.0
// sim_cosim: random programs on an engine and on ref (or another engine), compared. A failing program is shrunk and
// kept as a command trace.
//
//   sim_cosim --engine rtl --array dim4 --seed 1 --count 200
//   sim_cosim --engine rtl --array random --seed 7 --arrays 3 --count 50 --latency random
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "sim/gen/judge.h"
#include "sim/gen/random.h"
#include "sim/tests/cosim/cosim.h"

typedef struct options {
  const char *engine, *against, *array, *out, *memo;
  uint64_t seed, count, arrays, steps, isa, tokens, failures;
  uint32_t without, only;
  bool random_latency, check_only;
} options;

static const char usage_text[] =
    "usage: sim_cosim --engine NAME [OPTIONS]\n"
    "  --against NAME        the engine that is right (ref)\n"
    "  --array NAME|FILE|random[:SEED]   the array (dim4); random: drawn from its own seed or --seed\n"
    "  --arrays N            with random: that many arrays, seeds counting up (1)\n"
    "  --isa 1|2             ISA revision of the array\n"
    "  --tokens BITS         the array with tokens, counted in so many bits, in place of its reservation station\n"
    "  --seed N --count N    programs of seeds N, N+1, ... for each array (1, 100)\n"
    "  --latency random      another memory timing and random delays for each program\n"
    "  --steps N             length of the programs (drawn)\n"
    "  --only A,B            programs of these alone, behind loads and before stores: ";

// Names of parts and features, for options that list them.
typedef const char *(*name_of)(int number);
static const char *part_name(int number) { return sim_gen_part_name((sim_gen_part)number); }
static const char *feature_name(int number) { return sim_gen_feature_name((sim_gen_feature)number); }

static void print_names(int count, name_of name) {
  for (int i = 0; i < count; i++) fprintf(stderr, "%s%s", i == 0 ? "" : ", ", name(i));
}

static int usage(void) {
  fputs(usage_text, stderr);
  print_names(GEN_PARTS, part_name);
  fputs("\n  --without A,B         programs without these: ", stderr);
  print_names(GEN_FEATURES, feature_name);
  fputs(
      "\n"
      "  --out DIR             where failing programs are kept (.)\n"
      "  --failures N          stop after that many (1)\n"
      "  --memo FILE           remember here what engine rtl does; programs that it has run are compared with that\n"
      "  --check               only generate the programs and judge them\n",
      stderr);
  return 2;
}

static bool parse_number(const char *text, uint64_t *value) {
  char *end = NULL;
  if (text == NULL || *text < '0' || *text > '9') return false;
  errno = 0;
  *value = strtoull(text, &end, 0);
  return errno == 0 && *end == '\0';
}

static bool parse_names(const char *text, int count, name_of name, uint32_t *bits) {
  while (*text != '\0') {
    size_t length = strcspn(text, ",");
    int n = 0;
    while (n < count && (strlen(name(n)) != length || strncmp(name(n), text, length) != 0)) n++;
    if (n == count) return false;
    *bits |= UINT32_C(1) << n;
    text += length + (text[length] == ',');
  }
  return true;
}

static bool parse_option(const char *name, const char *value, options *o) {
  const struct {
    const char *name;
    uint64_t *to;
  } numbers[] = {{"--seed", &o->seed}, {"--count", &o->count},       {"--arrays", &o->arrays}, {"--steps", &o->steps},
                 {"--isa", &o->isa},   {"--failures", &o->failures}, {"--tokens", &o->tokens}};
  const struct {
    const char *name;
    const char **to;
  } texts[] = {{"--engine", &o->engine},
               {"--against", &o->against},
               {"--array", &o->array},
               {"--out", &o->out},
               {"--memo", &o->memo}};
  if (value == NULL) return false;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (strcmp(name, numbers[i].name) == 0) return parse_number(value, numbers[i].to);
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    if (strcmp(name, texts[i].name) != 0) continue;
    *texts[i].to = value;
    return true;
  }
  if (strcmp(name, "--without") == 0) return parse_names(value, GEN_FEATURES, feature_name, &o->without);
  if (strcmp(name, "--only") == 0) return parse_names(value, GEN_PARTS, part_name, &o->only);
  o->random_latency = true;
  return strcmp(name, "--latency") == 0 && strcmp(value, "random") == 0;
}

static bool parse(int argc, char **argv, options *o) {
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--check") == 0) {
      o->check_only = true;
    } else if (!parse_option(argv[i], i + 1 < argc ? argv[i + 1] : NULL, o)) {
      return false;
    } else {
      i++;
    }
  }
  return o->engine != NULL;
}

static const sim_engine_ops *find_engine(const char *name) {
  if (strcmp(name, cosim_faulty_engine.name) == 0) return &cosim_faulty_engine;
  if (strcmp(name, cosim_poisoned_engine.name) == 0) return &cosim_poisoned_engine;
  const sim_engine_ops *engine = cosim_cycle_variant(name);
  if (engine == NULL) engine = sim_engine_find(name);
  if (engine == NULL) fprintf(stderr, "sim_cosim: no engine %s\n", name);
  return engine;
}

// ---- arrays

static bool array_seed(const options *o, uint64_t *seed) {
  *seed = o->seed;
  if (strcmp(o->array, "random") == 0) return true;
  return strncmp(o->array, "random:", 7) == 0 && parse_number(o->array + 7, seed);
}

static void with_tokens(hw_array *array, uint32_t bits) {
  array->sync.by = HW_SYNC_TOKENS;
  array->sync.token_bits = bits;
  array->units.loop_matmul = array->units.loop_conv = false;
  array->store.order = HW_STORE_ORDER_ISSUED;
}

static bool load_array(const options *o, uint64_t number, hw_array *array) {
  uint64_t seed;
  wf_diag diag = wf_diag_to(stderr);
  bool good = true;
  if (array_seed(o, &seed))
    sim_gen_array(seed + number, array);
  else
    good = hw_array_load(array, o->array, &diag);
  if (o->isa == 1 || o->isa == 2) array->isa.revision = (uint32_t)o->isa;
  if (o->tokens != 0) with_tokens(array, (uint32_t)o->tokens);
  return good && hw_array_check(array, NULL, &diag);
}

// ---- programs

static void tell_failure(const options *o, const cosim_setup *setup, const sim_gen_program *program, const char *text) {
  char trace[512], array[512];
  snprintf(trace, sizeof trace, "%s/cosim-%s-%" PRIu64 ".trace", o->out, program->array->name, program->seed);
  snprintf(array, sizeof array, "%s/cosim-%s-%" PRIu64 ".yaml", o->out, program->array->name, program->seed);
  bool written = cosim_write(program, trace, array);
  bool plain = setup->disturb == 0 && setup->garbage == 0;
  for (size_t i = 0; i < program->count; i++) plain = plain && program->items[i].delay == 0;
  printf("  shrunk to %zu commands: %s\n", program->count, text);
  if (!written) printf("  (cannot write %s)\n", trace);
  if (written)
    printf("  weft sim %s --engine %s --array %s%s\n", trace, setup->engine->name, array,
           plain ? "" : "   (needs delays that a trace does not have: it may pass)");
}

static void tell_names(const char *gap, uint32_t bits, int count, name_of name) {
  for (int i = 0; i < count; i++) {
    if ((bits >> i & 1) == 0) continue;
    printf("%s%s", gap, name(i));
    gap = ",";
  }
}

static void tell_rerun(const options *o, const hw_array *array, uint64_t seed) {
  bool drawn = strncmp(o->array, "random", 6) == 0;
  printf("  sim_cosim --engine %s --against %s --array %s%s --seed %" PRIu64 " --count 1%s", o->engine, o->against,
         drawn ? "random:" : "", drawn ? array->name + strlen("random-") : o->array, seed,
         o->random_latency ? " --latency random" : "");
  if (o->tokens != 0) printf(" --tokens %" PRIu64, o->tokens);
  if (o->isa != 0) printf(" --isa %" PRIu64, o->isa);
  if (o->steps != 0) printf(" --steps %" PRIu64, o->steps);
  tell_names(" --only ", o->only, GEN_PARTS, part_name);
  tell_names(" --without ", o->without, GEN_FEATURES, feature_name);
  printf("\n");
}

static void report(const options *o, cosim_setup setup, const sim_gen_program *program, char text[COSIM_TEXT]) {
  printf("FAIL array %s, seed %" PRIu64 ", %zu commands: %s\n", program->array->name, program->seed, program->count,
         text);
  tell_rerun(o, program->array, program->seed);
  fflush(stdout);
  sim_gen_program *small = cosim_shrink(&setup, program, text);
  tell_failure(o, &setup, small, text);
  fflush(stdout);
  sim_gen_program_destroy(small);
}

static cosim_setup draw_setup(const options *o, const cosim_setup *engines, uint64_t seed, hw_array *array) {
  sim_gen_random r = sim_gen_random_of(seed, 4);
  cosim_setup setup = *engines;
  setup.garbage = sim_gen_bits(&r) | 1;
  if (!o->random_latency) return setup;
  sim_gen_memory_timing(sim_gen_bits(&r), array);
  if (sim_gen_one_in(&r, 2)) setup.disturb = sim_gen_bits(&r) | 1;
  return setup;
}

// True if the program passes.
static bool run_seed(const options *o, const cosim_setup *engines, const hw_array *base, uint64_t seed,
                     cosim_totals *totals) {
  hw_array array = *base;
  cosim_setup setup = draw_setup(o, engines, seed, &array);
  const sim_gen_options how = {.steps = (unsigned)o->steps, .without = o->without, .only = o->only};
  sim_gen_program *program = sim_gen_program_create(&array, seed, &how);
  char text[COSIM_TEXT], why[GEN_WHY];
  bool good = sim_gen_judge_program(program, why);
  if (!good) {
    printf("FAIL array %s, seed %" PRIu64 ": the generator broke its own rules: %s\n", array.name, seed, why);
  } else if (!o->check_only && !cosim_agree(&setup, program, totals, text)) {
    report(o, setup, program, text);
    good = false;
  }
  sim_gen_program_destroy(program);
  return good;
}

static uint64_t run_array(const options *o, const cosim_setup *engines, const hw_array *array, uint64_t failures) {
  cosim_totals totals = {0};
  uint64_t before = failures;
  double start = wf_seconds();
  for (uint64_t n = 0; n < o->count && failures < o->failures; n++)
    failures += !run_seed(o, engines, array, o->seed + n, &totals);
  double seconds = wf_seconds() - start;
  printf("%-16s %6" PRIu64 " programs %8" PRIu64 " commands %9" PRIu64 " primitives %10" PRIu64 " cycles %7.1f s",
         array->name, totals.programs, totals.commands, totals.primitives, totals.cycles, seconds);
  if (o->memo != NULL) printf(", %" PRIu64 " remembered", totals.remembered);
  printf(", %" PRIu64 " failed\n", failures - before);
  fflush(stdout);
  return failures;
}

int main(int argc, char **argv) {
  options o = {.against = "ref", .array = "dim4", .out = ".", .seed = 1, .count = 100, .arrays = 1, .failures = 1};
  if (!parse(argc, argv, &o)) return usage();
  const sim_engine_ops *engine = find_engine(o.engine), *against = find_engine(o.against);
  if (engine == NULL || against == NULL) return usage();
  cosim_setup engines = {.engine = engine, .against = against};
  if (o.memo != NULL && (engines.memo = cosim_memo_open(o.memo)) == NULL) {
    fprintf(stderr, "sim_cosim: cannot open %s\n", o.memo);
    return 1;
  }
  uint64_t failures = 0;
  for (uint64_t n = 0; n < o.arrays && failures < o.failures; n++) {
    hw_array array;
    if (!load_array(&o, n, &array)) return 1;
    failures = run_array(&o, &engines, &array, failures);
  }
  cosim_memo_close(engines.memo);
  return failures == 0 ? 0 : 1;
}
