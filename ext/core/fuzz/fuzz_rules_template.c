/*
 * A template, a NUL byte, and the data of its fields as JSON (other data if that is missing or wrong). The template is
 * JSON, or any text is one string. A constant is the text without its doubled braces; an evaluation has the type that
 * the template announced, and never exceeds its limits; each text with its braces doubled is a constant.
 */
#include "rules/limits.h"
#include "rules/template.h"
#include "rules/value.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LEFT 5000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *look_up_member(void *context, const skv_field *field, skv_reply *reply)
{
    json_t *value = context;

    assert(field->root && strlen(field->text) > 0 && reply);
    for (size_t i = 0; value && i < field->count; i++)
        value = skv_value_member(value, field->names[i]);
    return json_incref(value);
}

/* The caller frees it. */
static char *double_braces(const char *text, size_t len, size_t *doubled_len)
{
    char *doubled = malloc(2 * len + 1), *out = doubled;

    for (size_t i = 0; i < len; i++) {
        *out++ = text[i];
        if (text[i] == '{' || text[i] == '}')
            *out++ = text[i];
    }
    *doubled_len = (size_t)(out - doubled);
    return doubled;
}

static skv_template *compile_within(json_t *value, skv_reply *reply)
{
    skv_template *template;
    skv_buf place;
    skv_status status;

    skv_buf_init(&place, SIZE_MAX);
    skv_buf_put_string(&place, "args");
    skv_reply_reset(reply);
    status = skv_template_compile(value, ~0U, &place, &template, reply);
    assert(!template == (status != SKV_OK));
    assert(status == SKV_OK ? place.len == 4 : place.len >= 4 && skv_reply_message(reply)[0]);
    assert(status == SKV_OK || status == SKV_INVALID || status == SKV_TOO_LARGE);
    skv_buf_free(&place);
    return template;
}

static void doubled_braces_are_literal(const char *text, size_t len, skv_reply *reply)
{
    size_t doubled_len;
    char *doubled = double_braces(text, len, &doubled_len);
    json_t *value = json_stringn(doubled, doubled_len);
    skv_template *template = compile_within(value, reply);
    json_t *constant = skv_template_constant(template);

    assert(json_string_length(constant) == len && memcmp(json_string_value(constant), text, len) == 0);
    (void)constant;
    skv_template_free(template);
    json_decref(value);
    free(doubled);
}

static void constant_is_its_text(json_t *value, json_t *constant)
{
    size_t len;
    char *doubled = double_braces(json_string_value(constant), json_string_length(constant), &len);

    assert(len == json_string_length(value) && memcmp(doubled, json_string_value(value), len) == 0);
    (void)value;
    free(doubled);
}

static void check_result(json_t *value, const skv_template *template, const skv_template_data *data, json_t *result)
{
    size_t used = TEXT_LEFT - data->text_left;

    assert(used <= TEXT_LEFT);
    if (!result)
        return;
    assert(skv_template_is_field(template) || json_typeof(result) == json_typeof(value));
    if (skv_template_constant(template))
        assert(json_equal(result, skv_template_constant(template)) && used == 0);
    else if (!skv_template_is_field(template) && json_is_string(result))
        assert(json_string_length(result) == used && used <= SKV_TEMPLATE_TEXT_MAX);
    (void)used;
}

static void evaluate_twice(json_t *value, json_t *context, skv_reply *reply)
{
    skv_template *template = compile_within(value, reply);
    json_t *results[2];

    if (!template)
        return;
    if (json_is_string(value) && skv_template_constant(template))
        constant_is_its_text(value, skv_template_constant(template));
    for (int i = 0; i < 2; i++) {
        skv_template_data data = {.lookup = look_up_member, .context = context, .text_left = TEXT_LEFT};

        skv_reply_reset(reply);
        results[i] = skv_template_evaluate(template, &data, reply);
        assert(!results[i] == (skv_reply_status(reply) != SKV_OK));
        assert(skv_reply_status(reply) != SKV_NOMEM);
        check_result(value, template, &data, results[i]);
    }
    assert(!results[0] ? !results[1] : skv_value_equal(results[0], results[1], NULL));
    json_decref(results[0]);
    json_decref(results[1]);
    skv_template_free(template);
}

static json_t *read_json(const char *text, size_t len)
{
    return json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *separator = size ? memchr(text, '\0', size) : NULL;
    size_t len = separator ? (size_t)(separator - text) : size;
    json_t *context = separator ? read_json(separator + 1, size - len - 1) : NULL;
    json_t *string = json_stringn(len ? text : "", len), *value = read_json(text, len);
    skv_reply *reply = skv_reply_new();

    if (!context)
        context = json_pack("{s:[i,s],s:{s:f}}", "a", 1, "b", "x", "y", 1.5);
    if (string) {
        doubled_braces_are_literal(text, len, reply);
        evaluate_twice(string, context, reply);
    }
    if (value)
        evaluate_twice(value, context, reply);
    json_decref(value);
    json_decref(string);
    json_decref(context);
    skv_reply_free(reply);
    return 0;
}
