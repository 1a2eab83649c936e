// SPDX-License-Identifier: Apache-2.0
// One program on one engine; see run.h.
#include "bench/run.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/diag.h"

// ---- logs

static size_t log_bytes(size_t capacity) { return sizeof(bench_log) + capacity * sizeof(sim_event); }

bench_log *bench_log_create(size_t capacity) {
  void *memory = mmap(NULL, log_bytes(capacity), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  bench_log *log = memory;
  log->capacity = capacity;
  return log;
}

void bench_log_destroy(bench_log *log) {
  if (log != NULL) munmap(log, log_bytes(log->capacity));
}

static bool same_event(const sim_event *a, const sim_event *b) {
  return a->kind == b->kind && a->unit == b->unit && a->index == b->index && a->cycle == b->cycle;
}

size_t bench_log_difference(const bench_log *a, const bench_log *b) {
  size_t count = a->count < b->count ? a->count : b->count;
  if (count > a->capacity) count = a->capacity;
  for (size_t n = 0; n < count; n++)
    if (!same_event(&a->events[n], &b->events[n])) return n;
  return a->count == b->count ? SIZE_MAX : count;
}

typedef struct log_filter {
  bench_log *log;
  uint64_t limit;
} log_filter;

static void note_event(void *context, const sim_event *event) {
  const log_filter *filter = context;
  if (filter->limit != 0 && event->cycle >= filter->limit) return;
  if (filter->log->count < filter->log->capacity) filter->log->events[filter->log->count] = *event;
  filter->log->count++;
}

// ---- one run, in the child

static bool limited(const bench_run *run, uint64_t cycle) { return run->limit != 0 && cycle >= run->limit; }

// Gives the commands as fast as they are taken: a host that costs nothing. False: the limit, or a fault.
static bool give_commands(const bench_run *run, sim_engine *engine, uint64_t *cycle) {
  const bench_program *p = run->program;
  sim_push_result result;
  if (run->limit == 0) return sim_engine_push_many(engine, cycle, p->commands, p->count, &result) == p->count;
  for (size_t n = 0; n < p->count; n++) {
    uint64_t response;
    while ((result = engine->ops->push(engine, *cycle, &p->commands[n], &response)) == SIM_PUSH_FULL) {
      *cycle = sim_engine_await_room(engine, *cycle, run->limit);
      if (limited(run, *cycle)) return false;
    }
    if (result == SIM_PUSH_FAULT) return false;
  }
  return true;
}

// Runs until idle. With a limit cycle by cycle, to stop there exactly.
static uint64_t finish(const bench_run *run, sim_engine *engine, uint64_t cycle) {
  const sim_engine_ops *ops = engine->ops;
  if (run->limit == 0) return ops->drain(engine, cycle);
  for (; cycle < run->limit && ops->busy(engine); cycle++) ops->advance(engine, cycle + 1);
  return cycle;
}

static void carry_out(const bench_run *run, sim_engine *engine, bench_measured *m) {
  uint64_t cycle = 0;
  double wall = wf_seconds(), cpu = wf_process_seconds();
  if (give_commands(run, engine, &cycle)) {
    cycle = finish(run, engine, cycle);
    m->finished = !engine->ops->busy(engine);
  }
  m->wall_seconds = wf_seconds() - wall;
  m->cpu_seconds = wf_process_seconds() - cpu;
  m->cycles = engine->ops->timed ? cycle : 0;
  const arch_fault *fault = engine->ops->fault(engine);
  if (fault->kind == ARCH_FAULT_NONE) return;
  m->status = BENCH_RUN_FAULT;
  snprintf(m->fault, sizeof m->fault, "command %llu: %s", (unsigned long long)fault->command.index, fault->text);
}

static void check_result(const bench_run *run, const arch_memory *memory, bench_measured *m) {
  bool moved = run->options == NULL || !run->options->timing_only;
  if (m->status != BENCH_RUN_GOOD || !m->finished || !moved) return;
  m->wrong = bench_program_wrong(run->program, memory);
  if (m->wrong != 0) m->status = BENCH_RUN_WRONG;
}

static bench_measured run_once(const bench_run *run) {
  bench_measured m = {.status = BENCH_RUN_CANNOT_BUILD};
  wf_diag diag = wf_diag_to(stderr);
  arch_memory *memory = arch_memory_create((uint64_t)run->array->memory.capacity_mib << 20);
  if (memory == NULL) return m;
  bench_program_load(run->program, memory);
  sim_engine *engine = sim_engine_create(run->engine, run->array, memory, run->options, &diag);
  if (engine != NULL) {
    log_filter filter = {.log = run->log, .limit = run->limit};
    const sim_events events = {.context = &filter, .event = note_event};
    if (run->log != NULL) engine->ops->set_events(engine, &events);
    m.status = BENCH_RUN_GOOD;
    carry_out(run, engine, &m);
    check_result(run, memory, &m);
    engine->ops->destroy(engine);
  }
  arch_memory_destroy(memory);
  return m;
}

static bench_measured run_all(const bench_run *run) {
  bench_measured best = run_once(run);
  for (unsigned n = 1; n < run->repeats && best.status == BENCH_RUN_GOOD; n++) {
    bench_measured next = run_once(run);
    if (next.status != BENCH_RUN_GOOD || next.cpu_seconds < best.cpu_seconds) best = next;
  }
  return best;
}

// ---- the process around it

static _Noreturn void child(const bench_run *run, int to_parent) {
  bench_measured m = run_all(run);
  bool told = write(to_parent, &m, sizeof m) == (ssize_t)sizeof m;
  fflush(stderr);
  _exit(told ? 0 : 1);
}

static bench_measured wait_for(pid_t pid, int from_child) {
  bench_measured m = {.status = BENCH_RUN_CRASHED};
  bench_measured told;
  if (read(from_child, &told, sizeof told) == (ssize_t)sizeof told) m = told;
  struct rusage usage;
  int status;
  if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    m.status = BENCH_RUN_CRASHED;
  else
    m.peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
  return m;
}

bench_measured bench_run_program(const bench_run *run) {
  const bench_measured failed = {.status = BENCH_RUN_CRASHED};
  int ends[2];
  if (run->log != NULL) run->log->count = 0;
  if (pipe(ends) != 0) return failed;
  fflush(stdout);
  fflush(stderr);
  pid_t pid = fork();
  if (pid == 0) child(run, ends[1]);
  close(ends[1]);
  bench_measured m = pid < 0 ? failed : wait_for(pid, ends[0]);
  close(ends[0]);
  return m;
}
