// SPDX-License-Identifier: Apache-2.0
// Replays reference_events.txt: commands at the cycles in which the reference took them, and every allocation, issue,
// completion and the end of busy within TOLERANCE cycles of the reference's (earlier by the slack of the test).
// Usage: replay_test ARRAY FILE [TEST]     prints all events of TEST
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hw/rtl/tests/front/accel_machine.h"

enum { TOLERANCE = 2, NAME = 64, LINES = 1024 };

typedef struct golden {
  char name[NAME];
  machine_command setup[LINES], commands[LINES];
  size_t setup_count, command_count;
  machine_event events[LINES];
  size_t event_count;
  int64_t slack;
} golden;

static const char *const kinds[] = {"cmd", "alloc", "issue", "done", "idle"};
static const char *const units[] = {"ld", "ex", "st"};

static unsigned unit_named(const char *name) {
  unsigned n = 0;
  while (n < 2 && strcmp(units[n], name) != 0) n++;
  return n;
}

static void expect(golden *g, machine_kind kind, unsigned unit, uint64_t cycle) {
  if (g->event_count < LINES) g->events[g->event_count++] = (machine_event){kind, unit, cycle};
}

// Adds a line to the test; false at one that starts the next test.
static bool read_line(golden *g, const char *line) {
  unsigned funct;
  uint64_t t, rs1, rs2;
  char unit[8];
  if (strncmp(line, "test ", 5) == 0) return false;
  if (sscanf(line, "setup %u %" SCNx64 " %" SCNx64, &funct, &rs1, &rs2) == 3)
    g->setup[g->setup_count++] = (machine_command){.funct = (uint8_t)funct, .rs1 = rs1, .rs2 = rs2};
  else if (sscanf(line, "cmd %" SCNu64 " %u %" SCNx64 " %" SCNx64, &t, &funct, &rs1, &rs2) == 4) {
    g->commands[g->command_count++] = (machine_command){.funct = (uint8_t)funct, .rs1 = rs1, .rs2 = rs2, .earliest = t};
    expect(g, MACHINE_CMD, 0, t);
  } else if (sscanf(line, "alloc %" SCNu64, &t) == 1)
    expect(g, MACHINE_ALLOC, 0, t);
  else if (sscanf(line, "issue %7s %" SCNu64, unit, &t) == 2)
    expect(g, MACHINE_ISSUE, unit_named(unit), t);
  else if (sscanf(line, "done %7s %" SCNu64, unit, &t) == 2)
    expect(g, MACHINE_DONE, unit_named(unit), t);
  else if (sscanf(line, "idle %" SCNu64, &t) == 1)
    expect(g, MACHINE_IDLE, 0, t);
  else if (sscanf(line, "slack %" SCNu64, &t) == 1)
    g->slack = (int64_t)t;
  return true;
}

static void run(machine *m, const machine_command *commands, size_t count) {
  for (size_t n = 0; n < count; n++)
    machine_put_at(m, commands[n].earliest, commands[n].funct, commands[n].rs1, commands[n].rs2);
  machine_run(m);
}

// The n-th event of a kind and unit, NULL past the last.
static const machine_event *nth(const machine_event *events, size_t count, const machine_event *like, size_t n) {
  for (size_t i = 0; i < count; i++)
    if (events[i].kind == like->kind && events[i].unit == like->unit && n-- == 0) return &events[i];
  return NULL;
}

static size_t rank_of(const golden *g, size_t index) {
  size_t rank = 0;
  for (size_t i = 0; i < index; i++)
    rank += g->events[i].kind == g->events[index].kind && g->events[i].unit == g->events[index].unit;
  return rank;
}

static bool compare(const machine *m, const golden *g, bool print) {
  int64_t worst = 0;
  bool missing = m->event_count != g->event_count;
  for (size_t i = 0; i < g->event_count; i++) {
    const machine_event *want = &g->events[i], *got = nth(m->events, m->event_count, want, rank_of(g, i));
    if (got == NULL) {
      missing = true;
      continue;
    }
    int64_t difference = (int64_t)got->cycle - (int64_t)want->cycle;
    if (print)
      printf("  %-5s %s reference %5" PRIu64 " here %5" PRIu64 " %+" PRId64 "\n", kinds[want->kind],
             want->kind == MACHINE_ISSUE || want->kind == MACHINE_DONE ? units[want->unit] : "  ", want->cycle,
             got->cycle, difference);
    if (llabs(difference) > llabs(worst)) worst = difference;
  }
  bool good = !missing && worst <= TOLERANCE && worst >= -TOLERANCE - g->slack && !m->failed;
  printf("%-28s %4zu events, worst difference %+" PRId64 "%s%s\n", g->name, g->event_count, worst,
         missing ? ", some are missing" : "", good ? "" : "  FAILED");
  return good;
}

static bool run_test(machine *m, const golden *g, const char *only) {
  if (only != NULL && strcmp(only, g->name) != 0) return true;
  run(m, g->setup, g->setup_count);
  run(m, g->commands, g->command_count);
  run(m, g->commands, g->command_count);
  return compare(m, g, only != NULL);
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  machine *m = machine_create(argv[1]);
  FILE *file = fopen(argv[2], "r");
  if (m == NULL || file == NULL) return 2;
  static golden g;
  char line[256];
  bool good = true;
  size_t tests = 0;
  while (fgets(line, sizeof line, file) != NULL) {
    if (line[0] == '#' || line[0] == '\n' || read_line(&g, line)) continue;
    if (g.name[0] != '\0') good &= run_test(m, &g, argc > 3 ? argv[3] : NULL), tests++;
    memset(&g, 0, sizeof g);
    sscanf(line, "test %63s", g.name);
  }
  good &= run_test(m, &g, argc > 3 ? argv[3] : NULL), tests++;
  fclose(file);
  machine_destroy(m);
  printf("%zu tests\n", tests);
  return good ? 0 : 1;
}
