#include "rules/operation.h"

#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const skv_operation conditions[] = {
    {.name = "is-true", .op = SKV_OP_IS_TRUE, .parameters = {{.name = "value"}}},
    {.name = "is-false", .op = SKV_OP_IS_FALSE, .parameters = {{.name = "value"}}},
    {.name = "is-none", .op = SKV_OP_IS_NONE, .parameters = {{.name = "value"}}},
    {.name = "is-empty", .op = SKV_OP_IS_EMPTY, .parameters = {{.name = "value"}}},
    {.name = "eq",
     .op = SKV_OP_EQ,
     .variadic = true,
     .parameters = {{"values", SKV_TYPE_VALUES, false}, {"force_strings", SKV_TYPE_BOOLEAN, true}}},
    {.name = "lt",
     .op = SKV_OP_LT,
     .variadic = true,
     .parameters = {{"values", SKV_TYPE_VALUES, false}, {"force_strings", SKV_TYPE_BOOLEAN, true}}},
    {.name = "gt",
     .op = SKV_OP_GT,
     .variadic = true,
     .parameters = {{"values", SKV_TYPE_VALUES, false}, {"force_strings", SKV_TYPE_BOOLEAN, true}}},
    {.name = "in-net",
     .op = SKV_OP_IN_NET,
     .parameters = {{"address", SKV_TYPE_ADDRESS, false}, {"subnet", SKV_TYPE_SUBNET, false}}},
    {.name = "contains",
     .op = SKV_OP_CONTAINS,
     .parameters = {{.name = "value"}, {"regex", SKV_TYPE_PART_PATTERN, false}}},
    {.name = "matches",
     .op = SKV_OP_MATCHES,
     .parameters = {{.name = "value"}, {"regex", SKV_TYPE_WHOLE_PATTERN, false}}},
    {.name = "one-of", .op = SKV_OP_ONE_OF, .parameters = {{.name = "value"}, {"values", SKV_TYPE_LIST, false}}},
};

/* The actions set, extend and delete of a target: the name of the last one differs between the targets. */
#define CHANGES(suffix, delete_name, target_, ...)                                                                     \
    {.name = "set-" suffix, .op = SKV_OP_SET, .target = target_, .parameters = {__VA_ARGS__, {.name = "value"}}},      \
        {.name = "extend-" suffix,                                                                                     \
         .op = SKV_OP_EXTEND,                                                                                          \
         .target = target_,                                                                                            \
         .parameters = {__VA_ARGS__, {.name = "value"}, {"unique", SKV_TYPE_BOOLEAN, true}}},                          \
    {                                                                                                                  \
        .name = delete_name, .op = SKV_OP_DELETE, .target = target_, .parameters = { __VA_ARGS__ }                     \
    }

static const skv_operation actions[] = {
    {.name = "fail", .op = SKV_OP_FAIL, .parameters = {{"msg", SKV_TYPE_MESSAGE, false}}},
    {.name = "log",
     .op = SKV_OP_LOG,
     .parameters = {{"msg", SKV_TYPE_MESSAGE, false}, {"level", SKV_TYPE_LEVEL, true}}},
    CHANGES("plugin-data", "unset-plugin-data", SKV_TARGET_DATA, {"path", SKV_TYPE_DATA_PATH, false}),
    CHANGES("attribute", "del-attribute", SKV_TARGET_NODE, {"path", SKV_TYPE_NODE_PATH, false}),
    CHANGES("port-attribute", "del-port-attribute", SKV_TARGET_PORT, {"port_id", SKV_TYPE_TEXT, false},
            {"path", SKV_TYPE_PORT_PATH, false}),
};

const skv_operation skv_site_action = {.name = "", .op = SKV_OP_SITE, .parameters = {{.name = "args"}}};

static const skv_operation *find_operation(const skv_operation *operations, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(operations[i].name, name) == 0)
            return &operations[i];
    return NULL;
}

const skv_operation *skv_condition_named(const char *name)
{
    return find_operation(conditions, COUNT(conditions), name);
}

const skv_operation *skv_action_named(const char *name)
{
    return find_operation(actions, COUNT(actions), name);
}

const char *skv_condition_meant_by(const char *name)
{
    static const char *const meant[][2] = {
        {"ge", "!lt"},
        {"gte", "!lt"},
        {">=", "!lt"},
        {"le", "!gt"},
        {"lte", "!gt"},
        {"<=", "!gt"},
        {">", "gt"},
        {"<", "lt"},
        {"=", "eq"},
        {"==", "eq"},
        {"ne", "!eq"},
        {"neq", "!eq"},
        {"!=", "!eq"},
        {"in", "one-of"},
        {"~", "contains"},
        {"=~", "contains"},
        {"regex", "matches"},
        {"match", "matches"},
        {"is-null", "is-none"},
    };

    for (size_t i = 0; i < COUNT(meant); i++)
        if (strcmp(meant[i][0], name) == 0)
            return meant[i][1];
    return NULL;
}

static void list_operations(const skv_operation *operations, size_t count, skv_buf *out)
{
    for (size_t i = 0; i < count; i++) {
        if (i)
            skv_buf_put_string(out, ", ");
        skv_buf_put_string(out, operations[i].name);
    }
}

void skv_list_conditions(skv_buf *out)
{
    list_operations(conditions, COUNT(conditions), out);
}

void skv_list_actions(skv_buf *out)
{
    list_operations(actions, COUNT(actions), out);
}

size_t skv_parameter_count(const skv_operation *operation)
{
    return skv_parameter_index(operation, "");
}

size_t skv_parameter_index(const skv_operation *operation, const char *name)
{
    size_t i = 0;

    while (i < SKV_PARAMETERS_MAX && operation->parameters[i].name && strcmp(operation->parameters[i].name, name) != 0)
        i++;
    return i;
}
