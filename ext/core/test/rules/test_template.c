/* Values with replacement fields. */
#include "rules/template.h"

#include "chaos.h"
#include "check.h"
#include "json_text.h"
#include "rules/limits.h"
#include "rules/value.h"

#define ALL_ROOTS (SKV_ROOT_NODE | SKV_ROOT_INVENTORY | SKV_ROOT_PLUGIN_DATA | SKV_ROOT_ITEM)

static skv_reply *reply;
static json_t *roots[SKV_ROOT_ITEM + 1];

static json_t *look_up_in_roots(void *context, const skv_field *field, skv_reply *failed)
{
    json_t *value = roots[field->root];

    (void)context;
    (void)failed;
    for (size_t i = 0; value && i < field->count; i++)
        value = skv_value_member(value, field->names[i]);
    return json_incref(value);
}

static skv_template_data new_data(void)
{
    return (skv_template_data){.lookup = look_up_in_roots, .text_left = SKV_INSPECTION_TEXT_MAX};
}

static skv_template *compile_value(json_t *value, unsigned allowed, skv_status status)
{
    skv_template *template = NULL;
    skv_buf place;

    skv_buf_init(&place, SIZE_MAX);
    skv_buf_put_string(&place, "args");
    skv_reply_reset(reply);
    CHECK(skv_template_compile(value, allowed, &place, &template, reply) == status);
    CHECK_STATUS(reply, status);
    CHECK(!template == (status != SKV_OK));
    if (status == SKV_OK)
        CHECK_STR(place.bytes, "args");
    skv_buf_free(&place);
    return template;
}

static skv_template *compiled(const char *json)
{
    json_t *value = json_of(json);
    skv_template *template = compile_value(value, ALL_ROOTS, SKV_OK);

    json_decref(value);
    return template;
}

static void check_kind(const skv_template *template, const char *kind)
{
    bool constant = strcmp(kind, "constant") == 0, field = strcmp(kind, "field") == 0;

    CHECK(constant == (skv_template_constant(template) != NULL));
    CHECK(field == skv_template_is_field(template));
}

/* A template, its kind, and what it is evaluated to. */
static void fields_are_replaced(void)
{
    static const struct {
        const char *json, *kind, *value;
    } cases[] = {/* constants */
                 {"'text'", "constant", "'text'"},
                 {"''", "constant", "''"},
                 {"12", "constant", "12"},
                 {"null", "constant", "null"},
                 {"['a', {'b': 1.5}]", "constant", "['a', {'b': 1.5}]"},
                 {"[]", "constant", "[]"},
                 {"{}", "constant", "{}"},
                 {"'{{'", "constant", "'{'"},
                 {"'}}'", "constant", "'}'"},
                 {"'{{item}}'", "constant", "'{item}'"},
                 {"'a{{b}}c'", "constant", "'a{b}c'"},
                 {"'{{{{}}}}'", "constant", "'{{}}'"},
                 {"'^[0-9]{{3}}$'", "constant", "'^[0-9]{3}$'"},
                 {"['{{', {'a': '}}'}, 1]", "constant", "['{', {'a': '}'}, 1]"},
                 {"{'{item}': 1}", "constant", "{'{item}': 1}"},
                 /* a single field keeps its type */
                 {"'{node}'", "field", "{'name': 'n', 'ports': [{'mac': 'm'}]}"},
                 {"'{inventory[count]}'", "field", "4"},
                 {"'{inventory.count}'", "field", "4"},
                 {"'{inventory[real]}'", "field", "1.5"},
                 {"'{inventory[null]}'", "field", "null"},
                 {"'{inventory[yes]}'", "field", "true"},
                 {"'{inventory[list]}'", "field", "[1, 'b']"},
                 {"'{inventory[list][0]}'", "field", "1"},
                 {"'{inventory[list].1}'", "field", "'b'"},
                 {"'{inventory.os[family]}'", "field", "'Debian'"},
                 {"'{inventory[os].family}'", "field", "'Debian'"},
                 {"'{inventory.a-b_c9}'", "field", "'dash'"},
                 {"'{inventory[a.b]}'", "field", "'dot'"},
                 {"'{inventory[a[b]}'", "field", "'bracket'"},
                 {"'{inventory[7]}'", "field", "'seven'"},
                 {"'{inventory[\xc3\xa9]}'", "field", "'accent'"},
                 {"'{plugin_data.x}'", "field", "'p'"},
                 {"'{ports}'", "field", "[{'mac': 'm'}]"},
                 {"'{ports[0].mac}'", "field", "'m'"},
                 {"'{item}'", "field", "{'key': 'k', 'value': 5}"},
                 {"'{item.key}'", "field", "'k'"},
                 {"'{item[value]}'", "field", "5"},
                 /* text */
                 {"' {item.key}'", "text", "' k'"},
                 {"'{item.key} '", "text", "'k '"},
                 {"'{item.key}{item.value}'", "text", "'k5'"},
                 {"'{{{item.key}}}'", "text", "'{k}'"},
                 {"'{{{{{item.key}'", "text", "'{{k'"},
                 {"'a-{inventory[os][family]}-b-{plugin_data.x}'", "text", "'a-Debian-b-p'"},
                 {"'n={inventory[count]}, r={inventory[real]}'", "text", "'n=4, r=1.5'"},
                 {"'y={inventory[yes]}, z={inventory[null]}'", "text", "'y=true, z=null'"},
                 {"'l={inventory[list]}'", "text", "'l=[1,\\\"b\\\"]'"},
                 {"'o={inventory[os]}'", "text", "'o={\\\"family\\\":\\\"Debian\\\"}'"},
                 {"'\xc3\xa9{plugin_data.x}\xc3\xa9'", "text", "'\xc3\xa9p\xc3\xa9'"},
                 {"'a\\u0000b{plugin_data.x}'", "text", "'a\\u0000bp'"},
                 /* a value that a field has is not interpolated again */
                 {"'{inventory[template]}'", "field", "'{item}'"},
                 {"' {inventory[template]}'", "text", "' {item}'"},
                 /* nested */
                 {"['{item.key}', 'x{item.value}', 3]", "list", "['k', 'x5', 3]"},
                 {"{'a': '{item.value}', 'b': ['{{', '{plugin_data.x}']}", "object", "{'a': 5, 'b': ['{', 'p']}"},
                 {"[[['{inventory[list]}']]]", "list", "[[[[1, 'b']]]]"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_template *template = compiled(cases[i].json);
        skv_template_data data = new_data();
        json_t *value = template ? skv_template_evaluate(template, &data, reply) : NULL;
        bool held = CHECK_JSON(value, cases[i].value);

        if (!held)
            printf("  %s: %s\n", cases[i].json, skv_reply_message(reply));
        check_kind(template, cases[i].kind);
        json_decref(value);
        skv_template_free(template);
    }
}

static void wrong_fields_are_refused_with_their_offset(void)
{
    static const struct {
        const char *json, *message;
    } cases[] = {{"'hidden{'", "unclosed '{' at offset 6"},
                 {"'hidden}'", "single '}' at offset 6"},
                 {"'{{item}'", "single '}' at offset 6"},
                 {"'{item}}'", "single '}' at offset 6"},
                 {"'{}'", "empty field at offset 0"},
                 {"'hidden{}'", "empty field at offset 6"},
                 {"'x{3}'", "unknown field at offset 1"},
                 {"'{hidden}'", "unknown field at offset 0"},
                 {"'{ item}'", "unknown field at offset 0"},
                 {"'{item }'", "unknown field at offset 0"},
                 {"'{Node}'", "unknown field at offset 0"},
                 {"'{nodes}'", "unknown field at offset 0"},
                 {"'{.x}'", "unknown field at offset 0"},
                 {"'{[x]}'", "unknown field at offset 0"},
                 {"'{item!r}'", "unknown field at offset 0"},
                 {"'{item:>10}'", "unknown field at offset 0"},
                 {"'{node.}'", "empty name at offset 5"},
                 {"'{node..a}'", "empty name at offset 5"},
                 {"'{node[]}'", "empty name at offset 5"},
                 {"'{node[hidden}'", "unclosed '[' at offset 5"},
                 {"'{node.hidden!r}'", "unexpected character at offset 12"},
                 {"'{node.hidden:>10}'", "unexpected character at offset 12"},
                 {"'{node[hidden]x}'", "unexpected character at offset 13"},
                 {"'{node.hidden x}'", "unexpected character at offset 12"},
                 {"'{node.\xc3\xa9}'", "empty name at offset 5"},
                 {"'{node.a{b}}'", "unexpected character at offset 7"},
                 {"'{node.a]}'", "unexpected character at offset 7"},
                 {"'{node[a\\u0000b]}'", "NUL in the field at offset 0"},
                 {"'{inventory[{node.name}]}'", "brace in the '[key]' at offset 10: fields cannot be nested"},
                 {"'{inventory[hid}den]}'", "brace in the '[key]' at offset 10"},
                 {"'{{{node}'", NULL},
                 {"'{node'", "unclosed '{' at offset 0"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = json_of(cases[i].json);
        skv_template *template = compile_value(value, ALL_ROOTS, cases[i].message ? SKV_INVALID : SKV_OK);

        if (cases[i].message && !CHECK_HAS(skv_reply_message(reply), cases[i].message))
            printf("  %s\n", cases[i].json);
        CHECK(!strstr(skv_reply_message(reply), "hidden"));
        skv_template_free(template);
        json_decref(value);
    }
}

static void check_roots(const char *json, unsigned allowed, const char *message)
{
    json_t *value = json_of(json);

    skv_template_free(compile_value(value, allowed, message ? SKV_INVALID : SKV_OK));
    CHECK_HAS(skv_reply_message(reply), message ? message : "");
    json_decref(value);
}

static void roots_without_a_value_are_refused(void)
{
    static const unsigned early = SKV_ROOT_INVENTORY | SKV_ROOT_PLUGIN_DATA;

    check_roots("'{node}'", early,
                "'node' at offset 1 has no value here: it has one in the phases preprocess and main");
    check_roots("'x{ports[0]}'", early, "'ports' at offset 2 has no value here");
    check_roots("'{item}'", early, "'item' at offset 1 has no value here: it has one in a loop only");
    check_roots("'{inventory}{plugin_data}'", early, NULL);
    check_roots("'{item}'", early | SKV_ROOT_ITEM, NULL);
}

static void the_place_of_a_wrong_string_is_told(void)
{
    static const struct {
        const char *json, *place;
    } cases[] = {{"'{'", "args"},
                 {"['a', '{']", "args[1]"},
                 {"{'a': 1, 'b': {'c': ['{node}', 2, '}']}}", "args.b.c[2]"},
                 {"[[], [[], ['{x}']]]", "args[1][1][0]"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = json_of(cases[i].json);
        skv_template *template;
        skv_buf place;

        skv_buf_init(&place, SIZE_MAX);
        skv_buf_put_string(&place, "args");
        skv_reply_reset(reply);
        CHECK(skv_template_compile(value, ALL_ROOTS, &place, &template, reply) == SKV_INVALID);
        CHECK_STR(place.bytes, cases[i].place);
        skv_buf_free(&place);
        json_decref(value);
    }
}

static void templates_are_nested_to_a_limit(void)
{
    json_t *deepest = nested_lists(SKV_RULE_DEPTH_MAX), *deeper = nested_lists(SKV_RULE_DEPTH_MAX + 1);

    skv_template_free(compile_value(deepest, ALL_ROOTS, SKV_OK));
    compile_value(deeper, ALL_ROOTS, SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "nested deeper than 32");
    json_decref(deeper);
    json_decref(deepest);
}

static void check_evaluation_fails(const char *json, skv_template_data *data, skv_status status, const char *message)
{
    skv_template *template = compiled(json);

    CHECK(!skv_template_evaluate(template, data, reply));
    CHECK_STATUS(reply, status);
    CHECK_HAS(skv_reply_message(reply), message);
    CHECK(!strstr(skv_reply_message(reply), "Debian"));
    skv_template_free(template);
}

static void missing_names_are_errors_that_name_the_field(void)
{
    static const struct {
        const char *json, *message;
    } cases[] = {{"'{inventory[networking][foo]}'", "there is no 'inventory[networking][foo]'"},
                 {"'x {inventory.os.foo}'", "there is no 'inventory.os.foo'"},
                 {"['{node.name}', {'a': 'x{ports[1]}'}]", "there is no 'ports[1]'"},
                 {"'{inventory[os][family][0]}'", "there is no 'inventory[os][family][0]'"},
                 {"'{inventory[list][-1]}'", "there is no 'inventory[list][-1]'"},
                 {"'{inventory[list][00]}'", "there is no 'inventory[list][00]'"},
                 {"'{inventory[list][2]}{node.foo}'", "there is no 'inventory[list][2]'"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        skv_template_data data = new_data();
        check_evaluation_fails(cases[i].json, &data, SKV_INVALID, cases[i].message);
    }
}

static json_t *fail_lookup(void *context, const skv_field *field, skv_reply *failed)
{
    (void)context;
    (void)field;
    skv_fail(failed, SKV_NOMEM, "out of memory");
    return NULL;
}

static void a_failure_of_the_lookup_is_the_failure_of_the_evaluation(void)
{
    skv_template_data data = {.lookup = fail_lookup, .text_left = 1000};

    check_evaluation_fails("'{item}'", &data, SKV_NOMEM, "out of memory");
    check_evaluation_fails("'x{item}'", &data, SKV_NOMEM, "out of memory");
    check_evaluation_fails("['{item}']", &data, SKV_NOMEM, "out of memory");
    check_evaluation_fails("{'a': '{item}'}", &data, SKV_NOMEM, "out of memory");
}

static void set_inventory_text(size_t len)
{
    char *text = malloc(len + 1);

    memset(text, 'x', len);
    json_object_set_new(roots[SKV_ROOT_INVENTORY], "text", json_stringn(text, len));
    free(text);
}

static void interpolated_strings_have_a_limit_each_and_together(void)
{
    skv_template *template = compiled("'-{inventory[text]}'");
    skv_template_data data = new_data();

    set_inventory_text(SKV_TEMPLATE_TEXT_MAX - 1);
    data.text_left = 2 * SKV_TEMPLATE_TEXT_MAX;
    for (int i = 0; i < 2; i++) {
        json_t *value = skv_template_evaluate(template, &data, reply);
        CHECK(value && json_string_length(value) == SKV_TEMPLATE_TEXT_MAX);
        json_decref(value);
    }
    CHECK(data.text_left == 0);
    check_evaluation_fails("'-{item.key}'", &data, SKV_TOO_LARGE, "interpolated strings of the inspection exceed");
    data = new_data();
    set_inventory_text(SKV_TEMPLATE_TEXT_MAX);
    check_evaluation_fails("'-{inventory[text]}'", &data, SKV_TOO_LARGE, "an interpolated string exceeds 65536 bytes");
    CHECK(data.text_left == SKV_INSPECTION_TEXT_MAX);
    json_object_del(roots[SKV_ROOT_INVENTORY], "text");
    skv_template_free(template);
}

static json_t *sample_value;

static skv_template *compile_or_lack_memory(skv_reply *mine)
{
    skv_template *template = NULL;
    skv_buf place;

    skv_buf_init(&place, SIZE_MAX);
    if (skv_template_compile(sample_value, ALL_ROOTS, &place, &template, mine) != SKV_OK) {
        CHECK_STATUS(mine, SKV_NOMEM);
        CHECK(!template);
    }
    skv_buf_free(&place);
    return template;
}

static void lack_of_memory_is_a_status(void)
{
    skv_reply *mine = skv_reply_new();
    skv_template *template = mine ? compile_or_lack_memory(mine) : NULL;
    skv_template_data data = new_data();
    json_t *value = template ? skv_template_evaluate(template, &data, mine) : NULL;

    if (value)
        CHECK(json_equal(json_object_get(value, "e"), json_object_get(sample_value, "e")));
    else if (template)
        CHECK_STATUS(mine, SKV_NOMEM);
    json_decref(value);
    skv_template_free(template);
    skv_reply_free(mine);
}

int main(void)
{
    reply = skv_reply_new();
    roots[SKV_ROOT_NODE] = json_of("{'name': 'n', 'ports': [{'mac': 'm'}]}");
    roots[SKV_ROOT_INVENTORY] =
        json_of("{'count': 4, 'real': 1.5, 'null': null, 'yes': true, 'list': [1, 'b'], 'os': {'family': 'Debian'},"
                "'a-b_c9': 'dash', 'a.b': 'dot', 'a[b': 'bracket', '7': 'seven',"
                "'\xc3\xa9': 'accent', 'template': '{item}'}");
    roots[SKV_ROOT_PLUGIN_DATA] = json_of("{'x': 'p'}");
    roots[SKV_ROOT_ITEM] = json_of("{'key': 'k', 'value': 5}");
    sample_value = json_of("{'a': ['{item.key}', 'x{item.value}{{'], 'b': '{{', 'c': '{ports}', 'e': ['x', 2, {}]}");
    fields_are_replaced();
    wrong_fields_are_refused_with_their_offset();
    roots_without_a_value_are_refused();
    the_place_of_a_wrong_string_is_told();
    templates_are_nested_to_a_limit();
    missing_names_are_errors_that_name_the_field();
    a_failure_of_the_lookup_is_the_failure_of_the_evaluation();
    interpolated_strings_have_a_limit_each_and_together();
    chaos(lack_of_memory_is_a_status);
    json_decref(sample_value);
    for (int i = 0; i <= SKV_ROOT_ITEM; i++)
        json_decref(roots[i]);
    skv_reply_free(reply);
    return check_summary("template");
}
