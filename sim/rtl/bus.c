// SPDX-License-Identifier: Apache-2.0
// The AXI port on main memory: see bus.h.
#include "sim/rtl/bus.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { IDS = 1024 };

// A burst under way.
typedef struct burst {
  bool used;
  uint64_t address;
  unsigned bytes, beat_bytes;
  uint8_t *data;  // of a read
} burst;

struct sim_rtl_bus {
  memsys *timing;
  arch_memory *memory;
  unsigned bus_bytes, max_bytes;
  burst reads[IDS];
  bool answers[IDS];  // writes whose answer is out, by id
  burst write;        // whose W beats are being taken
  memsys_request write_request;
  unsigned write_beat, written;  // beats, bytes of it
};

sim_rtl_bus *sim_rtl_bus_create(const hw_array *array, arch_memory *memory, memsys *timing) {
  sim_rtl_bus *bus = WF_NEW(sim_rtl_bus);
  bus->timing = timing;
  bus->memory = memory;
  bus->bus_bytes = array->dma.bus_bits / 8;
  bus->max_bytes = array->dma.max_burst_bytes;
  assert(bus->bus_bytes <= WEFT_RTL_BUS_BYTES);
  return bus;
}

void sim_rtl_bus_destroy(sim_rtl_bus *bus) {
  if (bus == NULL) return;
  for (unsigned id = 0; id < IDS; id++) wf_free(bus->reads[id].data);
  wf_free(bus);
}

// ---- answers

void sim_rtl_bus_respond(sim_rtl_bus *bus, uint64_t cycle, weft_rtl_inputs *in) {
  const memsys_beat *beat = memsys_response(bus->timing, cycle);
  in->r_valid = beat != NULL && !beat->write;
  in->b_valid = beat != NULL && beat->write;
  if (in->b_valid) in->b_id = beat->id;
  if (!in->r_valid) return;
  const burst *read = &bus->reads[beat->id];
  unsigned offset = beat->index * read->beat_bytes;
  in->r_id = beat->id;
  in->r_last = beat->last;
  memset(in->r_data, 0, sizeof in->r_data);
  memcpy(in->r_data + (read->address + offset) % bus->bus_bytes, read->data + offset, read->beat_bytes);
}

// ---- requests

static memsys_request read_request(const weft_rtl_outputs *out) {
  return (memsys_request){.id = out->ar_id, .address = out->ar_addr, .bytes = (out->ar_len + 1U) << (out->ar_size & 7)};
}

static memsys_request write_request(const sim_rtl_bus *bus, const weft_rtl_outputs *out) {
  if (bus->write.used) return bus->write_request;
  return (memsys_request){.id = out->aw_id,
                          .address = out->aw_addr,
                          .bytes = (out->aw_len + 1U) << (out->aw_size & 7),
                          .partial = out->aw_user != 0};
}

void sim_rtl_bus_grant(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_outputs *out, weft_rtl_inputs *in) {
  in->ar_ready = in->aw_ready = in->w_ready = 0;
  bool reads = out->ar_valid, writes = out->w_valid && (bus->write.used || out->aw_valid);
  if (!reads && !writes) return;
  memsys_request read = read_request(out), write = write_request(bus, out);
  memsys_grant grant = memsys_arbitrate(bus->timing, cycle, reads ? &read : NULL, writes ? &write : NULL);
  in->ar_ready = grant == MEMSYS_READ;
  in->w_ready = grant == MEMSYS_WRITE;
  in->aw_ready = grant == MEMSYS_WRITE && !bus->write.used;
}

static bool broken(arch_fault *fault, const char *what, const memsys_request *request) {
  fault->kind = ARCH_FAULT_STUCK;
  snprintf(fault->text, sizeof fault->text, "the hardware broke the bus protocol: %s (address 0x%" PRIx64 ", %u bytes)",
           what, request->address, request->bytes);
  return false;
}

// What AXI and the interface of the accelerator demand of a request.
static bool check_request(const sim_rtl_bus *bus, const memsys_request *r, unsigned size, bool busy, const char *verb,
                          arch_fault *fault) {
  unsigned beat = 1U << (size & 7);
  if (r->id >= IDS) return broken(fault, "an id that is too large", r);
  if (busy) return broken(fault, "an id that is in use", r);
  if ((r->bytes & (r->bytes - 1)) != 0) return broken(fault, "a burst that is no power of two", r);
  if (r->address % r->bytes != 0) return broken(fault, "a burst that is not aligned", r);
  if (r->bytes > bus->max_bytes) return broken(fault, "a burst over dma.max_burst_bytes", r);
  if (beat > bus->bus_bytes || (beat < bus->bus_bytes && r->bytes != beat))
    return broken(fault, "a burst of beats that are not as wide as the bus", r);
  if (arch_memory_at(bus->memory, r->address, r->bytes) != NULL) return true;
  fault->kind = ARCH_FAULT_MEMORY;
  snprintf(fault->text, sizeof fault->text,
           "the hardware %s bytes 0x%" PRIx64 "..0x%" PRIx64 " outside main memory 0x%" PRIx64 "..0x%" PRIx64, verb,
           r->address, r->address + r->bytes - 1, ARCH_MEMORY_BASE, ARCH_MEMORY_BASE + bus->memory->size - 1);
  return false;
}

static bool take_read(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_outputs *out, arch_fault *fault) {
  memsys_request request = read_request(out);
  bool busy = request.id < IDS && bus->reads[request.id].used;
  if (!check_request(bus, &request, out->ar_size, busy, "reads", fault)) return false;
  burst *read = &bus->reads[request.id];
  if (read->data == NULL) read->data = wf_alloc(bus->max_bytes, 1);
  read->used = true;
  read->address = request.address;
  read->bytes = request.bytes;
  read->beat_bytes = 1U << out->ar_size;
  arch_memory_read(bus->memory, request.address, read->data, request.bytes);
  memsys_read(bus->timing, cycle, &request);
  return true;
}

static bool strobe(const weft_rtl_outputs *out, unsigned lane) { return (out->w_strb[lane / 8] >> lane % 8 & 1) != 0; }

// The bytes whose strobe is set, run by run.
static bool apply_beat(sim_rtl_bus *bus, const weft_rtl_outputs *out, arch_fault *fault) {
  uint64_t word = (bus->write.address + bus->write_beat * bus->write.beat_bytes) & ~(uint64_t)(bus->bus_bytes - 1);
  for (unsigned lane = 0; lane < bus->bus_bytes;) {
    unsigned end = lane;
    while (end < bus->bus_bytes && strobe(out, end)) end++;
    if (end > lane && (word + lane < bus->write.address || word + end > bus->write.address + bus->write.bytes))
      return broken(fault, "a strobe outside the burst", &bus->write_request);
    if (end > lane) arch_memory_write(bus->memory, word + lane, out->w_data + lane, end - lane);
    bus->written += end - lane;
    lane = end + 1;
  }
  return true;
}

static bool open_write(sim_rtl_bus *bus, const weft_rtl_outputs *out, arch_fault *fault) {
  memsys_request request = write_request(bus, out);
  bool busy = request.id < IDS && bus->answers[request.id];
  if (!check_request(bus, &request, out->aw_size, busy, "writes", fault)) return false;
  bus->write_request = request;
  bus->write =
      (burst){.used = true, .address = request.address, .bytes = request.bytes, .beat_bytes = 1U << out->aw_size};
  bus->write_beat = bus->written = 0;
  bus->answers[request.id] = true;
  return true;
}

static bool take_write(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_outputs *out, arch_fault *fault) {
  if (!bus->write.used && !open_write(bus, out, fault)) return false;
  bool last = (bus->write_beat + 1) * bus->write.beat_bytes == bus->write.bytes;
  if (last != (out->w_last != 0)) return broken(fault, "wlast at the wrong beat", &bus->write_request);
  if (!apply_beat(bus, out, fault)) return false;
  if (last && bus->write_request.partial != (bus->written != bus->write.bytes))
    return broken(fault, "awuser does not tell whether all bytes are written", &bus->write_request);
  memsys_write(bus->timing, cycle, &bus->write_request);
  bus->write_beat++;
  bus->write.used = !last;
  return true;
}

bool sim_rtl_bus_transfer(sim_rtl_bus *bus, uint64_t cycle, const weft_rtl_inputs *in, const weft_rtl_outputs *out,
                          arch_fault *fault) {
  bool moved = false;
  if (in->ar_ready && out->ar_valid) moved |= take_read(bus, cycle, out, fault);
  if (in->w_ready && out->w_valid) moved |= take_write(bus, cycle, out, fault);
  bool read = in->r_valid && out->r_ready, answer = in->b_valid && out->b_ready;
  if (!read && !answer) return moved;
  if (read && in->r_last) bus->reads[in->r_id].used = false;
  if (answer) bus->answers[in->b_id] = false;
  memsys_take(bus->timing, cycle);
  return true;
}
