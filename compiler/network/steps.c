// SPDX-License-Identifier: Apache-2.0
// Step lists: see steps.h.
#include "compiler/network/steps.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "compiler/network/curve.h"

// ---- shapes

static uint64_t hash_word(uint64_t hash, int64_t word) { return wf_hash(hash, &word, sizeof word); }
static uint64_t hash_text(uint64_t hash, const char *text) { return wf_hash(hash, text, strlen(text) + 1); }

// A kernel and its arguments; numbers of floating point are scales, which take no time.
static uint64_t hash_kernel(uint64_t hash, const layer_call *call) {
  hash = hash_text(hash, layer_kernels[call->kernel].name);
  for (int i = 0; i < call->argument_count; i++) {
    const lang_arg *argument = &call->arguments[i];
    hash = hash_word(hash_text(hash, argument->name), argument->value.kind);
    if (argument->value.kind == LANG_TEXT) hash = hash_text(hash, argument->value.text);
    if (argument->value.kind != LANG_FLOAT) hash = hash_word(hash, argument->value.integer);
  }
  return call->style == BLOCK_STYLE_PRIMITIVE ? hash : hash_word(hash, call->style);
}

static bool is_same_place(network_place a, network_place b) { return a.buffer == b.buffer && a.offset == b.offset; }

// An operand: how it is walked over, and whether the result takes its place.
static uint64_t hash_operand(uint64_t hash, const network_call *call, int operand) {
  const struct weft_host_operand *o = &call->call.operand[operand];
  const bool used = call->place[operand].buffer >= 0;
  hash = hash_word(hash, used + 2 * (used && is_same_place(call->place[0], call->place[operand])));
  hash = hash_word(hash_word(hash, o->type), o->element_bytes);
  for (uint32_t d = 0; d < call->call.rank; d++) hash = hash_word(hash, o->step[d]);
  return hash;
}

static uint64_t hash_call(uint64_t hash, const network_call *call) {
  const struct weft_host_call *c = &call->call;
  hash = hash_word(hash_word(hash_word(hash, c->op), c->rank), c->outer);
  for (uint32_t d = 0; d < c->rank; d++) hash = hash_word(hash, c->dim[d]);
  for (int i = 0; i < WEFT_HOST_INTEGERS; i++) hash = hash_word(hash, c->integer[i]);
  for (int o = 0; o < WEFT_HOST_OPERANDS; o++) hash = hash_operand(hash, call, o);
  return hash;
}

uint64_t network_shape_of(const layer_call *call) {
  return hash_kernel(hash_word(WF_HASH_START, GRAPH_ON_ARRAY), call);
}

// What of a kernel without a call takes time: its commands, not the numbers in them.
static uint64_t hash_unit(uint64_t hash, const network_unit *unit) {
  const graph_unit *what = &unit->what;
  hash = hash_word(hash_word(hash_text(hash, network_unit_name(unit)), unit->rows), unit->cols);
  if (unit->curve != NULL) return hash_word(hash, (int64_t)network_curve_shape(unit->curve));
  if (what->op == GRAPH_OP_QNORM_MESH) return hash_word(hash, what->gain[0]);
  hash = hash_word(hash_word(hash_word(hash, what->two_copies), what->offset != 0), what->centred);
  if (what->lengths == NULL) return hash;
  return wf_hash(hash, what->lengths, (size_t)what->length_count * sizeof *what->lengths);
}

uint64_t network_step_shape(const network *net, const network_step *step) {
  uint64_t hash = hash_word(WF_HASH_START, step->place);
  const network_kernel *kernel = step->place == GRAPH_ON_ARRAY ? &net->kernels[step->kernel] : NULL;
  if (kernel != NULL && kernel->unit != NULL) return hash_unit(hash, kernel->unit);
  if (kernel != NULL) return kernel->call != NULL ? network_shape_of(kernel->call) : hash_text(hash, kernel->text);
  for (int c = 0; c < step->call_count; c++) hash = hash_call(hash, &step->calls[c]);
  return hash_word(hash, step->edge);
}

// ---- the list

// Places of entries by their keys, 1 and the number, with open addressing; at most half full.
typedef struct key_index {
  int *places;
  size_t room;
} key_index;

static key_index make_index(size_t count) {
  key_index index = {.room = 64};
  while (index.room < 2 * count) index.room *= 2;
  index.places = WF_NEW_ARRAY(index.room, int);
  return index;
}

// The entry with a key; if there is none, the number of the next one, which has the place now.
static int find_entry(const network_step_list *list, key_index *index, uint64_t key) {
  size_t at = key & (index->room - 1);
  while (index->places[at] != 0 && list->entries[index->places[at] - 1].key != key) at = (at + 1) & (index->room - 1);
  if (index->places[at] == 0) index->places[at] = list->count + 1;
  return index->places[at] - 1;
}

network_step_list network_list_steps(const network *net) {
  const size_t room = (size_t)net->step_count + 1;
  network_step_list list = {.entries = WF_NEW_ARRAY(room, network_entry), .entry_of = WF_NEW_ARRAY(room, int)};
  key_index index = make_index(room);
  uint64_t before = 0;
  for (int s = 0; s < net->step_count; s++) {
    const uint64_t shape = network_step_shape(net, &net->steps[s]), pair[2] = {shape, before};
    const uint64_t key = wf_hash(WF_HASH_START, pair, sizeof pair);
    const int e = find_entry(&list, &index, key);
    if (e == list.count)
      list.entries[list.count++] = (network_entry){.first = s, .shape = shape, .key = key, .macs = net->steps[s].macs};
    list.entries[e].count++;
    list.entry_of[s] = e;
    before = shape;
  }
  wf_free(index.places);
  return list;
}

void network_list_release(network_step_list *list) {
  wf_free(list->entries);
  wf_free(list->entry_of);
  *list = (network_step_list){0};
}

// ---- what is known of a step

const map_layer *network_layer_of(const network *net, const network_step *step) {
  if (step->place != GRAPH_ON_ARRAY) return NULL;
  const layer_call *call = net->kernels[step->kernel].call;
  return call != NULL && call->is_layer ? &call->layer : NULL;
}

static uint64_t bytes_at(const network *net, network_place place) {
  return place.buffer < 0 ? 0 : net->buffers[place.buffer].bytes;
}

uint64_t network_bytes_of(const network *net, const network_step *step) {
  uint64_t bytes = 0;
  for (int o = 0; o < step->operand_count; o++) bytes += bytes_at(net, step->operands[o].place);
  for (int c = 0; c < step->call_count; c++)
    for (int o = 0; o < WEFT_HOST_OPERANDS; o++) bytes += bytes_at(net, step->calls[c].place[o]);
  return bytes;
}
