/* rules/operation.h - the conditions and actions of rules: their names and parameters. */
#ifndef SKV_RULES_OPERATION_H
#define SKV_RULES_OPERATION_H

#include "base/buf.h"

/* The type of a parameter. A constant argument is checked when its rule is read, any other when the rule runs. */
typedef enum skv_type {
    SKV_TYPE_ANY,
    SKV_TYPE_BOOLEAN,
    SKV_TYPE_LIST,
    SKV_TYPE_VALUES,  /* a list of at least two */
    SKV_TYPE_MESSAGE, /* a string; any other value of a field becomes text */
    SKV_TYPE_TEXT,    /* from here on: a string */
    SKV_TYPE_LEVEL,
    SKV_TYPE_ADDRESS,
    SKV_TYPE_SUBNET,
    SKV_TYPE_PART_PATTERN,  /* a regular expression that matches a part of a text */
    SKV_TYPE_WHOLE_PATTERN, /* ... or the whole text */
    SKV_TYPE_NODE_PATH,     /* JSON pointers, into the node, */
    SKV_TYPE_PORT_PATH,     /* an element of its ports, */
    SKV_TYPE_DATA_PATH      /* or the plugin data */
} skv_type;

#define SKV_PARAMETERS_MAX 4

typedef struct skv_parameter {
    const char *name; /* NULL behind the last one */
    skv_type type;
    bool optional;
} skv_parameter;

typedef enum skv_op {
    SKV_OP_IS_TRUE,
    SKV_OP_IS_FALSE,
    SKV_OP_IS_NONE,
    SKV_OP_IS_EMPTY,
    SKV_OP_EQ,
    SKV_OP_LT,
    SKV_OP_GT,
    SKV_OP_IN_NET,
    SKV_OP_CONTAINS,
    SKV_OP_MATCHES,
    SKV_OP_ONE_OF,
    SKV_OP_FAIL,
    SKV_OP_LOG,
    SKV_OP_SET,
    SKV_OP_EXTEND,
    SKV_OP_DELETE,
    SKV_OP_SITE
} skv_op;

/* The tree that an action changes. */
typedef enum skv_target { SKV_TARGET_NONE, SKV_TARGET_NODE, SKV_TARGET_PORT, SKV_TARGET_DATA } skv_target;

typedef struct skv_operation {
    const char *name;
    skv_op op;
    skv_target target;
    bool variadic; /* positional arguments are the elements of the first parameter */
    skv_parameter parameters[SKV_PARAMETERS_MAX];
} skv_operation;

/* The positions of parameters. Those of a change are behind port_id, if there is one. */
enum { SKV_AT_VALUE, SKV_AT_OTHER };             /* of conditions */
enum { SKV_AT_MESSAGE, SKV_AT_LEVEL };           /* of fail and log */
enum { SKV_AT_PATH, SKV_AT_NEW, SKV_AT_UNIQUE }; /* of changes */

/* Return the operation of that name, or NULL. */
const skv_operation *skv_condition_named(const char *name);
const skv_operation *skv_action_named(const char *name);

/* Returns the condition that does what the name means in other languages, or NULL. */
const char *skv_condition_meant_by(const char *name);

/* The operation of all site actions, whose arguments are one value. */
extern const skv_operation skv_site_action;

/* Append the names of all conditions or actions, separated by commas. */
void skv_list_conditions(skv_buf *out);
void skv_list_actions(skv_buf *out);

/* Returns the number of the operation's parameters. */
size_t skv_parameter_count(const skv_operation *operation);

/* Returns the position of the parameter, or skv_parameter_count(). */
size_t skv_parameter_index(const skv_operation *operation, const char *name);

#endif
