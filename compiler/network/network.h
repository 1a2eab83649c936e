// SPDX-License-Identifier: Apache-2.0
// Network programs: a placed graph (compiler/graph) as a list of steps on one memory. runner/network.h runs them.
//
// A step is either a kernel of workloads/kernels, compiled for the array, or calls of the hart's operators
// (driver/include/weft/host_ops.h). A node of the graph becomes one or more steps; nodes that only rename bytes become
// none. Everything lies in one memory: the hart's program, then weights and other constants, then one arena in which
// tensors whose lives do not meet share bytes.
#ifndef COMPILER_NETWORK_NETWORK_H
#define COMPILER_NETWORK_NETWORK_H

#include "arch/memory.h"
#include "compiler/command/command.h"
#include "compiler/graph/graph.h"
#include "compiler/layer/layer.h"
#include "compiler/network/scheme.h"
#include "compiler/network/unit.h"
#include "hw/array.h"
#include "weft/host_ops.h"

// ---- sizes

// Whether main memory can hold a model graph or a placed one at all: its constants, its inputs or its outputs, and the
// operands of its largest node, each float inside of it in a byte; with int8_ends those of its ends, too. False after
// the reason was reported. A bound that takes no time, for before calibration and scheduling; where everything lies is
// known after lowering.
bool network_check_size(const graph *g, const hw_array *array, bool int8_ends, wf_diag *diag);

// ---- the program

// A piece of memory.
typedef struct network_buffer {
  const char *name;      // of the tensor that it was made for
  uint64_t bytes;        // with what wide loads read behind the end
  const void *contents;  // of a constant; NULL: of the arena
  uint64_t content_bytes;
  const struct network_slot_command *commands;  // of a list of commands, whose contents they become; NULL: of none
  int first, last;              // steps that use it; -1 and step_count: filled before, read after the run
  struct network_buffer *home;  // whose place it takes over; NULL: it has its own,
  int until;                    // which it and those that took it over use up to this step
  uint64_t address;
  bool forwarded;  // it is in no memory: its bytes stay in the scratchpad, between steps that are mixed
} network_buffer;

// How a tensor lies in memory: rows of so many bytes, and from row to row. Pitch 0: one behind the other.
typedef struct network_lie {
  uint64_t bytes, pitch;
} network_lie;

typedef struct network_place {
  int buffer;  // -1: none
  uint64_t offset;
} network_place;

// A kernel compiled for the array, shared by the steps that give it the same arguments.
typedef struct network_kernel {
  const layer_call *call;    // NULL: it is one for the normaliser, or several mixed
  const network_unit *unit;  // of the normaliser
  const int8_t *weights;     // that are the kernel's own, for they have blocks of zeros; NULL: any
  double zeros;              // the share of these blocks
  const char *text;          // "conv2d N=1,H=.."
  command_program *program;  // NULL until network_compile
  command_program *loops;    // the same by the hardware's loops, if the options ask for it and there is one; or NULL
  bool shared;               // the program is another kernel's
  network_place *constants;  // per tensor of the program: of those that it brings along; buffer -1: of the others
  map_mapping mapping;       // of a layer
  double seconds;            // of the processor, for its compilation
} network_kernel;

enum { NETWORK_OPERANDS = 6, NETWORK_MIXED_MAX = 6 };  // of a step; steps that are mixed into one
typedef struct network_operand {
  const char *param;  // "x_ptr"
  network_place place;
} network_operand;

typedef struct network_call {
  struct weft_host_call call;               // its data pointers are NULL
  network_place place[WEFT_HOST_OPERANDS];  // and these stand for them
} network_call;

typedef struct network_step network_step;
struct network_step {
  const graph_node *node;
  graph_place place;
  const char *name, *what;  // the node's name; the text of the kernel, or the operators of the hart
  int kernel;               // of an array step
  network_operand operands[NETWORK_OPERANDS * NETWORK_MIXED_MAX];
  int operand_count;
  network_call *calls;  // of a host step
  int call_count;
  size_t call_room;
  uint64_t macs;            // of an array step
  int parts;                // steps that it stands for, if several are mixed; else 0
  bool forwards;            // these, and tensors between them go through the scratchpad
  const graph_node **also;  // nodes besides `node` that a step of several mixed kernels completes
  int also_count;
  bool edge;           // turns the network's input or output into or out of int8
  bool held;           // of the array: its sums stay in the accumulator for the step behind it
  bool makes;          // the last step of its node: the node's outputs are there
  network_step *part;  // of steps that hart and array do at one time (overlap/overlap.h): these; NULL: it is none
  int part_count;
};

typedef enum {
  NETWORK_FUSE_OFF,   // every step by itself
  NETWORK_FUSE_AUTO,  // neighbouring steps are mixed where the judge says that it pays
  NETWORK_FUSE_ALL,   // they are mixed where they can be
} network_fuse_mode;

// Where it is done: "array", "host", or "both" at one time.
static inline const char *network_step_place(const network_step *step) {
  return step->part_count > 0 ? "both" : step->place == GRAPH_ON_ARRAY ? "array" : "host";
}

// What is known of windows of steps, for networks of one graph, array and mappings that are created one after the
// other: equal windows are judged once, and what a window took in the network counts in place of what the judge said.
typedef struct network_judgements network_judgements;
network_judgements *network_judgements_create(void);
void network_judgements_destroy(network_judgements *known);

typedef struct network_mix_facts {
  int first, count;              // steps, counted without mixes
  bool forwards;                 // tensors between them went through the scratchpad
  compile_verdict apart, mixed;  // what they took one behind the other, and mixed
} network_mix_facts;
void network_tell_mix(network_judgements *known, const network_mix_facts *facts);
// What each step of the network without mixes takes: where cycles are to be least, windows that it leaves nothing to
// gain are not judged; else it says how much of the network a cycle is, and a picojoule.
void network_tell_steps(network_judgements *known, const compile_verdict *steps, int count);

// Whether the array can forward tensors between mixed steps.
bool network_can_forward(const hw_array *array);

typedef struct network_options {
  const hw_array *array;   // borrowed
  compile_tuning tuning;   // of runner/tune.h, which makes mappings of it; network_create takes the judge, for `fuse`
  network_fuse_mode fuse;  // auto needs the judge
  bool through_memory;     // auto: no tensor between mixed steps stays in the scratchpad
  network_judgements *judgements;  // borrowed; NULL: none are known, and small gains are left alone
  unsigned jobs;                   // threads that compile; 0: 1
  bool straight;                   // commands without loops: for C, which finds its own; loops take less memory
  // Hart and array work at one time where the network is faster so (runner/overlap.h).
  bool overlap;
  bool loops;                         // kernels are compiled for the hardware's loops, too
  const struct network_slots *slots;  // borrowed: which steps hart and array do at one time (overlap/overlap.h); with
                                      // `loops` and without mixes. NULL: none
  bool timing;                        // the steps are only timed: kernels that differ in scales alone share a program
  // The mapping of a kernel; NULL, or returns NULL: the mapper's.
  const map_mapping *(*mapping)(void *context, const layer_call *call);
  void *context;
  // How a node is computed; NULL, or returns NULL: by the rules. One that is not legal is refused.
  const network_scheme *(*scheme)(void *context, const graph_node *node);
  void *scheme_context;
} network_options;

// What choosing the mixes took.
typedef struct network_planning {
  uint64_t judged, visited;           // windows: by the judge; by the search for the cut
  double judge_seconds, cut_seconds;  // of the processor
  double judge_clock;                 // seconds of judging by the clock
} network_planning;

typedef struct network {
  wf_arena *arena;
  const graph *graph;  // borrowed
  network_options options;
  network_buffer *buffers;
  int buffer_count;
  size_t buffer_room;
  network_kernel *kernels;
  int kernel_count;
  size_t kernel_room;
  network_step *steps;
  int step_count;
  size_t step_room;
  network_place *tensors;  // of each tensor of the graph; buffer -1: it is in no memory (folded into something else)
  network_lie *lies;       // how each of them lies there
  uint64_t weight_bytes, arena_bytes, end;  // of the plan; end: the first address behind everything
  uint64_t arena_least_bytes;               // the most that lives at one time: no plan has a smaller arena
  double compile_seconds;                   // of all processors
  network_planning planning;
} network;

// Lowers, compiles and plans. The graph must live as long as the network. NULL after errors were reported: they name
// the node and what the matter is.
network *network_create(const graph *g, const network_options *options, wf_diag *diag);
// The same without compiling and placing: steps, for estimates alone.
network *network_sketch(const graph *g, const network_options *options, wf_diag *diag);
// Cycles of a step of a sketch, as the mapper estimates its best mapping, or by the bytes of a copy. INFINITY: there is
// no mapping; steps of the hart and commands of their own count nothing.
double network_step_estimate(const network *net, const network_step *step);
void network_destroy(network *net);

// Steps, their operands and the plan.
void network_print(const network *net, FILE *out);

// ---- what runner/ and the ELF writer need of it

// The hart's program of calls (driver/host/step.c) and where it keeps calls: the first bytes of main memory.
enum { NETWORK_RESERVED = 1 << 20, NETWORK_CALLS = 3 << 18, NETWORK_LINE = 64 };

// The addresses of the tensors of an array step's program.
void network_layout(const network *net, const network_step *step, uint64_t *address);

static inline uint64_t network_address(const network *net, network_place place) {
  return place.buffer < 0 ? ARCH_MEMORY_BASE + NETWORK_RESERVED : net->buffers[place.buffer].address + place.offset;
}

#endif
