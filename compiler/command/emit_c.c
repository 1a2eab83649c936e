// Readable C: see command.h. Loops stay loops, operands live in variables that advance by constants (operands.h), each
// command is one instruction with its text beside it.
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

#include "compiler/command/operands.h"
#include "compiler/command/private.h"
#include "hw/base/alloc.h"

enum { PART_COMMANDS = 3000 };

typedef struct emitter {
  const command_program *program;
  FILE *out;
  char **names;  // of the tensors, in C
  operand_plan plan;
  size_t first;     // node of the part
  uint64_t *value;  // per register, in iteration 0
  bool *ready;      // it has its first value
  int depth;        // of loops
} emitter;

// ---- names

static bool is_taken(const char *name) {
  static const char *const words[] = {
      "auto",   "break",  "case",     "char",   "const",    "continue", "default",  "do",     "double", "else",
      "enum",   "extern", "float",    "for",    "goto",     "if",       "inline",   "int",    "long",   "main",
      "n",      "memset", "register", "return", "restrict", "short",    "signed",   "sizeof", "static", "struct",
      "switch", "memcpy", "typedef",  "union",  "unsigned", "void",     "volatile", "while",  "asm",    "bool"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(words[i], name) == 0) return true;
  return strncmp(name, "weft", 4) == 0 || strncmp(name, "WEFT", 4) == 0 || name[0] == '_' ||
         (name[0] == 'r' && isdigit((unsigned char)name[1]));
}

// The name without what C does not allow.
static char *c_name(wf_arena *arena, const char *name) {
  char *text = wf_arena_format(arena, "%s%s", name, is_taken(name) ? "_" : "");
  if (text[0] == '_') text = wf_arena_format(arena, "t%s", text);
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

static void put_insn(emitter *e, const command_node *node, const uint32_t reg[2]) {
  char text[COMMAND_TEXT_MAX], upper[64];
  const isa_insn *insn = command_isa(e->program, &node->insn);
  size_t n = 0;
  for (; insn->name[n] != '\0' && n + 1 < sizeof upper; n++) upper[n] = (char)toupper((unsigned char)insn->name[n]);
  upper[n] = '\0';
  bring(e, reg[0], node->insn.rs1);
  bring(e, reg[1], node->insn.rs2);
  command_print_insn(e->program, &node->insn, text, sizeof text);
  indent(e);
  fprintf(e->out, "weft_command(WEFT_FUNCT_%s, r%u, r%u);  // %s\n", upper, reg[0], reg[1], text);
}

static void open_loop(emitter *e, const command_node *node, const operand_loop *loop) {
  for (size_t i = 0; i < loop->count; i++) bring(e, loop->used[i].reg, loop->used[i].first);
  indent(e);
  fprintf(e->out, "for (unsigned long n = %" PRIu64 "; n != 0; n--) {\n", node->trips);
  e->depth++;
}

static void close_loop(emitter *e, const command_node *node, const operand_loop *loop) {
  for (size_t i = 0; i < loop->count; i++) bring(e, loop->used[i].reg, loop->used[i].first + loop->used[i].step);
  e->depth--;
  indent(e);
  fputs("}\n", e->out);
  for (size_t i = 0; i < loop->count; i++)
    e->value[loop->used[i].reg] = loop->used[i].first + loop->used[i].step * node->trips;
}

static void put_nodes(emitter *e, size_t end) {
  size_t open[COMMAND_LOOPS_MAX];
  for (size_t n = e->first; n < end; n++) {
    const command_node *node = &e->program->nodes[n];
    switch (node->kind) {
      case COMMAND_INSN:
        put_insn(e, node, e->plan.reg[n - e->first]);
        break;
      case COMMAND_LOOP:
        open[e->depth] = n;
        open_loop(e, node, &e->plan.loops[n - e->first]);
        break;
      case COMMAND_END: {
        const size_t loop = open[e->depth - 1];
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
  fputs("(", e->out);
  for (int t = 0; t < p->tensor_count; t++)
    fprintf(e->out, "%s%svoid *%s", t == 0 ? "" : ", ", p->tensors[t].written ? "" : "const ", e->names[t]);
  fputs(p->tensor_count == 0 ? "void)" : ")", e->out);
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
  fputs(" {\n", e->out);
  for (int t = 0; t < e->program->tensor_count; t++) fprintf(e->out, "  (void)%s;\n", e->names[t]);
  put_registers(e);
  put_nodes(e, end);
  fputs("}\n", e->out);
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

static void put_calls(const emitter *e, const char *name, unsigned parts) {
  fprintf(e->out, "\nvoid %s", name);
  put_parameters(e);
  fputs(" {\n", e->out);
  for (unsigned part = 0; part < parts; part++) {
    fprintf(e->out, "  %s_part%u(", name, part);
    for (int t = 0; t < e->program->tensor_count; t++) fprintf(e->out, "%s%s", t == 0 ? "" : ", ", e->names[t]);
    fputs(");\n", e->out);
  }
  fputs("}\n", e->out);
}

static void put_program(emitter *e, const char *name) {
  const command_program *p = e->program;
  if (part_end(p, 0) == p->count) {
    fprintf(e->out, "\nvoid %s", name);
    put_parameters(e);
    put_body(e, 0, p->count);
    return;
  }
  unsigned parts = 0;
  for (size_t first = 0; first < p->count; first = part_end(p, first)) {
    fprintf(e->out, "\nstatic void %s_part%u", name, parts++);
    put_parameters(e);
    put_body(e, first, part_end(p, first));
  }
  put_calls(e, name, parts);
}

bool command_write_c(const command_program *program, FILE *out, wf_diag *diag) {
  command_program *unrolled = command_unroll(program);
  emitter e = {.program = unrolled, .out = out, .names = command_c_tensor_names(unrolled->arena, unrolled)};
  const char *name = command_c_name(unrolled->arena, unrolled);
  fprintf(out, "// %s for the array %s (%016" PRIx64 ", ISA revision %u): %" PRIu64 " commands.\n", program->name,
          program->array->name, hw_array_hash(program->array), program->array->isa.revision,
          command_executions(program));
  fputs("#include \"weft/stream.h\"\n#include \"weft/weft.h\"\n\nvoid ", out);
  fputs(name, out);
  put_parameters(&e);
  fputs(";\n", out);
  put_program(&e, name);
  command_destroy(unrolled);
  if (fflush(out) == 0 && !ferror(out)) return true;
  wf_error(diag, wf_in_file(program->name), "cannot write the C program");
  return false;
}
