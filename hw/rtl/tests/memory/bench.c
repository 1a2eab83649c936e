// SPDX-License-Identifier: Apache-2.0
// See bench.h.
#include "hw/rtl/tests/memory/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bench_port bench_find(bench *b, const char *name) {
  bench_port p;
  p.data = dut_port(b->dut, name, &p.bytes);
  if (p.data == NULL) {
    fprintf(stderr, "no port %s\n", name);
    abort();
  }
  return p;
}

uint64_t bench_get(bench_port p) {
  uint64_t value = 0;
  memcpy(&value, p.data, p.bytes < 8 ? p.bytes : 8);
  return value;
}

void bench_set(bench_port p, uint64_t value) { memcpy(p.data, &value, p.bytes < 8 ? p.bytes : 8); }

uint64_t bench_get_field(bench_port p, uint32_t index, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < width; i++) {
    size_t bit = (size_t)index * width + i;
    value |= (uint64_t)(p.data[bit / 8] >> (bit % 8) & 1) << i;
  }
  return value;
}

void bench_set_field(bench_port p, uint32_t index, uint32_t width, uint64_t value) {
  for (uint32_t i = 0; i < width; i++) {
    size_t bit = (size_t)index * width + i;
    uint8_t mask = (uint8_t)(1u << (bit % 8));
    p.data[bit / 8] = (uint8_t)((p.data[bit / 8] & ~mask) | (value >> i & 1 ? mask : 0));
  }
}

uint64_t bench_random(bench *b) {
  b->rng ^= b->rng << 13;
  b->rng ^= b->rng >> 7;
  b->rng ^= b->rng << 17;
  return b->rng * UINT64_C(0x2545f4914f6cdd1d);
}

uint32_t bench_below(bench *b, uint32_t bound) { return (uint32_t)((bench_random(b) >> 32) % bound); }

static void find_class(bench *b, bench_class *c, const char *prefix) {
  struct {
    const char *name;
    bench_port *port;
  } ports[] = {
      {"valid_i", &c->valid}, {"ready_o", &c->ready}, {"funct_i", &c->funct},           {"rs1_i", &c->rs1},
      {"rs2_i", &c->rs2},     {"id_i", &c->id},       {"done_valid_o", &c->done_valid}, {"done_id_o", &c->done_id}};
  for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) {
    char name[32];
    snprintf(name, sizeof name, "%s_%s", prefix, ports[i].name);
    *ports[i].port = bench_find(b, name);
  }
}

static void find_ports(bench *b) {
  struct {
    const char *name;
    bench_port *port;
  } ports[] = {
      {"clk_i", &b->clk},         {"rst_ni", &b->rst},        {"arvalid_o", &b->arvalid},   {"arready_i", &b->arready},
      {"arid_o", &b->arid},       {"araddr_o", &b->araddr},   {"arlen_o", &b->arlen},       {"rvalid_i", &b->rvalid},
      {"rready_o", &b->rready},   {"rid_i", &b->rid},         {"rdata_i", &b->rdata},       {"rlast_i", &b->rlast},
      {"awvalid_o", &b->awvalid}, {"awready_i", &b->awready}, {"awid_o", &b->awid},         {"awaddr_o", &b->awaddr},
      {"awlen_o", &b->awlen},     {"wvalid_o", &b->wvalid},   {"wready_i", &b->wready},     {"wdata_o", &b->wdata},
      {"wstrb_o", &b->wstrb},     {"wlast_o", &b->wlast},     {"bvalid_i", &b->bvalid},     {"bid_i", &b->bid},
      {"ld_busy_o", &b->ld_busy}, {"st_busy_o", &b->st_busy}, {"dma_busy_o", &b->dma_busy},
  };
  for (size_t i = 0; i < sizeof ports / sizeof *ports; i++) *ports[i].port = bench_find(b, ports[i].name);
  find_class(b, &b->load, "ld");
  find_class(b, &b->store, "st");
}

bench *bench_create(bool random, uint32_t latency, uint64_t seed) {
  bench *b = calloc(1, sizeof *b);
  if (b == NULL) abort();
  b->dut = dut_create();
  b->random = random;
  b->latency = latency;
  b->rng = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
  find_ports(b);
  b->beat_bytes = (uint32_t)b->rdata.bytes;
  b->current_read = b->current_answer = -1;
  bench_set(b->clk, 0);
  bench_set(b->rst, 0);
  dut_eval(b->dut);
  for (int i = 0; i < 4; i++) {
    bench_set(b->clk, 1);
    dut_eval(b->dut);
    bench_set(b->clk, 0);
    dut_eval(b->dut);
  }
  bench_set(b->rst, 1);
  dut_eval(b->dut);
  bench_mark(b);
  return b;
}

void bench_destroy(bench *b) {
  dut_destroy(b->dut);
  free(b);
}

static bench_command *push(bench_class *c, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  if (c->pushed == BENCH_COMMANDS_MAX) abort();
  bench_command *command = &c->commands[c->pushed++];
  *command = (bench_command){.funct = funct, .rs1 = rs1, .rs2 = rs2};
  return command;
}

bench_command *bench_load(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  return push(&b->load, funct, rs1, rs2);
}
bench_command *bench_store(bench *b, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  return push(&b->store, funct, rs1, rs2);
}

static uint8_t *memory_at(bench *b, uint64_t addr, size_t bytes) {
  if (addr < BENCH_MEMORY_BASE || addr + bytes > BENCH_MEMORY_BASE + BENCH_MEMORY_BYTES) {
    fprintf(stderr, "address %llx outside memory\n", (unsigned long long)addr);
    abort();
  }
  return b->memory + (addr - BENCH_MEMORY_BASE);
}

static void drop(bench_burst *list, uint32_t *count, uint32_t index) {
  memmove(&list[index], &list[index + 1], (*count - index - 1) * sizeof *list);
  (*count)--;
}

// The next burst that may answer: the oldest that is ready, or any that is.
static int choose(bench *b, const bench_burst *list, uint32_t count) {
  if (count == 0) return -1;
  uint32_t start = b->random ? bench_below(b, count) : 0;
  return list[start].ready_at <= b->cycle ? (int)start : -1;
}

static void drive_memory(bench *b) {
  bool r = b->random;
  bench_set(b->arready, !r || bench_below(b, 3) != 0);
  bench_set(b->awready, !r || bench_below(b, 3) != 0);
  bench_set(b->wready, !r || bench_below(b, 3) != 0);

  if (b->current_read < 0) b->current_read = choose(b, b->reads, b->read_count);
  bool show = b->current_read >= 0 && (b->read_shown || !r || bench_below(b, 4) != 0);
  b->read_shown = show;
  bench_set(b->rvalid, show);
  if (show) {
    const bench_burst *burst = &b->reads[b->current_read];
    bench_set(b->rid, burst->id);
    bench_set(b->rlast, burst->sent + 1 == burst->beats);
    memcpy(b->rdata.data, memory_at(b, burst->addr + (uint64_t)burst->sent * b->beat_bytes, b->beat_bytes),
           b->beat_bytes);
  }

  if (b->current_answer < 0) b->current_answer = choose(b, b->answers, b->answer_count);
  bench_set(b->bvalid, b->current_answer >= 0);
  if (b->current_answer >= 0) bench_set(b->bid, b->answers[b->current_answer].id);
}

static uint64_t delay(bench *b) { return b->random ? bench_below(b, 30) + 1 : b->latency; }

// A write is carried out when its address and all its beats are there.
static void finish_writes(bench *b) {
  while (b->write_count != 0 && b->beat_count >= b->writes[0].beats) {
    bench_burst *w = &b->writes[0];
    for (uint32_t i = 0; i < w->beats; i++) {
      const bench_beat *beat = &b->beats[i];
      if (beat->last != (i + 1 == w->beats)) {
        fprintf(stderr, "last beat in the wrong place\n");
        abort();
      }
      for (uint32_t j = 0; j < b->beat_bytes; j++) {
        if (beat->strobe[j / 8] >> (j % 8) & 1)
          *memory_at(b, w->addr + (uint64_t)i * b->beat_bytes + j, 1) = beat->data[j];
      }
    }
    uint64_t first = b->beats[0].cycle, at = first + delay(b);
    w->ready_at = at > b->cycle + 1 ? at : b->cycle + 1;
    b->answers[b->answer_count++] = *w;
    memmove(b->beats, b->beats + w->beats, (b->beat_count - w->beats) * sizeof *b->beats);
    b->beat_count -= w->beats;
    drop(b->writes, &b->write_count, 0);
  }
}

static void check_burst(const bench *b, uint64_t addr, uint32_t beats) {
  uint64_t bytes = (uint64_t)beats * b->beat_bytes;
  if ((bytes & (bytes - 1)) != 0 || addr % bytes != 0) {
    fprintf(stderr, "burst of %u beats at %llx is not naturally aligned\n", beats, (unsigned long long)addr);
    abort();
  }
}

static void record_memory(bench *b) {
  if (bench_get(b->arvalid) && bench_get(b->arready)) {
    bench_burst *burst = &b->reads[b->read_count++];
    *burst = (bench_burst){.id = (uint32_t)bench_get(b->arid),
                           .addr = bench_get(b->araddr),
                           .beats = (uint32_t)bench_get(b->arlen) + 1,
                           .ready_at = b->cycle + delay(b)};
    check_burst(b, burst->addr, burst->beats);
    if (b->read_bursts++ == 0) b->first_read_address = b->cycle;
  }
  if (bench_get(b->rvalid) && bench_get(b->rready)) {
    bench_burst *burst = &b->reads[b->current_read];
    b->read_shown = false;
    if (++burst->sent == burst->beats) {
      drop(b->reads, &b->read_count, (uint32_t)b->current_read);
      b->current_read = -1;
    }
  }
  if (bench_get(b->bvalid)) {
    b->last_answer = b->cycle;
    drop(b->answers, &b->answer_count, (uint32_t)b->current_answer);
    b->current_answer = -1;
  }
  if (bench_get(b->wvalid) && bench_get(b->wready)) {
    bench_beat *beat = &b->beats[b->beat_count++];
    memcpy(beat->data, b->wdata.data, b->beat_bytes);
    memcpy(beat->strobe, b->wstrb.data, b->wstrb.bytes);
    beat->last = bench_get(b->wlast) != 0;
    beat->cycle = b->cycle;
    b->write_beats++;
  }
  if (bench_get(b->awvalid) && bench_get(b->awready)) {
    bench_burst *burst = &b->writes[b->write_count++];
    *burst = (bench_burst){
        .id = (uint32_t)bench_get(b->awid), .addr = bench_get(b->awaddr), .beats = (uint32_t)bench_get(b->awlen) + 1};
    check_burst(b, burst->addr, burst->beats);
    b->write_bursts++;
  }
  finish_writes(b);
}

static void drive_class(bench_class *c) {
  bool more = c->issued < c->pushed;
  bench_set(c->valid, more);
  if (!more) return;
  const bench_command *command = &c->commands[c->issued];
  bench_set(c->funct, command->funct);
  bench_set(c->rs1, command->rs1);
  bench_set(c->rs2, command->rs2);
  bench_set(c->id, c->issued & 0xff);
}

enum { CONFIG = 0, CONFIG_GATE = 26 };
static bool is_config(const bench_command *c) { return c->funct == CONFIG || c->funct == CONFIG_GATE; }

static void record_class(bench *b, bench_class *c, bool completes) {
  if (bench_get(c->valid) && bench_get(c->ready)) {
    bench_command *command = &c->commands[c->issued++];
    command->issued = b->cycle;
    if (is_config(command)) {
      command->done = b->cycle;
      c->completed++;
    }
  }
  if (!completes) return;
  // Fewer than 256 commands are in flight, so the low bits of the number name one.
  uint32_t id = (uint32_t)bench_get(c->done_id);
  for (uint32_t i = c->issued; i-- > 0;) {
    bench_command *command = &c->commands[i];
    if ((i & 0xff) != id) continue;
    if (command->done != 0 || is_config(command)) {
      fprintf(stderr, "command %u completed twice\n", i);
      abort();
    }
    command->done = b->cycle;
    c->completed++;
    return;
  }
  fprintf(stderr, "completion of a command that was not issued\n");
  abort();
}

void bench_settle(bench *b) {
  drive_memory(b);
  drive_class(&b->load);
  drive_class(&b->store);
  dut_eval(b->dut);
}

void bench_clock(bench *b) {
  bool load_completes = bench_get(b->load.done_valid) != 0;
  record_class(b, &b->load, load_completes);
  // A load's completion is taken first.
  record_class(b, &b->store, !load_completes && bench_get(b->store.done_valid));
  record_memory(b);
  b->cycle++;
  bench_set(b->clk, 1);
  dut_eval(b->dut);
  bench_set(b->clk, 0);
  dut_eval(b->dut);
}

void bench_step(bench *b) {
  bench_settle(b);
  bench_clock(b);
}

bool bench_idle(bench *b) {
  return b->load.completed == b->load.pushed && b->store.completed == b->store.pushed && !bench_get(b->ld_busy) &&
         !bench_get(b->st_busy) && !bench_get(b->dma_busy);
}

bool bench_run(bench *b, uint64_t limit) {
  for (uint64_t end = b->cycle + limit; b->cycle < end; bench_step(b))
    if (bench_idle(b)) return true;
  return bench_idle(b);
}

static void forget(bench_class *c) { c->pushed = c->issued = c->completed = 0; }

void bench_mark(bench *b) {
  forget(&b->load);
  forget(&b->store);
  b->read_bursts = b->write_bursts = b->write_beats = 0;
  b->first_read_address = b->last_answer = 0;
}
