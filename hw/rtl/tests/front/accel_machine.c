// SPDX-License-Identifier: Apache-2.0
// Drives weft_accel cycle by cycle and answers its memory requests: see accel_machine.h.
#include "hw/rtl/tests/front/accel_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { READ_LATENCY = 10, WRITE_LATENCY = 10, REQUESTS = 512, PATIENCE = 100000, BUSY_EDGES = 6 };

typedef struct read_beat {
  uint64_t due, address;
  uint32_t id;
  bool last;
} read_beat;

typedef struct write_answer {
  uint64_t due;
  uint32_t id;
} write_answer;

struct machine_bus {
  read_beat reads[REQUESTS];  // rings
  size_t read_head, read_tail;
  write_answer writes[REQUESTS];
  size_t write_head, write_tail;
  uint64_t read_free;  // first cycle without a beat
  bool writing;        // inside a burst
  uint64_t write_address;
  uint32_t write_id;
  uint8_t write_size;
};

machine *machine_create(const char *array) { return machine_create_on(array, accel_create()); }

machine *machine_create_on(const char *array, accel_dut *dut) {
  machine *m = WF_NEW(machine);
  wf_diag diag = wf_diag_to(stderr);
  if (!hw_array_load(&m->array, array, &diag)) return NULL;
  m->derived = hw_derive(&m->array);
  m->dut = dut;
  m->memory = wf_calloc(MACHINE_BYTES, 1);
  m->bus = WF_NEW(struct machine_bus);
  return m;
}

void machine_destroy(machine *m) {
  accel_destroy(m->dut);
  wf_free(m->memory);
  wf_free(m->bus);
  wf_free(m);
}

static void add(machine *m, machine_command command) {
  if (m->count == MACHINE_COMMANDS) {
    fprintf(stderr, "the program is too long\n");
    m->failed = true;
    return;
  }
  m->program[m->count++] = command;
}

void machine_put_at(machine *m, uint64_t earliest, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  add(m, (machine_command){.funct = funct, .rs1 = rs1, .rs2 = rs2, .earliest = earliest});
}

void machine_put(machine *m, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  add(m, (machine_command){.funct = funct, .rs1 = rs1, .rs2 = rs2});
}

void machine_put_returning(machine *m, uint8_t funct, uint64_t rs1) {
  add(m, (machine_command){.funct = funct, .returns = true, .rs1 = rs1});
}

static void fail(machine *m, const char *what) {
  if (!m->failed) fprintf(stderr, "cycle %" PRIu64 ": %s\n", m->cycle, what);
  m->failed = true;
}

static uint8_t *at(machine *m, uint64_t address, uint64_t bytes) {
  if (address < MACHINE_BASE || address - MACHINE_BASE + bytes > MACHINE_BYTES) {
    fail(m, "access outside memory");
    return m->memory;
  }
  return m->memory + (address - MACHINE_BASE);
}

// What memory says in this cycle, before the requests are known.
static void respond(machine *m) {
  struct machine_bus *bus = m->bus;
  accel_pins *p = &m->pins;
  uint64_t beat = m->array.dma.bus_bits / 8;
  const read_beat *read = &bus->reads[bus->read_head % REQUESTS];
  p->r_valid = bus->read_head != bus->read_tail && read->due <= m->cycle;
  if (p->r_valid) {
    p->r_id = read->id, p->r_last = read->last;
    memcpy(p->r_data, at(m, read->address & ~(beat - 1), beat), beat);
  }
  const write_answer *write = &bus->writes[bus->write_head % REQUESTS];
  p->b_valid = bus->write_head != bus->write_tail && write->due <= m->cycle;
  p->b_id = write->id;
  p->ar_ready = p->aw_ready = p->w_ready = false;
}

// One request beat per cycle; a write burst is not interrupted.
static void grant(machine *m) {
  accel_pins *p = &m->pins;
  if (m->bus->writing)
    p->w_ready = true;
  else if (p->ar_valid)
    p->ar_ready = true;
  else if (p->aw_valid && p->w_valid)
    p->aw_ready = p->w_ready = true;
}

static void take_read(machine *m) {
  struct machine_bus *bus = m->bus;
  const accel_pins *p = &m->pins;
  uint64_t size = UINT64_C(1) << p->ar_size, bytes = (p->ar_len + 1) * size;
  if (p->ar_burst != 1 || bytes > m->array.dma.max_burst_bytes || p->ar_addr % bytes != 0)
    fail(m, "a read burst that is not naturally aligned");
  uint64_t due = m->cycle + READ_LATENCY;
  if (due < bus->read_free) due = bus->read_free;
  for (unsigned n = 0; n <= p->ar_len; n++)
    bus->reads[bus->read_tail++ % REQUESTS] =
        (read_beat){.due = due + n, .address = p->ar_addr + n * size, .id = p->ar_id, .last = n == p->ar_len};
  bus->read_free = due + p->ar_len + 1;
}

static void take_write(machine *m) {
  struct machine_bus *bus = m->bus;
  const accel_pins *p = &m->pins;
  uint64_t beat = m->array.dma.bus_bits / 8;
  if (p->aw_ready) {
    uint64_t bytes = (uint64_t)(p->aw_len + 1) << p->aw_size;
    if (p->aw_burst != 1 || p->aw_addr % bytes != 0) fail(m, "a write burst that is not naturally aligned");
    bus->writing = true;
    bus->write_address = p->aw_addr, bus->write_id = p->aw_id, bus->write_size = p->aw_size;
    bus->writes[bus->write_tail % REQUESTS] = (write_answer){.due = m->cycle + WRITE_LATENCY, .id = p->aw_id};
  }
  uint8_t *to = at(m, bus->write_address & ~(beat - 1), beat);
  for (uint64_t n = 0; n < beat; n++)
    if (p->w_strb[n / 8] >> n % 8 & 1) to[n] = p->w_data[n];
  bus->write_address += UINT64_C(1) << bus->write_size;
  if (!p->w_last) return;
  bus->writing = false;
  // Answers come in order and not before the last beat.
  write_answer *answer = &bus->writes[bus->write_tail++ % REQUESTS];
  if (answer->due <= m->cycle) answer->due = m->cycle + 1;
}

static void transfer(machine *m) {
  struct machine_bus *bus = m->bus;
  accel_pins *p = &m->pins;
  if (p->r_valid && p->r_ready) bus->read_head++;
  if (p->b_valid && p->b_ready) bus->write_head++;
  if (p->ar_valid && p->ar_ready) take_read(m);
  if (p->w_valid && p->w_ready) take_write(m);
}

static void note(machine *m, machine_kind kind, unsigned unit, uint64_t cycle) {
  if (m->event_count < MACHINE_EVENTS)
    m->events[m->event_count++] = (machine_event){.kind = kind, .unit = unit, .cycle = cycle};
}

static void note_events(machine *m, uint64_t t, bool was_busy) {
  const accel_pins *p = &m->pins;
  if (p->cmd_valid && p->cmd_ready) note(m, MACHINE_CMD, 0, t);
  if (p->alloc) note(m, MACHINE_ALLOC, 0, t);
  for (unsigned n = 0; n < RS_CLASSES; n++) {
    if (!p->issue[n]) continue;
    note(m, MACHINE_ISSUE, n, t);
    m->unit_of[p->issue_index[n] % MACHINE_EVENTS] = (uint8_t)n;
  }
  if (p->done) note(m, MACHINE_DONE, m->unit_of[p->done_index % MACHINE_EVENTS], t);
  if (was_busy && !p->busy) note(m, MACHINE_IDLE, 0, t);
}

static void note_response(machine *m) {
  if (!m->pins.resp_valid) return;
  m->responses[m->response_count++ % (sizeof m->responses / sizeof *m->responses)] = m->pins.resp_data;
}

static void offer(machine *m) {
  accel_pins *p = &m->pins;
  p->cmd_valid = m->next < m->count && (m->next == 0 || m->cycle >= m->first + m->program[m->next].earliest);
  if (!p->cmd_valid) return;
  const machine_command *c = &m->program[m->next];
  p->funct = c->funct, p->rs1 = c->rs1, p->rs2 = c->rs2, p->cmd_xd = c->returns;
}

void machine_start(machine *m) {
  m->next = m->response_count = m->event_count = 0;
  m->first = UINT64_MAX;
  m->quiet = 0;
  m->was_busy = false;
  m->pins.resp_ready = true;
}

bool machine_step(machine *m) {
  accel_pins *p = &m->pins;
  offer(m);
  respond(m);
  accel_eval(m->dut, p);
  grant(m);
  accel_eval(m->dut, p);
  bool took = p->cmd_valid && p->cmd_ready;
  if (took && m->first == UINT64_MAX) m->first = m->cycle;
  if (m->first != UINT64_MAX) note_events(m, m->cycle - m->first, m->was_busy);
  m->was_busy = p->busy;
  note_response(m);
  m->next += took;
  transfer(m);
  bool over = m->next == m->count && !took && !p->busy;
  accel_clock(m->dut);
  m->quiet = took || p->alloc || p->done ? 0 : m->quiet + 1;
  if (!over && m->quiet > PATIENCE) fail(m, "nothing happens any more");
  m->cycle++;
  return !over && !m->failed;
}

uint64_t machine_run(machine *m) {
  machine_start(m);
  while (machine_step(m)) continue;
  m->count = 0;
  return m->cycle - 1 - m->first + BUSY_EDGES;
}
