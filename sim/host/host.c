// SPDX-License-Identifier: Apache-2.0
// The host: its life, its run in chunks between progress reports, and the pages of decoded instructions.
#include "sim/host/host.h"

#include "base/alloc.h"
#include "sim/host/rv64_fp.h"
#include "sim/host/rv64_timing.h"

enum { CHUNK = 1 << 24 };  // instructions between progress reports

host *host_create(const host_config *config) {
  host *h = WF_NEW(host);
  h->config = *config;
  h->memory = config->memory;
  h->pc = config->entry;
  bool htif = config->tohost != 0 && arch_memory_at(h->memory, config->tohost, sizeof(uint64_t)) != NULL;
  h->tohost_at = htif ? config->tohost - ARCH_MEMORY_BASE : RV64_NO_TOHOST;
  h->page_count = (size_t)(h->memory->size / RV64_PAGE_BYTES) + 1;
  h->pages = WF_NEW_ARRAY(h->page_count, rv64_page *);
  rv64_csr_reset(h);
  if (config->timing != NULL) h->timing = rv64_timing_create(config->timing, config->entry);
  return h;
}

static void free_list(rv64_page *page) {
  while (page != NULL) {
    rv64_page *next = page->next;
    wf_free(page);
    page = next;
  }
}

void host_destroy(host *h) {
  if (h == NULL) return;
  free_list(h->used);
  free_list(h->unused);
  wf_free(h->pages);
  rv64_timing_destroy(h->timing);
  wf_free(h);
}

// The page of the code at `offset` in memory; the interpreter fills in the handlers.
rv64_page *rv64_page_take(host *h, uint64_t offset) {
  rv64_page *page = h->unused;
  if (page != NULL) {
    h->unused = page->next;
  } else {
    page = wf_alloc(1, sizeof *page);
  }
  page->next = h->used;
  h->used = page;
  page->pc = ARCH_MEMORY_BASE + offset / RV64_PAGE_BYTES * RV64_PAGE_BYTES;
  h->pages[offset / RV64_PAGE_BYTES] = page;
  return page;
}

void rv64_pages_flush(host *h) {
  while (h->used != NULL) {
    rv64_page *page = h->used;
    h->used = page->next;
    h->pages[(page->pc - ARCH_MEMORY_BASE) / RV64_PAGE_BYTES] = NULL;
    page->next = h->unused;
    h->unused = page;
  }
}

static host_result result(const host *h) {
  static const host_counts none;
  return (host_result){.end = h->end,
                       .exit_code = h->exit_code,
                       .instructions = rv64_retired(h),
                       .cycles = rv64_cycles(h),
                       .pc = h->pc,
                       .traps = h->traps,
                       .last_trap = h->last_trap,
                       .counts = h->timing == NULL ? none : h->timing->counts};
}

// Instructions until the next progress report or the limit.
static uint64_t next_chunk(const host *h) {
  uint64_t retired = rv64_retired(h), chunk = CHUNK - retired % CHUNK, limit = h->config.max_instructions;
  if (limit == 0) return chunk;
  if (retired >= limit) return 0;
  return limit - retired < chunk ? limit - retired : chunk;
}

typedef bool interpreter(host *h, uint64_t budget);

static interpreter *interpreter_of(const host *h) {
  if (h->timing != NULL) return rv64_run_timed;
  return h->config.port.touch != NULL ? rv64_run_watched : rv64_run_untimed;
}

static void run(host *h, bool (*progress)(void *, uint64_t, uint64_t), void *context) {
  interpreter *const interpret = interpreter_of(h);
  for (;;) {
    uint64_t chunk = next_chunk(h);
    if (chunk == 0) break;
    rv64_fpu saved = rv64_fp_enter();
    bool ended = interpret(h, chunk);
    rv64_fp_collect(h);
    rv64_fp_restore(saved);
    if (ended) return;
    if (rv64_retired(h) % CHUNK == 0 && progress != NULL && !progress(context, rv64_retired(h), rv64_cycles(h))) break;
  }
  h->end = HOST_LIMIT;
}

host_result host_run(host *h, bool (*progress)(void *context, uint64_t instructions, uint64_t cycles), void *context) {
  run(h, progress, context);
  if (h->config.console != NULL) fflush(h->config.console);
  if (h->config.console_error != NULL) fflush(h->config.console_error);
  return result(h);
}

void host_restart(host *h, bool keeps_data) {
  h->pc = h->config.entry;
  if (h->timing != NULL) rv64_timing_restart(h->timing, rv64_cycles(h), h->pc, keeps_data);
}

const char *host_cause_name(uint64_t cause) {
  static const char *const names[] = {
      [RV64_FETCH_MISALIGNED] = "instruction address misaligned",
      [RV64_FETCH_ACCESS] = "instruction access fault",
      [RV64_ILLEGAL] = "illegal instruction",
      [RV64_BREAKPOINT] = "breakpoint",
      [RV64_LOAD_MISALIGNED] = "load address misaligned",
      [RV64_LOAD_ACCESS] = "load access fault",
      [RV64_STORE_MISALIGNED] = "store or atomic address misaligned",
      [RV64_STORE_ACCESS] = "store or atomic access fault",
      [RV64_ECALL] = "environment call",
  };
  if (cause >= sizeof names / sizeof names[0] || names[cause] == NULL) return "unknown cause";
  return names[cause];
}
