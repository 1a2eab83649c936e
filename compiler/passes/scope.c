// SPDX-License-Identifier: Apache-2.0
// Buffers get their memory: what products read and what leaves as it came lies in the scratchpad, sums in the
// accumulator. A buffer that would have to lie in both is refused; fuse leaves none.
#include "compiler/block/build.h"
#include "compiler/passes/passes.h"

typedef struct placer {
  block_program *program;
  wf_diag *diag;
  bool failed;
} placer;

static const char *const scope_names[] = {
    [BLOCK_UNPLACED] = "", [BLOCK_SP] = "scratchpad", [BLOCK_ACC] = "accumulator"};

static void place(placer *p, const block_statement *s, int buffer, block_scope scope) {
  block_buffer *b = &p->program->buffers[buffer];
  bool fits = b->type == (scope == BLOCK_SP ? BLOCK_I8 : BLOCK_I32);
  if (fits && (b->scope == BLOCK_UNPLACED || b->scope == scope)) {
    b->scope = scope;
    return;
  }
  wf_error(p->diag, s->where, "the block '%s' cannot lie in the %s", b->name, scope_names[scope]);
  wf_hint(
      p->diag,
      "the scratchpad takes int8 blocks that dot reads or that are stored as they were loaded, the accumulator sums");
  p->failed = true;
}

static void visit(void *context, block_statement *s) {
  placer *p = context;
  switch (s->kind) {
    case BLOCK_FOR:
      break;
    case BLOCK_DOT:
      place(p, s, s->dot.a.buffer, BLOCK_SP);
      place(p, s, s->dot.b.buffer, BLOCK_SP);
      place(p, s, s->dot.target.buffer, BLOCK_ACC);
      break;
    case BLOCK_LOAD:
      place(p, s, s->load.target.buffer,
            p->program->buffers[s->load.target.buffer].type == BLOCK_I8 ? BLOCK_SP : BLOCK_ACC);
      break;
    case BLOCK_STORE:
      place(p, s, s->store.source.buffer,
            p->program->buffers[s->store.source.buffer].type == BLOCK_I8 ? BLOCK_SP : BLOCK_ACC);
      if (s->store.apart) place(p, s, s->store.statistics.buffer, BLOCK_ACC);
      if (s->store.gated) place(p, s, s->store.factors.buffer, BLOCK_SP);
      break;
    case BLOCK_ELEMENTWISE:
      wf_error(p->diag, s->where, "the accelerator has no '%s' for blocks on their own",
               block_op_names[s->elementwise.op]);
      wf_hint(p->diag, "run the pass 'fuse' before 'scope'");
      p->failed = true;
  }
}

bool pass_scope(block_program *program, const map_mapping *mapping, const hw_array *array, wf_diag *diag) {
  (void)mapping, (void)array;
  placer p = {.program = program, .diag = diag};
  block_visit(program->body, visit, &p);
  return !p.failed;
}
