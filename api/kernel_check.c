// SPDX-License-Identifier: Apache-2.0
// Kernels on random data, compared with their interpreter. See weft.h.
#include <inttypes.h>
#include <stdlib.h>

#include "api/ending.h"
#include "api/executable.h"
#include "api/report.h"
#include "api/run.h"
#include "api/sensitivity.h"
#include "api/units.h"
#include "base/alloc.h"
#include "base/json.h"
#include "base/name.h"
#include "base/thousands.h"
#include "runner/oracle.h"

// What the report is made of. The kernel may be gone by then.
typedef struct check {
  weft_array array;
  const sim_engine_ops *engine;
  cJSON *head;  // what is said of the kernel
  bool mapped, compared, sensitive;
  uint64_t macs;
  run_oracle_verdict verdict;
  sim_flow_account account;
  char *wrong;      // the tensor of the first wrong result
  bool executable;  // what follows is of it
  uint64_t cycles;
  bool good;
} check;

static void drop(void *thing) {
  check *c = thing;
  cJSON_Delete(c->head);
  wf_free(c->wrong);
  wf_free(c);
}

// ---- text

static double utilisation(const check *c) {
  const double dim = hw_derive(&c->array.array).dim;
  const uint64_t cycles = c->verdict.run.cycles;
  return !c->mapped || cycles == 0 ? 0 : (double)c->macs / (dim * dim * (double)cycles);
}

static void print_run(const check *c, bool units, FILE *out) {
  const run_oracle_verdict *v = &c->verdict;
  const run_result *run = &v->run;
  char number[WF_THOUSANDS];
  fprintf(out, "commands     %s\n", wf_thousands(run->commands, number));
  if (c->engine->timed) fprintf(out, "cycles       %s\n", wf_thousands(run->cycles, number));
  if (c->engine->timed && c->mapped) fprintf(out, "utilisation  %.2f %%\n", 100 * utilisation(c));
  if (run->has_units) {
    fprintf(out, "read         %s bytes\n", wf_thousands(run->units.bus_read_bytes, number));
    fprintf(out, "written      %s bytes\n", wf_thousands(run->units.bus_written_bytes, number));
  }
  const host_counts hart = {.instructions[HOST_COMMAND] = run->commands};
  if (run->has_units && units) api_units_print(&run->units, &hart, &c->array.array, out);
  if (c->sensitive) api_sensitivity_print(&c->account, out);
  if (c->compared)
    fprintf(out, "digest       %016" PRIx64 "\nresult       %s\n", v->digest,
            v->wrong == 0 ? "as the oracle's" : "WRONG");
  else if (c->engine->timing_only)
    fprintf(out, "result       not compared: engine %s moves no data\n", c->engine->name);
}

static void print(const void *thing, const weft_run_form *form, FILE *out) {
  const check *c = ((const weft_run *)thing)->report;
  char number[WF_THOUSANDS];
  fprintf(out, "array        %s\nengine       %s\n", c->array.array.name, c->engine->name);
  if (c->executable)
    fprintf(out, "cycles       %s, with the host\nresult       %s\n", wf_thousands(c->cycles, number),
            c->good ? "as the oracle's" : "WRONG");
  else
    print_run(c, form->units, out);
}

static void print_wrong(const void *thing, const weft_run_form *form, FILE *out) {
  const check *c = ((const weft_run *)thing)->report;
  const run_oracle_verdict *v = &c->verdict;
  char name[WF_NAME_LINE];
  (void)form;
  if (c->executable && !c->good)
    fprintf(out, "weft: error: tensor %s differs from the oracle\n",
            wf_name_shown(c->wrong == NULL ? "?" : c->wrong, name));
  if (!c->executable && c->compared && v->wrong > 0)
    fprintf(out,
            "weft: error: %" PRIu64 " bytes differ from the oracle; the first: tensor %s, byte %zu: %02x, not %02x\n",
            v->wrong, c->wrong, v->at, v->found, v->expected);
}

// ---- JSON

static void add_run(const check *c, bool units, cJSON *object) {
  const run_oracle_verdict *v = &c->verdict;
  if (c->engine->timed) wf_json_count(object, "cycles", v->run.cycles);
  if (c->engine->timed && c->mapped) cJSON_AddNumberToObject(object, "utilisation", utilisation(c));
  if (v->run.has_units) {
    wf_json_count(object, "read_bytes", v->run.units.bus_read_bytes);
    wf_json_count(object, "written_bytes", v->run.units.bus_written_bytes);
  }
  const host_counts hart = {.instructions[HOST_COMMAND] = v->run.commands};
  if (v->run.has_units && units) {
    api_units_add_memory(&v->run.units.memory, object);
    api_units_json(&v->run.units, &hart, &c->array.array, object);
  }
  if (c->sensitive) api_sensitivity_json(&c->account, object);
  cJSON_AddBoolToObject(object, "compared", c->compared);
  if (!c->compared) return;
  wf_json_hash(object, "digest", v->digest);
  wf_json_count(object, "wrong_bytes", v->wrong);
}

static void add_executable(const check *c, cJSON *object) {
  wf_json_count(object, "cycles", c->cycles);
  cJSON_AddBoolToObject(object, "compared", true);
  cJSON_AddBoolToObject(object, "wrong", !c->good);
}

static void print_json(const void *thing, const weft_run_form *form, FILE *out) {
  const check *c = ((const weft_run *)thing)->report;
  cJSON *object = cJSON_Duplicate(c->head, true);
  cJSON_AddStringToObject(object, "engine", c->engine->name);
  if (c->executable)
    add_executable(c, object);
  else
    add_run(c, form->units, object);
  wf_json_write(object, out);
}

static const api_form forms[] = {{"text", print}, {"json", print_json}, {"wrong", print_wrong}, {NULL, NULL}};

// ---- the run

static void take_account(void *context, const sim_engine *engine, uint64_t cycle) {
  check *c = context;
  sim_flow_account_to(engine, cycle, &c->account);
}

static bool judge(const weft_kernel *k, const weft_check_options *o, check *c, weft_session *s) {
  const sim_engine_options of_engine = {
      .timing_only = o->timing_only || c->engine->timing_only, .tell = api_tell_building, .tell_context = s};
  const run_config config = {.engine = c->engine,
                             .options = &of_engine,
                             .times = o->times == 0 ? 1 : o->times,
                             .ended = c->sensitive ? take_account : NULL,
                             .stop = &s->stop,
                             .context = c};
  run_oracle oracle;
  bool good = run_oracle_fill(&oracle, &k->result, o->seed, &s->diag);
  if (good && c->compared) good = run_oracle_expect(&oracle, &k->result, &s->diag);
  good = good && run_oracle_judge(&oracle, &k->result, &config, &c->verdict, &s->diag);
  run_oracle_release(&oracle);
  c->good = !c->compared || c->verdict.wrong == 0;
  if (good && !c->good) c->wrong = wf_strdup(k->result.commands->tensors[c->verdict.tensor].name);
  return good;
}

// The same through a program of the host: its cycles have the host's part in them, and digests stand for the bytes.
static bool judge_executable(const weft_kernel *k, const weft_check_options *o, check *c, weft_ending *ending,
                             wf_diag *diag) {
  api_executable_result result;
  c->executable = true;
  if (!api_executable_run(k, c->engine, o->seed, o->times == 0 ? 1 : o->times, &result, diag)) return false;
  *ending = api_ending_of(&result.run);
  c->cycles = result.cycles;
  c->good = result.wrong == NULL && result.tensors > 0;
  if (result.wrong != NULL) c->wrong = wf_strdup(result.wrong);
  return true;
}

static const sim_engine_ops *choose_engine(weft_session *s, const weft_check_options *o) {
  const sim_engine_ops *engine = o->engine == NULL ? &sim_cycle_engine : sim_engine_find(o->engine);
  if (engine == NULL) return api_refuse(s, "this build has no engine %s", o->engine), NULL;
  if (o->timing_only && engine != &sim_cycle_engine && !engine->timing_only)
    return api_refuse(s, "timing_only is for engine %s", sim_cycle_engine.name), NULL;
  if (o->executable && engine->timing_only)
    return api_refuse(s, "engine %s moves no data, which a program of the hart compares", engine->name), NULL;
  if (!o->sensitivity) return engine;
  return api_sensitivity_engine(engine, &s->diag);
}

static check *prepare(const weft_kernel *k, const sim_engine_ops *engine, const weft_check_options *o) {
  check *c = WF_NEW(check);
  c->array = k->array;
  api_array_own(&c->array);
  c->engine = engine;
  c->head = api_kernel_json(k);
  c->mapped = k->result.mapped;
  c->macs = k->macs;
  c->sensitive = o->sensitivity;
  c->compared = !o->timing_only && !engine->timing_only && k->result.block != NULL;
  return c;
}

static weft_run *finish(const weft_kernel *k, check *c, weft_ending ending) {
  weft_run *run = api_run_of_kernel(&k->array.array, &c->verdict.run, k->macs);
  run->report = c;
  run->drop_report = drop;
  run->forms = forms;
  run->ending = ending != WEFT_ENDED ? ending : c->good ? WEFT_ENDED : WEFT_MISMATCH;
  run->totals.digest = c->verdict.digest;
  run->totals.wrong = c->verdict.wrong;
  if (c->executable) run->totals.cycles = c->cycles;
  return run;
}

weft_run *weft_kernel_check(weft_session *s, const weft_kernel *k, const weft_check_options *options) {
  weft_check_options o = {0};
  if (!api_begin(s, "run") || !api_given(s, k, "the kernel") || !api_take(s, options, &o, sizeof o)) return NULL;
  const sim_engine_ops *engine = choose_engine(s, &o);
  if (engine == NULL) return api_end(s, false, WEFT_USAGE), NULL;
  if (o.executable && k->result.block == NULL) {
    wf_error(&s->diag, wf_in_file(k->file), "commands have no interpreter to compare an ELF's result with");
    return api_end(s, false, WEFT_BAD_INPUT), NULL;
  }
  check *c = prepare(k, engine, &o);
  weft_ending ending = WEFT_ENDED;
  const bool good = o.executable ? judge_executable(k, &o, c, &ending, &s->diag) : judge(k, &o, c, s);
  if (api_end(s, good, WEFT_CANNOT_BUILD) == WEFT_OK) return finish(k, c, ending);
  drop(c);
  return NULL;
}
