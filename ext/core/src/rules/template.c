#include "rules/template.h"

#include "rules/limits.h"
#include "rules/pointer.h"
#include "rules/reader.h"
#include "rules/value.h"
#include "json/tree.h"

#include <stdio.h>
#include <string.h>

typedef enum template_kind {
    KIND_CONSTANT,
    KIND_FIELD, /* a string that is one field */
    KIND_TEXT,  /* a string with fields */
    KIND_CONTAINER
} template_kind;

/* Literal text and the field behind it. */
typedef struct piece {
    const char *literal; /* behind the pieces */
    size_t len;
    skv_field *field; /* NULL in the last piece */
} piece;

struct skv_template {
    template_kind kind;
    json_t *value; /* as compiled, but the unescaped one for KIND_CONSTANT */
    size_t count;  /* of pieces or children */
    union {
        skv_field *field;        /* of KIND_FIELD */
        piece *pieces;           /* of KIND_TEXT, with their literals in the same block */
        skv_template **children; /* of the others, in the order of the elements or members of the value */
    };
};

/* ---- Parts ---- */

/* Leaves a constant. */
static void free_parts(skv_template *t)
{
    if (t->kind == KIND_FIELD) {
        skv_field_free(t->field);
    } else if (t->kind == KIND_TEXT) {
        for (size_t i = 0; i < t->count; i++)
            skv_field_free(t->pieces[i].field);
        skv_free(t->pieces);
    } else if (t->kind != KIND_CONSTANT) {
        for (size_t i = 0; i < t->count; i++)
            skv_template_free(t->children[i]);
        skv_free(t->children);
    }
    t->kind = KIND_CONSTANT;
    t->count = 0;
}

/* ---- Strings ---- */

/* Reads a literal at *at up to a field or the end, and unescapes it to *out. */
static skv_status read_literal(const char *text, size_t len, size_t *at, char **out, skv_reply *reply)
{
    for (; *at < len; (*at)++) {
        char c = text[*at];

        if (c == '{' || c == '}') {
            bool doubled = *at + 1 < len && text[*at + 1] == c;
            if (!doubled && c == '{')
                return SKV_OK;
            if (!doubled)
                return skv_fail(reply, SKV_INVALID, "single '}' at offset %zu: write '}}' for a brace", *at);
            (*at)++;
        }
        *(*out)++ = c;
    }
    return SKV_OK;
}

/* The pieces, and `out` for their literals, have room for those of the text. */
static skv_status read_pieces(skv_template *t, char *out, unsigned roots, skv_reply *reply)
{
    const char *text = json_string_value(t->value);
    size_t len = json_string_length(t->value), at = 0;

    for (;;) {
        piece *p = &t->pieces[t->count++];

        p->literal = out;
        if (read_literal(text, len, &at, &out, reply) != SKV_OK)
            return reply->status;
        p->len = (size_t)(out - p->literal);
        if (at == len)
            return SKV_OK;
        if (skv_field_parse(text, len, &at, roots, &p->field, reply) != SKV_OK)
            return reply->status;
    }
}

static size_t count_braces(const char *text, size_t len)
{
    size_t count = 0;

    for (size_t i = 0; i < len; i++)
        count += text[i] == '{' || text[i] == '}';
    return count;
}

/* A string with escapes is another value than the template's text. */
static skv_status unescape_constant(skv_template *t, skv_reply *reply)
{
    json_t *unescaped = json_stringn(t->pieces[0].literal, t->pieces[0].len);

    free_parts(t);
    json_decref(t->value);
    t->value = unescaped;
    return unescaped ? SKV_OK : skv_fail_memory(reply);
}

/* Makes a template of one piece without literals a field. */
static void become_field(skv_template *t)
{
    skv_field *field = t->pieces[0].field;

    t->pieces[0].field = NULL;
    free_parts(t);
    t->kind = KIND_FIELD;
    t->field = field;
}

static skv_status compile_string(skv_template *t, unsigned roots, skv_reply *reply)
{
    size_t len = json_string_length(t->value), braces = count_braces(json_string_value(t->value), len);
    piece *pieces;

    if (braces == 0)
        return SKV_OK;
    pieces = skv_alloc_zeroed(1, (braces + 1) * sizeof *pieces + len);
    if (!pieces)
        return skv_fail_memory(reply);
    t->kind = KIND_TEXT;
    t->pieces = pieces;
    if (read_pieces(t, (char *)(pieces + braces + 1), roots, reply) != SKV_OK)
        return reply->status;
    if (t->count == 1)
        return unescape_constant(t, reply);
    if (t->count == 2 && t->pieces[0].len == 0 && t->pieces[1].len == 0)
        become_field(t);
    return SKV_OK;
}

/* ---- Lists and objects ---- */

static skv_template *compile(json_t *value, unsigned roots, size_t depth, skv_buf *place, skv_reply *reply);

static skv_status compile_children(skv_template *t, unsigned roots, size_t depth, skv_buf *place, skv_reply *reply)
{
    for (skv_json_walk walk = {.container = t->value}; skv_json_next(&walk); t->count++) {
        size_t before = walk.name ? skv_place_member(place, walk.name) : skv_place_element(place, t->count);

        if (place->no_memory)
            return skv_fail_memory(reply);
        t->children[t->count] = compile(walk.value, roots, depth, place, reply);
        if (!t->children[t->count])
            return reply->status;
        skv_buf_truncate(place, before);
    }
    return SKV_OK;
}

/* Makes a container of the children's values, which are constants. */
static json_t *constant_container(const skv_template *t)
{
    json_t *result = skv_json_empty(t->value);

    for (skv_json_walk walk = {.container = t->value}; result && skv_json_next(&walk);)
        skv_json_add(&result, walk.name, json_incref(t->children[walk.count - 1]->value));
    return result;
}

/* Returns true if no string in the container has escapes. */
static bool is_unchanged(const skv_template *t)
{
    for (skv_json_walk walk = {.container = t->value}; skv_json_next(&walk);)
        if (t->children[walk.count - 1]->value != walk.value)
            return false;
    return true;
}

static skv_status make_constant(skv_template *t, skv_reply *reply)
{
    json_t *constant = is_unchanged(t) ? json_incref(t->value) : constant_container(t);

    free_parts(t);
    json_decref(t->value);
    t->value = constant;
    return constant ? SKV_OK : skv_fail_memory(reply);
}

static skv_status compile_container(skv_template *t, unsigned roots, size_t depth, skv_buf *place, skv_reply *reply)
{
    skv_template **children;
    bool constant = true;
    skv_status status;

    if (depth == 0)
        return skv_fail(reply, SKV_TOO_LARGE, "nested deeper than %d lists and Hashes", SKV_RULE_DEPTH_MAX);
    children = skv_alloc_zeroed(skv_json_count(t->value), sizeof(skv_template *));
    if (!children)
        return skv_fail_memory(reply);
    t->kind = KIND_CONTAINER;
    t->children = children;
    status = compile_children(t, roots, depth - 1, place, reply);
    for (size_t i = 0; i < t->count; i++)
        constant = constant && t->children[i]->kind == KIND_CONSTANT;
    return status == SKV_OK && constant ? make_constant(t, reply) : status;
}

/* ---- Templates ---- */

/* `depth` is the number of brackets that may still open. */
static skv_template *compile(json_t *value, unsigned roots, size_t depth, skv_buf *place, skv_reply *reply)
{
    skv_template *t = skv_alloc_zeroed(1, sizeof *t);
    skv_status status = SKV_OK;

    if (!t) {
        skv_fail_memory(reply);
        return NULL;
    }
    t->value = json_incref(value);
    if (json_is_string(value))
        status = compile_string(t, roots, reply);
    else if (skv_json_is_container(value))
        status = compile_container(t, roots, depth, place, reply);
    if (status != SKV_OK) {
        skv_template_free(t);
        return NULL;
    }
    return t;
}

skv_status skv_template_compile(json_t *value, unsigned roots, skv_buf *place, skv_template **out, skv_reply *reply)
{
    *out = compile(value, roots, SKV_RULE_DEPTH_MAX, place, reply);
    return reply->status;
}

void skv_template_free(skv_template *template)
{
    if (!template)
        return;
    free_parts(template);
    json_decref(template->value);
    skv_free(template);
}

json_t *skv_template_constant(const skv_template *template)
{
    return template->kind == KIND_CONSTANT ? template->value : NULL;
}

bool skv_template_is_field(const skv_template *template)
{
    return template->kind == KIND_FIELD;
}

/* ---- Evaluation ---- */

static json_t *look_up(skv_template_data *data, const skv_field *field, skv_reply *reply)
{
    json_t *value = data->lookup(data->context, field, reply);

    if (!value && reply->status == SKV_OK)
        skv_fail(reply, SKV_INVALID, "there is no '%.512s'", field->text);
    return value;
}

/* Facts must not choose how deep a rule writes: a name such as "/var/log" is one name. */
static void put_escaped_text(json_t *value, skv_buf *out)
{
    skv_buf text;

    skv_buf_init(&text, out->max);
    skv_value_put_text(value, &text);
    if (skv_buf_failed(&text)) {
        out->no_memory = out->no_memory || text.no_memory;
        out->too_large = out->too_large || text.too_large;
    } else {
        skv_pointer_put_name(out, text.bytes, text.len);
    }
    skv_buf_free(&text);
}

static void put_text_piece(const piece *p, skv_template_data *data, skv_buf *out, skv_reply *reply)
{
    json_t *value;

    skv_buf_put(out, p->literal, p->len);
    value = p->field ? look_up(data, p->field, reply) : NULL;
    if (value && data->is_path)
        put_escaped_text(value, out);
    else if (value)
        skv_value_put_text(value, out);
    json_decref(value);
}

static skv_status check_evaluated(const skv_buf *text, const skv_template_data *data, skv_reply *reply)
{
    if (text->no_memory)
        return skv_fail_memory(reply);
    if (text->too_large && data->text_left < SKV_TEMPLATE_TEXT_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the interpolated strings of the inspection exceed %d bytes together",
                        SKV_INSPECTION_TEXT_MAX);
    if (text->too_large)
        return skv_fail(reply, SKV_TOO_LARGE, "an interpolated string exceeds %d bytes", SKV_TEMPLATE_TEXT_MAX);
    return reply->status;
}

static json_t *evaluate_text(const skv_template *t, skv_template_data *data, skv_reply *reply)
{
    size_t left = data->text_left;
    json_t *result = NULL;
    skv_buf text;

    skv_buf_init(&text, left < SKV_TEMPLATE_TEXT_MAX ? left : SKV_TEMPLATE_TEXT_MAX);
    for (size_t i = 0; i < t->count && reply->status == SKV_OK && !skv_buf_failed(&text); i++)
        put_text_piece(&t->pieces[i], data, &text, reply);
    if (check_evaluated(&text, data, reply) == SKV_OK) {
        data->text_left -= text.len;
        result = json_stringn_nocheck(text.bytes ? text.bytes : "", text.len);
        if (!result)
            skv_fail_memory(reply);
    }
    skv_buf_free(&text);
    return result;
}

static json_t *evaluate_container(const skv_template *t, skv_template_data *data, skv_reply *reply)
{
    json_t *result = skv_json_empty(t->value);

    for (skv_json_walk walk = {.container = t->value}; result && skv_json_next(&walk);)
        skv_json_add(&result, walk.name, skv_template_evaluate(t->children[walk.count - 1], data, reply));
    if (!result)
        skv_fail_memory(reply);
    return result;
}

json_t *skv_template_evaluate(const skv_template *template, skv_template_data *data, skv_reply *reply)
{
    switch (template->kind) {
    case KIND_CONSTANT:
        return json_incref(template->value);
    case KIND_FIELD:
        return look_up(data, template->field, reply);
    case KIND_TEXT:
        return evaluate_text(template, data, reply);
    default:
        return evaluate_container(template, data, reply);
    }
}
