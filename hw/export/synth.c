// SPDX-License-Identifier: Apache-2.0
// Synthesis unit by unit. The RTL is elaborated once from weft_accel, so every module has the parameters that the array
// gives it; then each unit is mapped alone, with the units inside it as black boxes. So every gate is counted once,
// equal units are mapped once, and the sum over all instances is the whole.
//
//   elaborate: yosys reads rtl/, writes design.il; hw_design_read finds the units and gives them short names
//   unit:      yosys + abc map it to the library -> UNIT.area, UNIT.v; OpenSTA -> UNIT.sta (path, power)
//
// A path that ends or starts in a unit inside is cut there, one to a port counts as if the port were a register.
// Memories of the banks become black boxes; those of queues become flip-flops.
#include "hw/export/synth.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "hw/cost.h"
#include "hw/export/design.h"
#include "hw/export/export.h"
#include "hw/export/tool.h"

enum {
  FILE_MAX = 1 << 24,
  // What a unit is mapped for, in ps: short enough that abc buffers and sizes what is slower, and what a PE of 8 bits
  // takes.
  PERIOD_PS = 6000
};

static const char liberty[] = "/usr/share/qflow/tech/osu018/osu018_stdcells.lib";
static const char top_module[] = "weft_accel";
static const char install[] = "apt-get install yosys berkeley-abc opensta qflow-tech-osu018";

typedef struct unit_kind {
  const char *unit;  // see unit_of
  const char *part;  // of tech_params.def
  bool memory;       // holds scratchpad or accumulator
  bool lane;         // registers of a lane's pipe that the mapping leaves where they stand: its path is not the array's
} unit_kind;

// Parts of the area table, and those of the cost model that say the same.
static const struct {
  const char *name, *of[2];
  hw_cost_part costs[3];
  size_t cost_count;
} part_kinds[HW_SYNTH_PARTS] = {
    {"mesh", {"mesh"}, {HW_COST_MESH}, 1},
    {"execute controller", {"execute"}, {HW_COST_EXECUTE}, 1},
    {"load controller", {"load"}, {HW_COST_LOAD}, 1},
    {"store controller", {"store"}, {HW_COST_STORE}, 1},
    {"reservation station", {"reservation"}, {HW_COST_STATION}, 1},
    {"loop unrollers", {"loop_matmul", "loop_conv"}, {HW_COST_LOOPS}, 1},
    {"local memory, scaling", {"local_memory"}, {HW_COST_SCRATCHPAD, HW_COST_ACCUMULATOR, HW_COST_LOCAL}, 3},
    {"DMA", {"dma"}, {HW_COST_DMA}, 1},
    {"front end, counters", {"rest"}, {HW_COST_REST}, 1},
};

// What is no unit is mapped with the unit around it.
static const unit_kind unit_kinds[] = {
    {"pe", "mesh", false, false},
    {"mesh", "mesh", false, false},
    {"mesh_with_delays", "mesh", false, false},
    {"execute_controller", "execute", false, false},
    {"load_controller", "load", false, false},
    {"store_controller", "store", false, false},
    {"reservation_station", "reservation", false, false},
    {"token_queues", "reservation", false, false},
    {"loop_matmul", "loop_matmul", false, false},
    {"loop_conv", "loop_conv", false, false},
    {"local_memory", "local_memory", false, false},
    {"scratchpad_bank", "local_memory", true, false},
    {"accumulator_bank", "local_memory", true, false},
    {"acc_scale", "local_memory", false, false},
    {"acc_lane", "local_memory", false, true},
    {"mvin_scale", "local_memory", false, false},
    {"scale_element", "local_memory", false, true},
    {"normaliser", "local_memory", false, false},
    {"row_gate", "local_memory", false, false},
    {"dma_reader", "dma", false, false},
    {"dma_writer", "dma", false, false},
    {"front_end", "rest", false, false},
    {"counters", "rest", false, false},
    {"weft_accel", "rest", false, false},
};
enum { UNIT_KINDS = sizeof unit_kinds / sizeof *unit_kinds };

typedef struct synth_run {
  const hw_array *array;
  const hw_synth_options *options;
  char *directory;
  bool keep;  // the work directory: its logs tell what failed
  hw_design design;
  hw_synth_result *result;
  wf_diag *diag;
} synth_run;

// The unit that a module is, or one of its variants: the module's name without the prefix of all modules, weft_. The
// accelerator itself has no other name.
static const char *unit_of(const char *module) {
  static const char prefix[] = "weft_";
  const size_t length = sizeof prefix - 1;
  const bool whole = strncmp(module, top_module, sizeof top_module - 1) == 0 || strncmp(module, prefix, length) != 0;
  return whole ? module : module + length;
}

static const unit_kind *kind_of(const hw_design_module *module) {
  for (size_t i = 0; i < UNIT_KINDS; i++)
    if (strcmp(unit_kinds[i].unit, unit_of(module->base)) == 0) return &unit_kinds[i];
  return NULL;
}

// ---- files of the work directory

static FILE *open_work(const synth_run *run, const char *name, const char *mode) {
  char *path = wf_format("%s/%s", run->directory, name);
  FILE *file = fopen(path, mode);
  if (file == NULL) wf_error(run->diag, wf_in_file(path), "cannot open the file: %s", strerror(errno));
  wf_free(path);
  return file;
}

// The whole file, or NULL after a message.
static char *read_work(const synth_run *run, const char *name) {
  FILE *in = open_work(run, name, "r");
  if (in == NULL) return NULL;
  char *text = wf_alloc(FILE_MAX, 1);
  text[fread(text, 1, FILE_MAX - 1, in)] = '\0';
  fclose(in);
  return text;
}

// A tool's output is not what it should be: the directory stays, to be looked at.
static void fail(synth_run *run, const char *file, const char *problem) {
  run->keep = true;
  wf_error(run->diag, wf_in_file(NULL), "%s; see %s/%s", problem, run->directory, file);
}

static bool run_tool(synth_run *run, const char *tool, const char *flag, const char *script, const char *log) {
  const char *const argv[] = {tool, flag, script, NULL};
  const int code = hw_tool_run(argv, run->directory, log);
  if (code == 0) return true;
  char *problem = wf_format("%s failed on %s with code %d", tool, script, code);
  fail(run, log, problem);
  wf_free(problem);
  return false;
}

// ---- elaboration

static bool write_elaboration(const synth_run *run) {
  FILE *out = open_work(run, "elaborate.ys", "w");
  if (out == NULL) return false;
  fputs("read_verilog -sv -Irtl", out);
  char *list = read_work(run, "weft.f");
  for (char *save, *line = strtok_r(list, "\n", &save); line != NULL; line = strtok_r(NULL, "\n", &save))
    if (strncmp(line, "rtl/", 4) == 0) fprintf(out, " %s", line);
  wf_free(list);
  fprintf(out, "\nhierarchy -check -top %s\nwrite_rtlil elaborated.il\n", top_module);
  return fclose(out) == 0;
}

static bool read_design(synth_run *run) {
  char *in = wf_format("%s/elaborated.il", run->directory), *out = wf_format("%s/design.il", run->directory);
  const bool good = hw_design_read(&run->design, in, out, top_module);
  if (!good) wf_error(run->diag, wf_in_file(in), "is not the elaborated %s", top_module);
  wf_free(in);
  wf_free(out);
  return good;
}

// ---- one unit

// Bank memories leave as instances of a module that nothing defines.
static const char memory_map[] =
    "(* techmap_celltype = \"$mem_v2\" *)\n"
    "module weft_map_memory (RD_CLK, RD_EN, RD_ARST, RD_SRST, RD_ADDR, RD_DATA, WR_CLK, WR_EN, WR_ADDR, WR_DATA);\n"
    "  parameter MEMID = \"\";\n"
    "  parameter signed SIZE = 4, OFFSET = 0, ABITS = 2, WIDTH = 8, RD_PORTS = 1, WR_PORTS = 1;\n"
    "  parameter INIT = 1'bx, RD_CLK_ENABLE = 1'b1, RD_CLK_POLARITY = 1'b1, RD_TRANSPARENCY_MASK = 1'b0;\n"
    "  parameter RD_COLLISION_X_MASK = 1'b0, RD_WIDE_CONTINUATION = 1'b0, RD_CE_OVER_SRST = 1'b0;\n"
    "  parameter RD_ARST_VALUE = 1'b0, RD_SRST_VALUE = 1'b0, RD_INIT_VALUE = 1'b0;\n"
    "  parameter WR_CLK_ENABLE = 1'b1, WR_CLK_POLARITY = 1'b1, WR_PRIORITY_MASK = 1'b0, WR_WIDE_CONTINUATION = 1'b0;\n"
    "  input [RD_PORTS-1:0] RD_CLK, RD_EN, RD_ARST, RD_SRST;\n"
    "  input [RD_PORTS*ABITS-1:0] RD_ADDR;\n"
    "  output [RD_PORTS*WIDTH-1:0] RD_DATA;\n"
    "  input [WR_PORTS-1:0] WR_CLK;\n"
    "  input [WR_PORTS*WIDTH-1:0] WR_EN, WR_DATA;\n"
    "  input [WR_PORTS*ABITS-1:0] WR_ADDR;\n"
    "  weft_memory #(.READS(RD_PORTS), .WRITES(WR_PORTS), .ADDRESS(ABITS), .WIDTH(WIDTH)) _TECHMAP_REPLACE_ (\n"
    "    .read_clk(RD_CLK), .read_en(RD_EN), .read_addr(RD_ADDR), .read_data(RD_DATA),\n"
    "    .write_clk(WR_CLK), .write_en(WR_EN), .write_addr(WR_ADDR), .write_data(WR_DATA));\n"
    "endmodule\n"
    "(* blackbox *)\n"
    "module weft_memory #(parameter READS = 1, WRITES = 1, ADDRESS = 1, WIDTH = 1) (\n"
    "  input [READS-1:0] read_clk, read_en, input [READS*ADDRESS-1:0] read_addr, output [READS*WIDTH-1:0] read_data,\n"
    "  input [WRITES-1:0] write_clk, input [WRITES*WIDTH-1:0] write_en, write_data,\n"
    "  input [WRITES*ADDRESS-1:0] write_addr);\n"
    "endmodule\n";

// What drives a port and what hangs on it: without them abc buffers nothing that a port or a register drives, however
// many read it.
static bool write_drive(const synth_run *run) {
  FILE *out = open_work(run, "drive.constr", "w");
  return out != NULL && fputs("set_driving_cell BUFX2\nset_load 12\n", out) >= 0 && fclose(out) == 0;
}

static bool write_memory_map(const synth_run *run) {
  FILE *out = open_work(run, "memory.v", "w");
  return out != NULL && fputs(memory_map, out) >= 0 && fclose(out) == 0;
}

static void write_black_boxes(const synth_run *run, const hw_design_module *unit, FILE *out) {
  for (size_t i = 0; i < run->design.count; i++) {
    const hw_design_module *module = &run->design.modules[i];
    if (module != unit && kind_of(module) != NULL) fprintf(out, "blackbox %s\n", module->name);
  }
}

// yosys' own recipe maps for area and ends up three times as slow; this one maps for delay, then buffers and sizes for
// PERIOD_PS. Commas stand for blanks.
static bool write_mapping(const synth_run *run, const hw_design_module *unit, const char *script) {
  FILE *out = open_work(run, script, "w");
  if (out == NULL) return false;
  fputs("read_rtlil design.il\n", out);
  write_black_boxes(run, unit, out);
  fprintf(out, "hierarchy -check -top %s\nsynth -flatten -top %s -run begin:fine\n", unit->name, unit->name);
  if (kind_of(unit)->memory)
    fputs(
        "techmap -map memory.v\nsetparam -unset READS -unset WRITES -unset ADDRESS "
        "-unset WIDTH t:weft_memory\n",
        out);
  fprintf(out,
          "synth -top %s -run fine:check\n"
          "dfflibmap -liberty %s\n"
          "abc -liberty %s -constr drive.constr -script "
          "+strash;ifraig;scorr;dc2;dch,-f;map,-D,%d;topo;buffer,-c;upsize,-D,%d;dnsize,-D,%d\n"
          "setundef -zero\n"
          "opt_clean -purge\n"
          // OpenSTA reads no concatenation on the left of an assignment.
          "splitnets -ports\n"
          "opt_clean -purge\n"
          "tee -q -o %s.area stat -liberty %s\n"
          "write_verilog -noattr -noexpr %s.v\n",
          unit->name, liberty, liberty, PERIOD_PS, PERIOD_PS, PERIOD_PS, unit->name, liberty, unit->name);
  return fclose(out) == 0;
}

static bool write_timing(const synth_run *run, const hw_design_module *unit, const char *script) {
  FILE *out = open_work(run, script, "w");
  if (out == NULL) return false;
  const double period = 1e3 / HW_SYNTH_CLOCK_MHZ;
  fprintf(out,
          "read_liberty %s\n"
          "read_verilog %s.v\n"
          "link_design %s\n"
          "if {[catch {create_clock -name clk -period %g [get_ports clk_i]}]} {create_clock -name clk -period %g}\n"
          "set_input_delay 0 -clock clk [all_inputs]\n"
          "set_output_delay 0 -clock clk [all_outputs]\n"
          "report_worst_slack\n"
          "set_power_activity -input -activity 0.1\n"
          "report_power -digits 6\n",
          liberty, unit->name, unit->name, period, period);
  return fclose(out) == 0;
}

// The number that follows `words` blank-separated words behind the first `start`.
static bool number_in(const char *text, const char *start, unsigned words, double *value) {
  const char *line = strstr(text, start);
  if (line == NULL) return false;
  line += strlen(start);
  for (; words > 0; words--) {
    line += strspn(line, " ");
    line += strcspn(line, " \n");
  }
  char *end;
  *value = strtod(line, &end);
  return end != line;
}

// A unit of wires has no area line.
static bool read_area(synth_run *run, const hw_design_module *unit, hw_synth_unit *out) {
  char *name = wf_format("%s.area", unit->name), *text = read_work(run, name);
  double cells = 0;
  const bool good = text != NULL && number_in(text, "Number of cells:", 0, &cells);
  if (good) out->cells = (unsigned)cells;
  if (good && !number_in(text, "Chip area for", 2, &out->area_um2)) out->area_um2 = 0;
  if (text != NULL && !good) fail(run, name, "yosys reported no cells");
  wf_free(text);
  wf_free(name);
  return good;
}

static bool read_timing(synth_run *run, const hw_design_module *unit, hw_synth_unit *out) {
  char *name = wf_format("%s.sta", unit->name), *text = read_work(run, name);
  double slack, watts;
  bool good = false;
  if (text != NULL && strstr(text, "\nError: ") != NULL) {
    fail(run, name, "OpenSTA reported an error");
  } else if (text != NULL) {
    // A unit without paths, such as one of wires, has no slack.
    const bool timed = number_in(text, "worst slack", 0, &slack);
    good = number_in(text, "\nTotal ", 3, &watts);
    out->path_ns = timed && slack < 1e3 / HW_SYNTH_CLOCK_MHZ ? 1e3 / HW_SYNTH_CLOCK_MHZ - slack : 0;
    out->power_mw = good ? watts * 1e3 : 0;
    if (!good) fail(run, name, "OpenSTA reported no power");
  }
  wf_free(text);
  wf_free(name);
  return good;
}

// Memory of the unit and of what is mapped with it.
static uint64_t bits_below(const synth_run *run, const hw_design_module *module) {
  uint64_t bits = module->memory_bits;
  for (size_t i = 0; i < module->child_count; i++) {
    const hw_design_module *child = &run->design.modules[module->children[i].module];
    if (kind_of(child) == NULL) bits += module->children[i].count * bits_below(run, child);
  }
  return bits;
}

static bool synthesise(synth_run *run, const hw_design_module *unit, hw_synth_unit *out) {
  const unit_kind *kind = kind_of(unit);
  *out = (hw_synth_unit){.part = kind->part, .instances = unit->instances};
  snprintf(out->name, sizeof out->name, "%s", unit_of(unit->name));
  out->memory_bits = kind->memory ? bits_below(run, unit) : 0;
  char *mapping = wf_format("%s.ys", unit->name), *timing = wf_format("%s.tcl", unit->name);
  char *mapping_log = wf_format("%s.log", unit->name), *timing_log = wf_format("%s.sta", unit->name);
  const bool good = write_mapping(run, unit, mapping) && run_tool(run, "yosys", "-q", mapping, mapping_log) &&
                    read_area(run, unit, out) && write_timing(run, unit, timing) &&
                    run_tool(run, "sta", "-exit", timing, timing_log) && read_timing(run, unit, out);
  wf_free(mapping);
  wf_free(timing);
  wf_free(mapping_log);
  wf_free(timing_log);
  return good;
}

// ---- all units

static bool is_wanted(const synth_run *run, const hw_design_module *module) {
  const char *unit = run->options->unit;
  return module->instances != 0 && kind_of(module) != NULL &&
         (unit == NULL || strcmp(unit, unit_of(module->base)) == 0);
}

static size_t count_wanted(const synth_run *run) {
  size_t count = 0;
  for (size_t i = 0; i < run->design.count; i++) count += is_wanted(run, &run->design.modules[i]);
  return count;
}

static void add_unit(hw_synth_result *result, const hw_synth_unit *unit) {
  result->units[result->count++] = *unit;
  result->area_um2 += unit->instances * unit->area_um2;
  result->power_mw += unit->instances * unit->power_mw;
  result->memory_bits += unit->instances * unit->memory_bits;
}

static bool tell(const synth_run *run, size_t wanted, const char *unit) {
  const hw_synth_options *o = run->options;
  return o->tell == NULL || o->tell(o->context, run->result->count, wanted, unit);
}

static bool synthesise_all(synth_run *run) {
  const size_t wanted = count_wanted(run);
  if (wanted == 0) {
    wf_error(run->diag, wf_in_file(NULL), "%s has no unit \"%s\"", run->array->name, run->options->unit);
    return false;
  }
  if (wanted > HW_SYNTH_UNITS_MAX) {
    wf_error(run->diag, wf_in_file(NULL), "%zu units are more than the %d of a table", wanted, HW_SYNTH_UNITS_MAX);
    return false;
  }
  for (size_t k = 0; k < UNIT_KINDS; k++) {
    for (size_t i = 0; i < run->design.count; i++) {
      const hw_design_module *module = &run->design.modules[i];
      if (!is_wanted(run, module) || kind_of(module) != &unit_kinds[k]) continue;
      if (!tell(run, wanted, unit_of(module->name))) return false;
      hw_synth_unit unit;
      if (!synthesise(run, module, &unit)) return false;
      add_unit(run->result, &unit);
    }
  }
  return true;
}

static double area_of(const hw_synth_result *result, const char *part) {
  double um2 = 0;
  for (size_t i = 0; i < result->count && part != NULL; i++)
    if (strcmp(result->units[i].part, part) == 0) um2 += result->units[i].instances * result->units[i].area_um2;
  return um2;
}

static bool has_path(const hw_synth_unit *unit) {
  for (size_t k = 0; k < UNIT_KINDS; k++)
    if (unit_kinds[k].lane && strncmp(unit->name, unit_kinds[k].unit, strlen(unit_kinds[k].unit)) == 0) return false;
  return true;
}

static double path_of(const hw_synth_result *result, const char *part) {
  double ns = 0;
  for (size_t i = 0; i < result->count && part != NULL; i++)
    if (strcmp(result->units[i].part, part) == 0 && has_path(&result->units[i]))
      ns = fmax(ns, result->units[i].path_ns);
  return ns;
}

static double expected_path_of(const hw_array *array, hw_cost_part part) {
  double ns = 0;
  hw_cost_path path;
  for (size_t i = 0; hw_cost_path_at(array, i, &path); i++)
    if (path.part == part) ns = fmax(ns, path.synthesised_ns);
  return ns;
}

static void add_parts(const hw_array *array, hw_synth_result *result) {
  for (size_t p = 0; p < HW_SYNTH_PARTS; p++) {
    hw_synth_part *part = &result->parts[result->part_count++];
    *part = (hw_synth_part){.name = part_kinds[p].name};
    for (size_t n = 0; n < 2; n++) {
      part->area_um2 += area_of(result, part_kinds[p].of[n]);
      part->path_ns = fmax(part->path_ns, path_of(result, part_kinds[p].of[n]));
    }
    for (size_t n = 0; n < part_kinds[p].cost_count; n++) {
      part->expected_um2 += hw_cost_logic_of(array, part_kinds[p].costs[n]);
      part->expected_path_ns = fmax(part->expected_path_ns, expected_path_of(array, part_kinds[p].costs[n]));
    }
  }
}

const char *hw_synth_missing(void) {
  static const char *const tools[] = {"yosys", "sta", "yosys-abc"};
  for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
    if (!hw_tool_found(tools[i])) return tools[i];
  return access(liberty, R_OK) == 0 ? NULL : liberty;
}

static bool is_unit(const char *name) {
  for (size_t i = 0; i < UNIT_KINDS; i++)
    if (strcmp(unit_kinds[i].unit, name) == 0) return true;
  return false;
}

static void refuse_unit(const char *name, wf_diag *diag) {
  char list[UNIT_KINDS * 32] = "";
  for (size_t i = 0; i < UNIT_KINDS; i++) {
    strcat(list, i == 0 ? "" : ", ");
    strcat(list, unit_kinds[i].unit);
  }
  wf_error(diag, wf_in_file(NULL), "no unit is called \"%s\"", name);
  wf_hint(diag, "the units are %s", list);
}

static bool check_request(const hw_array *array, const hw_synth_options *options, wf_diag *diag) {
  const uint32_t dim = hw_derive(array).dim;
  const char *missing = hw_synth_missing();
  if (dim > HW_SYNTH_DIM_MAX) {
    wf_error(diag, wf_in_file(array->name), "%" PRIu32 " PEs per side; synthesis is for up to %d", dim,
             HW_SYNTH_DIM_MAX);
  } else if (options->unit != NULL && !is_unit(options->unit)) {
    refuse_unit(options->unit, diag);
  } else if (missing != NULL) {
    wf_error(diag, wf_in_file(NULL), "%s is not installed", missing);
    wf_hint(diag, "%s", install);
  } else {
    return true;
  }
  return false;
}

static char *make_directory(wf_diag *diag) {
  const char *base = getenv("TMPDIR");
  char *path = wf_format("%s/weft-synth-XXXXXX", base != NULL ? base : "/tmp");
  if (mkdtemp(path) != NULL) return path;
  wf_error(diag, wf_in_file(path), "cannot make the directory: %s", strerror(errno));
  wf_free(path);
  return NULL;
}

bool hw_synth(const hw_array *array, const hw_synth_options *options, hw_synth_result *result, wf_diag *diag) {
  *result = (hw_synth_result){0};
  if (!check_request(array, options, diag)) return false;
  synth_run run = {
      .array = array, .options = options, .directory = make_directory(diag), .result = result, .diag = diag};
  if (run.directory == NULL) return false;
  const bool good = hw_export_write_rtl(array, run.directory, diag) && write_elaboration(&run) &&
                    write_memory_map(&run) && write_drive(&run) &&
                    run_tool(&run, "yosys", "-q", "elaborate.ys", "elaborate.log") && read_design(&run) &&
                    synthesise_all(&run);
  if (good && options->unit == NULL) add_parts(array, result);
  hw_design_free(&run.design);
  if (!run.keep) hw_tool_remove(run.directory);
  wf_free(run.directory);
  return good;
}
