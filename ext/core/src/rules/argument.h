/* rules/argument.h - the arguments of conditions and actions. */
#ifndef SKV_RULES_ARGUMENT_H
#define SKV_RULES_ARGUMENT_H

#include "rules/network.h"
#include "rules/operation.h"
#include "rules/pattern.h"
#include "rules/pointer.h"
#include "rules/reader.h"
#include "rules/template.h"

/* The meaning of a text: the type of its parameter determines the member. */
typedef struct skv_meaning {
    skv_network *network;
    skv_pattern *pattern;
    skv_pointer *pointer;
} skv_meaning;

typedef struct skv_argument {
    skv_template *template; /* NULL for an optional argument that is not given */
    bool is_constant;       /* the text is constant, and its meaning is known */
    skv_meaning meaning;
} skv_argument;

/* Reads the argument of a parameter. `roots` is the sum of the roots that have a value. Returns SKV_OK; SKV_INVALID or
 * SKV_TOO_LARGE with the reason; SKV_NOMEM. The caller frees the argument in any case. */
skv_status skv_argument_read(skv_argument *argument, skv_type type, json_t *value, unsigned roots, skv_reader *reader);

void skv_argument_free(skv_argument *argument);

/* Fails with SKV_INVALID if a value, after interpolation, cannot be of the type. Does not read texts. */
skv_status skv_type_check(skv_type type, json_t *value, skv_reply *reply);

/* Reads a text of that type, which skv_type_check() has passed. Fails as skv_argument_read() does. The caller frees the
 * meaning in any case. */
skv_status skv_meaning_read(skv_meaning *meaning, skv_type type, json_t *text, skv_reply *reply);

void skv_meaning_free(skv_meaning *meaning);

#endif
