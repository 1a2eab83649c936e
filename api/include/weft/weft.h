// SPDX-License-Identifier: Apache-2.0
// libweft: arrays, kernels, networks, engines, searches and sweeps for programs of your own.
//
// A session is one user's connection: it keeps the messages of its last call and the callback for progress, and one
// thread at a time may use it. Everything else is an object that a session made. Objects belong to no session: after
// their creation they do not change, arrays and schedules apart, so any number of sessions, each in a thread of its
// own, may use them. The library has no other state, prints nothing, and ends no process, except that it ends the
// process when there is no memory, with exit code 70 and a line on stderr.
//
// A function that makes an object returns NULL when it fails; others return a weft_status. weft_session_status has the
// reason, and weft_session_messages the text: one line `file:line:column: error: ..` per problem, with hints, as the
// tool prints it. A NULL where an object or a text is needed is an error like others (WEFT_USAGE).
//
// Structs begin with their size, which the caller sets to sizeof: programs compiled against an older or a newer header
// work with this library. Fields of 0 are the defaults of options. Texts that structs point to live as long as the
// object they are of.
//
// One header on purpose, however long: the reference page, the Python package and the list of versioned symbols are
// each made of this file alone.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

// ---- Sessions

typedef struct weft_session weft_session;

// The same numbers as exit codes of the tool.
typedef enum weft_status {
  WEFT_OK = 0,
  WEFT_BAD_INPUT = 1,     // a file, a text or a value; the messages say where and why
  WEFT_USAGE = 2,         // the call itself: NULL, a size that no version has, an unknown choice
  WEFT_CANNOT_BUILD = 3,  // good input that cannot be mapped, built or run
  WEFT_CANCELLED = 130,   // the callback or weft_session_cancel ended it
} weft_status;

// Of the library, as "0.1.0 (1a2b3c4d5e6f)".
WEFT_API const char *weft_version(void);

// The instruction set as Markdown: every instruction with its operand fields, legal values and unit.
WEFT_API const char *weft_isa_reference(void);

// NULL: there is no memory.
WEFT_API weft_session *weft_session_create(void);
WEFT_API void weft_session_destroy(weft_session *session);

// Of the last call that took the session. The text lives until the next call; "" says that all is well.
WEFT_API weft_status weft_session_status(const weft_session *session);
WEFT_API const char *weft_session_messages(const weft_session *session);

// How far a long call is.
typedef struct weft_progress {
  size_t size;
  const char *what;  // "run", "network", "search", "sweep"
  uint64_t done;     // commands, steps, candidates or measurements
  uint64_t total;    // 0: not known
  double seconds;    // since the call began
  const char *text;  // for people
  // Of sweeps: of this call, of these without a result, and processes that measure.
  uint64_t fresh, failed;
  uint32_t workers;
  uint32_t part, parts;  // of studies: the sweep that this is of, from 1 on; `text` is its name
} weft_progress;

// Called in the thread of the call. False ends the call early, with WEFT_CANCELLED.
typedef bool weft_progress_function(void *context, const weft_progress *progress);

// For all calls that follow; NULL: none.
WEFT_API void weft_session_watch(weft_session *session, weft_progress_function *progress, void *context);

// Ends the call that the session is in: runs, searches and sweeps look for it, compilation goes on to its end. The only
// function that another thread, or a handler of a signal, may call meanwhile.
WEFT_API void weft_session_cancel(weft_session *session);

// Frees texts that a function says are to be freed.
WEFT_API void weft_free(void *memory);

// ---- Arrays

typedef struct weft_array weft_array;

// One parameter of an array description (docs/array-parameters.md).
typedef struct weft_parameter {
  size_t size;
  char name[64];        // "scratchpad.capacity_kib"
  const char *kind;     // "number", "power of two", "flag", "choice"
  const char *choices;  // of a choice: "ws|os|both"; else NULL
  uint32_t initial;     // the default; of a choice its number, of a flag 0 or 1
  uint32_t min, max;
  const char *unit;
  const char *meaning;
} weft_parameter;

// The parameters in their order; WEFT_USAGE past the end.
WEFT_API weft_status weft_parameter_at(size_t index, weft_parameter *parameter);

// All of them as a page of Markdown, to be freed with weft_free.
WEFT_API char *weft_parameter_reference(weft_session *session);

// The names of the arrays that are built in; NULL past the end.
WEFT_API const char *weft_array_shipped(size_t index);

// A name of these ("gemmini-default"), or a file: anything with a / or ending in .yaml or .yml.
WEFT_API weft_array *weft_array_load(weft_session *session, const char *name_or_path);

// A description as text; `name` is for messages. The text need not end in a zero.
WEFT_API weft_array *weft_array_parse(weft_session *session, const char *name, const char *text, size_t length);

WEFT_API weft_array *weft_array_copy(const weft_array *array);
WEFT_API void weft_array_destroy(weft_array *array);

WEFT_API const char *weft_array_name(const weft_array *array);
// What the array says of itself; "" if nothing.
WEFT_API const char *weft_array_description(const weft_array *array);
// Of letters a to z, digits and dashes.
WEFT_API weft_status weft_array_rename(weft_session *session, weft_array *array, const char *name);

// The value of a parameter as a number (of a choice its number, of a flag 0 or 1), and as the text of a description.
WEFT_API weft_status weft_array_get(weft_session *session, const weft_array *array, const char *parameter,
                                    uint32_t *value);
WEFT_API weft_status weft_array_get_text(weft_session *session, const weft_array *array, const char *parameter,
                                         char *text, size_t size);

// Sets a parameter from the text that a description would have. Parameters that depend on each other may be set one
// after the other: weft_array_check, and everything that uses the array, refuses what cannot be built.
WEFT_API weft_status weft_array_set(weft_session *session, weft_array *array, const char *parameter, const char *value);

// Takes energies and areas from a technology table (docs/energy.md), a file, in place of the one that the parameter
// chip.technology names. It is no parameter: neither the hash nor the description has it.
WEFT_API weft_status weft_array_technology(weft_session *session, weft_array *array, const char *path);

// Whether it can be built; the messages have every reason.
WEFT_API weft_status weft_array_check(weft_session *session, const weft_array *array);

// Of all parameters, not of the name: equal arrays have equal hashes everywhere.
WEFT_API uint64_t weft_array_hash(const weft_array *array);

// The whole description, to be freed with weft_free.
WEFT_API char *weft_array_yaml(weft_session *session, const weft_array *array);

// What follows from the parameters (docs/array.md). A row is of one side's elements, a tile of so many rows.
typedef struct weft_array_facts {
  size_t size;
  uint32_t dim;                      // multipliers of a side
  uint32_t sp_rows, sp_bank_rows;    // of the scratchpad
  uint32_t acc_rows, acc_bank_rows;  // of the accumulator
  uint32_t row_bits;                 // of the number of a row in a local address
  uint32_t sp_row_bytes, acc_row_bytes;
  uint32_t max_block_len, max_cols;          // of one command: tiles side by side, and their elements
  uint32_t max_block_len_acc, max_cols_acc;  // the same of int32
  uint32_t mesh_latency;                     // cycles from a row's entry to its exit
  uint32_t max_matmuls;                      // products in flight
  uint32_t load_commands_tracked, store_commands_tracked;
  uint32_t unit_columns;  // of a row that the normaliser takes from networks; 0: it has none that they can use
  bool energies;          // its technology has them
} weft_array_facts;

WEFT_API weft_status weft_array_describe(const weft_array *array, weft_array_facts *facts);

// The area of a part of an array in 40 nm, and the band in which it lies (docs/codesign.md).
typedef struct weft_area {
  size_t size;
  const char *part;
  double um2, low_um2, high_um2;
} weft_area;

// The whole ("all"), then its parts; WEFT_USAGE past the end.
WEFT_API weft_status weft_array_area(const weft_array *array, size_t index, weft_area *area);

// A figure that the area is made of.
typedef struct weft_area_term {
  size_t size;
  const char *part;
  double um2;           // of one
  double number;        // of these in the array
  const char *counted;  // what the number counts: "banks x side"; "" where it is 0 or 1
  const char *what;
  const char *source;
} weft_area_term;

// WEFT_USAGE past the end, here as below.
WEFT_API weft_status weft_array_area_term(const weft_array *array, size_t index, weft_area_term *term);

// The longest path between two registers of a unit of an array, in 40 nm, and the band in which it lies.
typedef struct weft_unit_path {
  size_t size;
  const char *unit, *part;
  double ns, low_ns, high_ns;
} weft_unit_path;

WEFT_API weft_status weft_array_path(const weft_array *array, size_t index, weft_unit_path *path);

// What no figure is known for, and the parameters on which it depends.
typedef struct weft_area_unknown {
  size_t size;
  const char *what, *parameters;
} weft_area_unknown;

WEFT_API weft_status weft_array_area_unknown(size_t index, weft_area_unknown *unknown);

// ---- Hardware of arrays

// Writes the SystemVerilog of an array with its parameters, and the array as other tools take it, into a folder, which
// is made; README.txt in it says what each file is. A folder with other files is refused; what Gemmini's generator
// cannot express is a warning. `files`, how many were written, may be NULL.
WEFT_API weft_status weft_hardware_write(weft_session *session, const weft_array *array, const char *directory,
                                         uint64_t *files);

// One of these files as text, by its name in the folder ("timeloop-v4.yaml"), to be freed with weft_free.
WEFT_API char *weft_hardware_file(weft_session *session, const weft_array *array, const char *name);

// A value that Gemmini's generator cannot express.
typedef struct weft_hardware_limit {
  size_t size;
  char parameter[128];  // "mesh.zero_skip"
  char value[32];
  const char *reason;
} weft_hardware_limit;

// WEFT_USAGE past the end.
WEFT_API weft_status weft_hardware_limit_at(const weft_array *array, size_t index, weft_hardware_limit *limit);

typedef struct weft_hardware_options {
  size_t size;
  bool wave;      // with waveforms
  uint32_t jobs;  // compilers at a time; 0: 2
} weft_hardware_options;

typedef struct weft_hardware_facts {
  size_t size;
  bool cached;     // it was there already
  double seconds;  // that building it took, now or then
} weft_hardware_facts;

// Compiles the hardware with Verilator and g++ for engine rtl of the tool, which otherwise does it at its first run.
// The model's file, to be freed with weft_free; it stays in the cache. `facts` may be NULL.
WEFT_API char *weft_hardware_build(weft_session *session, const weft_array *array, const weft_hardware_options *options,
                                   weft_hardware_facts *facts);

// The hardware in standard cells: area, critical path and power of each unit, by yosys and OpenSTA.
typedef struct weft_synthesis weft_synthesis;

typedef struct weft_synthesis_facts {
  size_t size;
  const char *library;        // of cells
  double clock_mhz;           // of the power
  double area_um2, power_mw;  // of all instances
  uint64_t memory_bits;       // of scratchpad and accumulator, not in the area
} weft_synthesis_facts;

// Figures are of one instance without the units inside it.
typedef struct weft_synthesis_unit {
  size_t size;
  const char *name;
  const char *part;  // of technology tables: "mesh"
  uint32_t instances, cells;
  double area_um2;
  double path_ns;   // the longest between registers and ports
  double power_mw;  // inputs toggling every tenth cycle
  uint64_t memory_bits;
} weft_synthesis_unit;

// Of arrays of up to 16 x 16, which takes minutes, half an hour at 16 x 16. `unit` NULL: all of them.
WEFT_API weft_synthesis *weft_synthesis_run(weft_session *session, const weft_array *array, const char *unit);
WEFT_API void weft_synthesis_destroy(weft_synthesis *synthesis);
WEFT_API weft_status weft_synthesis_describe(const weft_synthesis *synthesis, weft_synthesis_facts *facts);
// WEFT_USAGE past the end.
WEFT_API weft_status weft_synthesis_at(const weft_synthesis *synthesis, size_t index, weft_synthesis_unit *unit);

// Units that the cost model of searches takes together, and the area and the path that it says of them in the same
// cells. Only where all units were mapped.
typedef struct weft_synthesis_part {
  size_t size;
  const char *name;
  double area_um2;          // of all instances
  double expected_um2;      // by the cost model
  double path_ns;           // the longest of its units, without the lanes of scaling; 0: none
  double expected_path_ns;  // 0: the cost model has none
} weft_synthesis_part;

// WEFT_USAGE past the end.
WEFT_API weft_status weft_synthesis_part_at(const weft_synthesis *synthesis, size_t index, weft_synthesis_part *part);

enum { WEFT_FIT_LEAST = 3, WEFT_FIT_MOST = 16 };

// A technology table (YAML) of areas, fitted to what `weft rtl synth --json` wrote of so many arrays of different
// sizes, to be freed with weft_free. `origin` stands in its head; NULL: none.
WEFT_API char *weft_synthesis_fit(weft_session *session, const char *const *files, size_t count, const char *origin);

// ---- Tensors

enum { WEFT_RANK_MAX = 8 };

// A piece of data that goes into a run or comes out of it.
typedef struct weft_tensor {
  size_t size;
  const char *name;
  const char *type;  // "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64", "bool"
  int32_t rank;
  int64_t dim[WEFT_RANK_MAX];  // tensors of kernels have one dimension: their elements
  uint64_t bytes;
  bool read, written;  // by the program
} weft_tensor;

// ---- Runs

typedef struct weft_run weft_run;

// How a program ended, in the numbers that the tool exits with.
typedef enum weft_ending {
  WEFT_ENDED = 0,
  WEFT_MISMATCH = 4,        // a replay left other memory than the recorded run
  WEFT_PROGRAM_FAILED = 5,  // it returned another code than 0
  WEFT_TRAP = 6,
  WEFT_ILLEGAL_COMMAND = 7,
  WEFT_LOCAL_ADDRESS = 8,
  WEFT_MEMORY_ACCESS = 9,
  WEFT_LIMIT = 10,  // of instructions, or it can never end
} weft_ending;

// What one step of a network took.
typedef struct weft_step {
  size_t size;
  const char *name;       // of the model's node
  const char *operation;  // "QConv"
  const char *kind;       // "array", "host", or "both" at one time
  const char *program;    // the kernel with its arguments, or the hart's operators
  const char *bound;      // what it waited for most
  bool edge;              // converts an input or a result of the network
  uint64_t macs, cycles, commands;
  uint64_t read_bytes, written_bytes;
  double utilisation;
  double energy_uj, array_energy_uj;
  uint64_t compared, wrong;
  const char *result;               // type and shape of the node's first: "i8[1,56,56,256]"
  const char *reason;               // why it is as it is; NULL: it is as usual
  bool makes;                       // the last step of its node
  bool products;                    // it has some
  uint32_t parts;                   // steps that hart and array do at one time; 0: it is one
  bool timed, counted, has_energy;  // what is known of it: cycles; bytes, utilisation and bound; energy
  uint64_t start;                   // cycle in which it began
} weft_step;

typedef struct weft_run_options {
  size_t size;
  const char *engine;  // of weft_engine_at; "cycle" (default), "ref" (right results, no time), "flow" (times by
                       // equations, no data), ..
  bool timing_only;    // of cycle: no data is moved; the cycles are the same
  bool check;          // of a network: every step against the int8 reference
  bool native_host;    // of a network: the hart's operators run here, without cycles
  uint32_t times;      // of a kernel: how often, the last counts (0: 1); the first finds cold caches
  // Of networks and programs from here on.
  const char *accelerator;  // of systemc: "c" (default), "rtl", "ref"
  uint64_t quantum;         // of systemc: cycles that the hart may run ahead
  uint32_t jobs;            // of rtl: compilers at a time; 0: 2
  bool sensitivity;         // of flow: the report also has what the cycles depend on
  // Files, "-" is standard output: of an engine with records the run as a timeline for Perfetto (in JSON; FILE.pftrace:
  // in Perfetto's own form) and as a pipeline log for Konata, each packed if the name ends in .gz.
  const char *timeline, *konata;
  const char *timeline_level;  // "step", "command" (default of networks), "burst" (default of programs)
  const char *timeline_steps;  // of a network: "3", "3-5"; NULL: all
  // Of a network: the library calls it when a step has run. NULL: it calls nothing.
  void (*step)(void *context, size_t index, const weft_step *step);
  void *step_context;
  // Of programs (weft_program_run) from here on.
  uint64_t max_instructions;  // of the hart; 0: no limit
  bool any_array;             // also if the program was built for another array
  bool at_recorded_times;     // of a trace with times: each command in the cycle in which the hart gave it
  const char *wave;           // of rtl: a file of waveforms (FST)
  const char *trace;          // a file of the commands that the program gives, for a replay
  const char *events;         // a file of when commands were allocated, issued and done, and of bursts on the bus
  // Takes what the program prints, or prints as errors. NULL: it is dropped.
  void (*console)(void *context, bool error, const char *bytes, size_t length);
  void *console_context;
} weft_run_options;

// Figures that an engine does not know are 0.
typedef struct weft_totals {
  size_t size;
  uint64_t cycles;
  uint64_t array_cycles, host_cycles, edge_cycles;  // of a network: of the array, the hart, and the hart at its ends
  uint64_t commands, macs;
  uint64_t read_bytes, written_bytes;  // on the bus
  double utilisation;                  // of the multipliers over the array's cycles, 0 to 1
  double energy_uj, array_energy_uj;   // of everything, and what models of arrays count (docs/energy.md)
  uint64_t compared, wrong;            // bytes of a checked network
  uint64_t digest;                     // of the results
  uint64_t both_cycles;                // of a network: of steps that hart and array do at one time
} weft_totals;

// What a unit spent its cycles on, and what it moved; engine cycle knows.
typedef struct weft_counter {
  size_t size;
  const char *unit;  // "load", .., "energy" (in pJ)
  const char *name;
  double value;
} weft_counter;

WEFT_API void weft_run_destroy(weft_run *run);
WEFT_API weft_status weft_run_totals(const weft_run *run, weft_totals *totals);
WEFT_API size_t weft_run_steps(const weft_run *run);
WEFT_API weft_status weft_run_step(const weft_run *run, size_t index, weft_step *step);
WEFT_API size_t weft_run_counters(const weft_run *run);
WEFT_API weft_status weft_run_counter(const weft_run *run, size_t index, weft_counter *counter);
// How it ended; WEFT_MISMATCH: with other results than the reference's.
WEFT_API weft_ending weft_run_ending(const weft_run *run);

typedef struct weft_run_form {
  size_t size;
  const char *form;  // "text" (default), for people; "json", what the tool writes (docs/cli.md)
  const char *file;  // the name of what ran; NULL: its own
  bool units;        // of kernels: with what each unit's cycles went to, traffic and energy
} weft_run_form;

// What the tool prints of a run that has a report: of networks, programs and weft_kernel_check. To be freed with
// weft_free. Further forms: "csv" of networks (a row per step) and programs; "page" of networks, in HTML; "wrong" of
// networks and kernels, one line about the first wrong result, or nothing.
WEFT_API char *weft_run_report(weft_session *session, const weft_run *run, const weft_run_form *form);

// The data of a network's result, which lives as long as the run; NULL: there is none. `tensor` may be NULL.
WEFT_API const void *weft_run_output(const weft_run *run, size_t index, weft_tensor *tensor);

// ---- Code of executables

typedef struct weft_code weft_code;

// Names that can be shown on a terminal: what it would act on is written out, and long ones end in "...".
enum { WEFT_NAME_MAX = 256 };

typedef struct weft_section {
  size_t size;
  uint64_t address, bytes;
  char name[WEFT_NAME_MAX];
} weft_section;

typedef struct weft_instruction {
  size_t size;
  uint64_t address;
  uint32_t bits, bytes;        // 2 or 4 bytes
  bool labelled;               // a symbol stands here
  char symbol[WEFT_NAME_MAX];  // its name
  char text[128];              // as the GNU tools without aliases; those of the array by the names of their functions
} weft_instruction;

// A RISC-V executable; its sections with code in the order of the file.
WEFT_API weft_code *weft_code_open(weft_session *session, const char *path);
WEFT_API void weft_code_destroy(weft_code *code);
WEFT_API size_t weft_code_sections(const weft_code *code);
WEFT_API weft_status weft_code_section(const weft_code *code, size_t index, weft_section *section);
// At so many bytes of a section, the next is `bytes` further; WEFT_USAGE where the section has ended.
WEFT_API weft_status weft_code_instruction(const weft_code *code, size_t section, uint64_t offset,
                                           weft_instruction *instruction);

// ---- Races

// Pairs of accesses of the same bytes or rows, one of them a write, that nothing orders (docs/races.md): of a RISC-V
// program, a trace of commands, or a program with tokens; of the last also units that wait for ever.
typedef struct weft_races weft_races;

typedef struct weft_races_options {
  size_t size;
  bool ignore_station, ignore_fences, ignore_room;  // take them not to order anything
  bool any_array;                                   // also if the program was built for another array
  uint64_t max_instructions;                        // of the hart; 0: no limit
} weft_races_options;

typedef struct weft_races_facts {
  size_t size;
  bool tokens;  // a program with tokens
  weft_ending ending;
  uint64_t races;                                        // that were found, of which the first ones are kept
  uint64_t ordered;                                      // conflicting pairs that are in order
  uint64_t commands, primitives, fences, hart_accesses;  // without tokens
  uint64_t instructions, units;                          // with tokens
} weft_races_facts;

typedef struct weft_race {
  size_t size;
  const char *place;     // of memory
  bool bytes;            // else rows
  uint64_t first, last;  // that both touch
} weft_race;

// One side of a race.
typedef struct weft_access {
  size_t size;
  const char *unit;  // "hart", "load", ..
  bool writes;
  uint64_t number;  // of the command or instruction; of the hart: how many commands it had given
  uint64_t pc;      // 0: not known
  uint32_t line;    // in the file, with tokens
  const char *of;   // the command's name; NULL: it has none
  bool unrolled;    // `text` is what a loop command became
  char text[512];   // the command as text
} weft_access;

// A queue of tokens.
typedef struct weft_token_queue {
  size_t size;
  const char *from, *to;
  uint64_t room;  // 0: for all
  uint64_t pushed, popped;
} weft_token_queue;

// A unit that waits for ever.
typedef struct weft_deadlock {
  size_t size;
  const char *unit;
  uint64_t number;
  uint32_t line;
  bool for_token;  // else for room
  const char *from, *to;
} weft_deadlock;

// Whether a file is a program with tokens, which runs on no array.
WEFT_API weft_status weft_races_tokens(weft_session *session, const char *path, bool *tokens);

// `array`: of programs and traces; with tokens NULL.
WEFT_API weft_races *weft_races_find(weft_session *session, const char *path, const weft_array *array,
                                     const weft_races_options *options);
WEFT_API void weft_races_destroy(weft_races *races);
WEFT_API weft_status weft_races_describe(const weft_races *races, weft_races_facts *facts);
// Those that are kept; WEFT_USAGE past the end, here as below.
WEFT_API weft_status weft_races_at(const weft_races *races, size_t index, weft_race *race);
// The earlier or the later side, in the order of the program.
WEFT_API weft_status weft_races_access(const weft_races *races, size_t index, bool later, weft_access *access);
WEFT_API weft_status weft_races_queue(const weft_races *races, size_t index, weft_token_queue *queue);
WEFT_API weft_status weft_races_deadlock(const weft_races *races, size_t index, weft_deadlock *deadlock);

// ---- Two engines with cycles

// When commands of one program were allocated, issued and done on two engines, and the first record of that in which
// the engines differ. Each has its own memory and runs the whole program.
typedef struct weft_contrast weft_contrast;

typedef struct weft_contrast_options {
  size_t size;
  const char *first, *second;              // engines; NULL: "cycle", and "rtl"
  uint64_t first_disturb, second_disturb;  // seeds of random delays of memory; 0: none
  uint32_t jobs;                           // of engine rtl: compilers at a time; 0: 2
  bool any_array;                          // also if the program was built for another array
} weft_contrast_options;

typedef struct weft_contrast_facts {
  size_t size;
  bool equal;           // records, cycles, endings, and what a trace's replay wrote
  bool records_differ;  // what follows says where
  uint64_t at;          // the place of the first record that differs: those before it are equal
  char text[1024];      // of that record, without its cycle
} weft_contrast_facts;

// One of the two engines, at the record that differs.
typedef struct weft_contrast_side {
  size_t size;
  const char *engine;
  uint64_t records, cycles;
  bool found;          // it has that record at all,
  uint64_t cycle;      // and when
  char command[1024];  // its own, where the engines have two commands in that cycle; else ""
} weft_contrast_side;

typedef struct weft_record {
  size_t size;
  uint64_t cycle;
  const char *kind;    // "alloc", "issue", "done"
  uint64_t number;     // of the command
  const char *unit;    // "load", ..
  char command[1024];  // as text
} weft_record;

// What an engine is.
typedef struct weft_engine {
  size_t size;
  const char *name, *summary;
  bool cycles;   // it has them,
  bool records;  // and says when commands were allocated, issued and done
  bool data;     // it moves data, unless it is told not to
} weft_engine;

// WEFT_USAGE past the end.
WEFT_API weft_status weft_engine_describe(size_t index, weft_engine *engine);
// An engine of the library or the tool; `timed`: it has such records. NULL past the end.
WEFT_API const char *weft_engine_at(size_t index, bool *timed);

// A RISC-V program or a trace; what it prints is dropped.
WEFT_API weft_contrast *weft_contrast_run(weft_session *session, const char *path, const weft_array *array,
                                          const weft_contrast_options *options);
WEFT_API void weft_contrast_destroy(weft_contrast *contrast);
WEFT_API weft_status weft_contrast_describe(const weft_contrast *contrast, weft_contrast_facts *facts);
WEFT_API weft_status weft_contrast_side_of(const weft_contrast *contrast, bool second, weft_contrast_side *side);
// The records of a side in their order; WEFT_USAGE past the end.
WEFT_API weft_status weft_contrast_record(const weft_contrast *contrast, bool second, size_t index,
                                          weft_record *record);
// The record that differs, of the engine in which it is earlier; WEFT_USAGE if none does.
WEFT_API weft_status weft_contrast_first(const weft_contrast *contrast, weft_record *record);

// ---- Programs of the hart

// Runs a RISC-V program (ELF) with the accelerator, or the commands of a trace on the accelerator alone. How it ended
// is weft_run_ending; a program that did not begin is an error. The run has a report.
WEFT_API weft_run *weft_program_run(weft_session *session, const char *path, const weft_array *array,
                                    const weft_run_options *options);

// ---- Kernels

typedef struct weft_kernel weft_kernel;

typedef struct weft_kernel_options {
  size_t size;
  const char *file;            // to read, or with `text` the name for messages
  const char *text;            // the source; NULL: the file is read
  size_t length;               // of the text; 0: it ends in a zero
  const char *kernel;          // which one of the file; NULL: the only one
  const char *arguments;       // "M=512,N=512,K=512"
  const char *mapping;         // a text as weft_kernel_mapping gives it (docs/mapping.md); NULL: the mapper's
  const char *language;        // "kernel" (default), "block", "command"
  bool autotune;               // the fastest of the kernel's configurations, simulated
  uint32_t tune;               // the fastest of so many mappings, simulated; at most 512
  const char *mapping_file;    // in place of `mapping`
  const char *style;           // of the mapper's mapping: "primitive" (default), "loop": the hardware's loop unrollers
  const char *tune_with;       // the engine that simulates: "cycle" (default); "flow": its best ones, then "cycle"
  const char *tune_objective;  // what is best: "cycles" (default), "energy", "edp"
  // Mappings that were tuned before are taken from here; with `tune` those of layers like them are tried, and what is
  // found is added. NULL: none.
  struct weft_schedules *schedules;
  bool for_c;  // for a program of the hart (weft_kernel_write): few stores that follow a pattern
  // The library calls `tell` with the text of the program each time that this pass has run: "lower", "fuse", "tile",
  // "scope", "hoist", "buffers", "expand", "fold" or "roll". NULL: it calls nothing.
  const char *after;
  void (*tell)(void *context, const char *text);
  void *context;
} weft_kernel_options;

typedef struct weft_kernel_facts {
  size_t size;
  const char *name;
  uint64_t commands;
  uint64_t macs;           // 0: not known
  uint64_t mapping_hash;   // 0: it has no mapping
  uint64_t nodes;          // commands of the text in which loops stand
  uint64_t layer_macs;     // of the layer, blocks of zeros among them
  int32_t config;          // of the kernel, that autotuning took; -1: none
  double compile_seconds;  // of the processor
} weft_kernel_facts;

WEFT_API weft_kernel *weft_kernel_compile(weft_session *session, const weft_array *array,
                                          const weft_kernel_options *options);
WEFT_API void weft_kernel_destroy(weft_kernel *kernel);
WEFT_API weft_status weft_kernel_describe(const weft_kernel *kernel, weft_kernel_facts *facts);
// How it is cut and ordered; "" where the program is no product.
WEFT_API const char *weft_kernel_mapping(const weft_kernel *kernel);

typedef struct weft_kernel_form {
  size_t size;
  uint64_t seed;   // of the data of an executable; the tool's default is 1
  uint32_t times;  // how often an executable runs the kernel; 0: 1
} weft_kernel_form;

// Writes the commands in the form that the file's name ends in: .elf, a program of the hart that prints cycles and
// digests of results (needs the RISC-V compiler); .c, a function of such a program; .trace, for the tool's replay;
// .lst, for people; .command, which weft_kernel_compile reads. `form` may be NULL.
WEFT_API weft_status weft_kernel_write(weft_session *session, const weft_kernel *kernel, const char *path,
                                       const weft_kernel_form *form);
// One of these as text, to be freed with weft_free: "c", "trace", "lst", "command"; or "mapping-c", the mapping
// of a matrix product as struct weft_mapping of the driver; or "json", what the tool writes of a compilation.
WEFT_API char *weft_kernel_text(weft_session *session, const weft_kernel *kernel, const char *form);

// The tensors that the caller gives, in the order of the kernel's parameters.
WEFT_API size_t weft_kernel_tensors(const weft_kernel *kernel);
WEFT_API weft_status weft_kernel_tensor(const weft_kernel *kernel, size_t index, weft_tensor *tensor);

// One buffer per tensor, of its bytes; NULL: zeros, and no result. What the kernel writes is there afterwards.
WEFT_API weft_run *weft_kernel_run(weft_session *session, const weft_kernel *kernel, const weft_run_options *options,
                                   void *const *buffers);

typedef struct weft_check_options {
  size_t size;
  const char *engine;  // of weft_engine_at; NULL: "cycle"
  uint64_t seed;       // of the data; the tool's default is 1
  uint32_t times;      // how often, the last counts (0: 1); the first finds cold caches
  bool timing_only;    // of cycle: nothing is moved or compared
  bool executable;     // as a program of the hart, whose cycles count, too (needs the RISC-V compiler)
  bool sensitivity;    // of flow: its report also has what the cycles depend on
} weft_check_options;

// Runs it on random data and compares every byte with what the interpreter of the source makes of these. The run has a
// report (weft_run_report).
WEFT_API weft_run *weft_kernel_check(weft_session *session, const weft_kernel *kernel,
                                     const weft_check_options *options);

// The first command whose result is another one than on a second engine, as local memories and tensors show it.
typedef struct weft_divergence weft_divergence;

typedef struct weft_divergence_options {
  size_t size;
  const char *engine, *against;  // that have data; NULL: "cycle"
  const char *commands;          // a file (.command) that is judged in place of the kernel's, which are the reference
  uint64_t seed;                 // of the data; the tool's default is 1
} weft_divergence_options;

typedef struct weft_divergence_facts {
  size_t size;
  bool equal;            // there is no such command: what follows is 0
  uint64_t first, last;  // one command, or a preload and its product
  char command[1024];    // the last as text
  uint32_t line;         // of the statement in the source; 0: not known
  const char *place;     // a tensor, "scratchpad", "accumulator", or "fault": an engine stopped with one
  uint64_t row, column;  // of a local memory; a tensor's byte is `column`
  int64_t value, expected;
  uint64_t runs;  // that it took
} weft_divergence_facts;

// The kernel must outlive it.
WEFT_API weft_divergence *weft_kernel_diverge(weft_session *session, const weft_kernel *kernel,
                                              const weft_divergence_options *options);
WEFT_API void weft_divergence_destroy(weft_divergence *divergence);
WEFT_API weft_status weft_divergence_describe(const weft_divergence *divergence, weft_divergence_facts *facts);
// What the tool prints of it, as weft_run_report.
WEFT_API char *weft_divergence_report(weft_session *session, const weft_divergence *divergence,
                                      const weft_run_form *form);

// A run by the interpreter of the source, element by element: what a run must give. Commands have none.
WEFT_API weft_status weft_kernel_interpret(weft_session *session, const weft_kernel *kernel, void *const *buffers);

// ---- Networks

typedef struct weft_network weft_network;

typedef struct weft_network_options {
  size_t size;
  // Of images, sequences and batches; of generated networks also by what widths are divided, and layers. 0: as it is.
  uint64_t image, sequence, batch, divisor, depth;
  bool float_ends;       // inputs and results are f32, as in the model; else they are int8
  bool uint8_images;     // images are a camera's bytes
  uint32_t tune;         // the fastest of so many mappings of each kernel, simulated; at most 512
  uint32_t jobs;         // threads that compile; 0: one per processor
  uint64_t images;       // runs in one program, each with inputs of its own: the first one's, then the second's; 0: 1
  bool overlap;          // hart and array work at one time where that is faster, which takes several runs to find out
  uint64_t past;         // of generated decoders: keys and values of so many tokens are inputs
  const char *prune;     // of generated networks: zeros in weights, as in weft_model_options
  const uint64_t *seed;  // of random inputs, and of weights of generated networks; NULL: of 1
  // Of files, as in weft_graph_options.
  const char *const *dim_names;
  const int64_t *dim_values;
  const char *const *outputs;
  const char *const *constants;
  const char *const *constants_for;
  uint32_t dims, output_count, constant_count;
  // Files of the inputs (.npy, .pb), one of each, as the tensors of the network are. NULL: random ones.
  const char *const *input_files;
  uint32_t input_count;
  // How ranges of float activations are found (docs/quantisation.md).
  const char *calibration;        // "minmax" (default), "percentile"
  const char *samples_from;       // a folder of .npy and .ppm files; NULL: random inputs
  uint64_t samples;               // of random ones; 0: 2
  float picture_mean[3];          // taken off .ppm files, of 0 to 1, by channel
  float picture_deviation[3];     // what they are divided by; all 0: 1
  const char *const *keep_float;  // nodes that stay in float, on the hart
  uint32_t keep_count;
  double least_db;             // as few more nodes stay in float as make every output that good; 0: none
  uint64_t compare;            // with the float model, on so many random inputs; 0: not at all
  uint32_t residual_products;  // the most that adding a residual may take, 1 to 8; 0: by the length of sums
  // Of the array: "on" (default, where it has one), "off", or "auto": by the hart, by the hart beside the array and in
  // the normaliser, each simulated, whichever is best by tune_objective.
  const char *normaliser;
  const char *fuse;                        // neighbouring layers in one stream: "off" (default), "auto", "all"
  const char *mappings;                    // a file with mappings of kernels, as a simulated search writes it
  const char *tune_with, *tune_objective;  // as in weft_kernel_options
  struct weft_schedules *schedules;        // likewise
  bool for_c;                              // likewise: for weft_network_write
  // Of decoders: the new token's keys and values are results, in the form of the cache, which is "int8" or, packed two
  // numbers a byte, "int4" (an array with load.packed_int4). NULL: int8, without these results.
  const char *cache;
  // Which kernel computes a layer: "rules" (default), or "auto": what takes the fewest cycles in the network of all
  // that are legal, simulated.
  const char *kernels;
} weft_network_options;

typedef struct weft_network_facts {
  size_t size;
  const char *name;
  uint64_t steps, kernels;
  uint64_t weight_bytes, arena_bytes;
  double compile_seconds;
  uint64_t arena_least_bytes;  // of activations at one time
  double read_seconds, quantise_seconds;
} weft_network_facts;

// The names of the networks that can be generated; NULL past the end.
WEFT_API const char *weft_network_generated(size_t index);

// An ONNX file (its name ends in .onnx) or a name of these: read, quantised to int8, and compiled for the array.
// Progress is told what it does, as text.
WEFT_API weft_network *weft_network_compile(weft_session *session, const weft_array *array, const char *name_or_path,
                                            const weft_network_options *options);
WEFT_API void weft_network_destroy(weft_network *network);
WEFT_API weft_status weft_network_describe(const weft_network *network, weft_network_facts *facts);

// What is known of a step before it runs; WEFT_USAGE past the end. `result` is "" here: the text has no place to live.
WEFT_API weft_status weft_network_step(const weft_network *network, size_t index, weft_step *step);

WEFT_API size_t weft_network_inputs(const weft_network *network);
WEFT_API weft_status weft_network_input(const weft_network *network, size_t index, weft_tensor *tensor);
WEFT_API size_t weft_network_outputs(const weft_network *network);
WEFT_API weft_status weft_network_output(const weft_network *network, size_t index, weft_tensor *tensor);

// Writes a program of the hart with weights and inputs, which prints cycles of steps and digests of outputs (a name
// that ends in .elf; needs the RISC-V compiler), or the steps as text (.steps).
WEFT_API weft_status weft_network_write(weft_session *session, const weft_network *network, const char *path);
// The steps as text, to be freed with weft_free.
WEFT_API char *weft_network_text(weft_session *session, const weft_network *network);

// A buffer per input, or NULL for those of the options.
WEFT_API weft_run *weft_network_run(weft_session *session, const weft_network *network, const weft_run_options *options,
                                    const void *const *inputs);

// ---- Generated networks as models

typedef struct weft_model weft_model;

// One of the networks that can be generated, with the options that it has: their defaults; 0: it has none.
typedef struct weft_model_row {
  size_t size;
  const char *name, *description;
  uint64_t image, sequence, depth;
} weft_model_row;

// In the order of weft_network_generated; WEFT_USAGE past the end.
WEFT_API weft_status weft_model_at(size_t index, weft_model_row *row);

typedef struct weft_model_options {
  size_t size;
  uint64_t image, sequence, batch, divisor, depth;  // as in weft_network_options
  uint64_t past;                                    // of decoders: keys and values of so many tokens are inputs
  uint64_t seed;                                    // of the weights; the tool's default is 1
  const char *prune;                                // zeros in weights: "weights:0.5", "blocks:0.25"; NULL: none
  bool present;                                     // with `past`: the new tokens' keys and values are results
} weft_model_options;

typedef struct weft_model_facts {
  size_t size;
  const char *name;
  uint64_t nodes;
  double macs;        // of convolutions and products
  double parameters;  // trained ones
} weft_model_facts;

// The same options and seed give the same model everywhere.
WEFT_API weft_model *weft_model_generate(weft_session *session, const char *name, const weft_model_options *options);
WEFT_API void weft_model_destroy(weft_model *model);
WEFT_API weft_status weft_model_describe(const weft_model *model, weft_model_facts *facts);
// Writes an ONNX file.
WEFT_API weft_status weft_model_write(weft_session *session, const weft_model *model, const char *path);
// The table of its layers for weft_search (YAML), to be freed with weft_free.
WEFT_API char *weft_model_layers(weft_session *session, const weft_model *model);

// ---- Graphs of ONNX files

// The operators of a network as the compiler sees them: shapes inferred, constants folded, glue around shapes gone.
typedef struct weft_graph weft_graph;

typedef struct weft_graph_options {
  size_t size;
  const char *stage;                 // "model" (default), "quantised", "placed": how far the compiler goes
  uint64_t batch;                    // first dimensions that the file leaves open; 0: 1
  const char *const *dim_names;      // others that it leaves open, by name or as INPUT:AXIS
  const int64_t *dim_values;         // of each name
  const char *const *outputs;        // tensors or nodes at which the network ends, instead of the file's outputs
  const char *const *constants;      // files (.pb) of inputs that are constants
  const char *const *constants_for;  // the inputs; NULL, or one of NULL: the file says which it is
  uint32_t dims, output_count, constant_count;
  const weft_array *array;  // stages behind "model": the array that it is for; NULL: what every array can
} weft_graph_options;

typedef struct weft_graph_facts {
  size_t size;
  const char *name;
  uint64_t nodes;
  double macs;        // of convolutions and products
  double parameters;  // trained ones
  uint64_t constant_bytes;
} weft_graph_facts;

typedef struct weft_operator {
  size_t size;
  const char *name;  // "Conv"
  uint64_t count;    // of nodes
} weft_operator;

WEFT_API weft_graph *weft_graph_read(weft_session *session, const char *path, const weft_graph_options *options);
WEFT_API void weft_graph_destroy(weft_graph *graph);
WEFT_API weft_status weft_graph_describe(const weft_graph *graph, weft_graph_facts *facts);
// WEFT_USAGE past the end, here as below.
WEFT_API weft_status weft_graph_input(const weft_graph *graph, size_t index, weft_tensor *tensor);
WEFT_API weft_status weft_graph_output(const weft_graph *graph, size_t index, weft_tensor *tensor);
// The operators that it has, in an order of their own.
WEFT_API weft_status weft_graph_operator(const weft_graph *graph, size_t index, weft_operator *row);
// One line per node, in an order in which they can be computed, to be freed with weft_free; with the data of all
// constants, else that of short ones and digests.
WEFT_API char *weft_graph_text(weft_session *session, const weft_graph *graph, bool constants);

// ---- Search

typedef struct weft_answer weft_answer;

typedef struct weft_search_options {
  size_t size;
  const char *objective;  // "edp" (default), "latency", "energy", "area-delay"
  const char *constants;  // of the plain model: "dosa" (default), "40nm"
  bool simulate;          // candidates run on the cycle engine, from the array that is given on
  bool machine;           // with `simulate`: the model of the machine proposes, also mappings
  bool whole_energy;      // with `simulate`: energy of everything, not of the array alone
  double max_area_mm2, max_power_mw;
  double clock_mhz;    // of which power depends
  double max_seconds;  // of the search by the model
  uint64_t seed;       // 0: 1
  uint32_t starts, steps, threads;
  uint32_t candidates, tune;                       // with `simulate`: arrays, and mappings of each layer
  uint32_t side, scratchpad_kib, accumulator_kib;  // that are given; 0: searched
  uint32_t side_max, kib_max;                      // 0: 128, and 2048
  bool exact;                                      // the optimum of the plain model, proven
  bool seed_is_given;                              // a seed of 0 is one
  uint64_t max_evaluations;                        // of layers' mappings, by the model; 0: no limit
  uint32_t flow;  // with `machine`: engine flow runs so many arrays, engine cycle the best of them
  // Of ONNX files, as in weft_graph_options.
  const char *const *dim_names;
  const int64_t *dim_values;
  const char *const *outputs;
  uint32_t dims, output_count;
} weft_search_options;

typedef struct weft_figures {
  size_t size;
  double side, scratchpad_kib, accumulator_kib;  // as the model wants them, or of the simulated array
  double cycles, energy_uj;                      // modelled, or simulated
  double gain;                                   // with `simulate`: times better than the array that was given
  double seconds;
} weft_figures;

typedef struct weft_candidate {
  size_t size;
  const char *origin;  // "base: gemmini-default", "twice the scratchpad of 3"
  const char *reason;  // why it cannot run the network; "" if it can
  bool good, within_bounds;
  uint32_t side, scratchpad_kib, accumulator_kib;
  double cycles, energy_uj, gain;
} weft_candidate;

// Hardware for a network: a shipped table of layers ("resnet50"), a table of your own (.yaml, .csv), an ONNX file or a
// generated network. A cancelled search has no answer.
WEFT_API weft_answer *weft_search(weft_session *session, const weft_array *base, const char *network,
                                  const weft_search_options *options);
WEFT_API void weft_answer_destroy(weft_answer *answer);
WEFT_API weft_status weft_answer_figures(const weft_answer *answer, weft_figures *figures);
// An array that can be built: the simulated one, or the smallest that holds what the model wants. NULL: there is none.
WEFT_API weft_array *weft_answer_array(weft_session *session, const weft_answer *answer);
// What was simulated, in that order.
WEFT_API size_t weft_answer_candidates(const weft_answer *answer);
WEFT_API weft_status weft_answer_candidate(const weft_answer *answer, size_t index, weft_candidate *candidate);

// What the tool prints of it, to be freed with weft_free: form "text" or "json" of weft_run_form.
WEFT_API char *weft_answer_report(weft_session *session, const weft_answer *answer, const weft_run_form *form);
// Writes what the tool leaves in a folder: the answer as text and JSON with its array, or, of a simulated search, a
// folder of the network with array, RTL, mappings, kernels, tables and a store.
WEFT_API weft_status weft_answer_write(weft_session *session, const weft_answer *answer, const char *directory);

// ---- Joint search

// One array for several networks, of all parameters that a space leaves open (docs/codesign.md).
typedef struct weft_joint weft_joint;

typedef struct weft_joint_options {
  size_t size;
  const char *space;      // a file; NULL: the one that comes with the library
  const char *method;     // who proposes: "gradient" (default), "machine", "neighbours", "evolution", "random"
  const char *objective;  // "edap" (default), "edp", "latency", "energy", "area", "throughput-per-mm2"
  const char *second;     // of a front of both; NULL: none
  const double *weights;  // of the networks; NULL: 1 each
  double max_area_mm2, max_power_mw, max_latency_ms;  // 0: no bound
  double simulations;                                 // of all layers; 0: 40, unless there are
  double seconds;                                     // of processors
  uint64_t seed;
  uint32_t threads;
  uint32_t check_rtl;      // so many layers on the Verilated hardware of the answer; 0: none
  const char *technology;  // a table of energies and areas; NULL: the array's
  // Of ONNX files, as in weft_graph_options.
  const char *const *dim_names;
  const int64_t *dim_values;
  const char *const *outputs;
  uint32_t dims, output_count;
  // "off" (default); "auto": the networks run whole, neighbouring steps mixed where that is better, and the answer is
  // the best of so many points (0: 12), as they run. Not of tables alone, and without a second objective.
  const char *fuse;
  uint32_t whole;
} weft_joint_options;

typedef struct weft_joint_facts {
  size_t size;
  double value;  // of the objective
  double cycles, ms, energy_uj, area_mm2;
  double seconds;                        // of processors
  uint64_t by_model, by_flow, by_cycle;  // points that were looked at
  bool settled;                          // else the budget is spent
  bool checked, agrees;                  // the hardware ran; in cycles and bytes
  uint64_t by_network;                   // points on which the networks ran whole, with mixes
} weft_joint_facts;

// Tables of layers, ONNX files and generated networks as in weft_search. Hardware that cannot be built is no error of
// the search: the messages say why, and it is not `checked`.
WEFT_API weft_joint *weft_joint_search(weft_session *session, const char *const *networks, size_t count,
                                       const weft_joint_options *options);
WEFT_API void weft_joint_destroy(weft_joint *joint);
WEFT_API weft_status weft_joint_describe(const weft_joint *joint, weft_joint_facts *facts);
WEFT_API weft_array *weft_joint_array(const weft_joint *joint);
// As weft_answer_report; also "csv", what was looked at.
WEFT_API char *weft_joint_report(weft_session *session, const weft_joint *joint, const weft_run_form *form);
// Array, report, trace, mappings and JSON in a folder.
WEFT_API weft_status weft_joint_write(weft_session *session, const weft_joint *joint, const char *directory);

// ---- Sweeps and their stores

typedef struct weft_sweep_options {
  size_t size;
  const char *store;   // the file; NULL: NAME.sqlite of the specification
  uint32_t jobs;       // processes that measure; 0: one per processor
  bool any_version;    // go on with a store that another version began
  bool extend;         // the specification has changed since: keep what was measured, measure what is new
  const char *engine;  // that measures, "cycle" or "flow"; NULL: the specification's
  // Of several processes on several machines; then `jobs` 0 are none here. NULL: this process is alone.
  struct weft_ranks *ranks;
} weft_sweep_options;

typedef struct weft_sweep_result {
  size_t size;
  uint64_t measurements, done, fresh, failed;  // all; in the store; of this call; of those
  double seconds;
  bool finished;
  bool opened;                               // the store could be opened: all this is of it
  uint64_t without_run, without_compiling;   // of this call: the run was known, or the program was there
  double compile_seconds, simulate_seconds;  // of processors, in this call
} weft_sweep_result;

// Measures the arrays and networks of a specification (docs/sweeps.md) in processes of its own. What is in the store is
// not measured again, so a sweep that was cancelled goes on with the next call. `result` may be NULL.
WEFT_API weft_status weft_sweep(weft_session *session, const char *specification, const weft_sweep_options *options,
                                weft_sweep_result *result);

// A specification that was read.
typedef struct weft_plan weft_plan;

typedef struct weft_plan_facts {
  size_t size;
  char name[WEFT_NAME_MAX];   // as terminals show it
  char store[WEFT_NAME_MAX];  // the file that is meant where none is given
  const char *engine;         // that measures
  uint64_t points, networks;  // arrays and networks
  uint64_t layers;            // of tables; a network that is run whole counts as one
} weft_plan_facts;

// `engine` as in weft_sweep_options.
WEFT_API weft_plan *weft_plan_load(weft_session *session, const char *specification, const char *engine);
WEFT_API void weft_plan_destroy(weft_plan *plan);
WEFT_API weft_status weft_plan_describe(const weft_plan *plan, weft_plan_facts *facts);
// As weft_sweep; `engine` of the options is not looked at.
WEFT_API weft_status weft_plan_run(weft_session *session, const weft_plan *plan, const weft_sweep_options *options,
                                   weft_sweep_result *result);

// The processes that mpirun or srun started for one sweep: the first runs it, the others serve it (docs/sweeps.md).
typedef struct weft_ranks weft_ranks;

typedef struct weft_ranks_facts {
  size_t size;
  bool launched;  // by one of them, and not alone
  uint32_t rank, ranks;
} weft_ranks_facts;

// All of them call it, and are connected when it returns. A process that nothing launched is alone, which is no error.
WEFT_API weft_ranks *weft_ranks_join(weft_session *session);
WEFT_API void weft_ranks_leave(weft_ranks *ranks);
WEFT_API weft_status weft_ranks_describe(const weft_ranks *ranks, weft_ranks_facts *facts);
// Measures for the first until that has nothing more.
WEFT_API weft_status weft_ranks_serve(weft_session *session, const weft_ranks *ranks, const weft_plan *plan);

// ---- Studies

// Networks, compressed and lowered in several ways, with several ways to choose mappings, on several arrays: each
// combination a row (docs/study.md).
typedef struct weft_study weft_study;

typedef struct weft_study_facts {
  size_t size;
  char name[WEFT_NAME_MAX];       // as terminals show it
  char directory[WEFT_NAME_MAX];  // of the stores, where none is given
  const char *engine;             // that measures
  uint64_t configurations, networks, compressions, lowerings, mappings, arrays;
} weft_study_facts;

// `engine` as in weft_sweep_options.
WEFT_API weft_study *weft_study_load(weft_session *session, const char *specification, const char *engine);
WEFT_API void weft_study_destroy(weft_study *study);
WEFT_API weft_status weft_study_describe(const weft_study *study, weft_study_facts *facts);
// Measures what the stores of a folder lack, as weft_sweep; the folder is there. Of the options these are for studies:
// jobs, any_version, extend. `result` may be NULL.
WEFT_API weft_status weft_study_run(weft_session *session, weft_study *study, const char *directory,
                                    const weft_sweep_options *options, weft_sweep_result *result);
// The rows and what follows from them, of a folder in which all is measured, to be freed with weft_free: as "text" for
// people, as "csv", "json", or a "page" of HTML.
WEFT_API char *weft_study_table(weft_session *session, const weft_study *study, const char *directory,
                                const char *form);

// ---- Questions to stores

typedef struct weft_rows weft_rows;

typedef enum weft_value { WEFT_NULL, WEFT_INTEGER, WEFT_NUMBER, WEFT_TEXT } weft_value;

// The points of a store for which a condition holds ("cycles < 20e6 order by edp"; "" or NULL: all), or a statement
// that begins with select. `network` NULL: of all networks. `limit` 0: all rows.
WEFT_API weft_rows *weft_query(weft_session *session, const char *store, const char *condition, const char *network,
                               uint64_t limit);
WEFT_API void weft_rows_close(weft_rows *rows);
// True: there is a row, whose values can be asked for until the next call. False: no more, or a failure: see the
// status.
WEFT_API bool weft_rows_next(weft_session *session, weft_rows *rows);
WEFT_API size_t weft_rows_columns(const weft_rows *rows);
WEFT_API const char *weft_rows_name(const weft_rows *rows, size_t column);
WEFT_API weft_value weft_rows_kind(const weft_rows *rows, size_t column);
WEFT_API const char *weft_rows_text(const weft_rows *rows, size_t column);
WEFT_API int64_t weft_rows_integer(const weft_rows *rows, size_t column);
WEFT_API double weft_rows_number(const weft_rows *rows, size_t column);

// The points of a sweep that no other beats by engine cycle, and by engine flow: whether the quicker one finds the
// same.
typedef struct weft_fronts weft_fronts;

// Of a network. Errors are parts of one, without sign.
typedef struct weft_front {
  size_t size;
  const char *network;
  uint64_t points;                      // on either front
  uint64_t compared;                    // that both engines measured
  uint64_t on_cycle, on_flow, on_both;  // fronts
  double mean_error, worst_error;       // of flow's cycles
  double worst_off;                     // the largest `off` of the points
} weft_front;

typedef struct weft_front_point {
  size_t size;
  uint64_t point;          // its number in the store
  const char *array;       // the hash
  const char *parameters;  // JSON
  bool on_cycle, on_flow;
  double cycles, flow_cycles;
  double energy_pj, flow_energy_pj;
  // By cycle's figures, in the worst of them: of a point that flow misses how much worse the nearest on flow's front
  // is, of one that only flow finds how much worse than the nearest on cycle's front it is; else 0.
  double off;
} weft_front_point;

// Of all networks of a store that has measurements of both engines.
WEFT_API weft_fronts *weft_fronts_compare(weft_session *session, const char *store);
WEFT_API void weft_fronts_destroy(weft_fronts *fronts);
// WEFT_USAGE past the end.
WEFT_API weft_status weft_fronts_network(const weft_fronts *fronts, size_t index, weft_front *front);
WEFT_API weft_status weft_fronts_point(const weft_fronts *fronts, size_t network, size_t index,
                                       weft_front_point *point);

// ---- Stores of tuned mappings

// The rows of a store (docs/schedules.md), read whole: changes are in memory until they are saved.
typedef struct weft_schedules weft_schedules;

enum { WEFT_LAYER_DIMS = 7 };

typedef struct weft_schedule {
  size_t size;
  char layer[96];                // its class: mappings may be carried over to layers of the same
  int64_t dim[WEFT_LAYER_DIMS];  // of the layer: N, P, Q, K, C, R, S
  const char *array;
  uint64_t array_hash;
  const char *engine, *objective;
  uint64_t cycles, before;  // with this mapping, and with the mapper's (0: not known)
  double energy_pj;         // 0: not known
  const char *origin;       // the network or kernel that was tuned
  const char *version;      // that wrote it
} weft_schedule;

// A store that is not there is an error, or empty if it `may_be_new`.
WEFT_API weft_schedules *weft_schedules_open(weft_session *session, const char *store, bool may_be_new);
WEFT_API void weft_schedules_destroy(weft_schedules *schedules);
// All or nothing.
WEFT_API weft_status weft_schedules_save(weft_session *session, const weft_schedules *schedules, const char *store);
WEFT_API size_t weft_schedules_count(const weft_schedules *schedules);
WEFT_API weft_status weft_schedules_at(const weft_schedules *schedules, size_t index, weft_schedule *schedule);
// The text of a mapping, as weft_kernel_options take it, to be freed with weft_free.
WEFT_API char *weft_schedules_mapping(weft_session *session, const weft_schedules *schedules, size_t index);
// Takes the rows of another store that this one does not have, or has with more cycles in the same network. Texts of
// rows live until then. `taken`, how many, may be NULL.
WEFT_API weft_status weft_schedules_import(weft_session *session, weft_schedules *schedules, const weft_schedules *from,
                                           uint64_t *taken);
// What compilations asked a store since it was opened.
typedef struct weft_schedules_use {
  size_t size;
  uint64_t known;                // layers that were in it
  uint64_t carried, made_small;  // mappings of layers like them: as they are, and to fit
  uint64_t refused;              // that did not fit
  uint64_t added;                // rows
} weft_schedules_use;

WEFT_API weft_status weft_schedules_used(const weft_schedules *schedules, weft_schedules_use *use);

// Removes rows no faster than the mapper's mapping, and rows that other versions wrote. `removed` may be NULL.
WEFT_API weft_status weft_schedules_prune(weft_session *session, weft_schedules *schedules, bool other_versions,
                                          uint64_t *removed);

// ---- Layers beside other simulators

// The layers of a network: of a table (shipped, .yaml or .csv), an ONNX file or a generated network.
typedef struct weft_layers weft_layers;

typedef struct weft_layer {
  size_t size;
  const char *name;
  int64_t count;                 // how often the network has it
  int64_t dim[WEFT_LAYER_DIMS];  // N, P, Q, K, C, R, S; K and C of all groups
  int64_t groups;                // 1: none
  double macs;                   // of one
} weft_layer;

WEFT_API weft_layers *weft_layers_load(weft_session *session, const char *network);
WEFT_API void weft_layers_destroy(weft_layers *layers);
WEFT_API const char *weft_layers_name(const weft_layers *layers);
// WEFT_USAGE past the end.
WEFT_API weft_status weft_layers_at(const weft_layers *layers, size_t index, weft_layer *layer);

// Texts for other simulators, to be freed with weft_free. The topology is SCALE-Sim's; layers that it cannot say are
// left out, with messages and WEFT_BAD_INPUT. The problem of one layer is Timeloop's (0.4).
WEFT_API char *weft_layers_topology(weft_session *session, const weft_layers *layers);
WEFT_API char *weft_layers_problem(weft_session *session, const weft_layers *layers, size_t index);
// The mapping that the compiler chooses for a layer, for the architecture timeloop-v4.yaml of weft_hardware_file, and
// the layer in whole blocks, which it is of.
WEFT_API weft_status weft_layers_mapping(weft_session *session, const weft_layers *layers, size_t index,
                                         const weft_array *array, char **problem, char **mapping);

// Cycles of layers on engine cycle, each by itself with cold caches, beside the closed form of another simulator.
typedef struct weft_crosscheck weft_crosscheck;

enum { WEFT_CAUSES_MAX = 16 };

// A part of the difference between the two.
typedef struct weft_cause {
  size_t size;
  const char *name, *meaning;
} weft_cause;

typedef struct weft_crosscheck_row {
  size_t size;
  const char *name;  // of the layer
  int64_t count;
  const char *status;                   // "good"; else why it did not run, and the messages say more
  int64_t cycles, closed_form;          // of one
  int64_t mesh_cycles;                  // of cycles: the mesh takes a row
  int64_t ideal;                        // multiplications by multipliers, rounded up
  int64_t difference[WEFT_CAUSES_MAX];  // by cause: what cycles are more than the closed form
} weft_crosscheck_row;

// The names of the forms, the default first; NULL past the end.
WEFT_API const char *weft_crosscheck_form(size_t index);
// WEFT_USAGE past the end, here as below.
WEFT_API weft_status weft_crosscheck_cause(size_t index, weft_cause *cause);

// Runs all layers. One that cannot be run has a message and a status of its own; it ends nothing.
WEFT_API weft_crosscheck *weft_crosscheck_run(weft_session *session, const weft_layers *layers, const weft_array *array,
                                              const char *form);
WEFT_API void weft_crosscheck_destroy(weft_crosscheck *crosscheck);
WEFT_API weft_status weft_crosscheck_at(const weft_crosscheck *crosscheck, size_t index, weft_crosscheck_row *row);
// Sums over the layers that ran, each as often as the network has it.
WEFT_API weft_status weft_crosscheck_sum(const weft_crosscheck *crosscheck, weft_crosscheck_row *row);

// ---- Files that come with the library

typedef struct weft_file {
  size_t size;
  const char *name;  // "gemm.py"
  const char *text;
} weft_file;

// Kernels, then descriptions to begin with: an array and a sweep. WEFT_USAGE past the end.
WEFT_API weft_status weft_file_at(size_t index, weft_file *file);

// ---- Reports

// What a report is asked for.
typedef struct weft_report_options {
  size_t size;
  const char *title;      // NULL: the sweep's name
  const char *engine;     // whose measurements, "cycle" or "flow"; NULL: the most exact that the store has
  bool without_pictures;  // no SVG and PNG, which need gnuplot
} weft_report_options;

// Writes DIRECTORY/index.html, a page that needs nothing else, and DIRECTORY/figures with its figures. `store` is that
// of a sweep, or the folder of a network that a simulated search of the tool wrote. A missing gnuplot is a warning.
WEFT_API weft_status weft_report(weft_session *session, const char *store, const char *directory,
                                 const weft_report_options *options);

#ifdef __cplusplus
}
#endif

#endif
