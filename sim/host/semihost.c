// SPDX-License-Identifier: Apache-2.0
// Semihosting: the calls a bare-metal C library makes for its console, its clock and its exit.
// A call is an ebreak between two shifts of x0; a0 holds the operation, a1 its argument or the address of a block of
// 64-bit arguments, and a0 receives the result. Of files there are the console (":tt") and the list of features
// (":semihosting-features"), from which a C library learns that it may exit with a code. Time is the hart's:
// one cycle counts as a nanosecond, so that a run can be repeated.
#include <string.h>

#include "sim/host/rv64.h"

enum { A0 = 10, A1 = 11, MAX_ARGUMENTS = 3 };
enum { HANDLE_IN = 1, HANDLE_OUT = 2, HANDLE_ERROR = 3, HANDLE_FEATURES = 4 };
enum { APPLICATION_EXIT = 0x20026, ERROR_NO_FILE = 2, ERROR_BAD_FILE = 9, ERROR_FAULT = 14, ERROR_NO_CALL = 38 };
enum { CYCLES_PER_CENTISECOND = 10000000, CYCLES_PER_SECOND = 1000000000 };

#define FAILED UINT64_MAX

typedef struct {
  host *h;
  uint64_t a1;
  uint64_t arg[MAX_ARGUMENTS];
} call;

static uint64_t fail(const call *c, uint64_t error) {
  c->h->semihost_errno = error;
  return FAILED;
}

// Magic, then one byte: extended exit, and error output apart from output.
static const uint8_t features[] = {0x53, 0x48, 0x46, 0x42, 0x03};

static bool names(const call *c, const char *file) {
  size_t length = strlen(file);
  const uint8_t *name = arch_memory_at(c->h->memory, c->arg[0], length);
  return name != NULL && c->arg[2] == length && memcmp(name, file, length) == 0;
}

static uint64_t do_open(const call *c) {
  if (names(c, ":semihosting-features")) {
    c->h->features_read = 0;
    return HANDLE_FEATURES;
  }
  if (!names(c, ":tt")) return fail(c, ERROR_NO_FILE);
  if (c->arg[1] < 4) return HANDLE_IN;  // modes: 0..3 read, 4..7 write, 8..11 append
  return c->arg[1] < 8 ? HANDLE_OUT : HANDLE_ERROR;
}

static bool handle_ok(uint64_t handle) { return handle >= HANDLE_IN && handle <= HANDLE_FEATURES; }

static uint64_t do_close(const call *c) { return handle_ok(c->arg[0]) ? 0 : fail(c, ERROR_BAD_FILE); }

static uint64_t do_writec(const call *c) {
  const uint8_t *byte = arch_memory_at(c->h->memory, c->a1, 1);
  if (byte == NULL) return fail(c, ERROR_FAULT);
  rv64_console(c->h, false, byte, 1);
  return 0;
}

static uint64_t do_write0(const call *c) {
  const uint8_t *text = arch_memory_at(c->h->memory, c->a1, 1);
  if (text == NULL) return fail(c, ERROR_FAULT);
  size_t room = (size_t)(c->h->memory->bytes + c->h->memory->size - text);
  const uint8_t *end = memchr(text, 0, room);
  if (end == NULL) return fail(c, ERROR_FAULT);
  rv64_console(c->h, false, text, (size_t)(end - text));
  return 0;
}

// The number of bytes not written.
static uint64_t do_write(const call *c) {
  const uint8_t *bytes = arch_memory_at(c->h->memory, c->arg[1], c->arg[2]);
  bool writable = c->arg[0] == HANDLE_OUT || c->arg[0] == HANDLE_ERROR;
  if (bytes == NULL || !writable) {
    c->h->semihost_errno = bytes == NULL ? ERROR_FAULT : ERROR_BAD_FILE;
    return c->arg[2];
  }
  rv64_console(c->h, c->arg[0] == HANDLE_ERROR, bytes, c->arg[2]);
  return 0;
}

// The number of bytes not read; the console has no input.
static uint64_t do_read(const call *c) {
  uint64_t want = c->arg[2], got = 0;
  uint8_t *to = arch_memory_at(c->h->memory, c->arg[1], want);
  if (to == NULL || c->arg[0] != HANDLE_FEATURES) return want;
  while (got < want && c->h->features_read < sizeof features) to[got++] = features[c->h->features_read++];
  return want - got;
}

static uint64_t do_readc(const call *c) { return fail(c, ERROR_BAD_FILE); }
static uint64_t do_iserror(const call *c) { return (int64_t)c->arg[0] < 0; }

static uint64_t do_istty(const call *c) {
  return handle_ok(c->arg[0]) ? c->arg[0] != HANDLE_FEATURES : fail(c, ERROR_BAD_FILE);
}

static uint64_t do_seek(const call *c) {
  if (c->arg[0] != HANDLE_FEATURES || c->arg[1] > sizeof features) return fail(c, ERROR_BAD_FILE);
  c->h->features_read = c->arg[1];
  return 0;
}

static uint64_t do_flen(const call *c) {
  if (!handle_ok(c->arg[0])) return fail(c, ERROR_BAD_FILE);
  return c->arg[0] == HANDLE_FEATURES ? sizeof features : 0;
}

static uint64_t do_clock(const call *c) { return rv64_cycles(c->h) / CYCLES_PER_CENTISECOND; }
static uint64_t do_time(const call *c) { return rv64_cycles(c->h) / CYCLES_PER_SECOND; }
static uint64_t do_errno(const call *c) { return c->h->semihost_errno; }
static uint64_t do_tickfreq(const call *c) {
  (void)c;
  return CYCLES_PER_SECOND;
}

static uint64_t store(const call *c, uint64_t address, const uint64_t *values, size_t bytes) {
  uint8_t *at = arch_memory_at(c->h->memory, address, bytes);
  if (at == NULL) return fail(c, ERROR_FAULT);
  memcpy(at, values, bytes);
  return 0;
}

// An empty command line: the buffer's first byte and its length.
static uint64_t do_cmdline(const call *c) {
  uint8_t *buffer = arch_memory_at(c->h->memory, c->arg[0], 1);
  if (buffer == NULL || c->arg[1] == 0) return fail(c, ERROR_FAULT);
  *buffer = 0;
  uint64_t block[2] = {c->arg[0], 0};
  return store(c, c->a1, block, sizeof block);
}

// "The host does not know": the program uses the heap and stack of its linker script.
static uint64_t do_heapinfo(const call *c) {
  static const uint64_t unknown[4] = {0};
  return store(c, c->arg[0], unknown, sizeof unknown);
}

static uint64_t do_elapsed(const call *c) {
  uint64_t now = rv64_cycles(c->h);
  return store(c, c->a1, &now, sizeof now);
}

static uint64_t do_exit(const call *c) {
  c->h->end = HOST_EXITED;
  c->h->exit_code = c->arg[0] == APPLICATION_EXIT ? c->arg[1] : 1;
  return 0;
}

typedef struct {
  uint64_t (*run)(const call *c);
  uint8_t number;
  uint8_t arguments;  // in the block at a1
  bool ends;
} service;

static const service services[] = {
    {do_open, 0x01, 3, false},  {do_close, 0x02, 1, false}, {do_writec, 0x03, 0, false},  {do_write0, 0x04, 0, false},
    {do_write, 0x05, 3, false}, {do_read, 0x06, 3, false},  {do_readc, 0x07, 0, false},   {do_iserror, 0x08, 1, false},
    {do_istty, 0x09, 1, false}, {do_seek, 0x0a, 2, false},  {do_flen, 0x0c, 1, false},    {do_clock, 0x10, 0, false},
    {do_time, 0x11, 0, false},  {do_errno, 0x13, 0, false}, {do_cmdline, 0x15, 2, false}, {do_heapinfo, 0x16, 1, false},
    {do_exit, 0x18, 2, true},   {do_exit, 0x20, 2, true},   {do_elapsed, 0x30, 0, false}, {do_tickfreq, 0x31, 0, false},
};

static rv64_outcome serve(host *h) {
  call c = {.h = h, .a1 = h->x[A1]};
  for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
    const service *s = &services[i];
    if (h->x[A0] != s->number) continue;
    size_t bytes = s->arguments * sizeof c.arg[0];
    const uint8_t *block = arch_memory_at(h->memory, c.a1, bytes);
    if (bytes > 0 && block == NULL) {
      // An exit with an unreadable block is an exit all the same, and a failure: c.arg is no reason the hart knows.
      h->x[A0] = s->ends ? do_exit(&c) : fail(&c, ERROR_FAULT);
      return s->ends ? RV64_END : RV64_GO_ON;
    }
    if (bytes > 0) memcpy(c.arg, block, bytes);
    h->x[A0] = s->run(&c);
    return s->ends ? RV64_END : RV64_GO_ON;
  }
  h->x[A0] = fail(&c, ERROR_NO_CALL);
  return RV64_GO_ON;
}

rv64_outcome rv64_semihost(host *h, uint64_t pc) {
  static const uint32_t before = 0x01f01013, after = 0x40705013;  // slli x0, x0, 31; srai x0, x0, 7
  if (rv64_fetch(h, pc - 4) != before || rv64_fetch(h, pc + 4) != after) return RV64_TRAP_BREAK;
  return serve(h);
}
