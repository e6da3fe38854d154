/* Rules and inspections: the cases in test/cases/rules.jsonl, which spec/unit/rules_cases_spec.rb reads as well. */
#include "chaos.h"
#include "check.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static skv_reply *reply;

/* Returns the text of an object with some members of another one. */
static char *part_of(const json_t *object, const char *const *names)
{
    json_t *part = json_object();
    char *text;

    for (; *names; names++)
        json_object_set(part, *names, json_object_get(object, *names));
    text = json_dumps(part, JSON_COMPACT);
    json_decref(part);
    return text;
}

static skv_rules *rules_of(const json_t *one)
{
    static const char *const names[] = {"rules", "actions", NULL};
    char *text = part_of(one, names);
    skv_rules *rules = skv_rules_new(text, strlen(text), reply);

    free(text);
    return rules;
}

/* The input, or the one of a rule without a node. */
static char *input_of(const json_t *one)
{
    return json_dumps(json_object_get(one, "input"), JSON_COMPACT);
}

/* ---- The reply of a case ---- */

static bool check_output(json_t *output, json_t *expected)
{
    const char *name;
    json_t *value;
    bool held = true;

    json_object_foreach(expected, name, value)
    {
        json_t *actual = json_object_get(output, name);
        bool equal = json_is_null(value) ? !actual : json_equal(actual, value);

        if (!equal)
            printf("  %s: %s\n", name, actual ? json_dumps(actual, JSON_COMPACT | JSON_ENCODE_ANY) : "-");
        held = CHECK(equal) && held;
    }
    return held;
}

/* The error of a rule when it runs: the message is a part. */
static bool check_report(json_t *output, json_t *expected)
{
    json_t *error = json_object_get(output, "error"), *others = json_copy(expected);
    const char *message = json_string_value(json_object_get(expected, "message"));
    bool held = !message || CHECK_HAS(json_string_value(json_object_get(error, "message")), message);

    json_object_del(others, "message");
    held = check_output(error, others) && held;
    json_decref(others);
    return held;
}

static bool check_lacks(const json_t *one, const char *text)
{
    json_t *lacks = json_object_get(one, "lacks");
    bool held = true;

    for (size_t i = 0; i < json_array_size(lacks); i++)
        held = CHECK(!strstr(text, json_string_value(json_array_get(lacks, i)))) && held;
    return held;
}

static bool inspect_case(const skv_rules *rules, const json_t *one)
{
    char *input = input_of(one);
    bool held = CHECK_STATUS(reply, SKV_OK);
    json_t *output;

    skv_rules_inspect(rules, input, strlen(input), reply);
    free(input);
    if (!(CHECK_STATUS(reply, SKV_OK) && held))
        return false;
    output = json_loadb(skv_reply_data(reply), skv_reply_size(reply), JSON_ALLOW_NUL, NULL);
    held = CHECK(output != NULL) && check_output(output, json_object_get(one, "output"));
    if (json_object_get(one, "reports"))
        held = check_report(output, json_object_get(one, "reports")) && held;
    else if (!json_object_get(json_object_get(one, "output"), "error"))
        held = CHECK(!json_object_get(output, "error")) && held;
    json_decref(output);
    return check_lacks(one, skv_reply_data(reply)) && held;
}

static bool refuse_case(const skv_rules *rules, const json_t *one)
{
    return CHECK(!rules) && CHECK_STATUS(reply, SKV_INVALID) &&
           CHECK_HAS(skv_reply_message(reply), json_string_value(json_object_get(one, "error"))) &&
           check_lacks(one, skv_reply_message(reply));
}

static void run_case(json_t *one)
{
    skv_rules *rules = rules_of(one);
    bool held = json_object_get(one, "error") ? refuse_case(rules, one) : inspect_case(rules, one);

    if (!held)
        printf("  case '%s': %s\n  %s\n", json_string_value(json_object_get(one, "name")), skv_reply_message(reply),
               skv_reply_data(reply));
    skv_rules_free(rules);
}

static void each_json(const char *name, void (*run)(json_t *))
{
    char path[512], *line = NULL;
    size_t size = 0;
    ssize_t len;
    int cases = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", TEST_CASES, name);
    file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return;
    for (; (len = getline(&line, &size, file)) > 0; cases++) {
        json_t *one = json_loadb(line, (size_t)len, JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES, NULL);

        if (CHECK(one != NULL))
            run(one);
        json_decref(one);
    }
    fclose(file);
    free(line);
    CHECK(cases > 0);
}

int main(void)
{
    reply = skv_reply_new();
    each_json("rules.jsonl", run_case);
    skv_reply_free(reply);
    return check_summary("rules");
}
