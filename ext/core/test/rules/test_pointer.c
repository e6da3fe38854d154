/* JSON pointers: find, set, extend, delete. */
#include "rules/pointer.h"

#include "chaos.h"
#include "check.h"
#include "json_text.h"
#include "rules/limits.h"

static skv_reply *reply;

static skv_pointer *parsed(const char *text)
{
    skv_pointer *pointer;

    skv_reply_reset(reply);
    if (!CHECK(skv_pointer_parse(text, strlen(text), &pointer, reply) == SKV_OK))
        printf("  %s: %s\n", text, skv_reply_message(reply));
    return pointer;
}

static void names_are_unescaped(void)
{
    static const struct {
        const char *text;
        size_t count;
        const char *names[4];
    } cases[] = {{"/", 1, {""}},
                 {"/a", 1, {"a"}},
                 {"/a/b/0", 3, {"a", "b", "0"}},
                 {"//", 2, {"", ""}},
                 {"/a/", 2, {"a", ""}},
                 {"/a~1b/c~0d/~01", 3, {"a/b", "c~d", "~1"}},
                 {"/ /\xc3\xa9/%2F/\"", 4, {" ", "\xc3\xa9", "%2F", "\""}}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_pointer *pointer = parsed(cases[i].text);

        CHECK(pointer->count == cases[i].count && pointer->size == strlen(cases[i].text));
        for (size_t n = 0; n < pointer->count; n++)
            CHECK_STR(pointer->names[n], cases[i].names[n]);
        skv_pointer_free(pointer);
    }
}

static void check_refused(const char *text, size_t len, skv_status status, const char *message)
{
    char *exact = malloc(len ? len : 1);
    skv_pointer *pointer;

    memcpy(exact, text, len);
    skv_reply_reset(reply);
    CHECK(skv_pointer_parse(exact, len, &pointer, reply) == status);
    CHECK_HAS(skv_reply_message(reply), message);
    CHECK(!pointer);
    free(exact);
}

static void other_texts_are_no_pointers(void)
{
    char deep[2 * SKV_VALUE_DEPTH_MAX + 1] = "";

    check_refused("", 0, SKV_INVALID, "an empty path");
    check_refused("hidden", 6, SKV_INVALID, "starts with '/'");
    check_refused("#/hidden", 8, SKV_INVALID, "starts with '/'");
    check_refused("/hi~dden", 8, SKV_INVALID, "'~' at offset 3");
    check_refused("/hidden~", 8, SKV_INVALID, "'~' at offset 7");
    check_refused("/a~2", 4, SKV_INVALID, "'~' at offset 2");
    check_refused("/a\0b", 4, SKV_INVALID, "NUL");
    for (int i = 0; i < SKV_VALUE_DEPTH_MAX; i++)
        memcpy(deep + 2 * i, "/d", 3);
    check_refused(deep, strlen(deep), SKV_TOO_LARGE, "more than 99 parts");
    skv_pointer_free(parsed(deep + 2));
}

/* The result of setting 7 by the pointer: a tree, or the message of a failure. */
static void values_are_set(void)
{
    static const struct {
        const char *tree, *pointer, *result, *message;
    } cases[] = {
        {"{}", "/a", "{'a': 7}", NULL},
        {"{'a': 1}", "/a", "{'a': 7}", NULL},
        {"{'a': {'x': 1}}", "/a", "{'a': 7}", NULL},
        {"{'a': {'x': 1}}", "/a/y", "{'a': {'x': 1, 'y': 7}}", NULL},
        {"{}", "/a/b/c", "{'a': {'b': {'c': 7}}}", NULL},
        {"{}", "/a/0", "{'a': {'0': 7}}", NULL},
        {"{}", "/a/-", "{'a': {'-': 7}}", NULL},
        {"{}", "/", "{'': 7}", NULL},
        {"{'l': [1, 2]}", "/l/0", "{'l': [7, 2]}", NULL},
        {"{'l': [1, 2]}", "/l/2", "{'l': [1, 2, 7]}", NULL},
        {"{'l': [1, 2]}", "/l/-", "{'l': [1, 2, 7]}", NULL},
        {"{'l': [1]}", "/l/-/x", "{'l': [1, {'x': 7}]}", NULL},
        {"{'l': [1]}", "/l/1/x/y", "{'l': [1, {'x': {'y': 7}}]}", NULL},
        {"{'l': [{'x': 1}]}", "/l/0/x", "{'l': [{'x': 7}]}", NULL},
        {"{'l': [1, 2]}", "/l/3", "{'l': [1, 2]}", "part 2 of the path is neither '-' nor an index from 0 to 2"},
        {"{'l': [1, 2]}", "/l/01", "{'l': [1, 2]}", "part 2 of the path is neither"},
        {"{'l': [1, 2]}", "/l/x", "{'l': [1, 2]}", "part 2 of the path is neither"},
        {"{'l': [1, 2]}", "/l/-1", "{'l': [1, 2]}", "part 2 of the path is neither"},
        {"{'l': [1, 2]}", "/l/18446744073709551615", "{'l': [1, 2]}", "part 2 of the path is neither"},
        {"{'l': [1]}", "/l/x/y", "{'l': [1]}", "part 2 of the path is neither"},
        {"{'s': 'text'}", "/s/a", "{'s': 'text'}", "part 2 of the path is in a value that is neither a Hash"},
        {"{'s': 'text'}", "/s/a/b", "{'s': 'text'}", "part 2 of the path is in a value"},
        {"{'s': null}", "/s/a", "{'s': null}", "part 2 of the path is in a value"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = json_of(cases[i].tree), *value = json_integer(7);
        skv_pointer *pointer = parsed(cases[i].pointer);
        skv_status status = skv_pointer_set(pointer, tree, value, reply);

        CHECK(status == (cases[i].message ? SKV_INVALID : SKV_OK));
        if (cases[i].message)
            CHECK_HAS(skv_reply_message(reply), cases[i].message);
        else
            CHECK(strstr(cases[i].pointer, "/-") || json_integer_value(skv_pointer_get(pointer, tree)) == 7);
        CHECK_JSON(tree, cases[i].result);
        skv_pointer_free(pointer);
        json_decref(value);
        json_decref(tree);
    }
}

/* NULL: there is nothing. */
static void values_are_found_and_deleted(void)
{
    static const struct {
        const char *tree, *pointer, *value, *rest;
    } cases[] = {{"{'a': 1, 'b': 2}", "/a", "1", "{'b': 2}"},
                 {"{'a': {'b': {}}}", "/a/b", "{}", "{'a': {}}"},
                 {"{'': 1}", "/", "1", "{}"},
                 {"{'l': [1, 2, 3]}", "/l/0", "1", "{'l': [2, 3]}"},
                 {"{'l': [1, 2, 3]}", "/l/2", "3", "{'l': [1, 2]}"},
                 {"{'l': [1, 2, 3]}", "/l/3", NULL, "{'l': [1, 2, 3]}"},
                 {"{'l': [1, 2, 3]}", "/l/-", NULL, "{'l': [1, 2, 3]}"},
                 {"{'l': [1, 2, 3]}", "/l/00", NULL, "{'l': [1, 2, 3]}"},
                 {"{'l': [{'x': 1}]}", "/l/0/x", "1", "{'l': [{}]}"},
                 {"{'a': null}", "/a", "null", "{}"},
                 {"{'a': 1}", "/b", NULL, "{'a': 1}"},
                 {"{'a': 1}", "/b/c", NULL, "{'a': 1}"},
                 {"{'a': 1}", "/a/b", NULL, "{'a': 1}"},
                 {"{'a': 'text'}", "/a/0", NULL, "{'a': 'text'}"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = json_of(cases[i].tree);
        skv_pointer *pointer = parsed(cases[i].pointer);
        json_t *found = skv_pointer_get(pointer, tree);

        CHECK(!found == !cases[i].value);
        if (found && cases[i].value)
            CHECK_JSON(found, cases[i].value);
        CHECK(skv_pointer_delete(pointer, tree) == (cases[i].value != NULL));
        CHECK_JSON(tree, cases[i].rest);
        skv_pointer_free(pointer);
        json_decref(tree);
    }
}

/* NULL: the result is the tree. */
static void lists_are_extended(void)
{
    static const struct {
        const char *tree, *pointer, *value;
        bool unique;
        const char *skip, *result, *message;
    } cases[] = {{"{}", "/l", "1", false, NULL, "{'l': [1]}", NULL},
                 {"{'l': null}", "/l", "1", false, NULL, "{'l': [1]}", NULL},
                 {"{'l': []}", "/l", "1", false, NULL, "{'l': [1]}", NULL},
                 {"{'l': [1]}", "/l", "1", false, NULL, "{'l': [1, 1]}", NULL},
                 {"{'l': [1]}", "/l", "1.0", true, NULL, NULL, NULL},
                 {"{'l': [1]}", "/l", "2", true, NULL, "{'l': [1, 2]}", NULL},
                 {"{'l': [1]}", "/l", "[2, 3]", false, NULL, "{'l': [1, [2, 3]]}", NULL},
                 {"{'l': [{'a': 1, 'b': 2}]}", "/l", "{'b': 2, 'a': 1}", true, NULL, NULL, NULL},
                 {"{}", "/a/l", "1", true, NULL, "{'a': {'l': [1]}}", NULL},
                 {"{'l': [[]]}", "/l/0", "1", false, NULL, "{'l': [[1]]}", NULL},
                 {"{'l': []}", "/l/-", "1", false, NULL, "{'l': [[1]]}", NULL},
                 {"{'l': [1]}", "/l", "2", false, "[3, 2]", NULL, NULL},
                 {"{}", "/l", "2", false, "[3, 2]", NULL, NULL},
                 {"{'l': [1]}", "/l", "2", false, "[1, 3]", "{'l': [1, 2]}", NULL},
                 {"{'l': [1]}", "/l", "2", false, "'2'", "{'l': [1, 2]}", NULL},
                 {"{'l': 'text'}", "/l", "1", false, NULL, NULL, "something that is not a list"},
                 {"{'l': {}}", "/l", "1", true, NULL, NULL, "something that is not a list"},
                 {"{'l': 1}", "/l/a", "1", false, NULL, NULL, "part 2 of the path is in a value"},
                 {"{'l': []}", "/l/1", "1", false, NULL, NULL, "part 2 of the path is neither"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *tree = json_of(cases[i].tree), *value = json_of(cases[i].value);
        json_t *skip = cases[i].skip ? json_of(cases[i].skip) : NULL;
        skv_pointer *pointer = parsed(cases[i].pointer);
        skv_extension extension = {.value = value, .unique = cases[i].unique, .skip = skip};
        skv_status status = skv_pointer_extend(pointer, tree, &extension, reply);

        CHECK(status == (cases[i].message ? SKV_INVALID : SKV_OK));
        CHECK(extension.changed == (cases[i].result != NULL));
        if (cases[i].message)
            CHECK_HAS(skv_reply_message(reply), cases[i].message);
        CHECK_JSON(tree, cases[i].result ? cases[i].result : cases[i].tree);
        skv_pointer_free(pointer);
        json_decref(skip);
        json_decref(value);
        json_decref(tree);
    }
}

/* A tree that contains itself would be endless. */
static void a_tree_takes_a_copy_of_itself(void)
{
    json_t *tree = json_of("{'a': {'l': [1]}}");
    skv_pointer *below = parsed("/a/b"), *elements = parsed("/a/l");
    skv_extension extension = {.unique = false};

    CHECK(skv_pointer_set(below, tree, tree, reply) == SKV_OK);
    CHECK_JSON(tree, "{'a': {'l': [1], 'b': {'a': {'l': [1]}}}}");
    extension.value = skv_pointer_get(elements, tree);
    CHECK(skv_pointer_extend(elements, tree, &extension, reply) == SKV_OK && extension.changed);
    CHECK_JSON(tree, "{'a': {'l': [1, [1]], 'b': {'a': {'l': [1]}}}}");
    skv_pointer_free(below);
    skv_pointer_free(elements);
    json_decref(tree);
}

static void check_depth(bool extend, int depth, skv_status status)
{
    json_t *tree = json_object(), *value = nested_lists(depth);
    skv_pointer *pointer = parsed("/a/b");
    skv_extension extension = {.value = value};

    if (extend)
        skv_pointer_extend(pointer, tree, &extension, reply);
    else
        skv_pointer_set(pointer, tree, value, reply);
    CHECK_STATUS(reply, status);
    if (status != SKV_OK)
        CHECK_HAS(skv_reply_message(reply), "nested deeper than 100");
    skv_pointer_free(pointer);
    json_decref(value);
    json_decref(tree);
}

static void trees_are_nested_to_a_limit(void)
{
    check_depth(false, SKV_VALUE_DEPTH_MAX - 2, SKV_OK);
    check_depth(false, SKV_VALUE_DEPTH_MAX - 1, SKV_TOO_LARGE);
    check_depth(true, SKV_VALUE_DEPTH_MAX - 3, SKV_OK);
    check_depth(true, SKV_VALUE_DEPTH_MAX - 2, SKV_TOO_LARGE);
}

static void the_index_of_a_write_is_an_element_or_the_end(void)
{
    json_t *list = json_of("[1, 2]");

    CHECK(skv_pointer_index(list, "0") == 0 && skv_pointer_index(list, "2") == 2 && skv_pointer_index(list, "-") == 2);
    CHECK(skv_pointer_index(list, "3") == SIZE_MAX && skv_pointer_index(list, "00") == SIZE_MAX);
    json_decref(list);
}

static json_t *sample_tree, *sample_value;

static void set_and_extend(const skv_pointer *inner, const skv_pointer *outer, json_t *tree, skv_reply *mine)
{
    skv_extension extension = {.value = sample_value, .unique = true};

    if (skv_pointer_set(inner, tree, sample_value, mine) != SKV_OK)
        return;
    skv_pointer_extend(outer, tree, &extension, mine);
    CHECK(extension.changed == (skv_reply_status(mine) == SKV_OK));
}

static void lack_of_memory_is_a_status(void)
{
    static const char inner[] = "/a/l/-/x", outer[] = "/b/l";
    skv_reply *mine = skv_reply_new();
    skv_pointer *pointers[2] = {NULL, NULL};
    json_t *tree = json_deep_copy(sample_tree);

    if (mine && tree && skv_pointer_parse(inner, strlen(inner), &pointers[0], mine) == SKV_OK &&
        skv_pointer_parse(outer, strlen(outer), &pointers[1], mine) == SKV_OK)
        set_and_extend(pointers[0], pointers[1], tree, mine);
    if (mine && skv_reply_status(mine) != SKV_OK)
        CHECK_STATUS(mine, SKV_NOMEM);
    skv_pointer_free(pointers[0]);
    skv_pointer_free(pointers[1]);
    json_decref(tree);
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    sample_tree = json_of("{'a': {'l': [1, {}]}}");
    sample_value = json_of("{'text': ['some', 1.5, null]}");
    names_are_unescaped();
    other_texts_are_no_pointers();
    values_are_set();
    values_are_found_and_deleted();
    lists_are_extended();
    a_tree_takes_a_copy_of_itself();
    trees_are_nested_to_a_limit();
    the_index_of_a_write_is_an_element_or_the_end();
    chaos(lack_of_memory_is_a_status);
    json_decref(sample_value);
    json_decref(sample_tree);
    skv_reply_free(reply);
    return check_summary("pointer");
}
