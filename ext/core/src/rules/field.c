#include "rules/field.h"

#include "base/ascii.h"

#include <string.h>

/* A field, its names, and the bytes of its text and names behind them, in one block. */
typedef struct field_block {
    skv_field field;
    const char *names[];
} field_block;

/* The part of a text between the braces of a field. */
typedef struct span {
    const char *text;
    size_t start, end;
    size_t names; /* the number of '.' and '[' outside of brackets */
} span;

static const struct root_name {
    const char *name;
    skv_root root;
} root_names[] = {{"node", SKV_ROOT_NODE},  {"inventory", SKV_ROOT_INVENTORY}, {"plugin_data", SKV_ROOT_PLUGIN_DATA},
                  {"ports", SKV_ROOT_NODE}, {"port_groups", SKV_ROOT_NODE},    {"item", SKV_ROOT_ITEM}};

/* ---- Finding the end ---- */

static skv_status find_end(const char *text, size_t len, size_t brace, span *s, skv_reply *reply)
{
    *s = (span){.text = text, .start = brace + 1};
    for (size_t i = s->start; i < len; i++) {
        const char *close;

        if (text[i] == '}') {
            s->end = i;
            return SKV_OK;
        }
        s->names += text[i] == '.' || text[i] == '[';
        if (text[i] != '[')
            continue;
        close = memchr(text + i, ']', len - i);
        if (!close)
            return skv_fail(reply, SKV_INVALID, "unclosed '[' at offset %zu", i);
        if (memchr(text + i, '{', (size_t)(close - text) - i) || memchr(text + i, '}', (size_t)(close - text) - i))
            return skv_fail(reply, SKV_INVALID, "brace in the '[key]' at offset %zu: fields cannot be nested", i);
        i = (size_t)(close - text);
    }
    return skv_fail(reply, SKV_INVALID, "unclosed '{' at offset %zu: write '{{' for a brace", brace);
}

/* ---- The root ---- */

/* Returns true for a root that is a member of the node. */
static bool names_member_of_node(const struct root_name *root)
{
    return root->root == SKV_ROOT_NODE && strcmp(root->name, "node") != 0;
}

static size_t root_len(const span *s)
{
    size_t len = 0;

    while (s->start + len < s->end && s->text[s->start + len] != '.' && s->text[s->start + len] != '[')
        len++;
    return len;
}

static const struct root_name *find_root(const span *s)
{
    size_t len = root_len(s);

    for (size_t i = 0; i < sizeof root_names / sizeof *root_names; i++)
        if (strlen(root_names[i].name) == len && memcmp(root_names[i].name, s->text + s->start, len) == 0)
            return &root_names[i];
    return NULL;
}

/* Returns NULL and fails if the field has no root, or one without a value. */
static const struct root_name *read_root(const span *s, unsigned roots, skv_reply *reply)
{
    const struct root_name *root = find_root(s);

    if (root && root->root & roots)
        return root;
    if (root)
        skv_fail(reply, SKV_INVALID, "'%s' at offset %zu has no value here: it has one %s", root->name, s->start,
                 root->root == SKV_ROOT_ITEM ? "in a loop only" : "in the phases preprocess and main only");
    else if (s->start == s->end)
        skv_fail(reply, SKV_INVALID, "empty field at offset %zu: write '{{' for a brace", s->start - 1);
    else
        skv_fail(reply, SKV_INVALID,
                 "unknown field at offset %zu: a field is node, inventory, plugin_data, ports, port_groups or item, "
                 "with '.name' or "
                 "'[key]' behind it; write '{{' for a brace",
                 s->start - 1);
    return NULL;
}

/* ---- Names ---- */

static bool is_name_char(char c)
{
    char lower = skv_ascii_lower(c);

    return (lower >= 'a' && lower <= 'z') || skv_ascii_is_digit(c) || c == '_' || c == '-';
}

/* Finds the name at *at, the offset of a '.' or '[', and moves *at behind it. Returns NULL and fails if there is none.
 */
static const char *read_name(const span *s, size_t *at, size_t *len, skv_reply *reply)
{
    bool bracket = s->text[*at] == '[';
    size_t start = *at + 1, end = start;

    if (!bracket && s->text[*at] != '.') {
        skv_fail(reply, SKV_INVALID, "unexpected character at offset %zu: '.name', '[key]' or '}' is expected", *at);
        return NULL;
    }
    while (end < s->end && (bracket ? s->text[end] != ']' : is_name_char(s->text[end])))
        end++;
    if (end == start) {
        skv_fail(reply, SKV_INVALID, "empty name at offset %zu", *at);
        return NULL;
    }
    *len = end - start;
    *at = end + bracket;
    return s->text + start;
}

static const char *store_text(char **out, const char *text, size_t len)
{
    char *start = *out;

    memcpy(start, text, len);
    start[len] = '\0';
    *out = start + len + 1;
    return start;
}

/* `names` and `out` have room for all names. */
static skv_status read_field_names(const span *s, const char **names, size_t *count, char *out, skv_reply *reply)
{
    size_t at = s->start + root_len(s);

    if (memchr(s->text + s->start, '\0', s->end - s->start))
        return skv_fail(reply, SKV_INVALID, "NUL in the field at offset %zu", s->start - 1);
    while (at < s->end) {
        size_t len = 0;
        const char *name = read_name(s, &at, &len, reply);

        if (!name)
            return reply->status;
        names[(*count)++] = store_text(&out, name, len);
    }
    return SKV_OK;
}

/* ---- The field ---- */

skv_status skv_field_parse(const char *text, size_t len, size_t *at, unsigned roots, skv_field **out, skv_reply *reply)
{
    const struct root_name *root;
    size_t size, count = 0;
    field_block *block;
    char *bytes;
    span s;

    *out = NULL;
    if (find_end(text, len, *at, &s, reply) != SKV_OK)
        return reply->status;
    root = read_root(&s, roots, reply);
    if (!root)
        return reply->status;
    size = s.end - s.start;
    /* Each name is a part of the text, and has a NUL in place of its '.' or '['. The first name may be that of a member
     * of the node. */
    block = skv_alloc(sizeof *block + (s.names + 1) * sizeof *block->names + 2 * (size + 1));
    if (!block)
        return skv_fail_memory(reply);
    bytes = (char *)(block->names + s.names + 1);
    block->field =
        (skv_field){.root = root->root, .names = block->names, .text = store_text(&bytes, text + s.start, size)};
    if (names_member_of_node(root))
        block->names[count++] = root->name;
    if (read_field_names(&s, block->names, &count, bytes, reply) != SKV_OK) {
        skv_free(block);
        return reply->status;
    }
    block->field.count = count;
    *at = s.end + 1;
    *out = &block->field;
    return SKV_OK;
}

void skv_field_free(skv_field *field)
{
    skv_free(field);
}
