// Timing of main memory: see memsys.h for the rules this file implements.
//
// A request is answered when the lines it touches are there. A line under way has an entry in `fetches`; its time is
// known at once (fixed model) or when the DRAM controller decides (UNKNOWN until then). Requests that wait for such a
// line stand in `waiting`, all others in `ready`, in the order in which they will be answered.
#include "sim/memsys/memsys.h"

#include <assert.h>
#include <stddef.h>

#include "hw/base/alloc.h"
#include "sim/memsys/dram.h"
#include "sim/memsys/l2.h"

enum { MAX_UNDER_WAY = 1024, MAX_FETCHES = 512 };
#define UNKNOWN MEMSYS_L2_UNKNOWN

// A request that has not been answered completely.
typedef struct pending {
  memsys_request request;
  bool write;
  uint64_t order;     // of the request
  uint64_t earliest;  // of the answer, apart from memory
  uint64_t ready;     // of beat 0
  uint64_t spacing;   // cycles between two beats at least
  unsigned beats;
  unsigned unknown;  // lines whose time is not known
} pending;

// A line under way.
typedef struct fetch {
  bool used;
  uint64_t line;
  unsigned bytes;
  uint64_t released;  // the miss register is free from this cycle on; UNKNOWN: not decided yet
} fetch;

struct memsys {
  unsigned bus_bytes, line_bytes, unit_bytes;  // unit: what moves on the memory bus at once
  unsigned memory_bytes_per_cycle;
  uint64_t hit_latency, miss_latency, release, path;
  unsigned miss_limit;
  memsys_l2 *l2;  // NULL: none
  dram *dram;     // NULL: fixed latency
  uint64_t read_bus_free, write_bus_free;
  fetch fetches[MAX_FETCHES];
  unsigned fetch_count, fetch_end;  // used ones, and the end of the used places
  // request channel
  unsigned write_beats_left;  // of the burst under way
  pending open_write;
  bool write_was_last;  // the channel's last grant, for alternation
  // response channel: `ready` is a ring sorted by (ready, order)
  pending ready[MAX_UNDER_WAY], waiting[MAX_UNDER_WAY];
  unsigned ready_head, ready_count, waiting_count;
  bool answering;      // the burst at the head is under way
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
  m->release = array->l2.present ? array->l2.release_cycles : 0;
  m->path = array->memory.path_cycles;
  m->miss_limit = array->l2.misses_in_flight;
  m->line_bytes = array->l2.line_bytes;
  m->unit_bytes = array->l2.present ? m->line_bytes : m->bus_bytes;
  if (array->l2.present) m->l2 = memsys_l2_create(array);
  if (array->memory.model != HW_MEMORY_FIXED) m->dram = dram_create(array);
  return m;
}

void memsys_destroy(memsys *m) {
  if (m == NULL) return;
  memsys_l2_destroy(m->l2);
  dram_destroy(m->dram);
  wf_free(m);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t bus_cycles(const memsys *m, unsigned bytes) {
  return (bytes + m->memory_bytes_per_cycle - 1) / m->memory_bytes_per_cycle;
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

// ---- requests under way

static pending *ready_at(memsys *m, unsigned place) { return &m->ready[(m->ready_head + place) % MAX_UNDER_WAY]; }

static bool before(const pending *a, const pending *b) {
  return a->ready < b->ready || (a->ready == b->ready && a->order < b->order);
}

// Into its place; nearly always the last one. The burst being answered keeps its place.
static void enter_ready(memsys *m, const pending *p) {
  unsigned place = m->ready_count++;
  for (; place > (m->answering ? 1 : 0) && before(p, ready_at(m, place - 1)); place--)
    *ready_at(m, place) = *ready_at(m, place - 1);
  *ready_at(m, place) = *p;
}

static void enter(memsys *m, pending *p) {
  assert(m->ready_count + m->waiting_count < MAX_UNDER_WAY);
  if (p->unknown != 0) {
    m->waiting[m->waiting_count++] = *p;
    return;
  }
  p->ready = later(p->ready, p->earliest) + lateness(m, p->order);
  enter_ready(m, p);
}

// ---- lines under way

static void forget_complete(memsys *m, uint64_t cycle) {
  unsigned end = 0;
  for (unsigned i = 0; i < m->fetch_end; i++) {
    fetch *f = &m->fetches[i];
    if (f->used && f->released <= cycle) {
      f->used = false;
      m->fetch_count--;
    }
    if (f->used) end = i + 1;
  }
  m->fetch_end = end;
}

// The memory bus carries `bytes` from the first cycle on, not before `from`, in which it is free; returns that cycle.
static uint64_t carry(memsys *m, uint64_t from, unsigned bytes) {
  uint64_t start = later(from, m->read_bus_free);
  m->read_bus_free = start + bus_cycles(m, bytes);
  return start;
}

static unsigned add_fetch(memsys *m, uint64_t line, unsigned bytes, uint64_t released) {
  assert(m->fetch_count < MAX_FETCHES);
  unsigned place = 0;
  while (place < m->fetch_end && m->fetches[place].used) place++;
  m->fetches[place] = (fetch){.used = true, .line = line, .bytes = bytes, .released = released};
  m->fetch_count++;
  if (place == m->fetch_end) m->fetch_end++;
  return place;
}

// Asks memory for `bytes`; returns the cycle of the first byte, UNKNOWN if that is still to be decided.
static uint64_t fetch_bytes(memsys *m, uint64_t cycle, uint64_t address, unsigned bytes) {
  m->counts.fetched_bytes += bytes;
  if (m->fetch_count == MAX_FETCHES) forget_complete(m, cycle);
  if (m->dram != NULL) {
    dram_read(m->dram, cycle + m->hit_latency, address, bytes, add_fetch(m, address, bytes, UNKNOWN));
    return UNKNOWN;
  }
  uint64_t start = carry(m, cycle + m->hit_latency + m->miss_latency, bytes);
  add_fetch(m, address, bytes, m->read_bus_free + m->release);
  return start;
}

static void write_back(memsys *m, uint64_t cycle, uint64_t address, unsigned bytes) {
  m->counts.written_back_bytes += bytes;
  m->write_bus_free = later(m->write_bus_free, cycle) + bus_cycles(m, bytes);
  if (m->dram != NULL) dram_write(m->dram, m->write_bus_free, address, bytes);
}

// The cycle from which the byte at `offset` of the line is there, given that its first byte is there from `start`.
static uint64_t byte_ready(const memsys *m, uint64_t start, uint64_t offset) {
  return start + offset / m->memory_bytes_per_cycle;
}

// Notes when the byte of the request `done` bytes behind its start is there: a burst over several lines is as late as
// the latest of them allows.
static void note(const memsys *m, pending *p, unsigned done, uint64_t cycle) {
  if (cycle == UNKNOWN) {
    p->unknown++;
    return;
  }
  uint64_t beats_before = done / m->bus_bytes;
  p->ready = later(p->ready, cycle > beats_before ? cycle - beats_before : 0);
}

// ---- one line of a request

static uint64_t access_line(memsys *m, uint64_t cycle, uint64_t address, unsigned bytes, bool write) {
  uint64_t base = address & ~(uint64_t)(m->line_bytes - 1);
  bool whole = write && bytes >= m->line_bytes;
  memsys_l2_result found = memsys_l2_access(m->l2, base, write, whole);
  if (found.hit) {
    m->counts.hits++;
    return found.available == UNKNOWN ? UNKNOWN : byte_ready(m, found.available, address - base);
  }
  m->counts.misses++;
  if (found.victim_dirty) write_back(m, cycle, found.victim, m->line_bytes);
  if (whole) return 0;
  uint64_t start = fetch_bytes(m, cycle, base, m->line_bytes);
  if (start == UNKNOWN) return UNKNOWN;
  memsys_l2_arrives(m->l2, base, start);
  return byte_ready(m, start, address - base);
}

// Without L2 a request goes to memory as it is. A write is answered when the controller has it.
static void access_memory(memsys *m, uint64_t cycle, pending *p) {
  m->counts.misses++;
  if (!p->write) {
    note(m, p, 0, fetch_bytes(m, cycle, p->request.address, p->request.bytes));
    return;
  }
  uint64_t from = cycle + m->hit_latency + (m->dram == NULL ? m->miss_latency : m->path);
  p->ready = later(from, m->write_bus_free);
  write_back(m, from, p->request.address, p->request.bytes);
}

// Looks up all lines of the request.
static void access_request(memsys *m, uint64_t cycle, pending *p) {
  p->earliest = cycle + m->hit_latency;
  uint64_t misses = m->counts.misses;
  if (m->l2 == NULL) {
    access_memory(m, cycle, p);
  } else {
    for (unsigned done = 0; done < p->request.bytes;) {
      uint64_t address = p->request.address + done;
      unsigned room = m->line_bytes - (unsigned)(address & (m->line_bytes - 1));
      unsigned part = p->request.bytes - done < room ? p->request.bytes - done : room;
      note(m, p, done, access_line(m, cycle, address, part, p->write));
      done += part;
    }
  }
  if (!p->write && m->counts.misses != misses) p->spacing = later(1, m->bus_bytes / m->memory_bytes_per_cycle);
}

static bool needs_fetch(const memsys *m, const memsys_request *request, bool write) {
  if (m->l2 == NULL) return !write;
  if (write && request->bytes >= m->line_bytes) return false;
  return !memsys_l2_holds(m->l2, request->address);
}

// ---- decisions of the DRAM controller

// Without an L2 each request waits for the fetch of its own.
static bool covers(const memsys *m, const pending *p, uint64_t line) {
  if (p->unknown == 0) return false;
  if (m->l2 == NULL) return p->request.address == line;
  return p->request.address < line + m->line_bytes && line < p->request.address + p->request.bytes;
}

// True if the request waited for the line.
static bool satisfy(const memsys *m, pending *p, uint64_t line, uint64_t start) {
  if (!covers(m, p, line)) return false;
  uint64_t first = p->request.address > line ? p->request.address : line;
  p->unknown--;
  note(m, p, (unsigned)(first - p->request.address), byte_ready(m, start, first - line));
  return true;
}

// The line's first byte is there from `start` on: tells everybody who waits for it.
static void line_decided(memsys *m, uint64_t line, uint64_t start) {
  if (m->l2 != NULL) memsys_l2_arrives(m->l2, line, start);
  if (m->write_beats_left != 0) satisfy(m, &m->open_write, line, start);
  unsigned kept = 0;
  bool given = false;  // without an L2: to one request
  for (unsigned i = 0; i < m->waiting_count; i++) {
    pending *p = &m->waiting[i];
    if (!given) given = satisfy(m, p, line, start) && m->l2 == NULL;
    if (p->unknown != 0) {
      m->waiting[kept++] = *p;
      continue;
    }
    p->ready = later(p->ready, p->earliest) + lateness(m, p->order);
    enter_ready(m, p);
  }
  m->waiting_count = kept;
}

static void decide(memsys *m, uint64_t cycle) {
  unsigned tag;
  uint64_t complete;
  while (dram_decide(m->dram, cycle, &tag, &complete)) {
    fetch *f = &m->fetches[tag];
    uint64_t start = carry(m, complete + m->path, f->bytes);
    f->released = m->read_bus_free + m->release;
    line_decided(m, f->line, start);
  }
}

// What memory has decided by now. A decision depends on nothing that comes later.
static void catch_up(memsys *m, uint64_t cycle) {
  if (m->dram != NULL && dram_next(m->dram) <= cycle) decide(m, cycle);
}

// ---- request channel

static bool acceptable(memsys *m, uint64_t cycle, const memsys_request *request, bool write) {
  if (request == NULL || m->ready_count + m->waiting_count == MAX_UNDER_WAY) return false;
  if (m->fetch_count >= m->miss_limit) forget_complete(m, cycle);
  return m->fetch_count < m->miss_limit || !needs_fetch(m, request, write);
}

memsys_grant memsys_arbitrate(memsys *m, uint64_t cycle, const memsys_request *read, const memsys_request *write) {
  catch_up(m, cycle);
  if (turned_away(m, cycle)) return MEMSYS_NOBODY;
  if (m->write_beats_left != 0) return write != NULL ? MEMSYS_WRITE : MEMSYS_NOBODY;
  bool can_read = acceptable(m, cycle, read, false), can_write = acceptable(m, cycle, write, true);
  if (can_read && can_write) return m->write_was_last ? MEMSYS_READ : MEMSYS_WRITE;
  return can_read ? MEMSYS_READ : can_write ? MEMSYS_WRITE : MEMSYS_NOBODY;
}

// Misses wait for a miss register; those whose lines are not decided yet are free after the next decision at the
// earliest.
uint64_t memsys_next_grant(const memsys *m, uint64_t cycle) {
  if (m->disturb != 0 || m->write_beats_left != 0 || m->fetch_count < m->miss_limit) return cycle + 1;
  uint64_t next = m->dram == NULL ? UINT64_MAX : dram_next(m->dram);
  for (unsigned i = 0; i < m->fetch_end; i++)
    if (m->fetches[i].used && m->fetches[i].released < next) next = m->fetches[i].released;
  return later(cycle + 1, next);
}

static unsigned beats_of(const memsys *m, unsigned bytes) { return bytes <= m->bus_bytes ? 1 : bytes / m->bus_bytes; }

void memsys_read(memsys *m, uint64_t cycle, const memsys_request *request) {
  assert(m->write_beats_left == 0);
  catch_up(m, cycle);
  pending p = {.request = *request, .order = m->order++, .spacing = 1, .beats = beats_of(m, request->bytes)};
  access_request(m, cycle, &p);
  enter(m, &p);
  m->write_was_last = false;
  m->counts.reads++;
}

void memsys_write(memsys *m, uint64_t cycle, const memsys_request *request) {
  catch_up(m, cycle);
  if (m->write_beats_left == 0) {
    m->write_beats_left = beats_of(m, request->bytes);
    m->open_write = (pending){.request = *request, .write = true, .order = m->order++, .spacing = 1, .beats = 1};
    m->counts.writes++;
  }
  // The lines are looked up with the first beat; the answer comes after the last one.
  if (m->write_beats_left == beats_of(m, request->bytes)) access_request(m, cycle, &m->open_write);
  m->write_was_last = true;
  if (--m->write_beats_left != 0) return;
  m->open_write.earliest = later(m->open_write.earliest, cycle + 1);
  enter(m, &m->open_write);
}

// ---- response channel

static uint64_t next_known(const memsys *m, uint64_t cycle) {
  if (m->ready_count == 0) return UINT64_MAX;
  if (m->answering) return later(cycle, m->next_beat);
  return later(later(cycle, m->ready[m->ready_head].ready), m->next_beat);
}

uint64_t memsys_next_response(const memsys *m, uint64_t cycle) {
  uint64_t known = next_known(m, cycle);
  if (m->dram == NULL || m->waiting_count == 0) return known;
  uint64_t decision = later(cycle, dram_next(m->dram));
  return decision < known ? decision : known;
}

const memsys_beat *memsys_response(memsys *m, uint64_t cycle) {
  catch_up(m, cycle);
  if (next_known(m, cycle) != cycle) return NULL;
  if (!m->answering) {
    m->answering = true;
    m->beat = 0;
  }
  const pending *p = &m->ready[m->ready_head];
  m->shown = (memsys_beat){.write = p->write, .id = p->request.id, .index = m->beat, .last = m->beat + 1 == p->beats};
  return &m->shown;
}

static void answered(memsys *m) {
  m->ready_head = (m->ready_head + 1) % MAX_UNDER_WAY;
  m->ready_count--;
  m->answering = false;
}

void memsys_take(memsys *m, uint64_t cycle) {
  assert(m->answering);
  const pending *p = &m->ready[m->ready_head];
  m->beat++;
  m->next_beat = cycle + 1;
  if (m->beat < p->beats) {
    m->next_beat = later(m->next_beat, p->ready + m->beat * p->spacing);
    return;
  }
  answered(m);
}

memsys_burst memsys_take_burst(memsys *m, uint64_t cycle) {
  assert(m->answering && m->beat == 0);
  const pending *p = &m->ready[m->ready_head];
  memsys_burst burst = {.ready = p->ready, .spacing = p->spacing, .beats = p->beats};
  m->next_beat = later(cycle + p->beats, p->ready + (p->beats - 1) * p->spacing + 1);
  answered(m);
  return burst;
}

// ---- host

// The hart waits for its line, so its requests go first at the controller, and their time is known at once.
static uint64_t host_fetch(memsys *m, uint64_t cycle, uint64_t address) {
  if (m->dram == NULL) return fetch_bytes(m, cycle, address, m->unit_bytes);
  m->counts.fetched_bytes += m->unit_bytes;
  uint64_t complete = dram_read_first(m->dram, cycle + m->hit_latency, address, m->unit_bytes);
  return carry(m, complete + m->path, m->unit_bytes);
}

// A line that the accelerator asked for and that memory has not decided on: as late as if it were asked for now.
static uint64_t host_line(memsys *m, uint64_t cycle, uint64_t base, bool write) {
  memsys_l2_result found = memsys_l2_access(m->l2, base, write, false);
  *(found.hit ? &m->counts.hits : &m->counts.misses) += 1;
  if (found.hit && found.available != UNKNOWN) return found.available;
  if (found.victim_dirty) write_back(m, cycle, found.victim, m->line_bytes);
  uint64_t start = host_fetch(m, cycle, base);
  if (!found.hit) memsys_l2_arrives(m->l2, base, start);
  return start;
}

uint64_t memsys_host_access(memsys *m, uint64_t cycle, uint64_t address, bool write) {
  catch_up(m, cycle);
  uint64_t base = address & ~(uint64_t)(m->unit_bytes - 1), there = 0;
  if (m->l2 != NULL)
    there = host_line(m, cycle, base, write);
  else if (!write)
    there = host_fetch(m, cycle, base);
  else
    write_back(m, cycle, base, m->unit_bytes);
  // As the last beat of a read of as many bytes at the port: beats follow each other as fast as memory sends the line.
  uint64_t beats = beats_of(m, m->unit_bytes) - 1, spacing = later(1, m->bus_bytes / m->memory_bytes_per_cycle);
  return later(cycle + m->hit_latency + beats, there + beats * spacing);
}

memsys_counts memsys_totals(const memsys *m) { return m->counts; }

void memsys_disturb(memsys *m, uint64_t seed) { m->disturb = seed; }
