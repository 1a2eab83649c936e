// SPDX-License-Identifier: Apache-2.0
// Readable C: see command.h. Programs of products get their loads and stores from a table (moves.h), so that products
// have few loops; others, and programs that are short, are rolled as they are. Loops stay loops, operands live in
// variables that advance by constants (operands.h), each command is one instruction with its text beside it.
//
//   void gemm(const void *a, const void *b, void *c) {
//     uint64_t r0 = weft_operand((uintptr_t)a + 0x40);
//     for (unsigned long n = 8; n != 0; n--) {
//       weft_command(WEFT_FUNCT_MVIN, r0, r1);  // mvin dram=a+0x40 local=sp:0x0 cols=16 rows=16
//       WEFT_STEP(r0, 0x400);
//     }
//   }
//
// Programs of more than PART_COMMANDS commands become several functions, at places outside of loops: the C compiler
// takes more than its share of time for long ones.
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/name.h"
#include "compiler/command/moves.h"
#include "compiler/command/operands.h"
#include "compiler/command/private.h"

enum {
  PART_COMMANDS = 3000,
  TWICE_DIM_MAX = 8,  // larger arrays take longer for a product than the host for counting it
  PRODUCTS_MIN = 4,
};

typedef struct emitter {
  const command_program *program;
  const command_move_table *moves;  // NULL: they stand between the products
  bool twice;                       // segments of products stand twice, with and without moves
  FILE *out;
  const char *name;
  char **names;  // of the tensors, in C
  command_operand_plan plan;
  size_t first;     // node of the part
  uint64_t *value;  // per register, in iteration 0
  bool *ready;      // it has its first value
  int depth;        // of loops
} emitter;

// ---- names

static bool is_taken(const char *name) {
  static const char *const words[] = {
      "auto",     "break",    "case",   "char",     "const",  "continue", "default", "do",       "double",
      "else",     "enum",     "extern", "float",    "for",    "goto",     "if",      "inline",   "int",
      "long",     "main",     "next",   "left",     "tensor", "n",        "memset",  "register", "return",
      "restrict", "short",    "signed", "sizeof",   "static", "struct",   "switch",  "memcpy",   "typedef",
      "union",    "unsigned", "void",   "volatile", "while",  "asm",      "bool"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return strncmp(name, "weft", 4) == 0 || strncmp(name, "WEFT", 4) == 0 || name[0] == '_' ||
         (name[0] == 'r' && isdigit((unsigned char)name[1]));
}

// The name without what C does not allow.
static char *c_name(wf_arena *arena, const char *name) {
  char *text = wf_arena_format(arena, "%s%s", name, is_taken(name) ? "_" : "");
  if (text[0] == '_' || isdigit((unsigned char)text[0])) text = wf_arena_format(arena, "t%s", text);
  for (char *c = text; *c != '\0'; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  return text;
}

static bool is_used(char *const *names, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(names[i], name) == 0) return true;
  return false;
}

char *command_c_name(wf_arena *arena, const command_program *program) { return c_name(arena, program->name); }

char **command_c_tensor_names(wf_arena *arena, const command_program *program) {
  char **names = WF_ARENA_ARRAY(arena, (size_t)program->tensor_count + 1, char *);
  names[program->tensor_count] = command_c_name(arena, program);
  for (int t = 0; t < program->tensor_count; t++) {
    char *name = c_name(arena, program->tensors[t].name);
    while (is_used(names, t, name) || strcmp(name, names[program->tensor_count]) == 0)
      name = wf_arena_format(arena, "%s_", name);
    names[t] = name;
  }
  return names;
}

// ---- statements

static void indent(const emitter *e) { fprintf(e->out, "%*s", 2 * e->depth + 2, ""); }

static void put_constant(FILE *out, uint64_t value) {
  fprintf(out, value > INT32_MAX ? "UINT64_C(0x%" PRIx64 ")" : "0x%" PRIx64, value);
}

static void put_first(emitter *e, uint32_t reg, uint64_t value) {
  const int tensor = e->plan.tensor[reg];
  indent(e);
  fprintf(e->out, "r%u = weft_operand(", reg);
  if (tensor != COMMAND_NO_TENSOR) fprintf(e->out, "(uintptr_t)%s + ", e->names[tensor]);
  put_constant(e->out, value);
  fputs(");\n", e->out);
}

// Makes the register hold the value.
static void bring(emitter *e, uint32_t reg, uint64_t value) {
  const uint64_t step = value - e->value[reg];
  if (!e->ready[reg]) {
    put_first(e, reg, value);
  } else if (step != 0) {
    indent(e);
    fprintf(e->out, "WEFT_STEP(r%u, %s", reg, (int64_t)step < 0 ? "-" : "");
    put_constant(e->out, (int64_t)step < 0 ? -step : step);
    fputs(");\n", e->out);
  }
  e->ready[reg] = true;
  e->value[reg] = value;
}

static void put_funct(const emitter *e, const command_insn *insn) {
  fputs("weft_command(WEFT_FUNCT_", e->out);
  for (const char *c = command_isa(e->program, insn)->name; *c != '\0'; c++) fputc(toupper((unsigned char)*c), e->out);
}

static void put_insn(emitter *e, const command_node *node, const uint32_t reg[2]) {
  char text[COMMAND_TEXT_MAX];
  bring(e, reg[0], node->insn.rs1);
  bring(e, reg[1], node->insn.rs2);
  command_print_insn(e->program, &node->insn, text, sizeof text);
  indent(e);
  put_funct(e, &node->insn);
  fprintf(e->out, ", r%u, r%u);  // %s\n", reg[0], reg[1], text);
  if (e->moves == NULL || !command_is_compute(&node->insn)) return;
  indent(e);
  fprintf(e->out, "WEFT_PRODUCT(next, left, %s_moves(next, left, tensor));\n", e->name);
}

static void open_loop(emitter *e, const command_node *node, const command_operand_loop *loop) {
  for (size_t i = 0; i < loop->count; i++) bring(e, loop->used[i].reg, loop->used[i].first);
  indent(e);
  fprintf(e->out, "for (unsigned long n = %" PRIu64 "; n != 0; n--) {\n", node->trips);
  e->depth++;
}

static void close_loop(emitter *e, const command_node *node, const command_operand_loop *loop) {
  for (size_t i = 0; i < loop->count; i++) bring(e, loop->used[i].reg, loop->used[i].first + loop->used[i].step);
  e->depth--;
  indent(e);
  fputs("}\n", e->out);
  for (size_t i = 0; i < loop->count; i++)
    e->value[loop->used[i].reg] = loop->used[i].first + loop->used[i].step * node->trips;
}

static void put_insns(emitter *e, size_t from, size_t to) {
  for (size_t n = from; n < to; n++) put_insn(e, &e->program->nodes[n], e->plan.reg[n - e->first]);
}

static size_t count_products(const emitter *e, size_t from, size_t to) {
  size_t products = 0;
  for (size_t n = from; n < to; n++) products += command_is_compute(&e->program->nodes[n].insn);
  return products;
}

static void put_line(const emitter *e, const char *text, size_t number) {
  indent(e);
  fprintf(e->out, text, number);
}

// Commands between loops: twice where no move can come between so many products, which then need not be counted one by
// one.
static void put_segment(emitter *e, size_t from, size_t to) {
  const size_t products = e->twice ? count_products(e, from, to) : 0, bytes = e->plan.registers;
  if (products < PRODUCTS_MIN) {
    put_insns(e, from, to);
    return;
  }
  const command_move_table *const moves = e->moves;
  wf_arena *arena = wf_arena_create();
  uint64_t *value = WF_ARENA_ARRAY(arena, bytes + 1, uint64_t);
  bool *ready = WF_ARENA_ARRAY(arena, bytes + 1, bool);
  memcpy(value, e->value, bytes * sizeof *value);
  memcpy(ready, e->ready, bytes * sizeof *ready);
  put_line(e, "if (__builtin_expect(left > %zu, 1)) {\n", products);
  e->depth++;
  e->moves = NULL;
  put_line(e, "left -= %zu;\n", products);
  put_insns(e, from, to);
  memcpy(e->value, value, bytes * sizeof *value);
  memcpy(e->ready, ready, bytes * sizeof *ready);
  e->moves = moves;
  e->depth--;
  put_line(e, "} else {\n", 0);
  e->depth++;
  put_insns(e, from, to);
  e->depth--;
  put_line(e, "}\n", 0);
  wf_arena_destroy(arena);
}

// The end of the commands from `n` on.
static size_t segment_end(const emitter *e, size_t n, size_t end) {
  while (n < end && e->program->nodes[n].kind == COMMAND_INSN) n++;
  return n;
}

static void put_nodes(emitter *e, size_t end) {
  size_t open[COMMAND_LOOPS_MAX], last;
  int loops = 0;
  for (size_t n = e->first; n < end; n++) {
    const command_node *node = &e->program->nodes[n];
    switch (node->kind) {
      case COMMAND_INSN:
        last = segment_end(e, n, end);
        put_segment(e, n, last);
        n = last - 1;
        break;
      case COMMAND_LOOP:
        open[loops++] = n;
        open_loop(e, node, &e->plan.loops[n - e->first]);
        break;
      case COMMAND_END: {
        const size_t loop = open[--loops];
        close_loop(e, &e->program->nodes[loop], &e->plan.loops[loop - e->first]);
        break;
      }
      case COMMAND_FENCE:
        indent(e);
        fputs("weft_fence();\n", e->out);
        break;
    }
  }
}

// ---- functions

static void put_parameters(const emitter *e) {
  const command_program *p = e->program;
  int count = 0;
  fputs("(", e->out);
  for (int t = 0; t < p->tensor_count; t++)
    if (p->tensors[t].contents == NULL)
      fprintf(e->out, "%s%svoid *%s", count++ == 0 ? "" : ", ", p->tensors[t].written ? "" : "const ", e->names[t]);
  fputs(count == 0 ? "void)" : ")", e->out);
}

// Constants: most of their elements are zeros.
static void put_constants(const emitter *e) {
  for (int t = 0; t < e->program->tensor_count; t++) {
    const command_tensor *tensor = &e->program->tensors[t];
    if (tensor->contents == NULL) continue;
    fprintf(e->out, "\nstatic const int8_t %s[%" PRIu64 "] __attribute__((aligned(64))) = {", e->names[t],
            tensor->elements);
    for (uint64_t i = 0, count = 0; i < tensor->elements; i++)
      if (tensor->contents[i] != 0)
        fprintf(e->out, "%s[%" PRIu64 "] = %d,", count++ % 8 == 0 ? "\n    " : " ", i, tensor->contents[i]);
    fputs("\n};\n", e->out);
  }
}

static void put_registers(const emitter *e) {
  for (uint32_t r = 0; r < e->plan.registers; r++)
    fprintf(e->out, "%sr%u%s",
            r == 0        ? "  uint64_t "
            : r % 16 == 0 ? "  uint64_t "
                          : ", ",
            r, r + 1 == e->plan.registers || r % 16 == 15 ? ";\n" : "");
}

// Nodes first..end-1 as the body of a function. Not every tensor need occur in a part.
static void put_body(emitter *e, size_t first, size_t end) {
  wf_arena *arena = wf_arena_create();
  e->first = first;
  e->plan = command_plan_operands(arena, e->program, first, end);
  e->value = WF_ARENA_ARRAY(arena, e->plan.registers + 1, uint64_t);
  e->ready = WF_ARENA_ARRAY(arena, e->plan.registers + 1, bool);
  for (int t = 0; t < e->program->tensor_count && e->moves == NULL; t++) fprintf(e->out, "  (void)%s;\n", e->names[t]);
  put_registers(e);
  put_nodes(e, end);
  wf_arena_destroy(arena);
}

// The end of the part that starts at a node outside of loops.
static size_t part_end(const command_program *program, size_t first) {
  size_t commands = 0, n = first;
  int depth = 0;
  for (; n < program->count && (depth > 0 || commands < PART_COMMANDS); n++) {
    commands += program->nodes[n].kind == COMMAND_INSN;
    depth += program->nodes[n].kind == COMMAND_LOOP;
    depth -= program->nodes[n].kind == COMMAND_END;
  }
  return n;
}

static void put_arguments(const emitter *e) {
  int count = 0;
  for (int t = 0; t < e->program->tensor_count; t++)
    if (e->program->tensors[t].contents == NULL) fprintf(e->out, "%s%s", count++ == 0 ? "" : ", ", e->names[t]);
}

// Products have no tensors of their own; they take the state of the moves and hand it on.
static void put_part_head(const emitter *e, unsigned part) {
  fprintf(e->out, "\nstatic %s %s_part%u", e->moves == NULL ? "void" : "struct weft_moves", e->name, part);
  if (e->moves == NULL)
    put_parameters(e);
  else
    fputs("(const struct weft_move *next, uint64_t left, const uintptr_t *tensor)", e->out);
  fputs(" {\n", e->out);
}

static unsigned put_parts(emitter *e) {
  const command_program *p = e->program;
  unsigned parts = 0;
  for (size_t first = 0; first < p->count; first = part_end(p, first)) {
    put_part_head(e, parts++);
    put_body(e, first, part_end(p, first));
    fputs(e->moves == NULL ? "}\n" : "  return (struct weft_moves){next, left};\n}\n", e->out);
  }
  return parts;
}

static void put_moves_state(const emitter *e) {
  fputs("  const uintptr_t tensor[] = {", e->out);
  for (int t = 0; t < e->program->tensor_count; t++)
    fprintf(e->out, "%s(uintptr_t)%s", t == 0 ? "" : ", ", e->names[t]);
  fprintf(e->out,
          "%s};\n"
          "  const struct weft_move *next = %s_table;\n"
          "  uint64_t left = 0;\n"
          "  WEFT_MOVES(next, left, %s_moves(next, left, tensor));\n",
          e->program->tensor_count == 0 ? "0" : "", e->name, e->name);
}

static void put_call(const emitter *e, unsigned part) {
  if (e->moves != NULL) {
    fprintf(e->out, "  WEFT_MOVES(next, left, %s_part%u(next, left, tensor));\n", e->name, part);
    return;
  }
  fprintf(e->out, "  %s_part%u(", e->name, part);
  put_arguments(e);
  fputs(");\n", e->out);
}

static void put_program(emitter *e, bool fence) {
  const command_program *p = e->program;
  const bool whole = part_end(p, 0) == p->count;
  const unsigned parts = whole ? 0 : put_parts(e);
  fprintf(e->out, "\nvoid %s", e->name);
  put_parameters(e);
  fputs(" {\n", e->out);
  if (e->moves != NULL) put_moves_state(e);
  if (whole) put_body(e, 0, p->count);
  for (unsigned part = 0; part < parts; part++) put_call(e, part);
  if (e->moves != NULL) fputs("  (void)next, (void)left;\n", e->out);
  if (fence) fputs("  weft_fence();\n", e->out);
  fputs("}\n", e->out);
}

static void put_head(const emitter *e, uint64_t commands) {
  const hw_array *array = e->program->array;
  fputs("// ", e->out);
  wf_name_write(WF_NAME_C_COMMENT, e->program->name, e->out);
  fputs(" for the array ", e->out);
  wf_name_write(WF_NAME_C_COMMENT, array->name, e->out);
  fprintf(e->out, " (%016" PRIx64 ", ISA revision %u): %" PRIu64 " commands.\n", hw_array_hash(array),
          array->isa.revision, commands);
  fprintf(e->out, "#include \"weft/stream.h\"\n#include \"weft/weft.h\"\n\nvoid %s", e->name);
  put_parameters(e);
  fputs(";\n", e->out);
  put_constants(e);
}

// The products with a table of moves, or NULL if everything shall be rolled as it is: it is no such program, or short.
static command_program *separate(const command_program *straight, const command_program *rolled, wf_arena *arena,
                                 command_move_table *moves) {
  if (!command_has_sides(straight) || command_stays_cached(rolled)) return NULL;
  return command_tabulate_moves(straight, arena, moves) ? command_roll_products(straight) : NULL;
}

bool command_write_c(const command_program *program, FILE *out, wf_diag *diag) {
  const command_program *straight = command_straight(program);
  command_program *rolled = command_roll(straight);
  wf_arena *arena = wf_arena_create();
  command_move_table *moves = WF_ARENA_NEW(arena, command_move_table);
  command_program *products = separate(straight, rolled, arena, moves);
  command_program *unrolled = command_unroll(products != NULL ? products : rolled);
  emitter e = {.program = unrolled, .moves = products != NULL ? moves : NULL, .out = out};
  e.twice = e.moves != NULL && hw_derive(program->array).dim <= TWICE_DIM_MAX && command_stays_cached(unrolled);
  e.names = command_c_tensor_names(arena, unrolled);
  e.name = command_c_name(arena, unrolled);
  put_head(&e, command_executions(straight));
  if (e.moves != NULL) command_put_moves(unrolled, moves, e.name, out);
  put_program(&e, e.moves != NULL && straight->nodes[straight->count - 1].kind == COMMAND_FENCE);
  command_destroy(unrolled);
  command_destroy(products);
  command_destroy(rolled);
  if (straight != program) command_destroy((command_program *)(uintptr_t)straight);
  wf_arena_destroy(arena);
  if (fflush(out) == 0 && !ferror(out)) return true;
  wf_error(diag, wf_in_file(program->name), "cannot write the C program");
  return false;
}
