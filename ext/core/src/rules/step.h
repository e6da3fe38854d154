/* rules/step.h - the conditions and actions of a rule. */
#ifndef SKV_RULES_STEP_H
#define SKV_RULES_STEP_H

#include "rules/argument.h"

typedef enum skv_multiple { SKV_MULTIPLE_ANY, SKV_MULTIPLE_ALL, SKV_MULTIPLE_FIRST, SKV_MULTIPLE_LAST } skv_multiple;

/* A condition or an action. */
typedef struct skv_step {
    const skv_operation *operation;
    const char *name;     /* of the operation, or of a site action; borrowed from the rule */
    json_t *items;        /* of a loop over a constant: a list, owned */
    skv_template *loop;   /* of any other loop: one field */
    skv_argument *values; /* the elements of the first one, if the operation is variadic and its arguments are a list */
    size_t value_count;
    bool is_named;    /* the arguments are an object, not a list */
    bool is_inverted; /* for conditions, as the next */
    skv_multiple multiple;
    skv_argument arguments[SKV_PARAMETERS_MAX];
} skv_step;

/* Read a condition or an action. `roots` is the sum of the roots that have a value in the phase of the rule; without
 * the node, actions that change it are refused. Return SKV_OK; SKV_INVALID or SKV_TOO_LARGE with the reason; SKV_NOMEM.
 * The caller frees the step in any case. */
skv_status skv_condition_read(skv_step *step, json_t *condition, unsigned roots, skv_reader *reader);
skv_status skv_action_read(skv_step *step, json_t *action, unsigned roots, skv_reader *reader);

void skv_step_free(skv_step *step);

/* Returns a list of the items of a loop over a value: the elements of a list, or {"key":K,"value":V} for each member of
 * an object, borrowed from it otherwise. The caller releases it. Returns NULL and fails the reply: SKV_INVALID for any
 * other value, SKV_TOO_LARGE above SKV_LOOP_ITEMS_MAX, SKV_NOMEM. */
json_t *skv_loop_items(json_t *value, skv_reply *reply);

#endif
