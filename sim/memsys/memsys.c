// Timing of main memory: see memsys.h for the rules this file implements.
#include "sim/memsys/memsys.h"

#include <assert.h>
#include <stddef.h>

#include "hw/base/alloc.h"
#include "sim/memsys/l2.h"

enum { MAX_UNDER_WAY = 1024, MAX_MISSES = 256 };

// A request that has not been answered completely.
typedef struct pending {
  memsys_request request;
  bool write;
  uint64_t order;    // of the request
  uint64_t ready;    // of beat 0
  uint64_t spacing;  // cycles between two beats at least
  unsigned beats;
} pending;

struct memsys {
  unsigned bus_bytes, line_bytes, unit_bytes;  // unit: what moves on the memory bus at once
  unsigned memory_bytes_per_cycle;
  uint64_t hit_latency, miss_latency;
  unsigned miss_limit;
  memsys_l2 *l2;  // NULL: none
  uint64_t read_bus_free, write_bus_free;
  uint64_t misses[MAX_MISSES];  // cycles at which lines under way are complete
  unsigned miss_count;
  // request channel
  unsigned write_beats_left;  // of the burst under way
  pending open_write;
  bool write_was_last;  // the channel's last grant, for alternation
  // response channel
  pending queue[MAX_UNDER_WAY];
  unsigned queue_count;
  int current;         // index of the burst under way, -1: none
  unsigned beat;       // of it
  uint64_t next_beat;  // not before this cycle
  memsys_beat shown;
  uint64_t order;
  uint64_t disturb;  // seed, 0: none
  memsys_counts counts;
};

memsys *memsys_create(const hw_array *array) {
  memsys *m = WF_NEW(memsys);
  m->bus_bytes = array->dma.bus_bits / 8;
  m->memory_bytes_per_cycle = array->memory.bytes_per_cycle;
  m->hit_latency = array->l2.present ? array->l2.hit_latency : 1;
  m->miss_latency = array->memory.latency_cycles;
  m->miss_limit = array->l2.misses_in_flight;
  m->line_bytes = array->l2.line_bytes;
  m->unit_bytes = array->l2.present ? m->line_bytes : m->bus_bytes;
  if (array->l2.present) m->l2 = memsys_l2_create(array);
  m->current = -1;
  return m;
}

void memsys_destroy(memsys *m) {
  if (m == NULL) return;
  memsys_l2_destroy(m->l2);
  wf_free(m);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t bus_cycles(const memsys *m, unsigned bytes) {
  return (bytes + m->memory_bytes_per_cycle - 1) / m->memory_bytes_per_cycle;
}

// ---- misses

static void forget_complete(memsys *m, uint64_t cycle) {
  unsigned kept = 0;
  for (unsigned i = 0; i < m->miss_count; i++)
    if (m->misses[i] > cycle) m->misses[kept++] = m->misses[i];
  m->miss_count = kept;
}

// Reserves the memory bus for `bytes`; returns the cycle of the first byte.
static uint64_t fetch(memsys *m, uint64_t cycle, unsigned bytes) {
  uint64_t start = later(cycle + m->hit_latency + m->miss_latency, m->read_bus_free);
  m->read_bus_free = start + bus_cycles(m, bytes);
  m->counts.fetched_bytes += bytes;
  if (m->miss_count < MAX_MISSES) m->misses[m->miss_count++] = m->read_bus_free;
  return start;
}

static void write_back(memsys *m, uint64_t cycle) {
  m->write_bus_free = later(m->write_bus_free, cycle) + bus_cycles(m, m->line_bytes);
  m->counts.written_back_bytes += m->line_bytes;
}

// The cycle from which the byte at `offset` of the line is there, given that its first byte is there from `start`.
static uint64_t byte_ready(const memsys *m, uint64_t start, uint64_t offset) {
  return start + offset / m->memory_bytes_per_cycle;
}

// ---- one line of a request: when its first wanted byte is there

static uint64_t access_line(memsys *m, uint64_t cycle, uint64_t address, unsigned bytes, bool write) {
  uint64_t base = address & ~(uint64_t)(m->line_bytes - 1);
  memsys_l2_result found = memsys_l2_access(m->l2, base, write);
  uint64_t hit = cycle + m->hit_latency;
  if (found.hit) {
    m->counts.hits++;
    return found.available == 0 ? hit : later(hit, byte_ready(m, found.available, address - base));
  }
  m->counts.misses++;
  if (found.victim_dirty) write_back(m, cycle);
  if (write && bytes >= m->line_bytes) return hit;
  uint64_t start = fetch(m, cycle, m->line_bytes);
  memsys_l2_arrives(m->l2, base, start);
  return byte_ready(m, start, address - base);
}

static uint64_t access_memory(memsys *m, uint64_t cycle, const memsys_request *request, bool write) {
  m->counts.misses++;
  if (!write) return fetch(m, cycle, request->bytes);
  uint64_t start = later(cycle + m->hit_latency + m->miss_latency, m->write_bus_free);
  m->write_bus_free = start + bus_cycles(m, request->bytes);
  m->counts.written_back_bytes += request->bytes;
  return start;
}

// When the first beat of the request is there; a burst over several lines is as late as the latest allows.
static uint64_t access_ready(memsys *m, uint64_t cycle, const memsys_request *request, bool write) {
  if (m->l2 == NULL) return access_memory(m, cycle, request, write);
  uint64_t ready = 0;
  for (unsigned done = 0; done < request->bytes;) {
    unsigned room = m->line_bytes - (unsigned)((request->address + done) & (m->line_bytes - 1));
    unsigned part = request->bytes - done < room ? request->bytes - done : room;
    uint64_t line = access_line(m, cycle, request->address + done, part, write);
    uint64_t beats_before = done / m->bus_bytes;
    ready = later(ready, line > beats_before ? line - beats_before : 0);
    done += part;
  }
  return ready;
}

static bool needs_fetch(const memsys *m, const memsys_request *request, bool write) {
  if (m->l2 == NULL) return !write;
  if (write && request->bytes >= m->line_bytes) return false;
  return !memsys_l2_holds(m->l2, request->address);
}

// ---- disturbance

static uint64_t draw(const memsys *m, uint64_t number) {
  uint64_t x = m->disturb + number * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

// Half of the answers are on time, most others a little late, a few very late.
static uint64_t lateness(const memsys *m, uint64_t order) {
  if (m->disturb == 0) return 0;
  uint64_t x = draw(m, order << 1);
  return x % 2 == 0 ? 0 : (x >> 1) % 16 == 0 ? (x >> 8) % 300 : (x >> 8) % 20;
}

static bool turned_away(const memsys *m, uint64_t cycle) { return m->disturb != 0 && draw(m, cycle << 1 | 1) % 4 == 0; }

// ---- request channel

static bool acceptable(memsys *m, uint64_t cycle, const memsys_request *request, bool write) {
  if (request == NULL || m->queue_count == MAX_UNDER_WAY) return false;
  forget_complete(m, cycle);
  return m->miss_count < m->miss_limit || !needs_fetch(m, request, write);
}

memsys_grant memsys_arbitrate(memsys *m, uint64_t cycle, const memsys_request *read, const memsys_request *write) {
  if (turned_away(m, cycle)) return MEMSYS_NOBODY;
  if (m->write_beats_left != 0) return write != NULL ? MEMSYS_WRITE : MEMSYS_NOBODY;
  bool can_read = acceptable(m, cycle, read, false), can_write = acceptable(m, cycle, write, true);
  if (can_read && can_write) return m->write_was_last ? MEMSYS_READ : MEMSYS_WRITE;
  return can_read ? MEMSYS_READ : can_write ? MEMSYS_WRITE : MEMSYS_NOBODY;
}

static unsigned beats_of(const memsys *m, unsigned bytes) { return bytes <= m->bus_bytes ? 1 : bytes / m->bus_bytes; }

void memsys_read(memsys *m, uint64_t cycle, const memsys_request *request) {
  assert(m->queue_count < MAX_UNDER_WAY && m->write_beats_left == 0);
  uint64_t misses = m->counts.misses;
  pending p = {.request = *request, .order = m->order++, .spacing = 1, .beats = beats_of(m, request->bytes)};
  p.ready = access_ready(m, cycle, request, false);
  if (m->counts.misses != misses) p.spacing = later(1, m->bus_bytes / m->memory_bytes_per_cycle);
  p.ready += lateness(m, p.order);
  m->queue[m->queue_count++] = p;
  m->write_was_last = false;
  m->counts.reads++;
}

void memsys_write(memsys *m, uint64_t cycle, const memsys_request *request) {
  if (m->write_beats_left == 0) {
    m->write_beats_left = beats_of(m, request->bytes);
    m->open_write = (pending){.request = *request, .write = true, .order = m->order++, .spacing = 1, .beats = 1};
    m->open_write.ready = access_ready(m, cycle, request, true) + lateness(m, m->open_write.order);
    m->counts.writes++;
  }
  m->write_was_last = true;
  if (--m->write_beats_left != 0) return;
  assert(m->queue_count < MAX_UNDER_WAY);
  m->open_write.ready = later(m->open_write.ready, cycle + 1);
  m->queue[m->queue_count++] = m->open_write;
}

// ---- response channel

// The response that is ready first (then: asked first); -1 when nothing is under way.
static int first_ready(const memsys *m) {
  int best = -1;
  for (unsigned i = 0; i < m->queue_count; i++) {
    const pending *p = &m->queue[i], *b = best < 0 ? NULL : &m->queue[best];
    if (b == NULL || p->ready < b->ready || (p->ready == b->ready && p->order < b->order)) best = (int)i;
  }
  return best;
}

uint64_t memsys_next_response(const memsys *m, uint64_t cycle) {
  if (m->current >= 0) return later(cycle, m->next_beat);
  int first = first_ready(m);
  return first < 0 ? UINT64_MAX : later(later(cycle, m->queue[first].ready), m->next_beat);
}

const memsys_beat *memsys_response(memsys *m, uint64_t cycle) {
  if (memsys_next_response(m, cycle) != cycle) return NULL;
  if (m->current < 0) {
    m->current = first_ready(m);
    m->beat = 0;
  }
  const pending *p = &m->queue[m->current];
  m->shown = (memsys_beat){.write = p->write, .id = p->request.id, .index = m->beat, .last = m->beat + 1 == p->beats};
  return &m->shown;
}

void memsys_take(memsys *m, uint64_t cycle) {
  assert(m->current >= 0);
  const pending *p = &m->queue[m->current];
  m->beat++;
  m->next_beat = cycle + 1;
  if (m->beat < p->beats) {
    m->next_beat = later(m->next_beat, p->ready + m->beat * p->spacing);
    return;
  }
  m->queue[m->current] = m->queue[--m->queue_count];
  m->current = -1;
}

// ---- host

uint64_t memsys_host_access(memsys *m, uint64_t cycle, uint64_t address, bool write) {
  const memsys_request request = {.address = address & ~(uint64_t)(m->unit_bytes - 1), .bytes = m->unit_bytes};
  uint64_t first = access_ready(m, cycle, &request, write);
  return first + beats_of(m, m->unit_bytes) - 1;
}

memsys_counts memsys_totals(const memsys *m) { return m->counts; }

void memsys_disturb(memsys *m, uint64_t seed) { m->disturb = seed; }
