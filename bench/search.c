// SPDX-License-Identifier: Apache-2.0
// `weft bench search`: methods of search against each other, or the speed of the models that they evaluate.
#include "base/alloc.h"
#include "base/clock.h"
#include "bench/methods.h"
#include "search/model/paper.h"

typedef struct speed {
  uint64_t evaluations;
  double seconds;  // of the processor
  double sum;      // of what was computed, so that it is
} speed;

enum { MAPPINGS = 4096 };  // of random layers, evaluated over and over

static speed measure(const layers_network *network, const bench_search_options *options) {
  paper_mapping *mappings = WF_NEW_ARRAY(MAPPINGS, paper_mapping);
  const layers_layer **layers = WF_NEW_ARRAY(MAPPINGS, const layers_layer *);
  uint64_t seed = options->seed;
  for (size_t i = 0; i < MAPPINGS; i++) {
    layers[i] = &network->layers[i % network->count];
    mappings[i] = paper_mapping_random(layers[i], 128, &seed);
  }
  paper_constants constants;
  paper_constants_named(&constants, "dosa");
  const paper_hardware hardware = {.side = 128, .scratchpad_kib = 256, .accumulator_kib = 512};
  speed s = {0};
  const double start = wf_process_seconds();
  do {
    for (size_t i = 0; i < MAPPINGS; i++) {
      const paper_need need = paper_need_of(layers[i], &mappings[i]);
      const paper_cost cost = paper_evaluate(layers[i], &mappings[i], &hardware, &constants);
      s.sum += paper_edp(cost) + need.scratchpad_words;
    }
    s.evaluations += MAPPINGS;
    s.seconds = wf_process_seconds() - start;
  } while (s.seconds < (double)options->seconds);
  wf_free(mappings);
  wf_free(layers);
  return s;
}

static const bench_column columns[] = {
    {BENCH_DATA("network")},
    {BENCH_DATA("plain_evaluations_per_second")},
    {BENCH_DATA("tape_evaluations_per_second")},
    {BENCH_DATA("tape_gradients_per_second")},
};
static const bench_form form = {BENCH_FORM(columns)};

static bench_end measure_throughput(const bench_job *job) {
  const bench_search_options *o = job->options;
  layers_network network;
  const bool loaded = layers_load(&network, o->net, job->diag);
  if (loaded) {
    const speed s = measure(&network, o);
    const double rate = (double)s.evaluations / s.seconds;
    const bench_tape_speed tape = bench_tape(&network, (double)o->seconds);
    bench_report_say(
        job->report,
        "plain model: %.2f million evaluations per second of one core (%s, needs and cost; checksum %.6e)\n"
        "over the tape (%s): %.2f million per second forwards, %.2f million with gradients\n",
        1e-6 * rate, network.name, s.sum / (double)s.evaluations, tape.kernel, 1e-6 * tape.forward,
        1e-6 * tape.gradient);
    BENCH_ROW(bench_table_open(job->report, &form), bench_text(network.name), bench_real(rate),
              bench_real(tape.forward), bench_real(tape.gradient));
  }
  layers_release(&network);
  return loaded ? BENCH_DONE : BENCH_BAD_INPUT;
}

static bench_end refuse(const bench_job *job, const char *what) {
  wf_error(job->diag, wf_in_file(NULL), "%s", what);
  wf_hint(job->diag, "weft bench search --help");
  return BENCH_BAD_USAGE;
}

enum { SIMULATIONS_MAX = 64 };

static bench_end run_search(const bench_job *job) {
  const bench_search_options *o = job->options;
  if (o->seeds == 0 || o->seeds > 1000 || o->budget < 1000 || o->budget > UINT64_C(1000000000000))
    return refuse(job, "1 to 1000 seeds, at least 1000 evaluations");
  if (o->jobs > 1024 || o->simulations == 0 || o->simulations > SIMULATIONS_MAX)
    return refuse(job, "1 to 64 simulations, at most 1024 jobs");
  if (o->curve && (o->simulate || o->throughput)) return refuse(job, "--curve takes no --simulate and no --throughput");
  if (o->throughput && o->simulate) return refuse(job, "--throughput takes no --simulate");
  return o->throughput ? measure_throughput(job) : o->curve ? bench_curve(job) : bench_methods(job);
}

static const wf_option option_rows[] = {
    {"throughput", WF_FLAG(bench_search_options, throughput), NULL, "evaluations of the plain model per second"},
    {"nets", WF_TEXT(bench_search_options, nets), "NET,..", "networks (default resnet50,bert,retinanet,unet)"},
    {"methods", WF_TEXT(bench_search_options, methods), "NAME,..", "which methods (default: all)"},
    {"seeds", WF_COUNT(bench_search_options, seeds), "N", "runs of each method (default 5)"},
    {"budget", WF_COUNT(bench_search_options, budget), "N", "evaluations of each run (default 200000)"},
    {"curve", WF_FLAG(bench_search_options, curve), NULL, "instead of one budget all from 10 to --budget"},
    {"simulate", WF_FLAG(bench_search_options, simulate), NULL,
     "compile what each proposes, for arrays made from --array, and run it on the cycle engine"},
    {"simulations", WF_COUNT(bench_search_options, simulations), "N",
     "--simulate: of the network, for each run of a method (default 16; 1: of what is proposed)"},
    {"jobs", WF_COUNT(bench_search_options, jobs), "N",
     "--simulate: processes that simulate, threads that predict (default: one per processor)"},
    {"timeout", WF_COUNT(bench_search_options, timeout), "N", "--simulate: seconds for a layer (default: none)"},
    {"runs", WF_TEXT(bench_search_options, runs), "FILE",
     "--simulate: take runs of this build from there and add new ones, to go on another time"},
    {"net", WF_TEXT(bench_search_options, net), "NET", "--throughput: whose layers (default resnet50)"},
    {"seconds", WF_COUNT(bench_search_options, seconds), "N", "--throughput: of measuring (default 2)"},
    {"seed", WF_COUNT(bench_search_options, seed), "N", "--throughput: of the random mappings (default 1)"},
};
static const bench_search_options defaults = {.nets = "resnet50,bert,retinanet,unet",
                                              .seeds = 5,
                                              .budget = 200000,
                                              .simulations = 16,
                                              .net = "resnet50",
                                              .seconds = 2,
                                              .seed = 1};

const bench bench_search = {.name = "search",
                            .summary = "methods of search against each other; speed of their models",
                            .synopsis = "",
                            .text =
                                "Compares methods of search at equal numbers of evaluations, with the proven optimum; "
                                "or\nmeasures the speed of the models.",
                            BENCH_OPTIONS(option_rows, defaults),
                            .takes_array = true,
                            .csv_also = "o",
                            .run = run_search};
