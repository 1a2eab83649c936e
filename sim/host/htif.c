// SPDX-License-Identifier: Apache-2.0
// The host-target interface: what a store to tohost asks for.
//   odd                      the program ends with exit code tohost >> 1
//   device 0, command 0      a system call: tohost points to {number, arguments...}; the result replaces the number
//   device 1, command 1      one character for the console
// The store is a store access fault if the host can make no sense of it: nothing is dropped silently.
#include <string.h>

#include "sim/host/rv64.h"

enum { CALL_WRITE = 64, CALL_EXIT = 93, DEVICE_CALL = 0, DEVICE_CONSOLE = 1, CONSOLE_PUT = 1 };
enum { ERROR_BAD_FILE = -9, ERROR_FAULT = -14, ERROR_NO_CALL = -38 };

void rv64_console(const host *h, bool error, const void *bytes, size_t length) {
  FILE *to = error ? h->config.console_error : h->config.console;
  if (to != NULL) fwrite(bytes, 1, length, to);
}

static void set(const host *h, uint64_t address, uint64_t value) {
  uint8_t *at = arch_memory_at(h->memory, address, sizeof value);
  if (at != NULL) memcpy(at, &value, sizeof value);
}

static int64_t call_write(const host *h, uint64_t fd, uint64_t pointer, uint64_t length) {
  if (fd != 1 && fd != 2) return ERROR_BAD_FILE;
  const uint8_t *bytes = arch_memory_at(h->memory, pointer, length);
  if (bytes == NULL) return ERROR_FAULT;
  rv64_console(h, fd == 2, bytes, length);
  return (int64_t)length;
}

static rv64_outcome leave(host *h, uint64_t code) {
  h->end = HOST_EXITED;
  h->exit_code = code;
  return RV64_END;
}

static rv64_outcome call(host *h, uint64_t pointer, uint64_t *bad) {
  uint64_t block[8];
  uint8_t *at = arch_memory_at(h->memory, pointer, sizeof block);
  if (at == NULL) {
    *bad = pointer;
    return RV64_TRAP_STORE;
  }
  memcpy(block, at, sizeof block);
  if (block[0] == CALL_EXIT) return leave(h, block[1]);
  int64_t result = block[0] == CALL_WRITE ? call_write(h, block[1], block[2], block[3]) : ERROR_NO_CALL;
  memcpy(at, &result, sizeof result);
  set(h, h->config.fromhost, 1);
  set(h, h->config.tohost, 0);
  return RV64_GO_ON;
}

rv64_outcome rv64_htif(host *h, uint64_t *bad) {
  uint64_t request;
  const uint8_t *at = arch_memory_at(h->memory, h->config.tohost, sizeof request);
  memcpy(&request, at, sizeof request);
  unsigned device = (unsigned)(request >> 56), command = (unsigned)(request >> 48) & 0xff;
  if (request == 0) return RV64_GO_ON;
  if (device == DEVICE_CALL && (request & 1) != 0) return leave(h, request >> 1);
  if (device == DEVICE_CALL && command == 0) return call(h, request, bad);
  if (device == DEVICE_CONSOLE && command == CONSOLE_PUT) {
    uint8_t character = (uint8_t)request;
    rv64_console(h, false, &character, 1);
    set(h, h->config.tohost, 0);
    return RV64_GO_ON;
  }
  *bad = request;
  return RV64_TRAP_STORE;
}
