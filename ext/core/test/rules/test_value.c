/* Truth, text, order and equality of values. */
#include "rules/value.h"

#include "chaos.h"
#include "check.h"
#include "json_text.h"
#include "json/writer.h"

static void values_are_true_false_both_or_neither(void)
{
    static const struct {
        const char *json;
        bool is_true, is_false, is_empty;
    } cases[] = {
        {"true", true, false, false},        {"false", false, true, false},   {"null", false, true, true},
        {"0", false, true, false},           {"0.0", false, true, false},     {"-0.0", false, true, false},
        {"1", true, false, false},           {"-7", true, false, false},      {"0.5", true, false, false},
        {"'yes'", true, false, false},       {"'YES'", true, false, false},   {"'True'", true, false, false},
        {"'no'", false, true, false},        {"'No'", false, true, false},    {"'FALSE'", false, true, false},
        {"''", false, false, true},          {"' yes'", false, false, false}, {"'yes\\u0000'", false, false, false},
        {"'1'", false, false, false},        {"'0'", false, false, false},    {"'on'", false, false, false},
        {"[]", false, false, true},          {"{}", false, false, true},      {"[false]", false, false, false},
        {"{'a':null}", false, false, false}, {"' '", false, false, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = json_of(cases[i].json);
        bool held = CHECK(skv_value_is_true(value) == cases[i].is_true);

        held = CHECK(skv_value_is_false(value) == cases[i].is_false) && held;
        held = CHECK(skv_value_is_empty(value) == cases[i].is_empty) && held;
        if (!held)
            printf("  %s\n", cases[i].json);
        json_decref(value);
    }
}

static void check_text(const char *json, const char *expected)
{
    json_t *value = json_of(json);
    skv_buf text;

    skv_buf_init(&text, 1000);
    skv_value_put_text(value, &text);
    CHECK(!skv_buf_failed(&text));
    CHECK_STR(text.bytes ? text.bytes : "", expected);
    skv_buf_free(&text);
    json_decref(value);
}

static void text_is_a_string_as_it_is_or_compact_json(void)
{
    check_text("''", "");
    check_text("'a \\\" \\n b'", "a \" \n b");
    check_text("{'b': 1, 'a': {'x': ['\\n', 2.5]}}", "{\"b\":1,\"a\":{\"x\":[\"\\n\",2.5]}}");
}

static void values_are_nested_to_a_limit(void)
{
    json_t *deepest = nested_lists(SKV_TREE_DEPTH_MAX), *deeper = nested_lists(SKV_TREE_DEPTH_MAX + 1), *copy;

    CHECK(!skv_value_is_deeper(deepest, SKV_TREE_DEPTH_MAX));
    CHECK(skv_value_is_deeper(deepest, SKV_TREE_DEPTH_MAX - 1));
    CHECK(skv_value_equal(deepest, deepest, NULL));
    CHECK(!skv_value_equal(deeper, deeper, NULL));
    copy = skv_value_copy(deepest);
    CHECK(copy && skv_value_equal(copy, deepest, NULL));
    CHECK(!skv_value_copy(deeper));
    json_decref(copy);
    json_decref(deeper);
    json_decref(deepest);
}

static void depth_counts_brackets_in_each_other(void)
{
    static const struct {
        const char *json;
        size_t depth;
    } cases[] = {{"1", 0}, {"'x'", 0}, {"[]", 1}, {"{}", 1}, {"[[], {}]", 2}, {"{'a': 1, 'b': [{'c': 1}]}", 3}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = json_of(cases[i].json);

        CHECK(!skv_value_is_deeper(value, cases[i].depth));
        CHECK(cases[i].depth == 0 || skv_value_is_deeper(value, cases[i].depth - 1));
        json_decref(value);
    }
}

/* The order of a and b: '<', '=', '>', or '!' for none; and "equal" for values without order. */
static void values_compare_by_content(void)
{
    static const struct {
        const char *a, *b;
        char order;
        bool equal;
    } cases[] = {{"1", "1.0", '=', true},
                 {"0", "-0.0", '=', true},
                 {"1", "2", '<', false},
                 {"-1", "1", '<', false},
                 {"1", "1.5", '<', false},
                 {"2", "1.5", '>', false},
                 {"-1", "-1.5", '>', false},
                 {"-2", "-1.5", '<', false},
                 {"0.1", "0.2", '<', false},
                 {"0.1", "0.1", '=', true},
                 {"9007199254740992", "9007199254740992.0", '=', true},
                 {"9007199254740993", "9007199254740992.0", '>', false},
                 {"9007199254740993", "9007199254740994.0", '<', false},
                 {"9007199254740993", "9007199254740993", '=', true},
                 {"9223372036854775807", "9223372036854775806", '>', false},
                 {"9223372036854775807", "9223372036854775808.0", '<', false},
                 {"-9223372036854775808", "-9223372036854775808.0", '=', true},
                 {"-9223372036854775808", "-9223372036854777856.0", '>', false},
                 {"9223372036854775807", "1e300", '<', false},
                 {"-9223372036854775808", "-1e300", '>', false},
                 {"'a'", "'b'", '<', false},
                 {"'a'", "'a'", '=', true},
                 {"'a'", "'ab'", '<', false},
                 {"''", "'a'", '<', false},
                 {"'B'", "'a'", '<', false},
                 {"'z'", "'\xc3\xa9'", '<', false},
                 {"'a\\u0000b'", "'a'", '>', false},
                 {"'1'", "1", '!', false},
                 {"true", "true", '!', true},
                 {"true", "false", '!', false},
                 {"true", "1", '!', false},
                 {"null", "null", '!', true},
                 {"null", "false", '!', false},
                 {"[]", "[]", '!', true},
                 {"[]", "{}", '!', false},
                 {"[1, 2]", "[1.0, 2.0]", '!', true},
                 {"[1, 2]", "[2, 1]", '!', false},
                 {"[1]", "[1, 1]", '!', false},
                 {"{'a': 1, 'b': [2]}", "{'b': [2.0], 'a': 1}", '!', true},
                 {"{'a': 1}", "{'b': 1}", '!', false},
                 {"{'a': 1}", "{'a': 1, 'b': 2}", '!', false},
                 {"{'a': null}", "{'b': null}", '!', false}};
    static const char reversed[] = {['<'] = '>', ['>'] = '<', ['='] = '=', ['!'] = '!'};
    static const char names[] = {'!', '<', '=', '>'};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *a = json_of(cases[i].a), *b = json_of(cases[i].b);
        bool held = CHECK(names[skv_value_compare(a, b)] == cases[i].order);

        held = CHECK(names[skv_value_compare(b, a)] == reversed[(unsigned char)cases[i].order]) && held;
        held = CHECK(skv_value_equal(a, b, NULL) == cases[i].equal) && held;
        held = CHECK(skv_value_equal(b, a, NULL) == cases[i].equal) && held;
        if (!held)
            printf("  %s and %s\n", cases[i].a, cases[i].b);
        json_decref(a);
        json_decref(b);
    }
}

/* NULL: there is no such member. */
static void members_are_found_by_name_and_elements_by_index(void)
{
    static const struct {
        const char *json, *name, *member;
    } cases[] = {{"{'a': 1}", "a", "1"},
                 {"{'a': 1}", "b", NULL},
                 {"{'0': 1}", "0", "1"},
                 {"{'': 1}", "", "1"},
                 {"[5, 6]", "0", "5"},
                 {"[5, 6]", "1", "6"},
                 {"[5, 6]", "2", NULL},
                 {"[5, 6]", "01", NULL},
                 {"[5, 6]", "-1", NULL},
                 {"[5, 6]", "+1", NULL},
                 {"[5, 6]", "1 ", NULL},
                 {"[5, 6]", "-", NULL},
                 {"[5, 6]", "", NULL},
                 {"[5, 6]", "18446744073709551616", NULL},
                 {"[5, 6]", "18446744073709551617", NULL},
                 {"[5, 6]", "99999999999999999999999999", NULL},
                 {"'text'", "0", NULL},
                 {"12", "0", NULL},
                 {"null", "a", NULL}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = json_of(cases[i].json), *member = skv_value_member(value, cases[i].name);

        CHECK(!member == !cases[i].member);
        if (member && cases[i].member)
            CHECK_JSON(member, cases[i].member);
        json_decref(value);
    }
}

static const char sample[] = "{'a': ['x', {'b': 1.5, 'c': [null, true]}], 'd': {}}";
static json_t *sample_value;

static void a_copy_shares_nothing(void)
{
    json_t *copy = skv_value_copy(sample_value), *list;

    CHECK_JSON(copy, sample);
    list = json_object_get(copy, "a");
    json_string_set(json_array_get(list, 0), "y");
    json_object_set_new(json_array_get(list, 1), "b", json_integer(2));
    json_array_append_new(list, json_null());
    CHECK_JSON(sample_value, sample);
    json_decref(copy);
}

static void lack_of_memory_leaves_no_part_of_a_copy_or_text(void)
{
    json_t *copy = skv_value_copy(sample_value);
    skv_buf text;

    if (copy)
        CHECK(skv_value_equal(copy, sample_value, NULL));
    json_decref(copy);
    skv_buf_init(&text, 1000);
    skv_value_put_text(sample_value, &text);
    CHECK(text.no_memory || text.len == skv_json_size(sample_value, 1000));
    skv_buf_free(&text);
}

int main(void)
{
    sample_value = json_of(sample);
    values_are_true_false_both_or_neither();
    text_is_a_string_as_it_is_or_compact_json();
    values_are_nested_to_a_limit();
    depth_counts_brackets_in_each_other();
    values_compare_by_content();
    members_are_found_by_name_and_elements_by_index();
    a_copy_shares_nothing();
    chaos(lack_of_memory_leaves_no_part_of_a_copy_or_text);
    json_decref(sample_value);
    return check_summary("value");
}
