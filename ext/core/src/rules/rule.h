/* rules/rule.h - inspection rules, as they are read. */
#ifndef SKV_RULES_RULE_H
#define SKV_RULES_RULE_H

#include "rules/step.h"
#include "simpkv_rules.h"

typedef enum skv_phase { SKV_PHASE_EARLY, SKV_PHASE_PREPROCESS, SKV_PHASE_MAIN } skv_phase;
#define SKV_PHASES 3

/* Texts are borrowed from the JSON of the rule, and NULL if it has no such member. */
typedef struct skv_rule {
    const char *uuid, *description, *scope;
    json_int_t priority;
    skv_phase phase;
    bool is_sensitive;
    bool is_built_in; /* default_scope does not count for it */
    int number;       /* the position in the order in which rules run */
    skv_step *conditions, *actions;
    size_t condition_count, action_count;
} skv_rule;

/* Immutable. */
struct skv_rules {
    json_t *tree;
    skv_rule *rules; /* in the order in which they run */
    size_t count;
};

/* Returns the phase of that name, SKV_PHASES for any other name and NULL; the name of a phase. */
skv_phase skv_phase_named(const char *name);
const char *skv_phase_name(skv_phase phase);

/* Reads a rule, which borrows the JSON. Returns SKV_OK; SKV_INVALID or SKV_TOO_LARGE with the reason, and the reader's
 * place is that of the wrong value; SKV_NOMEM. The caller frees the rule in any case. */
skv_status skv_rule_read(skv_rule *rule, json_t *json, skv_reader *reader);

void skv_rule_free(skv_rule *rule);

#endif
