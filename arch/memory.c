// SPDX-License-Identifier: Apache-2.0
// Main memory: see memory.h.
#include "arch/memory.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"

arch_memory *arch_memory_create(uint64_t size) {
  void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (bytes == MAP_FAILED) return NULL;
  arch_memory *memory = WF_NEW(arch_memory);
  memory->bytes = bytes;
  memory->size = size;
  return memory;
}

void arch_memory_destroy(arch_memory *memory) {
  if (memory == NULL) return;
  munmap(memory->bytes, memory->size);
  wf_free(memory);
}

bool arch_memory_read(arch_memory *memory, uint64_t address, void *to, size_t length) {
  const uint8_t *from = arch_memory_at(memory, address, length);
  if (from == NULL) return false;
  if (memory->carrier.read != NULL) return memory->carrier.read(memory->carrier.context, address, to, length);
  if (memory->observer.on_read != NULL) memory->observer.on_read(memory->observer.context, address, length);
  memory->read_bytes += length;
  memcpy(to, from, length);
  return true;
}

bool arch_memory_write(arch_memory *memory, uint64_t address, const void *from, size_t length) {
  uint8_t *to = arch_memory_at(memory, address, length);
  if (to == NULL) return false;
  if (memory->carrier.write != NULL) return memory->carrier.write(memory->carrier.context, address, from, length);
  if (memory->observer.on_write != NULL) memory->observer.on_write(memory->observer.context, address, from, length);
  memory->written_bytes += length;
  memcpy(to, from, length);
  return true;
}
