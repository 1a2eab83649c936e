// SPDX-License-Identifier: Apache-2.0
// What the hardware did with a program, remembered in a file: see cosim.h.
//
// A line is `KEY MEMORY RECORDS CYCLES` in hexadecimal. The key covers all that the hardware's behaviour follows from:
// its sources, the array, the program and its image, the delays, the rubbish before reset. What it does not cover is
// the code around the model (memory timing, bus): a digest that differs is therefore no verdict, the hardware then runs
// again and its line is written anew; the last line of a key counts.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "hw/rtl_files.h"
#include "sim/tests/cosim/cosim.h"

typedef struct line {
  uint64_t key;
  cosim_digest digest;
} line;

struct cosim_memo {
  FILE *file;
  uint64_t hardware;  // hash of the sources
  line *lines;
  size_t count, room;
};

static void keep(cosim_memo *memo, uint64_t key, const cosim_digest *digest) {
  if (memo->count == memo->room) {
    memo->room = memo->room == 0 ? 1024 : 2 * memo->room;
    memo->lines = wf_realloc(memo->lines, memo->room, sizeof *memo->lines);
  }
  memo->lines[memo->count++] = (line){.key = key, .digest = *digest};
}

cosim_memo *cosim_memo_open(const char *path) {
  FILE *file = fopen(path, "a+");
  if (file == NULL) return NULL;
  setvbuf(file, NULL, _IOLBF, 0);  // whole lines, so that several processes may append
  cosim_memo *memo = WF_NEW(cosim_memo);
  memo->file = file;
  memo->hardware = WF_HASH_START;
  for (size_t i = 0; i < hw_rtl_file_count; i++)
    memo->hardware = wf_hash(memo->hardware, hw_rtl_files[i].text, strlen(hw_rtl_files[i].text));
  uint64_t key;
  cosim_digest d;
  rewind(file);
  while (fscanf(file, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &key, &d.memory, &d.records, &d.cycles) == 4)
    keep(memo, key, &d);
  fseek(file, 0, SEEK_END);
  return memo;
}

void cosim_memo_close(cosim_memo *memo) {
  if (memo == NULL) return;
  fclose(memo->file);
  wf_free(memo->lines);
  wf_free(memo);
}

static uint64_t hash_number(uint64_t hash, uint64_t number) { return wf_hash(hash, &number, sizeof number); }

static uint64_t hash_array(uint64_t hash, const hw_array *array) {
  size_t count;
  const hw_param *params = hw_params(&count);
  for (size_t i = 0; i < count; i++) hash = hash_number(hash, hw_param_get(array, &params[i]));
  return hash;
}

static uint64_t hash_item(uint64_t hash, const sim_gen_item *item) {
  hash = hash_number(hash, (uint64_t)item->fence << 40 | (uint64_t)item->command.funct << 32 | item->delay);
  return hash_number(hash_number(hash, item->command.rs1), item->command.rs2);
}

static uint64_t key_of(const cosim_memo *memo, const cosim_setup *setup, const sim_gen_program *program) {
  uint64_t hash = hash_array(memo->hardware, program->array);
  hash = hash_number(hash_number(hash, setup->disturb), setup->garbage);
  for (size_t i = 0; i < program->count; i++) hash = hash_item(hash, &program->items[i]);
  return wf_hash(hash, program->image, program->image_bytes);
}

bool cosim_memo_find(const cosim_memo *memo, const cosim_setup *setup, const sim_gen_program *program,
                     cosim_digest *digest) {
  uint64_t key = key_of(memo, setup, program);
  for (size_t i = memo->count; i-- > 0;) {
    if (memo->lines[i].key != key) continue;
    *digest = memo->lines[i].digest;
    return true;
  }
  return false;
}

void cosim_memo_add(cosim_memo *memo, const cosim_setup *setup, const sim_gen_program *program,
                    const cosim_digest *digest) {
  uint64_t key = key_of(memo, setup, program);
  keep(memo, key, digest);
  fprintf(memo->file, "%016" PRIx64 " %016" PRIx64 " %016" PRIx64 " %" PRIx64 "\n", key, digest->memory,
          digest->records, digest->cycles);
}
