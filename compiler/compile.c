// SPDX-License-Identifier: Apache-2.0
// The pipeline: see `passes` below for its order and docs/compiler.md for what each pass does.
//
// The mapper (or the user) says the block sizes of a kernel, for the layer that the kernel computes. Where the request
// does not say which layer that is, the kernel is lowered with some blocks to see it, and again if the blocks become
// others.
#include "compiler/compile.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/block/build.h"
#include "compiler/passes/passes.h"
#include "compiler/schedule/schedule.h"

const char *const compile_language_names[COMPILE_LANGUAGES] = {"kernel", "block", "command"};
const char *const compile_objective_names[COMPILE_OBJECTIVE_COUNT + 1] = {
#define X(NAME, text) text,
    COMPILE_OBJECTIVES(X)
#undef X
        NULL};

// One compilation under way; `block` and `commands` are what the last pass left.
typedef struct pipeline {
  const compile_request *request;
  compile_result *result;
  wf_diag *diag;
  block_program *block;
  command_program *commands;
} pipeline;

// ---- passes

typedef command_program *command_pass(command_program *program);  // takes the program

typedef struct pass_entry {
  const char *name;
  pass_function *on_block;    // either this
  command_pass *on_commands;  // or this, or neither: the front end, and expansion
} pass_entry;

static command_program *roll(command_program *program) {
  command_program *rolled = command_roll(program);
  command_destroy(program);
  return rolled;
}

static const pass_entry passes[] = {
    {.name = "lower"},
    {.name = "fuse", .on_block = pass_fuse},
    {.name = "tile", .on_block = pass_tile},
    {.name = "scope", .on_block = pass_scope},
    {.name = "hoist", .on_block = pass_hoist},
    {.name = "buffers", .on_block = pass_buffers},
    {.name = "expand"},
    {.name = "fold", .on_commands = command_fold_own},
    {.name = "tokens", .on_commands = command_give_tokens},
    {.name = "roll", .on_commands = roll},
};
enum { PASSES = sizeof passes / sizeof passes[0], LOWER = 0, EXPAND = 6, ROLL = PASSES - 1 };

const char *compile_pass_name(size_t index) { return index < PASSES ? passes[index].name : NULL; }

// How many of the passes are run. A caller that watches them sees all.
static size_t passes_of(const pipeline *p) { return p->request->straight && p->request->after == NULL ? ROLL : PASSES; }

// Every pass must leave a well-formed program; one that does not is the compiler's fault. Verifying commands takes as
// long as making them, so only the last pass is verified unless a caller watches the passes.
static bool verify(const pipeline *p, const char *name) {
  if (p->commands != NULL && p->request->after == NULL && strcmp(name, passes[passes_of(p) - 1].name) != 0) return true;
  const bool good = p->commands != NULL ? command_prove(p->commands, p->diag) : block_verify(p->block, p->diag);
  if (!good) wf_error(p->diag, wf_in_file(p->request->file), "the program is not well formed after pass %s", name);
  return good;
}

static bool finish(const pipeline *p, const char *name) {
  const compile_stage stage = {.pass = name, .block = p->commands == NULL ? p->block : NULL, .commands = p->commands};
  if (p->request->after != NULL) p->request->after(p->request->context, &stage);
  return verify(p, name);
}

static bool run_pass(pipeline *p, const pass_entry *entry, const map_mapping *mapping) {
  const hw_array *array = p->request->array;
  if (entry->on_block != NULL) {
    if (!entry->on_block(p->block, mapping, array, p->diag)) return false;
  } else if (entry->on_commands != NULL) {
    p->commands = entry->on_commands(p->commands);
  } else {
    p->commands = sched_commands(p->block,
                                 &(sched_options){.array = array,
                                                  .costs = p->request->costs == NULL ? &cost_fitted : p->request->costs,
                                                  .whole_stores = p->request->for_c},
                                 p->diag);
    if (p->commands == NULL) return false;
  }
  return finish(p, entry->name);
}

// Passes [first, end).
static bool run_passes_to(pipeline *p, size_t first, size_t end, const map_mapping *mapping) {
  bool good = true;
  for (size_t i = first; i < end && good; i++) good = run_pass(p, &passes[i], mapping);
  return good;
}

static bool run_passes(pipeline *p, size_t first, const map_mapping *mapping) {
  return run_passes_to(p, first, passes_of(p), mapping);
}

static void drop(pipeline *p) {
  if (p->block != NULL) block_destroy(p->block);
  if (p->commands != NULL) command_destroy(p->commands);
  p->block = NULL;
  p->commands = NULL;
}

// From a lowered program to commands. The lowered program stays as it is, for a caller that runs it. Messages of passes
// show the kernel's lines, as those of the kernel language do.
static bool to_commands(pipeline *p, const block_program *lowered, const map_mapping *mapping) {
  const wf_diag before = *p->diag;
  p->block = block_copy(lowered);
  if (p->result->instance != NULL) p->diag->show = lang_show, p->diag->source = p->result->instance->file;
  const bool good = finish(p, passes[LOWER].name) && run_passes(p, LOWER + 1, mapping);
  p->diag->show = before.show;
  p->diag->source = before.source;
  return good;
}

// ---- block sizes of kernels

static void drop_lowered(compile_result *r) {
  if (r->block != NULL) block_destroy(r->block);
  r->block = NULL;
}

// The dimension that a parameter is the block size of, or BLOCK_DIM_NONE. In matrix products, which have no P and no C,
// M, N, K are P, K, C.
static block_dim_id dim_of_param(const lang_kernel *kernel, const lang_param *param) {
  if (param->kind != LANG_CONSTEXPR || strncmp(param->name, "BLOCK_", 6) != 0 || strlen(param->name) != 7)
    return BLOCK_DIM_NONE;
  const char letter = param->name[6];
  const bool product = lang_find_param(kernel, "BLOCK_P") < 0 && lang_find_param(kernel, "BLOCK_C") < 0;
  const char *const from = product ? "MNK" : "NPQKCRS";
  static const block_dim_id of_product[] = {BLOCK_DIM_P, BLOCK_DIM_K, BLOCK_DIM_C};
  const char *at = strchr(from, letter);
  if (at == NULL) return BLOCK_DIM_NONE;
  return product ? of_product[at - from] : (block_dim_id)(at - from);
}

static bool is_free(const pipeline *p, const lang_param *param) {
  return dim_of_param(p->result->instance->kernel, param) != BLOCK_DIM_NONE &&
         lang_args_find(&p->request->arguments, param->name) == NULL;
}

// Gives a block size that the user left open; a program that was lowered with another one is dropped.
static bool set_block(pipeline *p, int param, lang_value size) {
  compile_result *r = p->result;
  if (lang_value_equal(&r->instance->values[param], &size)) return true;
  drop_lowered(r);
  return lang_set(r->instance, r->instance->kernel->params[param].name, size, p->diag);
}

static bool set_blocks(pipeline *p, const int64_t *tile) {
  const lang_kernel *kernel = p->result->instance->kernel;
  for (int i = 0; i < kernel->param_count; i++)
    if (is_free(p, &kernel->params[i]) && !set_block(p, i, lang_int(tile[dim_of_param(kernel, &kernel->params[i])])))
      return false;
  return true;
}

static bool has_free_blocks(const pipeline *p) {
  const lang_kernel *kernel = p->result->instance->kernel;
  for (int i = 0; i < kernel->param_count; i++)
    if (is_free(p, &kernel->params[i])) return true;
  return false;
}

// ---- lowering

// The layer that a program shows, and the mapping that has its blocks.
static void read_layer(compile_result *r) {
  r->mapped = map_of_block(r->block, &r->layer, &r->mapping);
  if (!r->mapped) r->mapping = map_none();
}

// The same where the request says the layer. Loops over dimensions that have no block size take elements one by one; a
// window of which the largest is taken is one block.
static void take_layer(pipeline *p) {
  compile_result *r = p->result;
  const lang_kernel *kernel = r->instance->kernel;
  int64_t *tile = r->mapping.tile;
  r->mapped = true;
  r->layer = *p->request->layer;
  for (int d = 0; d < BLOCK_DIMS; d++) tile[d] = 1;
  if (r->layer.kind == MAP_WINDOW && r->layer.pool_size != 0) {
    tile[BLOCK_DIM_R] = r->layer.size[BLOCK_DIM_R];
    tile[BLOCK_DIM_S] = r->layer.size[BLOCK_DIM_S];
  }
  for (int i = 0; i < kernel->param_count; i++) {
    const block_dim_id dim = dim_of_param(kernel, &kernel->params[i]);
    if (dim != BLOCK_DIM_NONE) tile[dim] = r->instance->values[i].integer;
  }
}

static void find_layer(pipeline *p) {
  if (p->request->layer != NULL)
    take_layer(p);
  else
    read_layer(p->result);
}

static void note_known(const compile_request *request, block_program *program) {
  for (int t = 0; t < program->tensor_count && request->packed_tensor != NULL; t++)
    if (strcmp(program->tensors[t].name, request->packed_tensor) == 0) program->tensors[t].packed = true;
  for (int t = 0; t < program->tensor_count && request->known != NULL; t++)
    if (strcmp(program->tensors[t].name, request->known_tensor) == 0) program->tensors[t].known = request->known;
}

// The program with the blocks that are set; the one that is there if it has them.
static bool lower(pipeline *p) {
  compile_result *r = p->result;
  if (r->block == NULL && lang_ready(r->instance, p->diag)) r->block = lang_lower(r->instance, p->diag);
  if (r->block == NULL) return false;
  note_known(p->request, r->block);
  find_layer(p);
  return true;
}

// The kernel takes its blocks from the mapping; one that has other blocks does not follow it.
static bool check_blocks(const pipeline *p, const map_mapping *mapping) {
  const map_mapping *lowered = &p->result->mapping;
  for (int d = 0; d < BLOCK_DIMS && p->result->mapped; d++) {
    if (lowered->tile[d] == mapping->tile[d]) continue;
    wf_error(p->diag, wf_in_file(p->request->file), "the mapping's tile of %s is %lld, the program's blocks have %lld",
             block_dim_names[d], (long long)mapping->tile[d], (long long)lowered->tile[d]);
    return false;
  }
  return true;
}

// Lowers with blocks of some size: four tiles.
static bool probe(pipeline *p) {
  const int64_t dim = hw_derive(p->request->array).dim;
  int64_t tile[BLOCK_DIMS];
  for (int d = 0; d < BLOCK_DIMS; d++) tile[d] = 4 * dim;
  tile[BLOCK_DIM_N] = tile[BLOCK_DIM_R] = tile[BLOCK_DIM_S] = 1;
  return set_blocks(p, tile) && lower(p);
}

// The mapping for the program as it was lowered: the user's, or the heuristic one with these blocks.
static bool choose_for_blocks(pipeline *p) {
  compile_result *r = p->result;
  if (!r->mapped) return true;
  const map_mapping lowered = r->mapping;
  return map_default(&r->layer, p->request->array, lowered.tile, p->request->style, &r->mapping, p->diag);
}

// The tiles that no open parameter sets, 0 for the others.
static void fixed_tiles(const pipeline *p, int64_t *tile) {
  const lang_kernel *kernel = p->result->instance->kernel;
  memcpy(tile, p->result->mapping.tile, sizeof p->result->mapping.tile);
  for (int i = 0; i < kernel->param_count; i++)
    if (is_free(p, &kernel->params[i])) tile[dim_of_param(kernel, &kernel->params[i])] = 0;
}

// Lowers a kernel whose blocks are open with those of a mapping.
static bool lower_with(pipeline *p, const map_mapping *mapping) {
  compile_result *r = p->result;
  if (!set_blocks(p, mapping->tile) || !lower(p) || !check_blocks(p, mapping)) return false;
  r->mapping = *mapping;
  return true;
}

// ---- tuning by simulation

// What is to be tried: a configuration of the kernel (mapping NULL), or a mapping.
typedef struct trial {
  int config;
  const map_mapping *mapping;
  uint64_t cycles;  // by the last judge
  double value;     // the least is the best
} trial;

static bool prepare(pipeline *p, const trial *t) {
  if (t->mapping != NULL) return lower_with(p, t->mapping);
  drop_lowered(p->result);
  return lang_set_config(p->result->instance, t->config, p->diag) && lower(p) && choose_for_blocks(p);
}

// What it takes by a judge, or false if it cannot be compiled: the reasons are its own affair.
static bool measure(const pipeline *p, compile_judge judge, const trial *t, compile_verdict *verdict) {
  wf_diag silent = wf_diag_to(NULL);
  compile_request request = *p->request;
  request.after = NULL;
  request.straight = true;
  pipeline own = {.request = &request, .result = p->result, .diag = &silent};
  const bool good = prepare(&own, t) && to_commands(&own, own.result->block, &own.result->mapping) &&
                    judge(own.commands, verdict, &silent);
  drop(&own);
  return good;
}

double compile_value(compile_objective objective, const compile_verdict *v) {
  if (objective == COMPILE_CYCLES) return (double)v->cycles;
  if (!v->has_energy) return INFINITY;
  return objective == COMPILE_ENERGY ? v->energy_pj : v->energy_pj * (double)v->cycles;
}

double compile_part_value(compile_objective objective, const compile_verdict *whole, const compile_verdict *part) {
  const bool cycles_alone = objective == COMPILE_CYCLES || !whole->has_energy || !(whole->energy_pj > 0);
  if (cycles_alone) return (double)part->cycles;
  const double energy = part->energy_pj / whole->energy_pj * (double)whole->cycles;
  return objective == COMPILE_ENERGY ? energy : (double)part->cycles + energy;
}

// Orders trials by a judge, the best first, without those that cannot be compiled; returns how many are left.
static size_t rank(pipeline *p, compile_judge judge, trial *trials, size_t count) {
  size_t ranked = 0;
  for (size_t i = 0; i < count; i++) {
    trial t = trials[i];
    compile_verdict verdict;
    if (!measure(p, judge, &t, &verdict)) continue;
    t.cycles = verdict.cycles;
    t.value = compile_value(p->request->tuning.objective, &verdict);
    size_t at = ranked++;
    for (; at > 0 && trials[at - 1].value > t.value; at--) trials[at] = trials[at - 1];
    trials[at] = t;
  }
  return ranked;
}

// Keeps the trials that are best on the screen, and the first trial, which then stands before equally good ones.
static size_t screen(pipeline *p, trial *trials, size_t count) {
  const compile_tuning *tuning = &p->request->tuning;
  const trial first = trials[0];
  size_t left = rank(p, tuning->screen, trials, count);
  if (left > tuning->confirmed) left = tuning->confirmed;
  for (size_t i = 0; i < left; i++)
    if (trials[i].config == first.config && trials[i].mapping == first.mapping) return left;
  memmove(trials + 1, trials, left * sizeof *trials);
  trials[0] = first;
  return left + 1;
}

// The best of several comes first; false: none can be compiled.
static bool find_best(pipeline *p, trial *trials, size_t count) {
  const compile_tuning *tuning = &p->request->tuning;
  if (tuning->screen != NULL && count > tuning->confirmed) count = screen(p, trials, count);
  if (rank(p, tuning->judge, trials, count) == 0) return false;
  p->result->tuned_cycles = trials[0].cycles;
  return true;
}

static bool autotune(pipeline *p) {
  enum { CONFIGS_MAX = 256 };
  const lang_kernel *kernel = p->result->instance->kernel;
  trial trials[CONFIGS_MAX + 1];
  const int count = kernel->config_count < CONFIGS_MAX ? kernel->config_count : CONFIGS_MAX;
  for (int i = 0; i < count; i++) trials[i] = (trial){.config = i};
  if (find_best(p, trials, (size_t)count)) {
    p->result->config = trials[0].config;
    return prepare(p, &trials[0]);
  }
  wf_error(p->diag, kernel->where, "none of the configurations of %s can be compiled for array %s", kernel->name,
           p->request->array->name);
  return false;
}

// Adds those that the list does not have.
static size_t add_new(const map_mapping *from, size_t more, map_mapping *list, size_t count, size_t room) {
  for (size_t i = 0; i < more && count < room; i++) {
    size_t same = 0;
    while (same < count && !map_equal(&list[same], &from[i])) same++;
    if (same == count) list[count++] = from[i];
  }
  return count;
}

size_t compile_list_mappings(const compile_tuning *tuning, const map_layer *layer, const hw_array *array,
                             const int64_t *fixed, block_style style, map_mapping *list) {
  enum { MANY = 65 };
  const size_t room = tuning->count < MAP_BEST_MAX ? tuning->count : MAP_BEST_MAX;
  const size_t best = room < MANY ? room : room - room / 4;
  map_mapping *own = WF_NEW_ARRAY(room + 1, map_mapping);
  const size_t found = map_best(layer, array, fixed, style, own, best);
  size_t count = add_new(own, found < 1 ? found : 1, list, 0, room);
  if (tuning->known != NULL && count == 1) count = tuning->known(tuning->known_context, layer, list, count, room);
  count = add_new(own, found, list, count, best > count ? best : count);
  wf_free(own);
  return room < MANY ? count : map_add_bands(layer, array, list, count, room);
}

// A kernel whose blocks are open, with the best of several mappings by simulation.
static bool tune(pipeline *p, const int64_t *fixed) {
  const size_t room = p->request->tuning.count < MAP_BEST_MAX ? p->request->tuning.count : MAP_BEST_MAX;
  map_mapping *list = WF_NEW_ARRAY(room, map_mapping);
  trial *trials = WF_NEW_ARRAY(room + 1, trial);
  const size_t count =
      compile_list_mappings(&p->request->tuning, &p->result->layer, p->request->array, fixed, p->request->style, list);
  for (size_t i = 0; i < count; i++) trials[i] = (trial){.mapping = &list[i]};
  bool good = count > 0;
  if (!good)
    map_default(&p->result->layer, p->request->array, fixed, p->request->style, list, p->diag);
  else if (find_best(p, trials, count))
    good = lower_with(p, trials[0].mapping);
  else
    good = lower_with(p, &list[0]);  // none can be compiled: the first says why
  wf_free(trials);
  wf_free(list);
  return good;
}

// ---- programs that are no layer

static bool compiles(const pipeline *p) {
  wf_diag silent = wf_diag_to(NULL);
  compile_request request = *p->request;
  request.after = NULL;
  request.straight = true;
  pipeline own = {.request = &request, .result = p->result, .diag = &silent};
  const bool good = to_commands(&own, own.result->block, &own.result->mapping);
  drop(&own);
  return good;
}

// Halves the largest of the open blocks; false when all are 1.
static bool shrink_blocks(pipeline *p) {
  const lang_instance *instance = p->result->instance;
  int largest = -1;
  for (int i = 0; i < instance->kernel->param_count; i++)
    if (is_free(p, &instance->kernel->params[i]) && instance->values[i].kind == LANG_INT &&
        (largest < 0 || instance->values[i].integer > instance->values[largest].integer))
      largest = i;
  if (largest < 0 || instance->values[largest].integer <= 1) return false;
  return set_block(p, largest, lang_int(instance->values[largest].integer / 2));
}

// Blocks as the kernel has them by default, then smaller ones until the memories hold them. If none does, compiling the
// last says why.
static bool fit_blocks(pipeline *p) {
  const lang_kernel *kernel = p->result->instance->kernel;
  for (int i = 0; i < kernel->param_count; i++)
    if (is_free(p, &kernel->params[i]) && kernel->params[i].by_default.kind == LANG_INT &&
        !set_block(p, i, kernel->params[i].by_default))
      return false;
  do {
    if (!lower(p)) return false;
  } while (!compiles(p) && shrink_blocks(p));
  return lower(p);
}

// ---- choice

static bool accept_mapping(const pipeline *p) {
  const compile_result *r = p->result;
  if (r->mapped) return map_check(&r->layer, p->request->mapping, p->request->array, p->diag);
  wf_error(p->diag, wf_in_file(p->request->file), "a mapping is for a single product with one loop per dimension");
  return false;
}

// A mapping for a kernel whose blocks are open, and the kernel lowered with its blocks.
// The first mapping that is known for the layer, if it is legal and has the tiles that are fixed.
static bool find_known(const pipeline *p, const int64_t *fixed, map_mapping *known) {
  const compile_tuning *tuning = &p->request->tuning;
  const map_layer *layer = &p->result->layer;
  if (tuning->known == NULL) return false;
  if (tuning->known(tuning->known_context, layer, known, 0, 1) == 0 || known->style != p->request->style) return false;
  for (int d = 0; d < BLOCK_DIMS; d++)
    if (fixed[d] != 0 && fixed[d] != known->tile[d]) return false;
  return map_check(layer, known, p->request->array, NULL);
}

static bool choose_with_blocks(pipeline *p) {
  if (p->request->layer != NULL)
    take_layer(p);
  else if (!probe(p))
    return false;
  if (p->request->mapping != NULL) return accept_mapping(p) && lower_with(p, p->request->mapping);
  if (!p->result->mapped) return fit_blocks(p);
  int64_t fixed[BLOCK_DIMS];
  fixed_tiles(p, fixed);
  if (p->request->tuning.count > 1) return tune(p, fixed);
  map_mapping chosen;
  if (find_known(p, fixed, &chosen)) return lower_with(p, &chosen);
  return map_default(&p->result->layer, p->request->array, fixed, p->request->style, &chosen, p->diag) &&
         lower_with(p, &chosen);
}

// A mapping for a program whose blocks are given.
static bool choose_around_blocks(pipeline *p) {
  if (p->request->mapping == NULL) return choose_for_blocks(p);
  if (!accept_mapping(p) || !check_blocks(p, p->request->mapping)) return false;
  p->result->mapping = *p->request->mapping;
  return true;
}

static bool choose(pipeline *p) {
  return has_free_blocks(p) ? choose_with_blocks(p) : lower(p) && choose_around_blocks(p);
}

// ---- front ends

static bool read_kernel(pipeline *p) {
  const compile_request *q = p->request;
  compile_result *r = p->result;
  r->file = lang_parse(q->file, q->text, q->length, p->diag);
  const lang_kernel *kernel = r->file == NULL ? NULL : lang_find_kernel(r->file, q->kernel, p->diag);
  if (kernel == NULL) return false;
  r->instance = lang_instantiate(r->file, kernel);
  if (!lang_set_args(r->instance, &q->arguments, p->diag)) return false;
  if (q->autotune && kernel->config_count > 0) return autotune(p);
  return choose(p);
}

static bool read_block(pipeline *p) {
  const compile_request *q = p->request;
  compile_result *r = p->result;
  r->block = block_parse(q->file, q->text, q->length, p->diag);
  if (r->block == NULL || !block_verify(r->block, p->diag)) return false;
  read_layer(r);
  return choose_around_blocks(p);
}

static bool read_commands(pipeline *p) {
  const compile_request *q = p->request;
  p->commands = command_parse(q->file, q->text, q->length, q->array, p->diag);
  return p->commands != NULL && command_prove(p->commands, p->diag) && run_passes(p, EXPAND + 1, NULL);
}

static bool run_pipeline(pipeline *p) {
  if (p->request->from == COMPILE_COMMAND) return read_commands(p);
  if (!(p->request->from == COMPILE_KERNEL ? read_kernel(p) : read_block(p))) return false;
  return to_commands(p, p->result->block, &p->result->mapping);
}

bool compile(const compile_request *request, compile_result *result, wf_diag *diag) {
  assert(request->tuning.judge != NULL || (!request->autotune && request->tuning.count <= 1));
  *result = (compile_result){.config = -1};
  pipeline p = {.request = request, .result = result, .diag = diag};
  const bool good = run_pipeline(&p);
  if (good) {
    result->commands = p.commands;
    p.commands = NULL;
  }
  drop(&p);
  return good;
}

block_program *compile_placed(const compile_request *request, compile_result *result, wf_diag *diag) {
  assert(request->from == COMPILE_KERNEL && (request->tuning.judge != NULL || request->tuning.count <= 1));
  *result = (compile_result){.config = -1};
  pipeline p = {.request = request, .result = result, .diag = diag};
  bool good = read_kernel(&p);
  if (good) p.block = block_copy(result->block);
  good = good && finish(&p, passes[LOWER].name) && run_passes_to(&p, LOWER + 1, EXPAND, &result->mapping);
  block_program *placed = good ? p.block : NULL;
  if (good) p.block = NULL;
  drop(&p);
  return placed;
}

void compile_release(compile_result *result) {
  if (result->block != NULL) block_destroy(result->block);
  if (result->commands != NULL) command_destroy(result->commands);
  if (result->file != NULL) lang_destroy(result->file);
  *result = (compile_result){0};
}
