// SPDX-License-Identifier: Apache-2.0
// The main program of a network's ELF: see elf.h. Every step is measured by itself; what was measured is printed behind
// the last step, so that printing disturbs none.
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/name.h"
#include "compiler/network/elf.h"
#include "compiler/network/overlap/agenda.h"
#include "compiler/network/private.h"

typedef struct writer {
  const network *net;
  wf_arena *arena;
  FILE *out;
} writer;

char *network_kernel_name(wf_arena *arena, const network *net, int kernel) {
  const network_kernel *k = &net->kernels[kernel];
  return wf_arena_format(arena, "kernel%d_%s", kernel,
                         k->unit != NULL   ? network_unit_name(k->unit)
                         : k->call != NULL ? layer_kernels[k->call->kernel].name
                                           : k->program->name);
}

char *network_buffer_name(wf_arena *arena, int buffer) { return wf_arena_format(arena, "constant%d", buffer); }

// A place as a C expression.
static const char *place_text(const writer *w, network_place place) {
  if (place.buffer < 0) return "arena";
  const network_buffer *buffer = &w->net->buffers[place.buffer];
  if (buffer->commands != NULL)
    return wf_arena_format(w->arena, "(const char *)commands%d + %" PRIu64, place.buffer, place.offset);
  if (buffer->contents != NULL)
    return wf_arena_format(w->arena, "%s + %" PRIu64, network_buffer_name(w->arena, place.buffer), place.offset);
  return wf_arena_format(w->arena, "arena + %" PRIu64, buffer->address - network_arena_start(w->net) + place.offset);
}

// ---- declarations

static bool is_used(const network_buffer *buffer) { return buffer->last >= buffer->first; }

static void put_extern(const writer *w, int buffer) {
  fprintf(w->out, "extern uint8_t %s[];  // ", network_buffer_name(w->arena, buffer));
  wf_name_write(WF_NAME_C_COMMENT, w->net->buffers[buffer].name, w->out);
  fputc('\n', w->out);
}

static void put_buffers(const writer *w) {
  const network *net = w->net;
  fprintf(w->out, "static uint8_t arena[%" PRIu64 "] __attribute__((aligned(64)));\n",
          net->arena_bytes == 0 ? 64 : net->arena_bytes);
  for (int b = 0; b < net->buffer_count; b++)
    if (net->buffers[b].contents != NULL && net->buffers[b].commands == NULL && is_used(&net->buffers[b]))
      put_extern(w, b);
  for (int i = 0; i < net->graph->input_count; i++) fprintf(w->out, "extern const uint8_t input%d[];\n", i);
}

static void put_kernels(const writer *w) {
  for (int k = 0; k < w->net->kernel_count; k++) {
    const command_program *program = w->net->kernels[k].program;
    fprintf(w->out, "void %s(", network_kernel_name(w->arena, w->net, k));
    int count = 0;
    for (int t = 0; t < program->tensor_count; t++)
      if (program->tensors[t].contents == NULL)
        fprintf(w->out, "%s%svoid *", count++ == 0 ? "" : ", ", program->tensors[t].written ? "" : "const ");
    fputs(");\n", w->out);
  }
}

// ---- commands beside calls of the host's operators

static const char *word_text(const writer *w, uint64_t word, network_place place) {
  if (place.buffer < 0) return wf_arena_format(w->arena, "0x%" PRIx64, word);
  place.offset += word;
  return wf_arena_format(w->arena, "(uint64_t)(%s)", place_text(w, place));
}

static void put_commands(const writer *w) {
  for (int b = 0; b < w->net->buffer_count; b++) {
    const network_buffer *buffer = &w->net->buffers[b];
    if (buffer->commands == NULL) continue;
    fprintf(w->out, "static const struct weft_host_command commands%d[] = {\n", b);
    for (size_t c = 0; c < buffer->content_bytes / sizeof(struct weft_host_command); c++) {
      const network_slot_command *command = &buffer->commands[c];
      fprintf(w->out, "    {%u, %s, %s},\n", command->funct, word_text(w, command->rs1, command->place_rs1),
              word_text(w, command->rs2, command->place_rs2));
    }
    fputs("};\n", w->out);
  }
}

// ---- calls of the host's operators

// An f32 as a constant of C, to the bit.
static void put_number(const writer *w, float number) {
  if (isinf(number))
    fprintf(w->out, "%s__builtin_inff()", number < 0 ? "-" : "");
  else
    fprintf(w->out, "%af", (double)number);
}

static void put_integers(const writer *w, const int64_t *values, unsigned count) {
  fputc('{', w->out);
  for (unsigned i = 0; i < count; i++) fprintf(w->out, "%s%" PRId64, i == 0 ? "" : ", ", values[i]);
  fputc('}', w->out);
}

static void put_call(const writer *w, const network_call *call) {
  const struct weft_host_call *c = &call->call;
  fprintf(w->out, "    {.op = %u, .rank = %u, .outer = %u, .chain = %u, .lead = %u, .dim = ", c->op, c->rank, c->outer,
          c->chain, c->lead);
  put_integers(w, c->dim, WEFT_HOST_RANK);
  fputs(", .integer = ", w->out);
  put_integers(w, c->integer, WEFT_HOST_INTEGERS);
  fputs(", .number = {", w->out);
  for (unsigned i = 0; i < WEFT_HOST_NUMBERS; i++) {
    if (i > 0) fputs(", ", w->out);
    put_number(w, c->number[i]);
  }
  fputs("},\n     .operand = {", w->out);
  for (unsigned o = 0; o < WEFT_HOST_OPERANDS; o++) {
    if (call->place[o].buffer < 0) continue;
    fprintf(w->out, "[%u] = {.data = (void *)(%s), .type = %u, .element_bytes = %u, .step = ", o,
            place_text(w, call->place[o]), c->operand[o].type, c->operand[o].element_bytes);
    put_integers(w, c->operand[o].step, WEFT_HOST_RANK);
    fputs("}, ", w->out);
  }
  fputs("}},\n", w->out);
}

static void put_calls(const writer *w) {
  for (int s = 0; s < w->net->step_count; s++) {
    const network_step *step = &w->net->steps[s];
    if (step->place != GRAPH_ON_HOST) continue;
    fprintf(w->out, "static %sstruct weft_host_call calls%d[] = {\n", step->part_count > 0 ? "" : "const ", s);
    for (int c = 0; c < step->call_count; c++) put_call(w, &step->calls[c]);
    fputs("};\n", w->out);
  }
}

// ---- steps

static void put_array_step(const writer *w, const network_step *step) {
  const network_kernel *kernel = &w->net->kernels[step->kernel];
  fprintf(w->out, "  %s(", network_kernel_name(w->arena, w->net, step->kernel));
  int count = 0;
  for (int t = 0; t < kernel->program->tensor_count; t++) {
    if (kernel->program->tensors[t].contents != NULL) continue;
    network_place place = {.buffer = -1};
    for (int o = 0; o < step->operand_count; o++)
      if (strcmp(step->operands[o].param, kernel->program->tensors[t].name) == 0) place = step->operands[o].place;
    fprintf(w->out, "%s%s", count++ == 0 ? "" : ", ", place_text(w, place));
  }
  fputs(");\n", w->out);
}

static void put_names(const writer *w) {
  fputs("static const char *const names[] = {\n", w->out);
  for (int s = 0; s < w->net->step_count; s++) {
    fputs("    \"", w->out);
    wf_name_write(WF_NAME_C_STRING, w->net->steps[s].name, w->out);
    fputs("\",\n", w->out);
  }
  fprintf(w->out, "};\nenum { STEPS = %d };\nstatic uint64_t cycles[STEPS];\n\n", w->net->step_count);
}

// One function per step, so that neither the compiler nor the reader has to take all of them at once.
static void put_steps(const writer *w) {
  for (int s = 0; s < w->net->step_count; s++) {
    const network_step *step = &w->net->steps[s];
    fputs("// ", w->out);
    wf_name_write(WF_NAME_C_COMMENT, step->what, w->out);
    fprintf(w->out, "\nstatic void step%d(void) {\n", s);
    if (step->place == GRAPH_ON_ARRAY)
      put_array_step(w, step);
    else
      fprintf(w->out, "  carry_out(calls%d, %d);\n", s, step->call_count);
    fputs("}\n", w->out);
  }
  fputs("\nstatic void (*const steps[])(void) = {", w->out);
  for (int s = 0; s < w->net->step_count; s++) fprintf(w->out, "%sstep%d", s == 0 ? "" : ", ", s);
  fputs("};\n\n", w->out);
}

static const char carry_out[] =
    "static void carry_out(const struct weft_host_call *calls, int count) {\n"
    "  const enum weft_host_status status = weft_host_run_all(calls, (size_t)count);\n"
    "  if (status != WEFT_HOST_OK) weft_exit((int)status);\n"
    "}\n\n";

static const char run[] =
    "static void run(int step) {\n"
    "  const uint64_t start = weft_cycles();\n"
    "  steps[step]();\n"
    "  weft_fence();\n"
    "  cycles[step] = weft_cycles() - start;\n"
    "}\n\n";

static void put_main(const writer *w) {
  const graph *g = w->net->graph;
  fputs("int main(void) {\n", w->out);
  for (int i = 0; i < g->input_count; i++)
    fprintf(w->out, "  memcpy(%s, input%d, %zu);\n", place_text(w, w->net->tensors[g->inputs[i]]), i,
            graph_bytes(&g->tensors[g->inputs[i]]));
  fputs(
      "  weft_flush(0);\n"
      "  const uint64_t start = weft_cycles();\n"
      "  for (int step = 0; step < STEPS; step++) run(step);\n"
      "  const uint64_t end = weft_cycles();\n"
      "  for (int step = 0; step < STEPS; step++)\n"
      "    weft_printf(\"step %d %s cycles %lu\\n\", step, names[step], cycles[step]);\n"
      "  weft_printf(\"cycles %lu\\n\", end - start);\n",
      w->out);
  for (int o = 0; o < g->output_count; o++) {
    const graph_tensor *t = &g->tensors[g->outputs[o]];
    fputs("  weft_printf(\"output %s digest %016lx\\n\", \"", w->out);
    wf_name_write(WF_NAME_C_STRING, t->name, w->out);
    fprintf(w->out, "\", weft_digest(%s, %zu));\n", place_text(w, w->net->tensors[g->outputs[o]]), graph_bytes(t));
  }
  fputs("  return 0;\n}\n", w->out);
}

bool network_write_main(const network *net, FILE *out, wf_diag *diag) {
  const writer w = {.net = net, .arena = wf_arena_create(), .out = out};
  fputs("// Runs the network ", out);
  wf_name_write(WF_NAME_C_COMMENT, net->graph->name, out);
  fputs(" and tells the cycles of each step and what came out.\n", out);
  fputs(
      "#include \"weft/console.h\"\n#include \"weft/data.h\"\n#include \"weft/host_ops.h\"\n#include "
      "\"weft/weft.h\"\n\n"
      "void *memcpy(void *restrict to, const void *restrict from, size_t length);\n",
      out);
  put_buffers(&w);
  put_kernels(&w);
  put_commands(&w);
  put_calls(&w);
  put_names(&w);
  bool has_host = false;
  for (int s = 0; s < net->step_count; s++) has_host = has_host || net->steps[s].place == GRAPH_ON_HOST;
  if (has_host) fputs(carry_out, out);
  put_steps(&w);
  fputs(run, out);
  put_main(&w);
  wf_arena_destroy(w.arena);
  if (fflush(out) == 0 && !ferror(out)) return true;
  wf_error(diag, wf_in_file(net->graph->name), "cannot write the main program");
  return false;
}
