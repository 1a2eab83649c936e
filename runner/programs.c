// SPDX-License-Identifier: Apache-2.0
// Programs that are kept: see programs.h. The oldest makes room; failures are not kept, since each reports its reasons.
#include "runner/programs.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

// Programs of more nodes than `LARGE` go before the next one is compiled: they take tens of megabytes each.
enum { KEPT = 4, LARGE = 1 << 19 };

// What a program depends on. `single`: a number of its own for one that depends on more, 0 for the others.
typedef struct key {
  uint64_t array, layer, mapping, straight, style, single;
} key;

typedef struct kept {
  bool there;
  key key;
  run_kept program;
} kept;

struct run_programs {
  kept kept[KEPT];
  uint64_t count;  // of programs compiled
};

run_programs *run_programs_create(void) { return WF_NEW(run_programs); }

static void drop(kept *k) {
  if (k->there) compile_release(&k->program.compiled);
  k->there = false;
}

void run_programs_destroy(run_programs *programs) {
  if (programs == NULL) return;
  for (unsigned i = 0; i < KEPT; i++) drop(&programs->kept[i]);
  wf_free(programs);
}

static bool is_single(const layer_policy *policy) {
  return policy->tuning.count > 1 || policy->costs != NULL || policy->known != NULL;
}

static key key_of(const run_programs *programs, const map_layer *layer, const hw_array *array,
                  const layer_policy *policy) {
  return (key){.array = compile_array_hash(array),
               .layer = map_layer_hash(layer),
               .mapping = policy->mapping == NULL ? 0 : map_hash(policy->mapping),
               .straight = policy->straight,
               .style = policy->style,
               .single = is_single(policy) ? programs->count + 1 : 0};
}

static kept *find(run_programs *programs, const key *wanted) {
  for (unsigned i = 0; i < KEPT; i++)
    if (programs->kept[i].there && memcmp(&programs->kept[i].key, wanted, sizeof *wanted) == 0)
      return &programs->kept[i];
  return NULL;
}

static kept *compile_new(run_programs *programs, const key *wanted, const map_layer *layer, const hw_array *array,
                         const layer_policy *policy, wf_diag *diag) {
  kept *k = &programs->kept[programs->count++ % KEPT];
  for (unsigned i = 0; i < KEPT; i++)
    if (programs->kept[i].there && programs->kept[i].program.compiled.commands->count > LARGE) drop(&programs->kept[i]);
  drop(k);
  k->key = *wanted;
  k->there = layer_compile(layer, array, policy, &k->program.compiled, diag);
  if (k->there)
    k->program.digest = run_digest_of(k->program.compiled.commands);
  else
    compile_release(&k->program.compiled);
  return k->there ? k : NULL;
}

// What a digest has of the program is the same on arrays that share it.
const run_kept *run_programs_compile(run_programs *programs, const map_layer *layer, const hw_array *array,
                                     const layer_policy *policy, wf_diag *diag) {
  const key wanted = key_of(programs, layer, array, policy);
  kept *k = find(programs, &wanted);
  const bool shared = k != NULL;
  if (k == NULL) k = compile_new(programs, &wanted, layer, array, policy, diag);
  if (k == NULL) return NULL;
  k->program.shared = shared;
  k->program.compiled.commands->array = array;
  k->program.digest.machine = run_digest_machine(array);
  return &k->program;
}
