// SPDX-License-Identifier: Apache-2.0
// Reads the text of a block program; print.c describes the syntax. Names are declared before they are used, except the
// outer loop of a split. Whether the program makes sense is block_verify's question; what is read here is in the ranges
// that the data structures have.
#include <string.h>

#include "compiler/block/build.h"
#include "compiler/block/lex.h"

// Bounds that keep sums and products of a few such numbers inside 64 bits.
static const int64_t size_max = INT64_C(1) << 40, index_max = INT64_C(1) << 44;
enum { DEPTH_MAX = 64, CONSTANT_MAX = 1 << 20 };

typedef struct parser {
  block_lexer lex;
  block_program *program;
  const char *file;  // in the program's arena: statements keep it
  block_lex_token split[BLOCK_LOOPS_MAX];
  int depth;
} parser;

static bool same(const block_lex_token *token, const char *name) {
  return token->length == strlen(name) && memcmp(token->text, name, token->length) == 0;
}

// ---- names: the index of what the name stands for, or BLOCK_NONE

#define FINDER(what, table, count_of)                                                 \
  static int find_##what(const block_program *program, const block_lex_token *name) { \
    for (int i = 0; i < program->count_of; i++)                                       \
      if (same(name, program->table[i].name)) return i;                               \
    return BLOCK_NONE;                                                                \
  }
FINDER(tensor, tensors, tensor_count)
FINDER(loop, loops, loop_count)
FINDER(buffer, buffers, buffer_count)
#undef FINDER

typedef int finder(const block_program *program, const block_lex_token *name);

static int declared(parser *p, finder *find, const char *what) {
  block_lex_token name = block_lex_name(&p->lex, what);
  int id = p->lex.failed ? BLOCK_NONE : find(p->program, &name);
  if (id == BLOCK_NONE)
    block_lex_error(&p->lex, name.where, "there is no %s '%.*s'", what, (int)name.length, name.text);
  return id == BLOCK_NONE ? 0 : id;
}

static const char *fresh(parser *p, finder *find, const char *what) {
  block_lex_token name = block_lex_name(&p->lex, what);
  if (p->lex.failed) return "";
  if (find(p->program, &name) != BLOCK_NONE)
    block_lex_error(&p->lex, name.where, "there is a %s '%.*s' already", what, (int)name.length, name.text);
  return wf_arena_text(p->program->arena, name.text, name.length);
}

// One of `count` words; `count` if it is none of them.
static int word(parser *p, const char *const *words, int count, const char *what) {
  block_lex_token name = block_lex_name(&p->lex, what);
  for (int i = 0; i < count && !p->lex.failed; i++)
    if (same(&name, words[i])) return i;
  block_lex_error(&p->lex, name.where, "'%.*s' is no %s", (int)name.length, name.text, what);
  return 0;
}

// ---- indexes

static void affine_term(parser *p, block_affine *affine, int64_t sign) {
  block_lexer *lex = &p->lex;
  if (lex->token.kind != LEX_NAME) {
    affine->constant += sign * block_lex_size(lex, "an index", -index_max, index_max);
    return;
  }
  int loop = declared(p, find_loop, "loop");
  int64_t factor = block_lex_take(lex, "*") ? block_lex_size(lex, "the factor of a loop", -index_max, index_max) : 1;
  affine->per_loop[loop] += sign * factor;
}

// A sum of at most as many terms as cannot overflow.
static block_affine parse_affine(parser *p) {
  block_affine affine = {0};
  int64_t sign = 1;
  for (int terms = 0; !p->lex.failed; terms++) {
    if (terms > 4 * BLOCK_LOOPS_MAX) block_lex_error(&p->lex, p->lex.token.where, "too many terms in an index");
    affine_term(p, &affine, sign);
    if (block_lex_is(&p->lex, "+") || block_lex_is(&p->lex, "-"))
      sign = block_lex_take(&p->lex, "+") ? 1 : (block_lex_step(&p->lex), -1);
    else
      break;
  }
  return affine;
}

static void parse_range(parser *p, int64_t *size, int64_t *step) {
  block_lex_expect(&p->lex, ":");
  *size = block_lex_size(&p->lex, "the size of a dimension", 1, size_max);
  *step = block_lex_take(&p->lex, "step") ? block_lex_size(&p->lex, "a step", 1, size_max) : 1;
}

static block_view parse_view(parser *p) {
  int buffer = declared(p, find_buffer, "buffer");
  if (p->lex.failed) return (block_view){0};
  if (!block_lex_take(&p->lex, "[")) return block_whole(p->program, buffer);
  block_view view = {.buffer = buffer};
  for (int d = 0; d < p->program->buffers[buffer].rank; d++) {
    if (d != 0) block_lex_expect(&p->lex, ",");
    view.dim[d].offset = parse_affine(p);
    parse_range(p, &view.dim[d].size, &view.dim[d].step);
  }
  block_lex_expect(&p->lex, "]");
  return view;
}

static block_access parse_access(parser *p) {
  block_lexer *lex = &p->lex;
  block_access access = {.tensor = declared(p, find_tensor, "tensor")};
  block_lex_expect(lex, "[");
  block_affine offset = parse_affine(p);
  if (block_lex_take(lex, ";")) {
    access.base = offset;
    offset = parse_affine(p);
  }
  while (!lex->failed) {
    if (access.rank == BLOCK_RANK_MAX)
      block_lex_error(lex, lex->token.where, "more than %d dimensions", BLOCK_RANK_MAX);
    if (lex->failed) break;
    block_access_dim *dim = &access.dim[access.rank++];
    dim->offset = offset;
    parse_range(p, &dim->size, &dim->step);
    block_lex_expect(lex, "of");
    dim->extent = block_lex_size(lex, "an extent", 1, size_max);
    block_lex_expect(lex, "stride");
    dim->stride = block_lex_size(lex, "a stride", 0, size_max);
    if (!block_lex_take(lex, ",")) break;
    offset = parse_affine(p);
  }
  block_lex_expect(lex, "]");
  return access;
}

// ---- statements

static float parse_scale(parser *p, bool *scaled) {
  *scaled = block_lex_take(&p->lex, "scale");
  if (!*scaled) return 0;
  wf_location where = p->lex.token.where;
  float scale = (float)block_lex_number(&p->lex, "a scale");
  if (scale - scale != 0) block_lex_error(&p->lex, where, "the scale is beyond binary32");
  return scale;
}

static uint32_t parse_sum_over(parser *p) {
  uint32_t loops = 0;
  if (!block_lex_take(&p->lex, "sum_over")) return 0;
  do loops |= UINT32_C(1) << declared(p, find_loop, "loop");
  while (block_lex_take(&p->lex, ","));
  return loops;
}

static bool parse_accumulate(parser *p) {
  if (block_lex_take(&p->lex, "+=")) return true;
  block_lex_expect(&p->lex, "=");
  return false;
}

static bool parse_transposed(parser *p) {
  if (!block_lex_take(&p->lex, ".")) return false;
  block_lex_expect(&p->lex, "T");
  return true;
}

static void parse_load(parser *p, block_statement *s) {
  s->load.target = parse_view(p);
  s->load.accumulate = parse_accumulate(p);
  s->load.access = parse_access(p);
  s->load.scale = parse_scale(p, &s->load.scaled);
  s->load.overwrite_first = parse_sum_over(p);
}

static void parse_dot(parser *p, block_statement *s) {
  s->dot.target = parse_view(p);
  s->dot.accumulate = parse_accumulate(p);
  s->dot.a = parse_view(p);
  s->dot.a_transposed = parse_transposed(p);
  block_lex_expect(&p->lex, "*");
  s->dot.b = parse_view(p);
  s->dot.b_transposed = parse_transposed(p);
  s->dot.blocks = block_lex_take(&p->lex, "blocks");
  s->dot.overwrite_first = parse_sum_over(p);
}

static block_operand parse_operand(parser *p) {
  if (p->lex.token.kind == LEX_NAME) return (block_operand){.view = parse_view(p)};
  return (block_operand){.is_number = true, .number = block_lex_number(&p->lex, "a buffer or number")};
}

static void parse_elementwise(parser *p, block_statement *s) {
  s->elementwise.target = parse_view(p);
  block_lex_expect(&p->lex, "=");
  s->elementwise.a = parse_operand(p);
  if (block_op_arity(s->elementwise.op) == 1) return;
  block_lex_expect(&p->lex, ",");
  s->elementwise.b = parse_operand(p);
}

static uint32_t small(parser *p, const char *what, int64_t min) {
  return (uint32_t)block_lex_size(&p->lex, what, min, 1 << 20);
}

static int32_t constant_of(parser *p) { return (int32_t)block_lex_size(&p->lex, "a constant", 0, INT32_MAX); }

// Rows leave scaled by 1; GELU has a scale of its own, and constants below 0, which are written without their sign.
static void parse_norm(parser *p, block_epilogue *e) {
  for (int k = BLOCK_NO_NORM + 1; k < BLOCK_NORM_COUNT && e->norm.kind == BLOCK_NO_NORM; k++)
    if (block_lex_take(&p->lex, block_norm_names[k])) e->norm.kind = (block_norm_kind)k;
  if (e->norm.kind == BLOCK_NO_NORM) return;
  const bool gelu = e->norm.kind == BLOCK_GELU;
  if (!gelu) e->scaled = true, e->scale = 1;
  if (e->norm.kind == BLOCK_LAYER_NORM) return;
  e->norm.b = gelu ? -constant_of(p) : constant_of(p);
  e->norm.c = gelu ? -constant_of(p) : constant_of(p);
  if (gelu) return;
  e->norm.ln2 = constant_of(p);
  e->norm.ln2_inverse = constant_of(p);
}

// columns MOST [below INDEX [step N]]
static void parse_lengths(parser *p, block_lengths *lengths) {
  if (!block_lex_take(&p->lex, "columns")) return;
  lengths->most = block_lex_size(&p->lex, "a number of columns", 1, size_max);
  lengths->first.constant = lengths->most;
  if (!block_lex_take(&p->lex, "below")) return;
  lengths->first = parse_affine(p);
  if (block_lex_take(&p->lex, "step")) lengths->step = block_lex_size(&p->lex, "a step", -INT32_MAX, INT32_MAX);
}

// gate VIEW scale F
static void parse_gate(parser *p, block_statement *s) {
  bool scaled;
  s->store.gated = block_lex_take(&p->lex, "gate");
  if (!s->store.gated) return;
  s->store.factors = parse_view(p);
  s->store.gate_scale = parse_scale(p, &scaled);
  if (!scaled) s->store.gate_scale = 1;
}

static void parse_store(parser *p, block_statement *s) {
  block_epilogue *e = &s->store.epilogue;
  s->store.access = parse_access(p);
  block_lex_expect(&p->lex, "=");
  s->store.source = parse_view(p);
  e->relu = block_lex_take(&p->lex, "relu");
  e->scale = parse_scale(p, &e->scaled);
  parse_norm(p, e);
  s->store.apart = e->norm.kind == BLOCK_LAYER_NORM && block_lex_take(&p->lex, "of");
  if (s->store.apart) s->store.statistics = parse_view(p);
  if (e->norm.kind == BLOCK_SOFTMAX) parse_lengths(p, &s->store.lengths);
  parse_gate(p, s);
  if (!block_lex_take(&p->lex, "pool")) return;
  e->pool.size = small(p, "the size of a pooling window", 1);
  block_lex_expect(&p->lex, "stride");
  e->pool.stride = small(p, "the stride of a pooling window", 1);
  if (block_lex_take(&p->lex, "border")) e->pool.border = small(p, "a border", 0);
  if (!block_lex_take(&p->lex, "pad")) return;
  e->pool.upper_padding = small(p, "padding", 0);
  e->pool.left_padding = small(p, "padding", 0);
}

static void parse_list(parser *p, block_statement **list);

static void end_line(parser *p) {
  if (p->lex.token.kind == LEX_LINE)
    block_lex_step(&p->lex);
  else if (p->lex.token.kind != LEX_END)
    block_lex_error(&p->lex, p->lex.token.where, "expected the end of the line");
}

static void parse_for(parser *p, block_statement *s) {
  s->loop.loop = declared(p, find_loop, "loop");
  if (++p->depth > DEPTH_MAX) block_lex_error(&p->lex, s->where, "loops nest too deep");
  block_lex_expect(&p->lex, "{");
  end_line(p);
  parse_list(p, &s->loop.body);
  block_lex_expect(&p->lex, "}");
  p->depth--;
}

static void parse_list(parser *p, block_statement **list) {
  static const struct {
    const char *word;
    block_kind kind;
    void (*parse)(parser *, block_statement *);
  } kinds[] = {{"for", BLOCK_FOR, parse_for},
               {"load", BLOCK_LOAD, parse_load},
               {"dot", BLOCK_DOT, parse_dot},
               {"store", BLOCK_STORE, parse_store}};
  while (p->lex.token.kind != LEX_END && !block_lex_is(&p->lex, "}")) {
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && !block_lex_is(&p->lex, kinds[k].word)) k++;
    bool known = k < sizeof kinds / sizeof *kinds;
    wf_location where = p->lex.token.where;
    where.file = p->file;
    int op = known ? (block_lex_step(&p->lex), 0) : word(p, block_op_names, BLOCK_OP_COUNT, "statement");
    block_statement *s = block_add(p->program, list, known ? kinds[k].kind : BLOCK_ELEMENTWISE, where);
    list = &s->next;
    if (!known) s->elementwise.op = (block_op)op;
    (known ? kinds[k].parse : parse_elementwise)(p, s);
    end_line(p);
  }
}

// ---- declarations

// VALUE[*COUNT] ... up to the end of the line, as many as the tensor has.
static void parse_contents(parser *p, block_tensor *tensor) {
  wf_location where = p->lex.token.where;
  if (tensor->elements > CONSTANT_MAX)
    block_lex_error(&p->lex, where, "a constant has at most %d elements", CONSTANT_MAX);
  int8_t *contents = p->lex.failed ? NULL : WF_ARENA_ARRAY(p->program->arena, (size_t)tensor->elements, int8_t);
  int64_t count = 0;
  while (!p->lex.failed && p->lex.token.kind != LEX_LINE && p->lex.token.kind != LEX_END) {
    int64_t value = block_lex_size(&p->lex, "an element", INT8_MIN, INT8_MAX);
    int64_t times = block_lex_take(&p->lex, "*") ? block_lex_size(&p->lex, "a number of elements", 1, CONSTANT_MAX) : 1;
    for (; times > 0 && count < tensor->elements; times--) contents[count++] = (int8_t)value;
    if (times > 0) block_lex_error(&p->lex, where, "more elements than the tensor has");
  }
  if (count < tensor->elements) block_lex_error(&p->lex, where, "fewer elements than the tensor has");
  tensor->contents = contents;
}

static void parse_tensor(parser *p) {
  const char *name = fresh(p, find_tensor, "tensor");
  block_type type = (block_type)word(p, block_type_names, BLOCK_TYPES, "type");
  block_lex_expect(&p->lex, "[");
  int id = block_add_tensor(p->program, name, type, block_lex_size(&p->lex, "the size of a tensor", 1, size_max));
  block_lex_expect(&p->lex, "]");
  p->program->tensors[id].read = block_lex_take(&p->lex, "read");
  p->program->tensors[id].written = block_lex_take(&p->lex, "write");
  p->program->tensors[id].packed = block_lex_take(&p->lex, "packed");
  if (block_lex_take(&p->lex, "=")) parse_contents(p, &p->program->tensors[id]);
}

static void parse_loop(parser *p) {
  wf_location where = p->lex.token.where;
  const char *name = fresh(p, find_loop, "loop");
  if (p->program->loop_count == BLOCK_LOOPS_MAX) block_lex_error(&p->lex, where, "more than %d loops", BLOCK_LOOPS_MAX);
  if (p->lex.failed) return;
  int id = block_add_loop(p->program, name, block_lex_size(&p->lex, "the trips of a loop", 1, size_max), false);
  block_loop *loop = &p->program->loops[id];
  loop->parallel = block_lex_take(&p->lex, "parallel");
  if (block_lex_take(&p->lex, "dim")) loop->dim = (block_dim_id)word(p, block_dim_names, BLOCK_DIMS, "dimension");
  if (!block_lex_take(&p->lex, "split")) return;
  p->split[id] = block_lex_name(&p->lex, "a loop");
  block_lex_expect(&p->lex, "limit");
  loop->limit = block_lex_size(&p->lex, "the limit of a loop", 1, size_max);
}

static void resolve_splits(parser *p) {
  for (int l = 0; l < p->program->loop_count && !p->lex.failed; l++) {
    const block_lex_token *outer = &p->split[l];
    if (outer->text == NULL) continue;
    p->program->loops[l].split_of = find_loop(p->program, outer);
    if (p->program->loops[l].split_of == BLOCK_NONE)
      block_lex_error(&p->lex, outer->where, "there is no loop '%.*s'", (int)outer->length, outer->text);
  }
}

static void parse_placement(parser *p, block_buffer *buffer) {
  block_lexer *lex = &p->lex;
  buffer->scope = block_lex_take(lex, "sp") ? BLOCK_SP : block_lex_take(lex, "acc") ? BLOCK_ACC : BLOCK_UNPLACED;
  if (block_lex_take(lex, "depth")) buffer->depth = (uint32_t)block_lex_size(lex, "a depth", 1, 1 << 20);
  if (block_lex_take(lex, "row")) buffer->first_row = (uint32_t)block_lex_size(lex, "a row", 0, UINT32_MAX);
  if (block_lex_take(lex, "slot")) buffer->slot_rows = (uint32_t)block_lex_size(lex, "a number of rows", 0, UINT32_MAX);
  buffer->tiled = block_lex_take(lex, "tiled");
}

static void parse_buffer(parser *p) {
  int64_t size[BLOCK_RANK_MAX], elements = 1;
  int rank = 0;
  wf_location where = p->lex.token.where;
  const char *name = fresh(p, find_buffer, "buffer");
  block_type type = (block_type)word(p, block_type_names, BLOCK_TYPES, "type");
  block_lex_expect(&p->lex, "[");
  do {
    if (rank == BLOCK_RANK_MAX) block_lex_error(&p->lex, p->lex.token.where, "more than %d dimensions", BLOCK_RANK_MAX);
    if (p->lex.failed) return;
    size[rank] = block_lex_size(&p->lex, "the size of a dimension", 1, INT32_MAX);
    elements = elements > INT32_MAX ? elements : elements * size[rank];
    rank++;
  } while (block_lex_take(&p->lex, ","));
  block_lex_expect(&p->lex, "]");
  if (elements > INT32_MAX) block_lex_error(&p->lex, where, "a buffer has at most %d elements", INT32_MAX);
  if (p->lex.failed) return;
  int id = block_add_buffer(p->program, name, type, rank, size);
  parse_placement(p, &p->program->buffers[id]);
}

static void parse_head(parser *p) {
  static const char *const styles[] = {"primitive", "loop"}, *const dataflows[] = {"ws", "os"};
  block_lex_expect(&p->lex, "program");
  block_lex_token name = block_lex_name(&p->lex, "the name of the program");
  p->program->name = wf_arena_text(p->program->arena, name.text, p->lex.failed ? 0 : name.length);
  if (block_lex_take(&p->lex, "style")) p->program->style = (block_style)word(p, styles, 2, "style");
  if (block_lex_take(&p->lex, "dataflow")) p->program->dataflow = (block_dataflow)word(p, dataflows, 2, "dataflow");
  end_line(p);
}

static void parse_program(parser *p) {
  static const struct {
    const char *word;
    void (*parse)(parser *);
  } declarations[] = {{"tensor", parse_tensor}, {"loop", parse_loop}, {"buffer", parse_buffer}};
  parse_head(p);
  for (size_t d = 0; d < sizeof declarations / sizeof *declarations;) {
    if (block_lex_take(&p->lex, declarations[d].word)) {
      declarations[d].parse(p);
      end_line(p);
      d = 0;
    } else {
      d++;
    }
  }
  resolve_splits(p);
  parse_list(p, &p->program->body);
  if (p->lex.token.kind != LEX_END) block_lex_error(&p->lex, p->lex.token.where, "'}' without a loop");
}

block_program *block_parse(const char *file, const char *text, size_t length, wf_diag *diag) {
  parser p = {.program = block_create("")};
  p.file = wf_arena_text(p.program->arena, file, strlen(file));
  block_lex_start(&p.lex, file, text, length, diag);
  parse_program(&p);
  if (!p.lex.failed) return p.program;
  block_destroy(p.program);
  return NULL;
}
