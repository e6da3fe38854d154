#include "store/options.h"

#include "name/key.h"
#include "json/tree.h"

#include <string.h>

const char *skv_option(const char *options, size_t options_len, const char *name)
{
    for (const char *p = options; p < options + options_len;) {
        const char *value = p + strlen(p) + 1;

        if (strcmp(p, name) == 0)
            return value;
        p = value + strlen(value) + 1;
    }
    return NULL;
}

/* ---- Reading ---- */

static bool read_boolean_option(const char *text, bool *flag)
{
    *flag = strcmp(text, "true") == 0;
    return *flag || strcmp(text, "false") == 0;
}

static bool read_choice_option(const skv_option_row *row, const char *text, int *choice)
{
    for (*choice = 0; row->choices[*choice]; ++*choice)
        if (strcmp(text, row->choices[*choice]) == 0)
            return true;
    return false;
}

static bool read_number_option(const skv_option_row *row, const char *text, int64_t *number)
{
    if (!*text)
        return false;
    for (*number = 0; *text >= '0' && *text <= '9'; text++) {
        if (*number > (INT64_MAX - 9) / 10)
            return false;
        *number = *number * 10 + (*text - '0');
    }
    return !*text && *number >= row->min && *number <= row->max;
}

static bool read_option(const skv_option_row *row, const char *value, void *member)
{
    switch (row->type) {
    case SKV_OPTION_BOOLEAN:
        return read_boolean_option(value, member);
    case SKV_OPTION_CHOICE:
        return read_choice_option(row, value, member);
    case SKV_OPTION_INTEGER:
    case SKV_OPTION_MILLISECONDS:
        return read_number_option(row, value, member);
    case SKV_OPTION_TEXT:
    case SKV_OPTION_PATH:
    case SKV_OPTION_URIS:
        break;
    }
    *(const char **)member = value;
    return true;
}

static skv_status fail_option(const skv_option_table *table, const skv_option_row *row, skv_reply *reply)
{
    if (row->type == SKV_OPTION_INTEGER)
        return skv_fail(reply, SKV_INVALID, "'%s' of a store of type '%s' must be an integer from %d to %d", row->name,
                        table->store_type, (int)row->min, (int)row->max);
    if (row->type == SKV_OPTION_MILLISECONDS)
        return skv_fail(reply, SKV_INVALID, "'%s' of a store of type '%s' must be an integer, %d or more", row->name,
                        table->store_type, (int)row->min);
    return skv_fail(reply, SKV_INVALID, "'%s' of a store of type '%s' must be '%s' or '%s'", row->name,
                    table->store_type, row->choices ? row->choices[0] : "true",
                    row->choices ? row->choices[1] : "false");
}

static skv_status refuse_unknown_options(const skv_option_table *table, const char *options, size_t options_len,
                                         skv_reply *reply)
{
    for (const char *name = options; name < options + options_len;) {
        const char *value = name + strlen(name) + 1;
        size_t i = 0;

        while (i < table->count && strcmp(table->rows[i].name, name) != 0)
            i++;
        if (i == table->count)
            return skv_fail(reply, SKV_INVALID, "unknown option '%s' of a store of type '%s'",
                            skv_quoted(name, strlen(name)).text, table->store_type);
        name = value + strlen(value) + 1;
    }
    return SKV_OK;
}

skv_status skv_read_options(const skv_option_table *table, const char *options, size_t options_len, void *settings,
                            skv_reply *reply)
{
    if (refuse_unknown_options(table, options, options_len, reply) != SKV_OK)
        return reply->status;
    for (const skv_option_row *row = table->rows; row < table->rows + table->count; row++) {
        const char *value = skv_option(options, options_len, row->name);

        if (!read_option(row, value ? value : row->usual, (char *)settings + row->offset))
            return fail_option(table, row, reply);
    }
    return SKV_OK;
}

/* ---- Describing ---- */

static const char *const type_names[] = {
    [SKV_OPTION_TEXT] = "text",
    [SKV_OPTION_PATH] = "path",
    [SKV_OPTION_URIS] = "uris",
    [SKV_OPTION_BOOLEAN] = "boolean",
    [SKV_OPTION_CHOICE] = "choice",
    [SKV_OPTION_INTEGER] = "integer",
    [SKV_OPTION_MILLISECONDS] = "milliseconds",
};

static json_t *choices_tree(const skv_option_row *row)
{
    json_t *tree = json_array();

    for (const char *const *choice = row->choices; *choice; choice++)
        skv_json_append(&tree, json_string(*choice));
    return tree;
}

static json_t *option_tree(const skv_option_row *row)
{
    json_t *tree = json_object();

    skv_json_put(&tree, "name", json_string(row->name));
    skv_json_put(&tree, "type", json_string(type_names[row->type]));
    skv_json_put(&tree, "default", *row->usual ? json_string(row->usual) : json_null());
    if (row->type >= SKV_OPTION_INTEGER)
        skv_json_put(&tree, "min", json_integer(row->min));
    if (row->type == SKV_OPTION_INTEGER)
        skv_json_put(&tree, "max", json_integer(row->max));
    if (row->type == SKV_OPTION_CHOICE)
        skv_json_put(&tree, "choices", choices_tree(row));
    skv_json_put(&tree, "meaning", json_string(row->meaning));
    return tree;
}

json_t *skv_describe_options(const skv_option_table *table)
{
    json_t *tree = json_array();

    for (size_t i = 0; i < table->count; i++)
        skv_json_append(&tree, option_tree(&table->rows[i]));
    return tree;
}
