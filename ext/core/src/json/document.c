/* document.c - compares the meaning of two documents, with jansson. */
#include "json/tree.h"

#include <math.h>
#include <string.h>

/* A document as jansson reads it; root and value are NULL if the bytes are not a document. */
typedef struct document {
    json_t *root;
    json_t *value, *metadata, *encoding, *original_encoding; /* in root; NULL if absent */
} document;

/* Returns NULL for null, too. */
static json_t *member(const json_t *root, const char *name)
{
    json_t *found = json_object_get(root, name);

    return json_is_null(found) ? NULL : found;
}

/* Leaves value NULL if the bytes are not a document: no JSON, no object, or an object without a value. The documents
 * count as different then, and the caller writes the document again. */
static skv_status load(document *doc, const char *bytes, size_t len, skv_reply *reply)
{
    json_error_t error;

    *doc = (document){.root = skv_json_load(bytes, len, JSON_ALLOW_NUL, &error, reply)};
    if (!doc->root)
        return reply->status;
    doc->value = json_object_get(doc->root, "value");
    doc->metadata = member(doc->root, "metadata");
    doc->encoding = member(doc->root, "encoding");
    doc->original_encoding = member(doc->root, "original_encoding");
    return SKV_OK;
}

/* 0.0 and -0.0 differ. */
static bool same_double(double a, double b)
{
    return a == b && signbit(a) == signbit(b);
}

static bool same_string(const char *a, size_t a_len, const char *b, size_t b_len)
{
    return a_len == b_len && memcmp(a, b, a_len) == 0;
}

static bool same(json_t *a, json_t *b, int depth);

/* Elements have no names. */
static bool same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Compares members in order: jansson keeps the order of the text. */
static bool same_children(json_t *a, json_t *b, int depth)
{
    skv_json_walk in_a = {.container = a}, in_b = {.container = b};

    if (skv_json_count(a) != skv_json_count(b))
        return false;
    while (skv_json_next(&in_a) && skv_json_next(&in_b))
        if (!same_name(in_a.name, in_b.name) || !same(in_a.value, in_b.value, depth))
            return false;
    return true;
}

/* `depth` is the number of brackets that may still open. */
static bool same(json_t *a, json_t *b, int depth)
{
    if (json_typeof(a) != json_typeof(b))
        return false;
    switch (json_typeof(a)) {
    case JSON_OBJECT:
    case JSON_ARRAY:
        return depth > 0 && same_children(a, b, depth - 1);
    case JSON_STRING:
        return same_string(json_string_value(a), json_string_length(a), json_string_value(b), json_string_length(b));
    case JSON_INTEGER:
        return json_integer_value(a) == json_integer_value(b);
    case JSON_REAL:
        return same_double(json_real_value(a), json_real_value(b));
    default:
        return true;
    }
}

static bool same_member(json_t *a, json_t *b)
{
    return a == b || (a && b && same(a, b, SKV_DOCUMENT_DEPTH_MAX - 1));
}

static bool is_empty(const json_t *metadata)
{
    return !metadata || (json_is_object(metadata) && json_object_size(metadata) == 0);
}

static bool same_metadata(json_t *a, json_t *b)
{
    return (is_empty(a) && is_empty(b)) || same_member(a, b);
}

/* Compares times and histories. Most documents have a value and metadata, and no further members. */
static bool same_times_and_history(const document *a, const document *b)
{
    static const char *const names[] = {"stored_at", "expires", "history"};

    if (json_object_size(a->root) <= 2 && json_object_size(b->root) <= 2 && a->metadata && b->metadata)
        return true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!same_member(member(a->root, names[i]), member(b->root, names[i])))
            return false;
    return true;
}

static bool same_document(const document *a, const document *b)
{
    return a->value && b->value && same_member(a->value, b->value) && same_metadata(a->metadata, b->metadata) &&
           same_member(a->encoding, b->encoding) && same_member(a->original_encoding, b->original_encoding) &&
           same_times_and_history(a, b);
}

/* The characters of a value that a scan has passed. */
typedef struct scan {
    bool in_string;
    unsigned escape; /* the characters that are left of an escape sequence */
    size_t depth;    /* of brackets */
    bool ended;      /* the value is over */
} scan;

static void scan_string(scan *s, char c)
{
    if (s->escape)
        s->escape = c == 'u' ? 4 : s->escape - 1;
    else if (c == '\\')
        s->escape = 1;
    else
        s->in_string = c != '"';
}

static void scan_structure(scan *s, char c)
{
    if (c == '"')
        s->in_string = true;
    else if (c == '[' || c == '{')
        s->depth++;
    else if (s->depth == 0 && (c == ',' || c == '}'))
        s->ended = true;
    else if (s->depth > 0 && (c == ']' || c == '}'))
        s->depth--;
}

/* Returns true if the values differ for sure: both documents begin with them, and the first different byte is in a
 * string, and in no escape sequence. This spares the parsing of most documents that have changed. */
static bool differ_in_a_string(const char *a, size_t a_len, const char *b, size_t b_len)
{
    static const char start[] = "{\"value\":";
    size_t len = a_len < b_len ? a_len : b_len, at = sizeof start - 1;
    scan s = {.in_string = false};

    if (len <= at || memcmp(a, start, at) != 0 || memcmp(b, start, at) != 0)
        return false;
    for (; at < len && a[at] == b[at] && !s.ended; at++) {
        if (s.in_string)
            scan_string(&s, a[at]);
        else
            scan_structure(&s, a[at]);
    }
    return at < len && s.in_string && s.escape == 0 && a[at] != '\\' && b[at] != '\\';
}

static void compare(const char *a, size_t a_len, const char *b, size_t b_len, skv_reply *reply)
{
    document in_a = {0}, in_b = {0};

    if (load(&in_a, a, a_len, reply) == SKV_OK && in_a.value && load(&in_b, b, b_len, reply) == SKV_OK)
        reply->number = same_document(&in_a, &in_b);
    json_decref(in_b.root);
    json_decref(in_a.root);
}

skv_status skv_document_same(const char *a, size_t a_len, const char *b, size_t b_len, skv_reply *reply)
{
    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if ((!a && a_len) || (!b && b_len))
        return skv_fail(reply, SKV_INVALID, "a document is missing");
    if (a_len == b_len && (a_len == 0 || memcmp(a, b, a_len) == 0))
        reply->number = 1;
    else if (a_len && b_len && !differ_in_a_string(a, a_len, b, b_len))
        compare(a, a_len, b, b_len, reply);
    return reply->status;
}
