// `weft bench search`: methods of search against each other, or the speed of the models that they evaluate.
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "cli/bench.h"
#include "cli/bench_methods.h"
#include "search/model/paper.h"

typedef struct bench_options {
  const char *net;
  uint64_t seconds, seed;
  bool throughput;
} bench_options;

typedef struct speed {
  uint64_t evaluations;
  double seconds;  // of the processor
  double sum;      // of what was computed, so that it is
} speed;

enum { MAPPINGS = 4096 };  // of random layers, evaluated over and over

static double processor_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static speed measure(const layers_network *network, const bench_options *options) {
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
  const double start = processor_seconds();
  do {
    for (size_t i = 0; i < MAPPINGS; i++) {
      const paper_need need = paper_need_of(layers[i], &mappings[i]);
      const paper_cost cost = paper_evaluate(layers[i], &mappings[i], &hardware, &constants);
      s.sum += paper_edp(cost) + need.scratchpad_words;
    }
    s.evaluations += MAPPINGS;
    s.seconds = processor_seconds() - start;
  } while (s.seconds < (double)options->seconds);
  wf_free(mappings);
  wf_free(layers);
  return s;
}

static int throughput(const cli_common *common, const bench_options *options, wf_diag *diag) {
  layers_network network;
  int code = CLI_BAD_INPUT;
  if (layers_load(&network, options->net, diag)) {
    const speed s = measure(&network, options);
    const double rate = (double)s.evaluations / s.seconds;
    code = CLI_OK;
    const bench_tape_speed tape = bench_tape(&network, (double)options->seconds);
    if (!common->quiet && (common->json == NULL || strcmp(common->json, "-") != 0)) {
      printf("plain model: %.2f million evaluations per second of one core (%s, needs and cost; checksum %.6e)\n",
             1e-6 * rate, network.name, s.sum / (double)s.evaluations);
      printf("over the tape (%s): %.2f million per second forwards, %.2f million with gradients\n", tape.kernel,
             1e-6 * tape.forward, 1e-6 * tape.gradient);
    }
    if (common->json != NULL) {
      cJSON *document = cJSON_CreateObject();
      cJSON_AddStringToObject(document, "bench", "search");
      cJSON_AddStringToObject(document, "network", network.name);
      cJSON_AddNumberToObject(document, "plain_evaluations_per_second", rate);
      cJSON_AddNumberToObject(document, "tape_evaluations_per_second", tape.forward);
      cJSON_AddNumberToObject(document, "tape_gradients_per_second", tape.gradient);
      if (!cli_write_json(common->json, document, diag)) code = CLI_BAD_INPUT;
    }
  }
  layers_release(&network);
  return code;
}

int cli_bench_search(int argc, char **argv) {
  bench_options options = {.net = "resnet50", .seconds = 2, .seed = 1};
  bench_methods_options methods = {
      .nets = "resnet50,bert,retinanet,unet", .seeds = 5, .budget = 200000, .simulations = 16};
  const cli_option table[] = {
      {"throughput", CLI_OPTION_FLAG, &options.throughput, NULL, "evaluations of the plain model per second"},
      {"nets", CLI_OPTION_TEXT, &methods.nets, "NET,..", "networks (default resnet50,bert,retinanet,unet)"},
      {"methods", CLI_OPTION_TEXT, &methods.methods, "NAME,..", "which methods (default: all)"},
      {"seeds", CLI_OPTION_COUNT, &methods.seeds, "N", "runs of each method (default 5)"},
      {"budget", CLI_OPTION_COUNT, &methods.budget, "N", "evaluations of each run (default 200000)"},
      {"o", CLI_OPTION_TEXT, &methods.csv, "FILE.csv", "write the rows there, too"},
      {"simulate", CLI_OPTION_FLAG, &methods.simulate, NULL,
       "compile what each proposes, for arrays made from --array, and run it on the cycle engine"},
      {"simulations", CLI_OPTION_COUNT, &methods.simulations, "N",
       "--simulate: of the network, for each run of a method (default 16; 1: of what is proposed)"},
      {"jobs", CLI_OPTION_COUNT, &methods.jobs, "N",
       "--simulate: processes that simulate, threads that predict (default: one per processor)"},
      {"timeout", CLI_OPTION_COUNT, &methods.timeout, "N", "--simulate: seconds for a layer (default: none)"},
      {"runs", CLI_OPTION_TEXT, &methods.runs, "FILE",
       "--simulate: take runs of this build from there and add new ones, to go on another time"},
      {"net", CLI_OPTION_TEXT, &options.net, "NET", "--throughput: whose layers (default resnet50)"},
      {"seconds", CLI_OPTION_COUNT, &options.seconds, "N", "--throughput: of measuring (default 2)"},
      {"seed", CLI_OPTION_COUNT, &options.seed, "N", "--throughput: of the random mappings (default 1)"},
  };
  const cli_usage usage = {.verb = "bench search",
                           .synopsis = "",
                           .text =
                               "Compares methods of search at equal numbers of evaluations, with the proven optimum; "
                               "or\nmeasures the speed of the models.",
                           .options = table,
                           .option_count = sizeof table / sizeof table[0],
                           .takes_array = true};
  cli_common common = {0};
  int code;
  if (cli_parse(&usage, &argc, argv, &common, &code) != CLI_OK) return code;
  if (methods.seeds == 0 || methods.seeds > 1000 || methods.budget < 1000 || methods.budget > UINT64_C(1000000000000)) {
    fputs("weft: error: 1 to 1000 seeds, at least 1000 evaluations\n  hint: weft bench search --help\n", stderr);
    return CLI_USAGE;
  }
  if (methods.jobs > 1024 || methods.simulations == 0 || methods.simulations > MAP_BEST_MAX) {
    fputs("weft: error: 1 to 64 simulations, at most 1024 jobs\n  hint: weft bench search --help\n", stderr);
    return CLI_USAGE;
  }
  wf_diag diag = wf_diag_to(stderr);
  return options.throughput ? throughput(&common, &options, &diag) : bench_methods(&common, &methods, &diag);
}
