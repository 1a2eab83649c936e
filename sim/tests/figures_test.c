// SPDX-License-Identifier: Apache-2.0
// Energy of a run (sim/energy.def): each component by hand on counts that are made up, and what holds of every table.
#include "sim/figures.h"

#include <stddef.h>
#include <string.h>

#include "base/test.h"
#include "hw/tech.h"

// 16 x 16, 256 + 64 KiB, L2 of 512 KiB, caches of 16 KiB with lines of 64 bytes, 1000 MHz.
static hw_array array_with(const hw_tech *tech) {
  hw_array array;
  hw_array_default(&array);
  array.tech = tech;
  return array;
}

static const sim_cycle_report units = {
    .cycles = 1000,
    .macs = 7,
    .bus_read_bytes = 640,
    .bus_written_bytes = 64,
    .sp_row_reads = 2,
    .sp_row_writes = 3,
    .acc_row_reads = 5,
    .acc_row_writes = 6,
    .memory = {.read_bytes = 800, .written_bytes = 80, .fetched_bytes = 1280, .written_back_bytes = 128}};
static const host_counts hart = {.instructions = {[HOST_INTEGER] = 1,
                                                  [HOST_CONTROL] = 2,
                                                  [HOST_LOAD] = 3,
                                                  [HOST_STORE] = 4,
                                                  [HOST_BRANCH] = 5,
                                                  [HOST_JUMP] = 6,
                                                  [HOST_MULTIPLY] = 7,
                                                  [HOST_DIVIDE] = 8,
                                                  [HOST_FLOAT_ADD] = 9,
                                                  [HOST_FLOAT_MULTIPLY] = 10,
                                                  [HOST_FLOAT_DIVIDE] = 11,
                                                  [HOST_COMMAND] = 12},
                                 .fetches = 13,
                                 .fetch_misses = 14,
                                 .data_misses = 15,
                                 .written_back = 16};

// Every number of a table is its place in it, from 1 on.
static hw_tech numbered(void) {
  hw_tech tech;
  assert_true(hw_tech_named(&tech, "40nm"));
  double number = 0;
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...) tech.group.field = ++number;
#define AREA(group, field, ...)
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  return tech;
}

static hw_tech all_zero(void) {
  hw_tech tech = numbered();
#define GROUP(group, doc)
#define END(group)
#define NUMBER(group, field, ...) tech.group.field = 0;
#define AREA(group, field, ...)
#include "hw/tech_params.def"
#undef GROUP
#undef END
#undef NUMBER
#undef AREA
  return tech;
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)); }

#define PJ(name) sim_energy_pj(&f.energy[SIM_ENERGY_##name])

static void every_component_by_hand(void **state) {
  (void)state;
  const hw_tech t = numbered();
  const hw_array array = array_with(&t);
  const sim_figures f = sim_figures_of(&units, &hart, &array);
  assert_true(near(PJ(mac), 7 * t.energy_pj.mac) && near(PJ(registers), 7 * t.energy_pj.registers));
  assert_true(
      near(PJ(accumulator), 11 * 16 * (t.energy_pj.accumulator + t.energy_pj.accumulator_per_kib_of_column * 64 / 16)));
  assert_true(near(PJ(scratchpad), 5 * 16 * (t.energy_pj.scratchpad + t.energy_pj.scratchpad_per_kib * 256)));
  assert_true(near(PJ(hart_integer), 3 * t.hart_pj.integer) && near(PJ(hart_memory), 7 * t.hart_pj.memory));
  assert_true(near(PJ(hart_branch), 11 * t.hart_pj.branch) && near(PJ(hart_multiply), 7 * t.hart_pj.multiply));
  assert_true(near(PJ(hart_divide), 8 * t.hart_pj.divide) && near(PJ(hart_command), 12 * t.hart_pj.command));
  assert_true(near(PJ(hart_float_add), 9 * t.hart_pj.float_add));
  assert_true(near(PJ(hart_float_multiply), 10 * t.hart_pj.float_multiply));
  assert_true(near(PJ(hart_float_divide), 11 * t.hart_pj.float_divide));
  assert_true(near(PJ(hart_fetch), 13 * t.hart_pj.fetch_at_32kib * sqrt(0.5)));
  assert_true(near(PJ(hart_access), 7 * t.hart_pj.access_at_32kib * sqrt(0.5)));
  assert_true(near(PJ(hart_fetch_line), 14 * 8 * t.hart_pj.line_at_32kib * sqrt(0.5)));
  assert_true(near(PJ(hart_line), 31 * 8 * t.hart_pj.line_at_32kib * sqrt(0.5)));
  assert_true(near(PJ(l2_read), 100 * t.l2_pj.read_at_1mib * sqrt(0.5)));
  assert_true(near(PJ(l2_write), 10 * t.l2_pj.write_at_1mib * sqrt(0.5)));
  assert_true(near(PJ(l2_fill), 160 * t.l2_pj.fill_at_1mib * sqrt(0.5)));
  assert_true(near(PJ(l2_victim), 16 * t.l2_pj.victim_at_1mib * sqrt(0.5)));
  assert_true(near(PJ(bus), 704 * t.bus_pj.byte) && near(PJ(main_memory), 1408 * t.energy_pj.dram));
  assert_true(near(PJ(clock_array), 1000 * 256 * t.clock_pj.pe) && near(PJ(clock_hart), 1000 * t.clock_pj.hart));
  // 1000 cycles are a us, in which a uW is a pJ.
  assert_true(near(PJ(leakage_array), 256 * t.leakage_uw.pe + 320 * t.leakage_uw.local_kib));
  assert_true(near(PJ(leakage_hart), t.leakage_uw.hart) && near(PJ(leakage_l2), 512 * t.leakage_uw.l2_kib));
  assert_string_equal(f.unknown, "");
}

static void the_total_is_the_sum(void **state) {
  (void)state;
  const hw_tech t = numbered();
  const hw_array array = array_with(&t);
  const sim_figures f = sim_figures_of(&units, &hart, &array);
  double sum = 0, parts = 0;
  for (unsigned n = 0; n < SIM_ENERGY_LEVELS; n++) sum += sim_energy_pj(&f.energy[n]);
  for (unsigned part = 0; part < SIM_PARTS; part++) parts += f.part_pj[part];
  assert_true(sum > 0 && near(sum, f.energy_pj) && near(parts, f.energy_pj));
  assert_true(near(f.array_pj, PJ(mac) + PJ(registers) + PJ(accumulator) + PJ(scratchpad) + 704 * t.energy_pj.dram));
}

static void a_table_of_zeros_gives_none(void **state) {
  (void)state;
  const hw_tech t = all_zero();
  const hw_array array = array_with(&t);
  const sim_figures f = sim_figures_of(&units, &hart, &array);
  assert_true(f.has_energy && f.energy_pj == 0 && f.array_pj == 0);
}

// Each of the four powers, and the time.
static void leakage_grows_with_power_and_time(void **state) {
  (void)state;
  static const size_t powers[] = {offsetof(hw_tech, leakage_uw.pe), offsetof(hw_tech, leakage_uw.local_kib),
                                  offsetof(hw_tech, leakage_uw.hart), offsetof(hw_tech, leakage_uw.l2_kib)};
  for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
    hw_tech t = all_zero();
    const double power = 3;
    memcpy((char *)&t + powers[p], &power, sizeof power);
    hw_array array = array_with(&t);
    sim_cycle_report longer = units;
    longer.cycles *= 2;
    const double once = sim_figures_of(&units, &hart, &array).energy_pj;
    assert_true(once > 0 && near(sim_figures_of(&longer, &hart, &array).energy_pj, 2 * once));
    array.chip.clock_mhz /= 2;
    assert_true(near(sim_figures_of(&units, &hart, &array).energy_pj, 2 * once));
  }
}

// Unknown figures of what happened are named, and what did not happen costs nothing whatever it would cost.
static void what_is_not_known_is_named(void **state) {
  (void)state;
  hw_tech t = numbered();
  t.bus_pj.byte = t.hart_pj.divide = t.leakage_uw.hart = NAN;
  const hw_array array = array_with(&t);
  const sim_figures f = sim_figures_of(&units, &hart, &array);
  assert_string_equal(f.unknown, "hart_divide, bus, leakage_hart");
  assert_true(isfinite(f.energy_pj) && PJ(bus) == 0);
  assert_string_equal(sim_figures_of(&units, NULL, &array).unknown, "bus, leakage_hart");
}

static void without_an_l2_it_has_no_energy(void **state) {
  (void)state;
  const hw_tech t = numbered();
  hw_array array = array_with(&t);
  array.l2.present = false;
  const sim_figures f = sim_figures_of(&units, &hart, &array);
  assert_true(f.part_pj[SIM_PART_L2] == 0 && PJ(leakage_l2) == 0 && PJ(main_memory) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_component_by_hand),     cmocka_unit_test(the_total_is_the_sum),
      cmocka_unit_test(a_table_of_zeros_gives_none), cmocka_unit_test(leakage_grows_with_power_and_time),
      cmocka_unit_test(what_is_not_known_is_named),  cmocka_unit_test(without_an_l2_it_has_no_energy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
