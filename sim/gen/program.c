// SPDX-License-Identifier: Apache-2.0
// The generator's frame: memory, filling of local memory, the mixture of commands, and the stores that show what the
// program left behind.
#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "sim/gen/gen_private.h"
#include "sim/tokens/give.h"

enum {
  MARGIN_BYTES = 128,
  PAGE_BYTES = 4096,
  FILL_ALL_ROWS = 4096,  // larger memories are filled around the anchors only
  WINDOW_BEFORE = 2,     // tiles filled around an anchor
  WINDOW_AFTER = 8,
};

const char *sim_gen_feature_name(sim_gen_feature feature) {
  static const char *const names[GEN_FEATURES] = {
      [GEN_LOOP_WS] = "loop-ws",
      [GEN_LOOP_CONV] = "loop-conv",
      [GEN_RESADD] = "resadd",
      [GEN_OS] = "os",
      [GEN_POOL] = "pool",
      [GEN_IMAGE_STORE] = "image-store",
      [GEN_SPAD_STORE] = "spad-store",
      [GEN_PIXEL_REPEAT] = "pixel-repeat",
      [GEN_SCALE] = "scale",
      [GEN_PACKED] = "packed",
      [GEN_GATE] = "gate",
      [GEN_TRANSPOSE] = "transpose",
      [GEN_NORM] = "norm",
      [GEN_EXECUTE_READS_ACC] = "execute-reads-acc",
      [GEN_EXECUTE_WRITES_SPAD] = "execute-writes-spad",
      [GEN_EXECUTE] = "execute",
      [GEN_COUNTER] = "counter",
  };
  return names[feature];
}

const char *sim_gen_part_name(sim_gen_part part) {
  static const char *const names[GEN_PARTS] = {
      [GEN_LOADS] = "loads", [GEN_STORES] = "stores", [GEN_PRODUCTS] = "execute",
      [GEN_LOOPS] = "loops", [GEN_CONVS] = "conv",    [GEN_CONFIGS] = "config",
  };
  return names[part];
}

// ---- programs

static void append(sim_gen_program *p, const sim_gen_item *item) {
  if (p->count == p->room) {
    p->room = p->room == 0 ? 256 : 2 * p->room;
    p->items = wf_realloc(p->items, p->room, sizeof *p->items);
  }
  p->items[p->count] = *item;
  p->items[p->count].command.index = p->count;
  p->count++;
}

// Commands on an array with tokens get those that a station's order asks for, and with `r` some more.
static uint64_t more_order(void *context, uint64_t least, uint64_t most) {
  sim_gen_random *r = context;
  return sim_gen_one_in(r, 6) ? (uint64_t)sim_gen_in(r, (int64_t)least, (int64_t)most) : least;
}

static void give_tokens(sim_gen_program *p, sim_gen_random *r) {
  if (p->array->sync.by != HW_SYNC_TOKENS) return;
  tokens_giver *giver = tokens_giver_create(p->array);
  if (r != NULL) tokens_giver_add(giver, more_order, r);
  for (size_t i = 0; i < p->count; i++) {
    const arch_command *command = &p->items[i].command;
    if (p->items[i].fence)
      tokens_giver_fence(giver);
    else
      tokens_giver_command(giver, command->insn, command->rs1, command->rs2);
  }
  uint64_t number = 0;
  for (size_t i = 0; i < p->count; i++) {
    arch_command *command = &p->items[i].command;
    if (p->items[i].fence) continue;
    const arch_tokens tokens = tokens_giver_of(giver, number++);
    if (command->insn->tokens != 0) command->rs2 = arch_tokens_set(command->insn, command->rs2, tokens);
  }
  tokens_giver_destroy(giver);
}

sim_gen_program *sim_gen_program_copy(const sim_gen_program *from, const bool *kept) {
  sim_gen_program *to = WF_NEW(sim_gen_program);
  to->array = from->array;
  to->seed = from->seed;
  to->image_bytes = from->image_bytes;
  to->image = wf_alloc(from->image_bytes, 1);
  memcpy(to->image, from->image, from->image_bytes);
  for (size_t i = 0; i < from->count; i++)
    if (kept == NULL || kept[i]) append(to, &from->items[i]);
  if (kept != NULL) give_tokens(to, NULL);
  return to;
}

void sim_gen_program_destroy(sim_gen_program *p) {
  if (p == NULL) return;
  wf_free(p->image);
  wf_free(p->items);
  wf_free(p);
}

// ---- groups

void sim_gen_put(sim_gen *g, uint8_t funct, uint64_t rs1, uint64_t rs2) {
  assert(g->group_count < GEN_GROUP);
  uint32_t delay = g->max_delay != 0 && sim_gen_one_in(&g->r, 3) ? (uint32_t)sim_gen_in(&g->r, 0, g->max_delay) : 0;
  bool returns = funct == ISA_FUNCT_COUNTER && !sim_gen_one_in(&g->r, 8);
  sim_gen_item *item = &g->group[g->group_count++];
  *item = (sim_gen_item){.delay = delay, .command = {.funct = funct, .rs1 = rs1, .rs2 = rs2, .returns = returns}};
  arch_command_find(&item->command, g->array->isa.revision);
}

void sim_gen_fence(sim_gen *g) {
  const sim_gen_item fence = {.fence = true};
  char why[GEN_WHY];
  sim_gen_judge_item(g->judge, &fence, why);
  append(g->program, &fence);
}

static bool try_group(sim_gen *g, char why[GEN_WHY]) {
  sim_gen_judge_copy(g->trial, g->judge);
  for (size_t i = 0; i < g->group_count; i++)
    if (!sim_gen_judge_item(g->trial, &g->group[i], why)) return false;
  return true;
}

bool sim_gen_commit(sim_gen *g) {
  char why[GEN_WHY];
  bool good = try_group(g, why);
  if (!good && strstr(why, "since the last fence") != NULL && sim_gen_one_in(&g->r, 2)) {
    sim_gen_fence(g);
    good = try_group(g, why);
  }
  for (size_t i = 0; good && i < g->group_count; i++) append(g->program, &g->group[i]);
  g->group_count = 0;
  if (!good) return false;
  sim_gen_judge *spare = g->judge;
  g->judge = g->trial;
  g->trial = spare;
  return true;
}

// ---- operands

const arch_config *sim_gen_config(const sim_gen *g) { return sim_gen_judge_config(g->judge); }

uint64_t sim_gen_operand(uint32_t local, int64_t rows, int64_t cols) {
  return (uint64_t)rows << 48 | (uint64_t)cols << 32 | local;
}

static int64_t rows_of(const sim_gen *g, bool accumulator) { return arch_local_rows(&g->d, accumulator); }

uint32_t sim_gen_local(sim_gen *g, bool accumulator, int64_t extent) {
  int64_t last = rows_of(g, accumulator) - extent;
  if (last < 0) return ARCH_LOCAL_GARBAGE;
  int64_t row = g->anchors[accumulator][sim_gen_in(&g->r, 0, GEN_ANCHORS - 1)], dim = g->d.dim;
  if (!sim_gen_one_in(&g->r, 3)) row += sim_gen_in(&g->r, 0, 2) * dim;
  if (sim_gen_one_in(&g->r, 3)) row += sim_gen_in(&g->r, -dim, dim);
  if (g->all_filled && sim_gen_one_in(&g->r, 6)) row = sim_gen_in(&g->r, 0, last);
  row = row < 0 ? 0 : row > last ? last : row;
  uint32_t local = (uint32_t)row | (accumulator ? ISA_LOCAL_ACCUMULATOR_MASK : 0);
  if (sim_gen_one_in(&g->r, 8)) {  // bits that are ignored: between the garbage bit and the normaliser command
    uint32_t ignored = ISA_LOCAL_ROW_MASK & ~((UINT32_C(2) << g->d.row_bits) - 1);
    local |= (uint32_t)sim_gen_bits(&g->r) & ignored;
  }
  return local;
}

uint32_t sim_gen_scale(sim_gen *g) {
  static const uint32_t round[] = {0x3f800000, 0x3f800000, 0x3f000000, 0x3e800000, 0x3c800000, 0x3b800000, 0x3eaaaaab};
  if (sim_gen_one_in(&g->r, 2)) return GEN_PICK(&g->r, round);
  return (uint32_t)sim_gen_in(&g->r, 127 - 14, 127 + 1) << 23 | (uint32_t)sim_gen_in(&g->r, 0, 0x7fffff);
}

uint32_t sim_gen_wild_scale(sim_gen *g) {
  static const uint32_t special[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x00000001,
                                     0x807fffff, 0x00000000, 0x80000000, 0x7f7fffff, 0xbf800000, 0x00800000};
  if (sim_gen_one_in(&g->r, 4)) return GEN_PICK(&g->r, special);
  uint32_t scale = sim_gen_one_in(&g->r, 4) ? (uint32_t)sim_gen_bits(&g->r) : sim_gen_scale(g);
  if (sim_gen_one_in(&g->r, 3)) scale ^= UINT32_C(0x80000000);
  return scale == ARCH_SCALE_KEEP ? ARCH_SCALE_ONE : scale;
}

// ---- filling local memory

static void fill_config(sim_gen *g) {
  for (unsigned state = 0; state < ARCH_LOAD_STATES; state++) {
    uint64_t rs1 = 0, rs2 = 0;
    isa_init_config_ld(&rs1, &rs2);
    isa_set_config_ld_state(&rs1, &rs2, state);
    isa_set_config_ld_scale(&rs1, &rs2, ARCH_SCALE_ONE);
    isa_set_config_ld_block_stride(&rs1, &rs2, g->d.dim);
    isa_set_config_ld_stride(&rs1, &rs2, (uint64_t)sim_gen_in(&g->r, 1, 4 * (int64_t)g->d.dim));
    sim_gen_put(g, ISA_FUNCT_CONFIG_LD, rs1, rs2);
  }
  sim_gen_commit(g);
}

// Rows [first, last) by loads of as many tiles side by side as fit.
static void fill_rows(sim_gen *g, bool accumulator, int64_t first, int64_t last) {
  static const uint8_t functs[] = {ISA_FUNCT_MVIN, ISA_FUNCT_MVIN2, ISA_FUNCT_MVIN3};
  int64_t dim = g->d.dim, element = accumulator ? g->d.acc_bytes : 1;
  int64_t most = accumulator ? g->d.max_block_len_acc : g->d.max_block_len;
  while (first < last) {
    int64_t rows = wf_min(dim, last - first), blocks = wf_min(most, wf_max(1, (last - first) / dim));
    int64_t bytes = (rows - 1) * 4 * dim + blocks * dim * element;
    uint64_t from = g->input + (uint64_t)sim_gen_in(&g->r, 0, g->input_bytes - bytes);
    uint32_t local = (uint32_t)first | (accumulator ? ISA_LOCAL_ACCUMULATOR_MASK : 0);
    sim_gen_put(g, GEN_PICK(&g->r, functs), from, sim_gen_operand(local, rows, blocks * dim));
    bool good = sim_gen_commit(g);
    assert(good);
    (void)good;
    first += rows == dim ? blocks * dim : rows;
  }
}

static void fill(sim_gen *g) {
  fill_config(g);
  for (int memory = 0; memory < 2; memory++) {
    int64_t rows = rows_of(g, memory != 0), dim = g->d.dim;
    if (g->all_filled) fill_rows(g, memory != 0, 0, rows);
    for (int i = 0; i < GEN_ANCHORS && !g->all_filled; i++) {
      int64_t anchor = g->anchors[memory][i];
      fill_rows(g, memory != 0, wf_max(0, anchor - WINDOW_BEFORE * dim), wf_min(rows, anchor + WINDOW_AFTER * dim));
    }
  }
}

static void draw_anchors(sim_gen *g) {
  for (int memory = 0; memory < 2; memory++) {
    int64_t rows = rows_of(g, memory != 0), dim = g->d.dim;
    int64_t bank = memory != 0 ? g->d.acc_bank_rows : g->d.sp_bank_rows;
    for (int i = 0; i < GEN_ANCHORS; i++) {
      const int64_t places[] = {0,
                                rows / 2,
                                rows - 2 * dim,
                                bank - dim / 2,
                                bank * sim_gen_in(&g->r, 0, rows / bank - 1),
                                sim_gen_in(&g->r, 0, rows - 1) / dim * dim};
      g->anchors[memory][i] = wf_max(0, wf_min(rows - 1, GEN_PICK(&g->r, places)));
    }
  }
}

// ---- what is left at the end

static void dump_config(sim_gen *g, uint64_t stride) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_config_st(&rs1, &rs2);
  isa_set_config_st_stride(&rs1, &rs2, stride);
  isa_set_config_st_acc_scale(&rs1, &rs2, ARCH_SCALE_ONE);
  sim_gen_put(g, ISA_FUNCT_CONFIG_ST, rs1, rs2);
  sim_gen_commit(g);
}

static bool shown(const sim_gen *g, bool accumulator, int64_t row) {
  return sim_gen_judge_dirty(g->judge, accumulator, row) && sim_gen_judge_defined(g->judge, accumulator, row, g->d.dim);
}

// Every row that the program wrote, whole rows only. The accumulator at full width, if it can be read so.
static void dump_memory(sim_gen *g, bool accumulator) {
  bool full = accumulator && g->array->accumulator.full_reads;
  uint64_t stride = full ? g->d.acc_row_bytes : g->d.sp_row_bytes;
  int64_t rows = rows_of(g, accumulator), dim = g->d.dim;
  dump_config(g, stride);
  for (int64_t row = 0; row < rows;) {
    int64_t count = 0;
    while (count < dim && row + count < rows && shown(g, accumulator, row + count)) count++;
    if (count != 0) {
      uint32_t local =
          (uint32_t)row | (accumulator ? ISA_LOCAL_ACCUMULATOR_MASK : 0) | (full ? ISA_LOCAL_FULL_MASK : 0);
      sim_gen_put(g, ISA_FUNCT_MVOUT, g->dump + (uint64_t)row * stride, sim_gen_operand(local, count, dim));
      sim_gen_commit(g);
    }
    row += count == 0 ? 1 : count;
  }
  g->dump += (uint64_t)rows * stride;
}

// ---- the middle

static void put_counter(sim_gen *g, uint32_t index, bool configure) {
  uint64_t rs1 = 0, rs2 = 0;
  isa_init_counter(&rs1, &rs2);
  isa_set_counter_index(&rs1, &rs2, index);
  isa_set_counter_configure(&rs1, &rs2, configure);
  if (configure) {
    bool external = sim_gen_one_in(&g->r, 4);
    isa_set_counter_external(&rs1, &rs2, external);
    isa_set_counter_event(&rs1, &rs2,
                          (uint64_t)sim_gen_in(&g->r, 0, (external ? ISA_EXTERNAL_COUNT : ISA_EVENT_COUNT) - 1));
  } else if (sim_gen_one_in(&g->r, 4)) {
    uint64_t what = (uint64_t)sim_gen_in(&g->r, 0, 3);
    isa_set_counter_snapshot(&rs1, &rs2, what == 0);
    isa_set_counter_snapshot_reset(&rs1, &rs2, what == 1);
    isa_set_counter_reset(&rs1, &rs2, what == 2);
  }
  sim_gen_put(g, ISA_FUNCT_COUNTER, rs1, rs2);
}

static void gen_counter(sim_gen *g) {
  uint32_t counters = g->array->units.counters;
  if (counters == 0) return;
  put_counter(g, (uint32_t)sim_gen_in(&g->r, 0, counters - 1), sim_gen_one_in(&g->r, 3));
  sim_gen_commit(g);
}

// Every counter: what it counts, or what it counted.
static void all_counters(sim_gen *g, bool configure) {
  if (!sim_gen_has(g, GEN_COUNTER)) return;
  for (uint32_t n = 0; n < g->array->units.counters; n++) {
    put_counter(g, n, configure);
    sim_gen_commit(g);
  }
}

static void gen_odd(sim_gen *g) {
  switch (sim_gen_in(&g->r, 0, 2)) {
    case 0:
      sim_gen_put(g, ISA_FUNCT_FLUSH, (uint64_t)sim_gen_in(&g->r, 0, 1), 0);
      break;
    case 1:
      sim_gen_put(g, ISA_FUNCT_CLOCK_GATE, (uint64_t)sim_gen_in(&g->r, 0, 1), 0);
      break;
    default:
      sim_gen_fence(g);
      return;
  }
  sim_gen_commit(g);
}

typedef struct choice {
  unsigned weight;
  void (*draw)(sim_gen *g);
  int feature;     // GEN_FEATURES: none needed
  uint32_t parts;  // what it belongs to, bits of sim_gen_part
} choice;

static void any_config_ld(sim_gen *g) { sim_gen_config_ld(g, (unsigned)sim_gen_in(&g->r, 0, ARCH_LOAD_STATES - 1)); }

static const choice choices[] = {
    {3, any_config_ld, GEN_FEATURES, 1 << GEN_LOADS | 1 << GEN_CONFIGS},
    {10, sim_gen_mvin, GEN_FEATURES, 1 << GEN_LOADS},
    {3, sim_gen_config_st, GEN_FEATURES, 1 << GEN_STORES | 1 << GEN_CONFIGS},
    {8, sim_gen_mvout, GEN_FEATURES, 1 << GEN_STORES},
    {1, sim_gen_gated_stores, GEN_GATE, 1 << GEN_STORES},
    {1, sim_gen_mvout_spad, GEN_SPAD_STORE, 1 << GEN_STORES},
    {1, sim_gen_norm_store, GEN_NORM, 1 << GEN_STORES},
    {12, sim_gen_products, GEN_EXECUTE, 1 << GEN_PRODUCTS},
    {2, sim_gen_loop_ws, GEN_LOOP_WS, 1 << GEN_LOOPS},
    {2, sim_gen_loop_conv, GEN_LOOP_CONV, 1 << GEN_CONVS},
    {2, gen_odd, GEN_FEATURES, 1 << GEN_CONFIGS},
    {2, gen_counter, GEN_COUNTER, 1 << GEN_CONFIGS},
};
enum { CHOICES = sizeof choices / sizeof choices[0] };

// A choice that the array has no unit for would draw nothing, but take a number.
static bool is_allowed(const sim_gen *g, const choice *c) {
  if (c->feature == GEN_GATE && !g->array->units.gate) return false;
  return c->feature == GEN_FEATURES || sim_gen_has(g, (sim_gen_feature)c->feature);
}

// A program leans towards some kinds of commands and may do without others.
static void draw_weights(sim_gen *g, unsigned weights[CHOICES]) {
  uint32_t only = g->options.only;
  for (size_t i = 0; i < CHOICES; i++) {
    bool allowed = is_allowed(g, &choices[i]);
    if (only != 0) allowed = allowed && (choices[i].parts & only) != 0;
    weights[i] = allowed ? choices[i].weight * (unsigned)sim_gen_in(&g->r, 0, 4) : 0;
    if (allowed && only != 0) weights[i]++;
  }
  if (only == 0) weights[1]++;
}

static void draw_one(sim_gen *g, const unsigned weights[CHOICES]) {
  unsigned total = 0;
  for (size_t i = 0; i < CHOICES; i++) total += weights[i];
  if (total == 0) return;  // only what the options take away
  unsigned at = (unsigned)sim_gen_in(&g->r, 0, (int64_t)total - 1);
  for (size_t i = 0; i < CHOICES; i++) {
    if (at < weights[i]) {
      choices[i].draw(g);
      return;
    }
    at -= weights[i];
  }
}

static void draw_middle(sim_gen *g) {
  unsigned weights[CHOICES];
  draw_weights(g, weights);
  int64_t steps = g->options.steps;
  if (steps == 0) steps = sim_gen_one_in(&g->r, 4) ? sim_gen_in(&g->r, 20, 80) : sim_gen_in(&g->r, 3, 20);
  for (int64_t i = 0; i < steps; i++) draw_one(g, weights);
}

// ---- memory

static uint8_t draw_byte(sim_gen_random *r, int64_t style) {
  static const int extremes[] = {-128, -128, 127, 127, -127, 0};
  int64_t uniform = sim_gen_in(r, -128, 127);
  switch (style) {
    case 0:
      return (uint8_t)GEN_PICK(r, extremes);
    case 1:
      return (uint8_t)(sim_gen_one_in(r, 5) ? uniform : 0);
    case 2:
      return (uint8_t)(uniform / 32);
    default:
      return (uint8_t)uniform;
  }
}

// Odd addresses on purpose: regions are aligned to nothing.
static void lay_out(sim_gen *g) {
  sim_gen_program *p = g->program;
  g->input_bytes = 4096 + 1024 * (int64_t)g->d.dim;
  g->output_bytes = g->input_bytes;
  uint64_t offset = MARGIN_BYTES + (uint64_t)sim_gen_in(&g->r, 0, 127);
  g->input = ARCH_MEMORY_BASE + offset;
  offset += (uint64_t)g->input_bytes + MARGIN_BYTES + (uint64_t)sim_gen_in(&g->r, 0, 127);
  g->output = ARCH_MEMORY_BASE + offset;
  offset += (uint64_t)g->output_bytes + MARGIN_BYTES;
  g->dump = ARCH_MEMORY_BASE + offset;
  offset += (uint64_t)g->d.sp_rows * g->d.sp_row_bytes + (uint64_t)g->d.acc_rows * g->d.acc_row_bytes + MARGIN_BYTES;
  p->image_bytes = (offset + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  p->image = wf_alloc(p->image_bytes, 1);
  int64_t style = sim_gen_in(&g->r, 0, 4);
  for (size_t i = 0; i < p->image_bytes; i++) p->image[i] = draw_byte(&g->r, style);
}

sim_gen_program *sim_gen_program_create(const hw_array *array, uint64_t seed, const sim_gen_options *options) {
  sim_gen g = {.r = sim_gen_random_of(seed, 1), .array = array, .d = hw_derive(array), .options = *options};
  g.program = WF_NEW(sim_gen_program);
  g.program->array = array;
  g.program->seed = seed;
  if (sim_gen_one_in(&g.r, 4)) g.max_delay = (uint32_t)sim_gen_in(&g.r, 1, 200);
  g.all_filled = g.d.sp_rows + g.d.acc_rows <= FILL_ALL_ROWS;
  lay_out(&g);
  g.judge = sim_gen_judge_create(array, g.program->image_bytes);
  g.trial = sim_gen_judge_create(array, g.program->image_bytes);
  assert(g.judge != NULL && g.trial != NULL);
  draw_anchors(&g);
  fill(&g);
  sim_gen_judge_clean(g.judge);
  dump_config(&g, 1);
  bool counts = sim_gen_one_in(&g.r, 2);
  if (counts) all_counters(&g, true);
  if (options->only != 0) sim_gen_fence(&g);
  draw_middle(&g);
  if (options->only != 0) sim_gen_fence(&g);
  dump_memory(&g, false);
  dump_memory(&g, true);
  if (counts) all_counters(&g, false);
  give_tokens(g.program, &g.r);
  sim_gen_judge_destroy(g.judge);
  sim_gen_judge_destroy(g.trial);
  return g.program;
}
