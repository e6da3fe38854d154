#include "rules/argument.h"

#include "rules/limits.h"

#include "base/ascii.h"

#include <string.h>

static skv_status expect_type(bool matches, const char *expected, skv_reply *reply)
{
    return matches ? SKV_OK : skv_fail(reply, SKV_INVALID, "expected %s", expected);
}

skv_status skv_type_check(skv_type type, json_t *value, skv_reply *reply)
{
    switch (type) {
    case SKV_TYPE_ANY:
    case SKV_TYPE_MESSAGE:
        return SKV_OK;
    case SKV_TYPE_BOOLEAN:
        return expect_type(json_is_boolean(value), "true or false", reply);
    case SKV_TYPE_LIST:
        return expect_type(json_is_array(value), "a list", reply);
    case SKV_TYPE_VALUES:
        return expect_type(json_array_size(value) >= 2, "a list of at least 2 values", reply);
    default:
        return expect_type(json_is_string(value), "a text", reply);
    }
}

static skv_status check_level(json_t *text, skv_reply *reply)
{
    static const char *const levels[] = {"debug", "info", "notice", "warning", "error", "critical"};
    const char *level = skv_text_of(text);

    for (size_t i = 0; level && i < sizeof levels / sizeof levels[0]; i++)
        if (strcmp(levels[i], level) == 0)
            return SKV_OK;
    return skv_fail(reply, SKV_INVALID, "expected a level: debug, info, notice, warning, error or critical");
}

skv_status skv_parameter_check(const char *name, size_t name_len, skv_reply *reply)
{
    static const char *const reserved[] = {"facts", "trusted", "server_facts", "environment"};
    size_t digits = 0;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!name)
        return skv_fail(reply, SKV_INVALID, "the name of a parameter is NULL");
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strlen(reserved[i]) == name_len && memcmp(reserved[i], name, name_len) == 0)
            return skv_fail(reply, SKV_INVALID, "a node cannot have the parameter '%s': Puppet sets it itself",
                            reserved[i]);
    while (digits < name_len && skv_ascii_is_digit(name[digits]))
        digits++;
    if (name_len > 0 && digits == name_len)
        return skv_fail(reply, SKV_INVALID, "a node cannot have a parameter whose name is a number");
    return SKV_OK;
}

/* Returns true for the members of a port by which rules find it, and which they cannot change. */
static bool is_port_identity(const char *name)
{
    return strcmp(name, "mac") == 0 || strcmp(name, "uuid") == 0;
}

static skv_status check_node_path(const skv_pointer *pointer, skv_reply *reply)
{
    static const char *const roots[] = {"environment", "classes", "parameters", "scope",
                                        "attributes",  "ports",   "port_groups"};
    const char *const *names = pointer->names;
    bool is_known = false;

    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++)
        is_known |= strcmp(roots[i], names[0]) == 0;
    if (!is_known)
        return skv_fail(reply, SKV_INVALID,
                        "a rule cannot change this part of a node: expected a path below /environment, /classes, "
                        "/parameters, /scope, /attributes, /ports or /port_groups");
    if (strcmp(names[0], "ports") == 0 && pointer->count > 2 && is_port_identity(names[2]))
        return skv_fail(reply, SKV_INVALID, "a rule cannot change the '%s' of a port", names[2]);
    if (strcmp(names[0], "parameters") == 0 && pointer->count > 1)
        return skv_parameter_check(names[1], strlen(names[1]), reply);
    return SKV_OK;
}

static skv_status check_port_path(const skv_pointer *pointer, skv_reply *reply)
{
    if (is_port_identity(pointer->names[0]))
        return skv_fail(reply, SKV_INVALID, "a rule cannot change the '%s' of a port", pointer->names[0]);
    return SKV_OK;
}

static skv_status read_pointer(skv_meaning *meaning, skv_type type, json_t *text, skv_reply *reply)
{
    skv_status status = skv_pointer_parse(json_string_value(text), json_string_length(text), &meaning->pointer, reply);

    if (status == SKV_OK && type == SKV_TYPE_NODE_PATH)
        return check_node_path(meaning->pointer, reply);
    if (status == SKV_OK && type == SKV_TYPE_PORT_PATH)
        return check_port_path(meaning->pointer, reply);
    return status;
}

static skv_status read_network(skv_meaning *meaning, skv_type type, json_t *text, skv_reply *reply)
{
    const char *bytes = json_string_value(text);
    size_t len = json_string_length(text);

    meaning->network = skv_alloc(sizeof *meaning->network);
    if (!meaning->network)
        return skv_fail_memory(reply);
    if (type == SKV_TYPE_ADDRESS)
        return expect_type(skv_network_parse_address(bytes, len, meaning->network), "an IP address", reply);
    return expect_type(skv_network_parse(bytes, len, meaning->network),
                       "a subnet such as 10.0.0.0/8 or 2001:db8::/32, or an IP address", reply);
}

skv_status skv_meaning_read(skv_meaning *meaning, skv_type type, json_t *text, skv_reply *reply)
{
    switch (type) {
    case SKV_TYPE_LEVEL:
        return check_level(text, reply);
    case SKV_TYPE_ADDRESS:
    case SKV_TYPE_SUBNET:
        return read_network(meaning, type, text, reply);
    case SKV_TYPE_PART_PATTERN:
    case SKV_TYPE_WHOLE_PATTERN:
        return skv_pattern_compile(json_string_value(text), json_string_length(text), type == SKV_TYPE_WHOLE_PATTERN,
                                   &meaning->pattern, reply);
    case SKV_TYPE_NODE_PATH:
    case SKV_TYPE_PORT_PATH:
    case SKV_TYPE_DATA_PATH:
        return read_pointer(meaning, type, text, reply);
    default:
        return SKV_OK;
    }
}

void skv_meaning_free(skv_meaning *meaning)
{
    skv_free(meaning->network);
    skv_pattern_free(meaning->pattern);
    skv_pointer_free(meaning->pointer);
    *meaning = (skv_meaning){0};
}

static skv_status check_compiled(const skv_compiled *compiled, const char *owner, size_t size_max, size_t ranges_max,
                                 skv_reply *reply)
{
    if (compiled->size > size_max)
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expressions of %s take more than %zu bytes, compiled", owner,
                        size_max);
    if (compiled->slow_ranges > ranges_max)
        return skv_fail(reply, SKV_TOO_LARGE,
                        "the regular expressions of %s have more than %zu ranges of letters beyond ASCII in any case, "
                        "which are slow to compile",
                        owner, ranges_max);
    return SKV_OK;
}

static skv_status count_compiled(skv_reader *reader, size_t size, size_t slow_ranges)
{
    reader->rule.size += size;
    reader->rules.size += size;
    reader->rule.slow_ranges += slow_ranges;
    reader->rules.slow_ranges += slow_ranges;
    if (check_compiled(&reader->rule, "the rule", SKV_RULE_COMPILED_MAX, SKV_RULE_SLOW_RANGES_MAX, reader->reply) !=
        SKV_OK)
        return reader->reply->status;
    return check_compiled(&reader->rules, "all rules", SKV_RULES_COMPILED_MAX, SKV_RULES_SLOW_RANGES_MAX,
                          reader->reply);
}

/* Reads a constant regular expression. */
static skv_status read_pattern(skv_meaning *meaning, skv_type type, json_t *text, skv_reader *reader)
{
    size_t len = json_string_length(text);
    size_t ranges = len > SKV_PATTERN_SIZE_MAX ? 0 : skv_pattern_slow_ranges(json_string_value(text), len);

    if (count_compiled(reader, 0, ranges) != SKV_OK || skv_meaning_read(meaning, type, text, reader->reply) != SKV_OK)
        return reader->reply->status;
    return count_compiled(reader, skv_pattern_size(meaning->pattern), 0);
}

skv_status skv_argument_read(skv_argument *argument, skv_type type, json_t *value, unsigned roots, skv_reader *reader)
{
    json_t *constant;

    if (skv_template_compile(value, roots, &reader->place, &argument->template, reader->reply) != SKV_OK)
        return reader->reply->status;
    if (skv_template_is_field(argument->template))
        return SKV_OK;
    if (skv_type_check(type == SKV_TYPE_MESSAGE ? SKV_TYPE_TEXT : type, value, reader->reply) != SKV_OK)
        return reader->reply->status;
    constant = skv_template_constant(argument->template);
    if (!constant)
        return SKV_OK;
    argument->is_constant = true;
    if (type != SKV_TYPE_PART_PATTERN && type != SKV_TYPE_WHOLE_PATTERN)
        return skv_meaning_read(&argument->meaning, type, constant, reader->reply);
    return read_pattern(&argument->meaning, type, constant, reader);
}

void skv_argument_free(skv_argument *argument)
{
    skv_template_free(argument->template);
    skv_meaning_free(&argument->meaning);
    argument->template = NULL;
}
