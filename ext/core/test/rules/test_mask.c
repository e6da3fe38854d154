/* Masks: members with names of secrets, and paths that sensitive rules wrote. */
#include "rules/mask.h"

#include "chaos.h"
#include "check.h"
#include "json_text.h"
#include "rules/limits.h"

static skv_reply *reply;

static const skv_secret_names usual_names = {0};
static const skv_mask_reader plain_reader = {.rule = -1}, careful_reader = {.names = &usual_names, .rule = -1};

static skv_pointer *parsed(const char *text)
{
    skv_pointer *pointer;

    CHECK(skv_pointer_parse(text, strlen(text), &pointer, reply) == SKV_OK);
    return pointer;
}

/* `path` is a pointer, or "" for the tree. NULL: there is nothing. */
static void check_read(const skv_mask *mask, skv_mask_reader reader, json_t *tree, const char *path,
                       const char *expected)
{
    skv_pointer *pointer = *path ? parsed(path) : NULL;
    json_t *value =
        skv_mask_read(mask, reader, tree, pointer ? pointer->names : NULL, pointer ? pointer->count : 0, reply);
    bool held = CHECK(!value == !expected);

    if (value && expected)
        held = CHECK_JSON(value, expected) && held;
    if (!held)
        printf("  reading '%s'\n", path);
    CHECK_STATUS(reply, SKV_OK);
    json_decref(value);
    skv_pointer_free(pointer);
}

static void secret_members_are_masked_by_their_names(void)
{
    static const char text[] = "{'a': 1, 'db': {'user': 'u', 'password': 'p'}, 'l': [{'token': 't'}, 'x'],"
                               "'secrets': {'x': {'y': 1}}, 'plain': [1, {'b': 2}], 'api_key': null}";
    static const struct {
        const char *path, *masked, *plain;
    } cases[] = {{"/a", "1", "1"},
                 {"/db/user", "'u'", "'u'"},
                 {"/db/password", "'******'", "'p'"},
                 {"/db/password/x", "'******'", NULL},
                 {"/db/pass", NULL, NULL},
                 {"/db/passwords", NULL, NULL},
                 {"/db", "{'user': 'u', 'password': '******'}", "{'user': 'u', 'password': 'p'}"},
                 {"/l/0/token", "'******'", "'t'"},
                 {"/l/0", "{'token': '******'}", "{'token': 't'}"},
                 {"/l/1", "'x'", "'x'"},
                 {"/l/2", NULL, NULL},
                 {"/l", "[{'token': '******'}, 'x']", "[{'token': 't'}, 'x']"},
                 {"/secrets", "'******'", "{'x': {'y': 1}}"},
                 {"/secrets/x/y", "'******'", "1"},
                 {"/secrets/x", "'******'", "{'y': 1}"},
                 {"/plain", "[1, {'b': 2}]", "[1, {'b': 2}]"},
                 {"/api_key", "'******'", "null"},
                 {"",
                  "{'a': 1, 'db': {'user': 'u', 'password': '******'}, 'l': [{'token': '******'}, 'x'],"
                  "'secrets': '******', 'plain': [1, {'b': 2}], 'api_key': '******'}",
                  text}};
    json_t *tree = json_of(text);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_read(NULL, careful_reader, tree, cases[i].path, cases[i].masked);
        check_read(NULL, plain_reader, tree, cases[i].path, cases[i].plain);
    }
    CHECK_JSON(tree, text);
    json_decref(tree);
}

static void a_value_without_secrets_is_not_copied(void)
{
    json_t *tree = json_of("{'a': {'b': [1]}}"), *value;
    const char *names[] = {"a"};

    value = skv_mask_read(NULL, careful_reader, tree, names, 1, reply);
    CHECK(value == json_object_get(tree, "a"));
    json_decref(value);
    json_decref(tree);
}

/* A tree, its mask, and one change after the other. */
typedef struct session {
    json_t *tree;
    skv_mask mask;
} session;

static void apply(session *s, char change, const char *path, int rule, const char *json)
{
    skv_pointer *pointer = parsed(path);
    json_t *value = json_of(json);
    skv_extension extension = {.value = value};

    skv_mask_change(&s->mask, s->tree, pointer,
                    change == '='   ? SKV_CHANGE_SET
                    : change == '+' ? SKV_CHANGE_EXTEND
                                    : SKV_CHANGE_DELETE,
                    rule, reply);
    if (change == '=')
        skv_pointer_set(pointer, s->tree, value, reply);
    else if (change == '+')
        skv_pointer_extend(pointer, s->tree, &extension, reply);
    else
        skv_pointer_delete(pointer, s->tree);
    if (!CHECK_STATUS(reply, SKV_OK))
        printf("  %c %s\n", change, path);
    json_decref(value);
    skv_pointer_free(pointer);
}

static void check_marks(const session *s, const char *expected)
{
    json_t *list = json_array();

    skv_mask_list(&s->mask, "/node", &list);
    CHECK_JSON(list, expected);
    json_decref(list);
}

/* A change is "<operator> <path> <rule> <JSON>"; '=' sets, '+' extends, '-' deletes. A rule below 0 is not sensitive.
 */
typedef struct change {
    char operator;
    const char *path;
    int rule;
    const char *json;
} change;

/* The tree begins as `tree`. After the changes, rule 1 and other rules see it so, and these paths are marked. */
static const struct sequence {
    const char *tree;
    change changes[5];
    const char *seen, *seen_by_1, *marks;
} sequences[] = {
    {"{'a': 1}", {{'=', "/b", -1, "2"}}, "{'a': 1, 'b': 2}", "{'a': 1, 'b': 2}", "[]"},
    {"{'a': 1}", {{'=', "/b", 1, "2"}}, "{'a': 1, 'b': '******'}", "{'a': 1, 'b': 2}", "['/node/b']"},
    {"{}", {{'=', "/a/b", 1, "{'c': 2}"}}, "{'a': {'b': '******'}}", "{'a': {'b': {'c': 2}}}", "['/node/a/b']"},
    {"{}",
     {{'=', "/a~1b/~0", 1, "2"}, {'=', "/c", 1, "3"}},
     "{'a/b': {'~': '******'}, 'c': '******'}",
     "{'a/b': {'~': 2}, 'c': 3}",
     "['/node/a~1b/~0', '/node/c']"},
    /* another rule can write only values that it sees */
    {"{}", {{'=', "/a", 1, "2"}, {'=', "/a", -1, "3"}}, "{'a': 3}", "{'a': 3}", "[]"},
    {"{}", {{'=', "/a/b", 1, "2"}, {'=', "/a", -1, "{'b': 3}"}}, "{'a': {'b': 3}}", "{'a': {'b': 3}}", "[]"},
    {"{}",
     {{'=', "/a", 1, "{'b': 2}"}, {'=', "/a/c", -1, "3"}},
     "{'a': '******'}",
     "{'a': {'b': 2, 'c': 3}}",
     "['/node/a']"},
    {"{}", {{'=', "/a", 1, "2"}, {'-', "/a", -1, "null"}}, "{}", "{}", "[]"},
    {"{}", {{'=', "/a", 1, "2"}, {'-', "/a", 1, "null"}, {'=', "/a", -1, "3"}}, "{'a': 3}", "{'a': 3}", "[]"},
    /* another sensitive rule */
    {"{}", {{'=', "/a", 2, "2"}}, "{'a': '******'}", "{'a': '******'}", "['/node/a']"},
    {"{}", {{'=', "/a", 2, "2"}, {'=', "/a", 1, "3"}}, "{'a': '******'}", "{'a': 3}", "['/node/a']"},
    {"{}", {{'=', "/a", 2, "{}"}, {'=', "/a/b", 1, "3"}}, "{'a': '******'}", "{'a': '******'}", "['/node/a']"},
    {"{}",
     {{'=', "/a/b", 2, "2"}, {'=', "/a/c", 1, "3"}},
     "{'a': {'b': '******', 'c': '******'}}",
     "{'a': {'b': '******', 'c': 3}}",
     "['/node/a/b', '/node/a/c']"},
    /* extending */
    {"{'l': [1]}", {{'+', "/l", -1, "2"}}, "{'l': [1, 2]}", "{'l': [1, 2]}", "[]"},
    {"{'l': [1]}", {{'+', "/l", 1, "2"}}, "{'l': '******'}", "{'l': [1, 2]}", "['/node/l']"},
    {"{'l': [1]}", {{'+', "/l", 1, "2"}, {'+', "/l", -1, "3"}}, "{'l': '******'}", "{'l': [1, 2, 3]}", "['/node/l']"},
    {"{'l': [1]}", {{'=', "/l/0", 1, "2"}, {'+', "/l", 1, "3"}}, "{'l': '******'}", "{'l': [2, 3]}", "['/node/l']"},
    {"{}", {{'=', "/a", 1, "{}"}, {'=', "/a/b", 2, "3"}}, "{'a': '******'}", "{'a': '******'}", "['/node/a']"},
    {"{'l': [1]}", {{'+', "/l", 2, "2"}, {'+', "/l", 1, "3"}}, "{'l': '******'}", "{'l': '******'}", "['/node/l']"},
    {"{'l': [1]}", {{'=', "/l/0", 2, "2"}, {'+', "/l", 1, "3"}}, "{'l': '******'}", "{'l': '******'}", "['/node/l']"},
    /* elements of lists */
    {"{'l': [1]}",
     {{'=', "/l/-", 1, "2"}, {'=', "/l/-", -1, "3"}},
     "{'l': [1, '******', 3]}",
     "{'l': [1, 2, 3]}",
     "['/node/l/1']"},
    {"{'l': [1]}",
     {{'=', "/l/-/x", 1, "2"}, {'=', "/l/1/y", -1, "3"}},
     "{'l': [1, {'x': '******', 'y': 3}]}",
     "{'l': [1, {'x': 2, 'y': 3}]}",
     "['/node/l/1/x']"},
    {"{'l': [0, 1, 2]}",
     {{'=', "/l/2", 1, "9"}, {'-', "/l/0", -1, "null"}},
     "{'l': [1, '******']}",
     "{'l': [1, 9]}",
     "['/node/l/1']"},
    {"{'l': [0, 1, 2]}",
     {{'=', "/l/0", 1, "9"}, {'=', "/l/2", 1, "8"}, {'-', "/l/1", -1, "null"}},
     "{'l': ['******', '******']}",
     "{'l': [9, 8]}",
     "['/node/l/0', '/node/l/1']"},
    {"{'l': [0, 1, 2]}", {{'=', "/l/1", 1, "9"}, {'-', "/l/1", -1, "null"}}, "{'l': [0, 2]}", "{'l': [0, 2]}", "[]"},
    {"{'l': [0, 1]}",
     {{'=', "/l/1", 1, "9"}, {'-', "/l/5", -1, "null"}, {'-', "/l/-", -1, "null"}},
     "{'l': [0, '******']}",
     "{'l': [0, 9]}",
     "['/node/l/1']"},
    {"{'l': [{'x': 1}, {'x': 2}]}",
     {{'=', "/l/1/x", 1, "9"}, {'-', "/l/0", 2, "null"}, {'-', "/l/0/y", -1, "null"}},
     "{'l': [{'x': '******'}]}",
     "{'l': [{'x': 9}]}",
     "['/node/l/0/x']"},
    /* an object whose names look like indexes */
    {"{'o': {'0': 1, '1': 2}}",
     {{'=', "/o/1", 1, "9"}, {'-', "/o/0", -1, "null"}},
     "{'o': {'1': '******'}}",
     "{'o': {'1': 9}}",
     "['/node/o/1']"},
    {"{}", {{'=', "/o/-", 1, "9"}}, "{'o': {'-': '******'}}", "{'o': {'-': 9}}", "['/node/o/-']"}};

static void paths_of_sensitive_rules_are_masked_for_all_others(void)
{
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        const struct sequence *c = &sequences[i];
        session s = {.tree = json_of(c->tree)};

        for (const change *each = c->changes; each->operator; each++)
            apply(&s, each->operator, each->path, each->rule, each->json);
        check_read(&s.mask, plain_reader, s.tree, "", c->seen);
        check_read(&s.mask, (skv_mask_reader){.rule = 1}, s.tree, "", c->seen_by_1);
        check_read(&s.mask, careful_reader, s.tree, "", c->seen);
        check_marks(&s, c->marks);
        skv_mask_free(&s.mask);
        json_decref(s.tree);
    }
}

static void a_path_through_a_mark_is_masked(void)
{
    session s = {.tree = json_of("{'a': {'b': {'c': 1, 'l': [1]}, 'd': 2}}")};

    apply(&s, '=', "/a/b", 3, "{'c': 1, 'l': [1]}");
    check_read(&s.mask, plain_reader, s.tree, "/a/b/c", "'******'");
    check_read(&s.mask, plain_reader, s.tree, "/a/b/l/0", "'******'");
    check_read(&s.mask, plain_reader, s.tree, "/a/d", "2");
    check_read(&s.mask, (skv_mask_reader){.names = &usual_names, .rule = 3}, s.tree, "/a/b/c", "1");
    check_read(&s.mask, (skv_mask_reader){.names = &usual_names, .rule = 4}, s.tree, "/a/b/c", "'******'");
    apply(&s, '=', "/a/password", 3, "'p'");
    check_read(&s.mask, (skv_mask_reader){.names = &usual_names, .rule = 3}, s.tree, "/a/password", "'******'");
    check_read(&s.mask, (skv_mask_reader){.rule = 3}, s.tree, "/a/password", "'p'");
    skv_mask_free(&s.mask);
    json_decref(s.tree);
}

static void a_value_that_is_nested_too_deeply_is_masked(void)
{
    json_t *tree = json_object(), *value;

    json_object_set_new(tree, "a", nested_lists(SKV_VALUE_DEPTH_MAX + 10));
    value = skv_mask_read(NULL, careful_reader, tree, NULL, 0, reply);
    CHECK(value && value != tree);
    json_decref(value);
    json_decref(tree);
}

static json_t *sample_tree;

static void lack_of_memory_is_a_status(void)
{
    static const struct {
        const char *path;
        skv_change change;
        int rule;
    } changes[] = {{"/a/b", SKV_CHANGE_SET, 1},
                   {"/l/1/x", SKV_CHANGE_SET, 1},
                   {"/l/0", SKV_CHANGE_DELETE, -1},
                   {"/m", SKV_CHANGE_EXTEND, 2}};
    skv_reply *mine = skv_reply_new();
    json_t *list = NULL, *value = NULL;
    skv_mask mask = {0};

    for (size_t i = 0; mine && i < sizeof changes / sizeof *changes; i++) {
        skv_pointer *pointer;

        if (skv_pointer_parse(changes[i].path, strlen(changes[i].path), &pointer, mine) == SKV_OK)
            skv_mask_change(&mask, sample_tree, pointer, changes[i].change, changes[i].rule, mine);
        skv_pointer_free(pointer);
    }
    if (mine && skv_reply_status(mine) == SKV_OK) {
        list = json_array();
        skv_mask_list(&mask, "", &list);
        CHECK(!list || json_array_size(list) == 3);
        value = skv_mask_read(&mask, careful_reader, sample_tree, NULL, 0, mine);
        CHECK(!value == (skv_reply_status(mine) == SKV_NOMEM));
    } else if (mine) {
        CHECK_STATUS(mine, SKV_NOMEM);
    }
    json_decref(value);
    json_decref(list);
    skv_mask_free(&mask);
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    sample_tree = json_of("{'a': {'b': 1, 'c': [null, {'token': 'x'}]}, 'l': [1, {'x': 2}], 'm': []}");
    secret_members_are_masked_by_their_names();
    a_value_without_secrets_is_not_copied();
    paths_of_sensitive_rules_are_masked_for_all_others();
    a_path_through_a_mark_is_masked();
    a_value_that_is_nested_too_deeply_is_masked();
    chaos(lack_of_memory_is_a_status);
    json_decref(sample_tree);
    skv_reply_free(reply);
    return check_summary("mask");
}
