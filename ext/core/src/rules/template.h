/*
 * rules/template.h - JSON values whose strings have replacement fields, such as "{inventory[networking][fqdn]}".
 *
 * A value is compiled once. A compiled template is immutable: several threads may evaluate it at once. `{{` and `}}`
 * are braces. A string that is exactly one field keeps the type of what it names; elsewhere values become text
 * (skv_value_put_text()).
 *
 * Messages of failures name fields, places and limits, never values.
 */
#ifndef SKV_RULES_TEMPLATE_H
#define SKV_RULES_TEMPLATE_H

#include "rules/field.h"

#include <jansson.h>

/*
 * Finds what a field names. Returns a new reference, which the evaluation releases or puts into its result; the value
 * must not change while the result exists. Returns NULL and leaves the reply alone if nothing has that name: the
 * evaluation then fails with "there is no 'inventory[foo]'". Returns NULL and fails the reply for another failure, such
 * as SKV_NOMEM.
 */
typedef json_t *(*skv_field_lookup)(void *context, const skv_field *field, skv_reply *reply);

/* The data of evaluations. One inspection has one, of one thread. */
typedef struct skv_template_data {
    skv_field_lookup lookup;
    void *context;
    size_t text_left; /* bytes that interpolated strings may still have; starts at SKV_INSPECTION_TEXT_MAX */
    bool is_path;     /* a field inside a longer string is a part of a name in a JSON pointer: escape '/' and '~' */
} skv_template_data;

typedef struct skv_template skv_template;

/*
 * Compiles a value: each string in it, also in lists and in the values of objects; names of members are no templates.
 * The template shares the value's parts that have no field, so that the value must not change from then on.
 *
 * `roots` is the sum of the roots that have a value here (SKV_ROOT_ITEM in a loop, SKV_ROOT_NODE not in phase early).
 * `place` holds the place of the value, such as "actions[1].args.value", for messages of the caller. After a failure it
 * holds the place of the wrong string, such as "actions[1].args.value[0].name"; after success it is unchanged.
 * The buffer has no maximum.
 *
 * Sets *out to a template that the caller frees with skv_template_free(), or to NULL. Returns SKV_OK; SKV_INVALID with
 * the offset in bytes in the string and the reason ("unclosed '{' at offset 3"); SKV_TOO_LARGE for a value that is
 * nested too deeply; SKV_NOMEM.
 */
skv_status skv_template_compile(json_t *value, unsigned roots, skv_buf *place, skv_template **out, skv_reply *reply);

/* Accepts NULL. */
void skv_template_free(skv_template *template);

/* Returns the value of a template without fields, with `{{` and `}}` as braces; NULL if it has a field. Borrowed from
 * the template. */
json_t *skv_template_constant(const skv_template *template);

/* Returns true if the template is a string that is exactly one field. Its type is known only when it is evaluated.
 * Every other template always has the type of its value. */
bool skv_template_is_field(const skv_template *template);

/*
 * Evaluates a template. Returns a new reference. The result may share parts with the template, with other results, and
 * with what `lookup` returned: do not change it.
 * skv_pointer_set() and skv_pointer_extend() store copies; for anything else that outlives the rule, skv_value_copy().
 * Returns NULL and fails the reply: SKV_INVALID for a missing name, SKV_TOO_LARGE for a string above
 * SKV_TEMPLATE_TEXT_MAX or when text_left is used up, SKV_NOMEM, or the failure of `lookup`.
 */
json_t *skv_template_evaluate(const skv_template *template, skv_template_data *data, skv_reply *reply);

#endif
