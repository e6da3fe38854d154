/* rules/inspection.h - the state of one inspection, and how its rules see the node. */
#ifndef SKV_RULES_INSPECTION_H
#define SKV_RULES_INSPECTION_H

#include "base/deadline.h"
#include "rules/mask.h"
#include "rules/rule.h"

/* The option mask_secrets. */
typedef enum skv_masking { SKV_MASK_ALWAYS, SKV_MASK_NEVER, SKV_MASK_SENSITIVE } skv_masking;

/* A tree that rules change, and the marks of sensitive rules in it. */
typedef struct skv_tree {
    json_t *root; /* NULL for the node of phase early */
    skv_mask mask;
} skv_tree;

typedef struct skv_inspection {
    /* The input. */
    json_t *inventory;
    json_t *masked;      /* the inventory for rules that see no secrets, once it has been read; else NULL */
    skv_tree node, data; /* data: plugin_data */
    json_t *discovered;  /* the node at the beginning, if it was discovered; else NULL */
    const char *default_scope;
    skv_masking masking;
    skv_secret_names secret_names; /* borrowed from the input */
    bool explain;

    /* The rule that runs. */
    const skv_rule *rule;
    const skv_step *step; /* its condition or action, NULL between them */
    json_t *items;        /* of the step's loop, or NULL */
    json_t *item;         /* borrowed from them, or NULL */
    bool for_explanation; /* values are read for the explanation, which shows no secrets */

    /* Its failure, if it fails: the status of the reply is SKV_INVALID or SKV_TOO_LARGE then. */
    skv_buf place;
    skv_reply *reply;

    skv_template_data templates;
    skv_matcher *matcher;
    skv_deadline *deadline;          /* borrowed; never passes, but has the cancel handle */
    size_t steps, growth, explained; /* so far; the last two in bytes */

    /* The output. */
    json_t *listed; /* the rules that matched; with an explanation, those that did not as well */
    json_t *effects;
    json_t *changes; /* of the rule, for the explanation */
    json_t *failed;  /* the outcome of the action fail, or NULL */
    json_t *error;   /* of a rule that failed, or NULL */
} skv_inspection;

/*
 * The functions below return false, or NULL, after a failure, with its reason in the reply and its place in `place`. An
 * interrupt is a failure with SKV_INTERRUPTED, which ends the whole inspection.
 */

/* Counts steps. A text costs one for each SKV_STEP_BYTES that are matched or made, and other work one for each
 * SKV_STEP_VALUES that are searched, copied or compared. */
#define SKV_STEP_BYTES 256
#define SKV_STEP_VALUES 64
bool skv_count_steps(skv_inspection *inspection, size_t steps);

/* Counts the steps of *work units, of which a step has `unit`, and leaves the rest in *work. A loop calls it in each
 * iteration, so that it ends at the limit. */
bool skv_count_work(skv_inspection *inspection, size_t *work, size_t unit);

/* Counts bytes that an action adds to the output. */
bool skv_count_growth(skv_inspection *inspection, size_t bytes);

/* Fails with SKV_INVALID and the place of the argument at `index`, of all arguments (SKV_WHOLE), or of the step
 * (SKV_STEP). If the reply has failed already, only sets the place. */
enum { SKV_WHOLE = SKV_PARAMETERS_MAX, SKV_STEP, SKV_LOOP };
bool skv_fail_at(skv_inspection *inspection, size_t index, const char *reason);

/* Evaluates the argument at `index`, and checks its type. The caller releases the value, and does not change it. */
json_t *skv_evaluate(skv_inspection *inspection, size_t index);

/* Evaluates an optional boolean. */
bool skv_evaluate_flag(skv_inspection *inspection, size_t index, bool *flag);

/* Evaluates the argument at `index`, a text, and returns its meaning: that of a constant, or `own` after it has been
 * read into it. The caller frees `own` in any case. */
const skv_meaning *skv_evaluate_meaning(skv_inspection *inspection, size_t index, skv_meaning *own);

/* Returns the meaning of the text at `index`: that of a constant, or `own` after it has been read into it. The caller
 * frees `own` in any case. `text` is the text. */
const skv_meaning *skv_read_meaning(skv_inspection *inspection, size_t index, json_t *text, skv_meaning *own);

/* Returns a string: the value itself, or its text. The caller releases it. */
json_t *skv_text_of_value(skv_inspection *inspection, json_t *value);

/* Evaluates the arguments for the explanation, in the form that the rule has. */
json_t *skv_explain_arguments(skv_inspection *inspection);

/* Returns true if the explanation has so many bytes of values that it takes no more. */
bool skv_explanation_is_full(const skv_inspection *inspection);

/* Adds a copy of a value to an object of the explanation, unless that has too many bytes of values already. Sets the
 * object to NULL when out of memory. */
void skv_explain_value(skv_inspection *inspection, const char *name, json_t *value, json_t **object);

/* Begins a condition or an action, and evaluates its loop. skv_step_end() follows in any case. */
bool skv_step_begin(skv_inspection *inspection, const skv_step *step);
void skv_step_end(skv_inspection *inspection);

/* The number by which masks know the rule. */
int skv_mask_number(const skv_inspection *inspection);

/* Sets up what the functions above need. */
void skv_inspection_prepare(skv_inspection *inspection);

#endif
