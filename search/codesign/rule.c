// SPDX-License-Identifier: Apache-2.0
// See rule.h. A rule is kept as steps of a stack machine, in the order in which they are carried out.
#include "search/codesign/rule.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hw/cost.h"

enum { STEPS_MAX = 64, NAME_CHARS = 64 };

typedef enum {
  PUSH,
  PARAMETER,
  DIM,
  AREA,
  PATH,
  ADD,
  SUBTRACT,
  MULTIPLY,
  DIVIDE,
  LESS,
  MOST,
  MORE,
  LEAST,
  SAME,
  OTHER
} kind;

typedef struct step {
  kind kind;
  double number;
  const hw_param *param;
} step;

struct codesign_rule {
  const char *text;
  step steps[STEPS_MAX];
  size_t count;
};

typedef struct parser {
  codesign_rule *rule;
  const char *at;
  wf_location where;
  wf_diag *diag;
  bool failed;
} parser;

static wf_location here(const parser *p) {
  wf_location where = p->where;
  if (where.column > 0) where.column += (unsigned)(p->at - p->rule->text);
  return where;
}

static void fail(parser *p, const char *what, const char *hint) {
  if (p->failed) return;
  p->failed = true;
  wf_error(p->diag, here(p), "constraint '%s': %s", p->rule->text, what);
  if (hint != NULL) wf_hint(p->diag, "%s", hint);
}

static void skip(parser *p) {
  while (isspace((unsigned char)*p->at)) p->at++;
}

static void emit(parser *p, step s) {
  if (p->rule->count == STEPS_MAX)
    fail(p, "too long", NULL);
  else
    p->rule->steps[p->rule->count++] = s;
}

static void parse_sum(parser *p, unsigned depth);

static void parse_name(parser *p) {
  char name[NAME_CHARS];
  size_t length = 0;
  const char *start = p->at;
  while ((isalnum((unsigned char)*p->at) || *p->at == '_' || *p->at == '.') && length + 1 < sizeof name)
    name[length++] = *p->at++;
  name[length] = '\0';
  const hw_param *param = hw_param_find(name);
  if (param != NULL) return emit(p, (step){.kind = PARAMETER, .param = param});
  if (strcmp(name, "dim") == 0) return emit(p, (step){.kind = DIM});
  if (strcmp(name, "area_mm2") == 0) return emit(p, (step){.kind = AREA});
  if (strcmp(name, "path_ns") == 0) return emit(p, (step){.kind = PATH});
  p->at = start;
  fail(p, "no such parameter", "weft array params lists them; besides there are dim, area_mm2 and path_ns");
}

static void parse_value(parser *p, unsigned depth) {
  skip(p);
  if (p->failed) return;
  if (*p->at == '(' && depth < STEPS_MAX) {
    p->at++;
    parse_sum(p, depth + 1);
    skip(p);
    if (*p->at == ')')
      p->at++;
    else
      fail(p, "a parenthesis is not closed", NULL);
  } else if (isdigit((unsigned char)*p->at)) {
    char *end;
    const double number = strtod(p->at, &end);
    p->at = end;
    emit(p, (step){.kind = PUSH, .number = number});
  } else if (isalpha((unsigned char)*p->at)) {
    parse_name(p);
  } else {
    fail(p, "a number or a parameter is missing", NULL);
  }
}

static void parse_product(parser *p, unsigned depth) {
  parse_value(p, depth);
  for (skip(p); !p->failed && (*p->at == '*' || *p->at == '/'); skip(p)) {
    const kind operation = *p->at++ == '*' ? MULTIPLY : DIVIDE;
    parse_value(p, depth);
    emit(p, (step){.kind = operation});
  }
}

static void parse_sum(parser *p, unsigned depth) {
  parse_product(p, depth);
  for (skip(p); !p->failed && (*p->at == '+' || *p->at == '-'); skip(p)) {
    const kind operation = *p->at++ == '+' ? ADD : SUBTRACT;
    parse_product(p, depth);
    emit(p, (step){.kind = operation});
  }
}

static void parse_comparison(parser *p) {
  static const struct {
    const char *text;
    kind kind;
  } comparisons[] = {{"<=", MOST}, {">=", LEAST}, {"==", SAME}, {"!=", OTHER}, {"<", LESS}, {">", MORE}};
  parse_sum(p, 0);
  skip(p);
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons && !p->failed; i++) {
    const size_t length = strlen(comparisons[i].text);
    if (strncmp(p->at, comparisons[i].text, length) != 0) continue;
    p->at += length;
    parse_sum(p, 0);
    skip(p);
    if (*p->at != '\0') fail(p, "there is something behind it", NULL);
    return emit(p, (step){.kind = comparisons[i].kind});
  }
  fail(p, "no comparison", "one of <= >= < > == !=");
}

const codesign_rule *codesign_rule_parse(wf_arena *arena, const char *text, wf_location where, wf_diag *diag) {
  codesign_rule *rule = WF_ARENA_ARRAY(arena, 1, codesign_rule);
  rule->text = wf_arena_text(arena, text, strlen(text));
  rule->count = 0;
  parser p = {.rule = rule, .at = rule->text, .where = where, .diag = diag};
  parse_comparison(&p);
  return p.failed ? NULL : rule;
}

static double value_of(const step *s, const hw_array *array) {
  switch (s->kind) {
    case PARAMETER:
      return hw_param_get(array, s->param);
    case DIM:
      return hw_derive(array).dim;
    case AREA:
      return hw_cost_of(array).total.value * 1e-6;
    case PATH:
      return hw_cost_longest_path(array).ns.value;
    default:
      return s->number;
  }
}

static double combine(kind operation, double a, double b) {
  switch (operation) {
    case ADD:
      return a + b;
    case SUBTRACT:
      return a - b;
    case MULTIPLY:
      return a * b;
    case DIVIDE:
      return a / b;
    case LESS:
      return a < b;
    case MOST:
      return a <= b;
    case MORE:
      return a > b;
    case LEAST:
      return a >= b;
    case SAME:
      return a == b;
    default:
      return a != b;
  }
}

bool codesign_rule_holds(const codesign_rule *rule, const hw_array *array) {
  double stack[STEPS_MAX];
  size_t top = 0;
  for (size_t i = 0; i < rule->count; i++) {
    const step *s = &rule->steps[i];
    if (s->kind <= PATH) {
      stack[top++] = value_of(s, array);
      continue;
    }
    top--;
    stack[top - 1] = combine(s->kind, stack[top - 1], stack[top]);
  }
  return stack[0] != 0;
}

const char *codesign_rule_text(const codesign_rule *rule) { return rule->text; }
