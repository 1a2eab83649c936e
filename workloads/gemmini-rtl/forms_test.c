// SPDX-License-Identifier: Apache-2.0
// The closed forms of the reference's windows against what `weft bench gemmini --csv` wrote: a + b n cycles for n
// commands or pairs, with the memory that answers at once. A window that branch prediction disturbs in one repetition
// is taken from the other: the better one of the two warm ones counts.
//   forms_test ROWS.csv
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANY = -1, NAME = 40, SMALL = 8 };

typedef struct form {
  const char *name;  // of the window
  int p2, p3;        // its parameters besides n
  int from, to;      // n
  double base, slope;
  double cycles;   // that the window may be off,
  double percent;  // and of the form besides: polls of memory and victims that are drawn
} form;

static const form forms[] = {
    // products, n pairs of preload and compute
    {"ws_pre_comp_n_done", 0, 0, 1, 32, 74, 16, 2, 0},
    {"ws_accum_n_done", 0, 0, 1, 32, 72, 16, 2, 0},
    {"ws_stay_n_done", 0, 0, 1, 32, 73, 16, 2, 0},
    {"ws_pre_comp_n_done", 0, 1, 1, 32, 75, 32, 2, 0},
    {"ws_stay_n_done", 0, 1, 1, 32, 90, 16, 2, 0},
    {"ws_samebank_n_done", ANY, ANY, 1, 32, 58, 32, 2, 0},
    {"ws_bias_n_done", ANY, ANY, 1, 32, 76, 16, 2, 0},
    {"ws_tosp_n_done", ANY, ANY, 1, 8, 74, 16, 2, 0},
    {"ws_chain_n_done", ANY, ANY, 1, 8, 21, 70, 2, 0},
    {"ws_cfg_n_done", ANY, ANY, 1, 8, 22, 73, 2, 0},
    {"os_pre_comp_n_done", 0, 0, 1, 32, 90, 16, 2, 0},
    {"os_d_n_done", 0, 0, 1, 32, 92, 16, 2, 0},
    {"os_toacc_n_done", 0, 0, 1, 32, 91, 16, 2, 0},
    {"ws_rows_stay_n_done", 1, ANY, 8, 8, 157, 0, 2, 0},
    {"ws_rows_stay_n_done", 4, ANY, 8, 8, 157, 0, 2, 0},
    {"ws_rows_new_n_done", 1, ANY, 8, 8, 192, 0, 2, 0},
    {"ws_rows_new_n_done", 4, ANY, 8, 8, 192, 0, 2, 0},
    {"ws_rows_stay_n_done", 8, ANY, 8, 8, 148, 0, 9, 0},  // the reference: 148, 156, 157, as its hart is in time
    {"ws_rows_new_n_done", 8, ANY, 8, 8, 196, 0, 2, 0},
    // loads: one of n rows, then n of them
    {"mvin", 16, ANY, 1, 16, 31, 1, 2, 0},
    {"mvin_n_done", 16, 16, 2, 16, 34, 18, 2, 2.5},
    {"mvin_n_done", 16, 32, 1, 32, 34, 32.6, 2, 0.5},
    {"mvin_n_done", 16, 64, 1, 32, 35, 64.8, 2, 0},
    {"mvin_acc_n_done", 16, 16, 1, 8, 34, 64.6, 2, 0.5},
    {"mvin_acc_accum_n_done", 16, 16, 1, 16, 34, 64.6, 3, 0.1},
    {"mvin_shrunk_n_done", 16, 64, 1, 16, 34, 64.6, 2, 0.1},
    {"mvin_acc_rep_n_done", 16, 16, 1, 16, 35, 18, 2, 4},
    {"mvin_scaled_n_done", 16, 64, 1, 8, 40, 256, 2, 0},
    {"mvin_zero_n_done", 16, 64, 1, 8, 17, 64, 2, 0},
    // stores: one of n rows, then n of them
    {"mvout_sp", 16, ANY, 1, 16, 31, 1, 2, 0},
    {"mvout_acc", 16, ANY, 1, 4, 36, 1, 2, 0},
    {"mvout_sp_n_done", 16, 64, 1, 16, 31, 112, 2, 0},
    {"mvout_acc_n_done", 16, 64, 1, 16, 36, 112, 2, 0},
    {"mvout_acc16_n_done", 16, 16, 1, 16, 38, 25.6, 2, 0.5},
    {"mvout_full_n_done", 16, 16, 1, 8, 35, 66, 2, 0.5},
};
enum { FORMS = sizeof forms / sizeof forms[0] };

typedef struct window {
  char name[NAME];
  int n, p2, p3;
  double cycles;
} window;

typedef struct windows {
  window *all;
  size_t count, room;
} windows;

static bool same(const window *a, const window *b) {
  return strcmp(a->name, b->name) == 0 && a->n == b->n && a->p2 == b->p2 && a->p3 == b->p3;
}

// Of the warm repetitions the shorter one counts: nothing but a disturbance tells them apart.
static void keep(windows *w, const window *next) {
  for (size_t i = w->count; i-- > 0;) {
    if (!same(&w->all[i], next)) continue;
    if (next->cycles < w->all[i].cycles) w->all[i].cycles = next->cycles;
    return;
  }
  if (w->count == w->room) {
    w->room = w->room == 0 ? SMALL : 2 * w->room;
    w->all = realloc(w->all, w->room * sizeof *w->all);
    if (w->all == NULL) abort();
  }
  w->all[w->count++] = *next;
}

static bool load(windows *w, const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) return false;
  char line[256], memory[NAME];
  window next;
  int rep;
  // group,memory,name,p1,...,p6,rep,measured,simulated,error
  while (fgets(line, sizeof line, file) != NULL) {
    int got = sscanf(line, "%*[^,],%39[^,],%39[^,],%d,%d,%d,%*d,%*d,%*d,%d,%*d,%lf", memory, next.name, &next.n,
                     &next.p2, &next.p3, &rep, &next.cycles);
    if (got == 7 && rep > 0 && strcmp(memory, "magic") == 0) keep(w, &next);
  }
  fclose(file);
  return true;
}

static bool is_of(const form *f, const window *w) {
  return strcmp(f->name, w->name) == 0 && w->n >= f->from && w->n <= f->to && (f->p2 == ANY || f->p2 == w->p2) &&
         (f->p3 == ANY || f->p3 == w->p3);
}

// The number of windows that are too far off.
static unsigned check(const form *f, const windows *w) {
  unsigned found = 0, wrong = 0;
  double most = 0;
  for (size_t i = 0; i < w->count; i++) {
    if (!is_of(f, &w->all[i])) continue;
    found++;
    double expected = f->base + f->slope * w->all[i].n, off = w->all[i].cycles - expected;
    if (fabs(off) > fabs(most)) most = off;
    if (fabs(off) <= f->cycles + expected * f->percent / 100) continue;
    printf("%s, n %d: %.0f cycles instead of %g + %g n = %g\n", f->name, w->all[i].n, w->all[i].cycles, f->base,
           f->slope, expected);
    wrong++;
  }
  if (found == 0) printf("%s: no such window\n", f->name);
  printf("%-24s %3d %3d  %5g + %5g n  %2u windows, at most %+.1f cycles off\n", f->name, f->p2, f->p3, f->base,
         f->slope, found, most);
  return found == 0 ? 1 : wrong;
}

int main(int argc, char **argv) {
  windows w = {0};
  if (argc != 2 || !load(&w, argv[1])) {
    fprintf(stderr, "usage: forms_test ROWS.csv\n");
    return 2;
  }
  unsigned wrong = 0;
  for (unsigned i = 0; i < FORMS; i++) wrong += check(&forms[i], &w);
  free(w.all);
  printf("%u windows off\n", wrong);
  return wrong != 0;
}
