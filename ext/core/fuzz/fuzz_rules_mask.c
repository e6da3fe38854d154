/*
 * Changes of a tree, one a line: a digit, and a JSON pointer. The digit selects the change (set, extend, delete) and
 * the rule: sensitive rules write a secret, which no other rule may ever read, and which the writer reads back. Other
 * rules write what they can read.
 */
#include "rules/limits.h"
#include "rules/mask.h"
#include "rules/value.h"
#include "json/writer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* No escape sequence of JSON ends with its first letter, so that no other text can make it up. */
#define SECRET "secre7-of-rule-"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct session {
    json_t *tree;
    skv_mask mask;
    skv_reply *reply;
} session;

static json_t *read_all(session *s, int rule)
{
    json_t *seen;

    skv_reply_reset(s->reply);
    seen = skv_mask_read(&s->mask, (skv_mask_reader){.rule = rule}, s->tree, NULL, 0, s->reply);
    assert(seen);
    return seen;
}

/* The caller frees it. */
static char *text_of(json_t *value)
{
    skv_buf text;

    skv_buf_init(&text, SIZE_MAX);
    skv_json_put_tree(&text, value);
    assert(!skv_buf_failed(&text));
    return text.bytes;
}

/* `rule` reads no secret of another rule. */
static void check_reader(session *s, int rule)
{
    json_t *seen = read_all(s, rule);
    char *text = text_of(seen);

    for (const char *at = strstr(text, SECRET); at; at = strstr(at + 1, SECRET))
        assert(rule >= 0 && at[strlen(SECRET)] == '0' + rule);
    skv_free(text);
    json_decref(seen);
}

static json_t *value_for(session *s, int rule)
{
    json_t *seen, *copy;

    if (rule < 0) {
        seen = read_all(s, rule);
        copy = skv_value_copy(seen);
        json_decref(seen);
        return copy;
    }
    return json_pack("{s:[s+]}", "x", SECRET, (const char *[]){"0", "1", "2"}[rule]);
}

static void apply(session *s, skv_change change, int rule, const skv_pointer *pointer, json_t *value)
{
    json_t *own;
    skv_extension extension = {.value = value};

    assert(skv_mask_change(&s->mask, s->tree, pointer, change, rule, s->reply) == SKV_OK);
    if (change == SKV_CHANGE_SET)
        skv_pointer_set(pointer, s->tree, value, s->reply);
    else if (change == SKV_CHANGE_EXTEND)
        skv_pointer_extend(pointer, s->tree, &extension, s->reply);
    else
        skv_pointer_delete(pointer, s->tree);
    assert(skv_reply_status(s->reply) != SKV_NOMEM);
    own = skv_pointer_get(pointer, s->tree);
    if (change == SKV_CHANGE_SET && skv_reply_status(s->reply) == SKV_OK && own)
        assert(skv_value_equal(own, value, NULL));
}

/* Returns false if a change failed, or writes too much: an inspection ends then. */
static bool run_line(session *s, const char *line, size_t len)
{
    static const skv_change changes[] = {SKV_CHANGE_SET, SKV_CHANGE_EXTEND, SKV_CHANGE_DELETE};
    skv_pointer *pointer;
    bool applied = false;
    int digit = len ? (line[0] - '0') % 9 : -1;
    json_t *value = digit >= 0 ? value_for(s, digit / 3 - 1) : NULL;

    skv_reply_reset(s->reply);
    if (value && skv_json_size(value, 2000) <= 2000 &&
        skv_pointer_parse(line + 1, len - 1, &pointer, s->reply) == SKV_OK) {
        apply(s, changes[digit % 3], digit / 3 - 1, pointer, value);
        applied = skv_reply_status(s->reply) == SKV_OK;
        skv_pointer_free(pointer);
    }
    json_decref(value);
    for (int rule = -1; applied && rule < 3; rule++)
        check_reader(s, rule);
    assert(!skv_value_is_deeper(s->tree, SKV_VALUE_DEPTH_MAX));
    return applied;
}

/* A path with the secret in it is readable. */
static bool is_usable(const char *line, size_t len)
{
    return skv_is_utf8(line, len) && !memmem(line, len, SECRET, strlen(SECRET));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *line = (const char *)data, *end = line + size;
    json_t *list = json_array();
    session s = {.tree = json_pack("{s:[i,{s:i},[i]],s:{s:n}}", "l", 1, "x", 2, 3, "o", "y"), .reply = skv_reply_new()};

    while (line < end) {
        const char *newline = memchr(line, '\n', (size_t)(end - line)), *stop = newline ? newline : end;

        if (!is_usable(line, (size_t)(stop - line)) || !run_line(&s, line, (size_t)(stop - line)))
            break;
        line = stop + 1;
    }
    skv_mask_list(&s.mask, "/node", &list);
    assert(list);
    json_decref(list);
    skv_mask_free(&s.mask);
    json_decref(s.tree);
    skv_reply_free(s.reply);
    return 0;
}
