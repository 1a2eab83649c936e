// SPDX-License-Identifier: Apache-2.0
// The systemc engine on the C side: loads the platform module, gives it the accelerator that was chosen, and passes
// commands on. See systemc.h.
#define _GNU_SOURCE  // RTLD_NODELETE
#include "sim/systemc/systemc.h"

#include <dlfcn.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/cycle/cycle.h"
#include "sim/memsys/memsys.h"
#include "sim/ref/ref.h"
#include "sim/rtl/rtl.h"
#include "sim/systemc/shell.h"

#define MODULE "weft_systemc.so"

typedef struct systemc_engine systemc_engine;

typedef struct making making;

// What can sit in the accelerator module; the first is the default.
typedef struct choice {
  const char *name;
  const sim_engine_ops *ops;
  sim_engine *(*make)(const making *m, arch_memory *memory);
  void (*settle)(sim_engine *accelerator);  // before the hart accesses memory; NULL: it is never behind
} choice;

struct systemc_engine {
  sim_engine base;
  void *module;
  const weft_platform_api *api;
  weft_platform *platform;
  sim_engine *accelerator;
  void (*settle)(sim_engine *accelerator);  // of the choice
  memsys *timing;
  arch_memory *memory;
  uint8_t *line;  // of the hart's caches, on its way
  unsigned line_bytes;
};

// What make_accelerator needs while the platform is built.
struct making {
  const hw_array *array;
  const choice *chosen;
  const sim_engine_options *options;
  memsys *timing;  // of the platform: what has a clock competes on it with the hart
  uint64_t half_cycle_ps;
  wf_diag *diag;
};

static systemc_engine *of(const sim_engine *engine) {
  union {
    const sim_engine *in;
    sim_engine *out;
  } open = {.in = engine};  // the platform is another object than the engine that leads to it
  return (systemc_engine *)open.out;
}

// ---- creation

static sim_engine *make_cycle(const making *m, arch_memory *memory) {
  return sim_cycle_create_on(m->array, memory, m->timing, m->options, m->diag);
}

static sim_engine *make_rtl(const making *m, arch_memory *memory) {
  return sim_rtl_create_in_kernel(m->array, memory, m->timing, m->half_cycle_ps, m->options, m->diag);
}

static sim_engine *make_ref(const making *m, arch_memory *memory) {
  return sim_ref_engine.create(m->array, memory, m->diag);
}

static const choice accelerators[] = {{"c", &sim_cycle_engine, make_cycle, sim_cycle_settle},
                                      {"rtl", &sim_rtl_engine, make_rtl, NULL},
                                      {"ref", &sim_ref_engine, make_ref, NULL}};
enum { ACCELERATORS = sizeof accelerators / sizeof accelerators[0] };

static const choice *choose(const char *name, wf_diag *diag) {
  if (name == NULL) return &accelerators[0];
  for (size_t i = 0; i < ACCELERATORS; i++)
    if (strcmp(accelerators[i].name, name) == 0) return &accelerators[i];
  wf_error(diag, wf_in_file(NULL), "the platform has no accelerator %s", name);
  wf_hint(diag, "it has: c (the cycle engine), rtl (the hardware itself), ref (functional, no clock)");
  return NULL;
}

static sim_engine *make_accelerator(void *context, arch_memory *memory) {
  const making *m = context;
  return m->chosen->make(m, memory);
}

// An accelerator that puts its memory accesses off makes up for that first.
static void settle(systemc_engine *e) {
  if (e->accelerator != NULL && e->settle != NULL) e->settle(e->accelerator);
}

// Returns the cycle in which the next line can be asked for.
static uint64_t ask_for_line(void *engine, uint64_t cycle, uint64_t address, bool write) {
  systemc_engine *e = engine;
  settle(e);
  memsys_host_ask(e->timing, cycle, address, write);
  return cycle + 1;
}

// The module stays: the kernel that came with it has no end.
static bool load_module(systemc_engine *e, wf_diag *diag) {
  e->module = dlopen(MODULE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (e->module != NULL) e->api = dlsym(e->module, WEFT_PLATFORM_API);
  if (e->api == NULL || e->api->config_size != sizeof(weft_platform_config)) {
    const char *reason = dlerror();
    wf_error(diag, wf_in_file(MODULE), "cannot load the platform: %s", reason == NULL ? "wrong interface" : reason);
    wf_hint(diag, reason != NULL && strstr(reason, "libsystemc") != NULL
                      ? "it needs SystemC: apt-get install libsystemc"
                      : "it is looked for in lib/weft beside the folder of the program");
    return false;
  }
  if (e->api->available()) return true;
  wf_error(diag, wf_in_file(NULL), "this process has had a platform: SystemC elaborates once");
  wf_hint(diag, "run every simulation on engine systemc in a process of its own");
  return false;
}

static uint64_t half_cycle_ps(const hw_array *array) {
  uint64_t half = 500000 / array->chip.clock_mhz;
  return half == 0 ? 1 : half;
}

static bool build(systemc_engine *e, const hw_array *array, arch_memory *memory, const choice *chosen,
                  const sim_engine_options *options, wf_diag *diag) {
  e->timing = memsys_create(array);
  e->settle = chosen->settle;
  making m = {.array = array,
              .chosen = chosen,
              .options = options,
              .timing = e->timing,
              .half_cycle_ps = half_cycle_ps(array),
              .diag = diag};
  const weft_platform_config config = {.half_cycle_ps = m.half_cycle_ps,
                                       .quantum_cycles = options->quantum,
                                       .memory = memory,
                                       .read = arch_memory_read,
                                       .write = arch_memory_write,
                                       .timing = e,
                                       .host_access = ask_for_line,
                                       .unit_bytes = array->l2.present ? array->l2.line_bytes : array->dma.bus_bits / 8,
                                       .make_accelerator = make_accelerator,
                                       .context = &m};
  e->platform = e->api->create(&config);
  if (e->platform == NULL) return false;
  e->accelerator = e->api->accelerator(e->platform);
  return true;
}

static void destroy(sim_engine *engine) {
  if (engine == NULL) return;
  systemc_engine *e = of(engine);
  if (e->accelerator != NULL) e->accelerator->ops->destroy(e->accelerator);
  if (e->platform != NULL) e->api->destroy(e->platform);
  if (e->module != NULL) dlclose(e->module);
  memsys_destroy(e->timing);
  wf_free(e->line);
  wf_free(e);
}

static const sim_engine_ops untimed;

static const sim_engine_ops *with(const choice *chosen) { return chosen->ops->timed ? &sim_systemc_engine : &untimed; }

const sim_engine_ops *sim_systemc_engine_with(const char *accelerator, wf_diag *diag) {
  const choice *chosen = choose(accelerator, diag);
  return chosen == NULL ? NULL : with(chosen);
}

static sim_engine *create_with(const hw_array *array, arch_memory *memory, const sim_engine_options *options,
                               wf_diag *diag) {
  const choice *chosen = choose(options->accelerator, diag);
  if (chosen == NULL) return NULL;
  if (options->wave != NULL) {
    wf_error(diag, wf_in_file(NULL), "engine systemc writes no waveforms");
    wf_hint(diag, "engine rtl does, and its cycles are the same");
    return NULL;
  }
  systemc_engine *e = WF_NEW(systemc_engine);
  e->base.ops = with(chosen);
  e->memory = memory;
  e->line_bytes = array->l2.present ? array->l2.line_bytes : array->dma.bus_bits / 8;
  e->line = wf_alloc(e->line_bytes, 1);
  if (load_module(e, diag) && build(e, array, memory, chosen, options, diag)) return &e->base;
  destroy(&e->base);
  return NULL;
}

static sim_engine *create(const hw_array *array, arch_memory *memory, wf_diag *diag) {
  const sim_engine_options defaults = {0};
  return create_with(array, memory, &defaults, diag);
}

// ---- operation: over the platform, but for what costs no time

static sim_push_result push(sim_engine *engine, uint64_t cycle, const arch_command *command, uint64_t *response) {
  return of(engine)->api->push(of(engine)->platform, cycle, command, response);
}

static uint64_t advance(sim_engine *engine, uint64_t cycle) {
  return of(engine)->api->advance(of(engine)->platform, cycle);
}

static bool busy(const sim_engine *engine) { return of(engine)->api->busy(of(engine)->platform); }

static uint64_t drain(sim_engine *engine, uint64_t cycle) {
  return of(engine)->api->drain(of(engine)->platform, cycle);
}

static void enter(sim_engine *engine, void (*body)(void *context), void *context) {
  of(engine)->api->enter(of(engine)->platform, body, context);
}

static const arch_fault *fault(const sim_engine *engine) {
  const sim_engine *accelerator = of(engine)->accelerator;
  return accelerator->ops->fault(accelerator);
}

static void set_events(sim_engine *engine, const sim_events *events) {
  sim_engine *accelerator = of(engine)->accelerator;
  if (accelerator->ops->set_events != NULL) accelerator->ops->set_events(accelerator, events);
}

// Memory serves requests in the order of their cycles: what the accelerator asks for before `cycle` comes first.
static void hart_access(sim_engine *engine, uint64_t cycle, uint64_t address, bool write) {
  systemc_engine *e = of(engine);
  advance(engine, cycle);
  uint64_t start = address - address % e->line_bytes;
  uint8_t *bytes = arch_memory_at(e->memory, start, e->line_bytes);
  if (bytes == NULL) {  // the end of memory cuts the line
    ask_for_line(e, cycle, address, write);
    return;
  }
  memcpy(e->line, bytes, e->line_bytes);  // the hart's caches hold no data: what is written back is there already
  e->api->access(e->platform, cycle, write, start, e->line, e->line_bytes);
}

static uint64_t reached(const sim_engine *engine) {
  const sim_engine *accelerator = of(engine)->accelerator;
  return accelerator->ops->reached(accelerator);
}

static uint64_t hart_there(sim_engine *engine, uint64_t *next) {
  systemc_engine *e = of(engine);
  settle(e);
  return memsys_host_there(e->timing, reached(engine), next);
}

uint64_t sim_systemc_access(sim_engine *engine, uint64_t cycle, bool write, uint64_t address, void *data,
                            unsigned length) {
  systemc_engine *e = of(engine);
  uint64_t asked = e->api->access(e->platform, cycle, write, address, data, length), there, next = asked;
  if (write || asked == UINT64_MAX) return asked;
  while ((there = memsys_host_there(e->timing, next, &next)) == MEMSYS_UNKNOWN) {
    advance(engine, next);
    settle(e);
  }
  return there;
}

// One engine, timed or not as its accelerator is.
#define OPERATIONS(has_clock)                                                                                   \
  {                                                                                                             \
    .name = "systemc", .summary = "a TLM-2.0 platform around an accelerator in C or RTL", .timed = (has_clock), \
    .create = create, .destroy = destroy, .push = push, .advance = advance, .busy = busy, .drain = drain,       \
    .fault = fault, .create_with = create_with, .set_events = set_events, .enter = enter,                       \
    .host_access = (has_clock) ? hart_access : NULL, .host_there = (has_clock) ? hart_there : NULL,             \
    .reached = (has_clock) ? reached : NULL                                                                     \
  }

const sim_engine_ops sim_systemc_engine = OPERATIONS(true);
static const sim_engine_ops untimed = OPERATIONS(false);
