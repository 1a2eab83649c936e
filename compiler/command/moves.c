// SPDX-License-Identifier: Apache-2.0
// Builds tables of moves and writes them in C: see moves.h.
#include "compiler/command/moves.h"

#include <ctype.h>
#include <inttypes.h>

#include "compiler/command/private.h"

typedef struct builder {
  wf_arena *arena;
  command_move_table *table;
  uint64_t since;  // products since the last move
} builder;

static void put(builder *b, const command_move *m) {
  *WF_ARENA_PUSH(b->arena, b->table->moves, b->table->count, &b->table->room) = *m;
}

// Counts long stretches of products by moves of nothing.
static void put_after(builder *b, command_move m) {
  for (; b->since > MOVE_AFTER_MAX; b->since -= MOVE_AFTER_MAX) put(b, &(command_move){.after = MOVE_AFTER_MAX});
  m.after = (uint16_t)b->since;
  put(b, &m);
  b->since = 0;
}

static bool same_kind(const command_insn *a, const command_insn *b) {
  return a->funct == b->funct && a->tensor_rs1 == b->tensor_rs1 && a->rs1 == b->rs1;
}

// MOVE_KINDS_MAX: there is no room for another one.
static unsigned find_kind(command_move_table *table, const command_insn *insn) {
  unsigned k = MOVE_NOTHING + 1;
  while (k < table->kind_count && !same_kind(&table->kinds[k].insn, insn)) k++;
  if (k == table->kind_count && k < MOVE_KINDS_MAX) table->kinds[table->kind_count++].insn = *insn;
  return k;
}

static bool take(builder *b, const command_insn *insn) {
  command_insn kind = *insn;
  const uint32_t offset = insn->tensor_rs1 == COMMAND_NO_TENSOR ? 0 : (uint32_t)insn->rs1;
  kind.rs1 -= offset;
  kind.rs2 = 0;
  const unsigned k = find_kind(b->table, &kind);
  if (k == MOVE_KINDS_MAX) return false;
  b->table->kinds[k].moves++;
  // The host takes the first move before any product.
  if (b->table->count == 0 && b->since > 0) put(b, &(command_move){.kind = MOVE_NOTHING});
  put_after(b, (command_move){.kind = (uint16_t)k, .offset = offset, .operand = insn->rs2});
  return true;
}

bool command_tabulate_moves(const command_program *program, wf_arena *arena, command_move_table *table) {
  const command_sides sides = command_sides_of(program->array);
  builder b = {.arena = arena, .table = table};
  *table = (command_move_table){.kind_count = MOVE_NOTHING + 1};
  for (size_t n = 0; n < program->count; n++) {
    const command_insn *insn = &program->nodes[n].insn;
    if (program->nodes[n].kind != COMMAND_INSN) continue;
    if (command_side_of(&sides, insn) == COMMAND_MOVES && !take(&b, insn)) return false;
    b.since += command_is_compute(insn);
  }
  if (table->count == 0) put(&b, &(command_move){.kind = MOVE_NOTHING});
  b.since++;  // the last one is never reached
  put_after(&b, (command_move){.kind = MOVE_NOTHING});
  return true;
}

// ---- in C

enum { BIT_KINDS = 8 };

// The kind that has most moves of those without a place.
static command_move_kind *most_frequent(command_move_table *table) {
  command_move_kind *found = NULL;
  for (unsigned k = MOVE_NOTHING + 1; k < table->kind_count; k++) {
    command_move_kind *kind = &table->kinds[k];
    if (kind->place == 0 && (found == NULL || kind->moves > found->moves)) found = kind;
  }
  return found;
}

// Frequent kinds are bits: to test one costs the host one instruction and no register.
static unsigned kind_number(const command_move_kind *kind) {
  if (kind->place == 0) return 0;
  return kind->place <= BIT_KINDS ? 1u << (kind->place - 1) : (kind->place - BIT_KINDS) << BIT_KINDS;
}

static void put_kind(const command_program *program, const command_move_kind *kind, FILE *out) {
  const command_insn *insn = &kind->insn;
  fprintf(out, "    %sif (m->kind %s %u)\n      weft_command(WEFT_FUNCT_", kind->place == 1 ? "" : "else ",
          kind->place <= BIT_KINDS ? "&" : "==", kind_number(kind));
  for (const char *c = command_isa(program, insn)->name; *c != '\0'; c++) fputc(toupper((unsigned char)*c), out);
  fputs(", ", out);
  if (insn->tensor_rs1 != COMMAND_NO_TENSOR) fprintf(out, "tensor[%d] + m->offset", insn->tensor_rs1);
  if (insn->tensor_rs1 != COMMAND_NO_TENSOR && insn->rs1 != 0) fputs(" + ", out);
  if (insn->tensor_rs1 == COMMAND_NO_TENSOR || insn->rs1 != 0) fprintf(out, "UINT64_C(0x%" PRIx64 ")", insn->rs1);
  fputs(", m->operand);\n", out);
}

static void put_table(const command_move_table *table, const char *name, FILE *out) {
  fprintf(out, "\nstatic const struct weft_move %s_table[%zu] __attribute__((aligned(64))) = {\n", name, table->count);
  for (size_t i = 0; i < table->count; i++) {
    const command_move *m = &table->moves[i];
    fprintf(out, "    {%u, %u, 0x%" PRIx32 ", UINT64_C(0x%" PRIx64 ")},\n", m->after,
            kind_number(&table->kinds[m->kind]), m->offset, m->operand);
  }
  fputs("};\n", out);
}

void command_put_moves(const command_program *program, command_move_table *table, const char *name, FILE *out) {
  for (unsigned place = 1; place < table->kind_count; place++) most_frequent(table)->place = place;
  put_table(table, name, out);
  fprintf(out,
          "\n"
          "// Carries out the moves that come here.\n"
          "static WEFT_APART struct weft_moves %s_moves(const struct weft_move *m, uint64_t left, const "
          "uintptr_t *tensor) {\n"
          "  (void)left, (void)tensor;\n"
          "  do {\n",
          name);
  for (unsigned place = 1; place < table->kind_count; place++)
    for (unsigned k = MOVE_NOTHING + 1; k < table->kind_count; k++)
      if (table->kinds[k].place == place) put_kind(program, &table->kinds[k], out);
  fputs(
      "    m++;\n"
      "  } while (m->after == 0);\n"
      "  return (struct weft_moves){m, m->after};\n"
      "}\n",
      out);
}
