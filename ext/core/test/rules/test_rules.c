/* Rules and inspections: the cases in test/cases/rules.jsonl, which spec/unit/rules_cases_spec.rb reads as well. */
#include "chaos.h"
#include "check.h"
#include "simpkv_rules.h"

#include <jansson.h>
#include <pthread.h>
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
    skv_rules *rules = skv_rules_new(text, strlen(text), NULL, reply);

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

    skv_rules_inspect(rules, input, strlen(input), NULL, reply);
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
    FILE *file = case_file(name);
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int cases = 0;

    if (!file)
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

/* ---- One inspection with everything, by threads and without memory ---- */

/* Rules that use all modules, in JSON with ' for ". */
static const char rules_text[] =
    "{'rules':["
    "{'uuid':'00000000-0000-4000-8000-000000000001','phase':'early','actions':[{'op':'set-plugin-data',"
    "'args':['/net','{inventory[networking]}']}]},"
    "{'uuid':'00000000-0000-4000-8000-000000000002','description':'role','scope':'dc1','priority':7,'conditions':["
    "{'op':'matches','args':['{node.name}','(web|db)[0-9]+\\\\..*']},"
    "{'op':'in-net','args':{'address':'{item[ip]}','subnet':'10.0.0.0/8'},'loop':'{inventory[networking][list]}'},"
    "{'op':'!eq','args':['{item.value}',1,'x{item.key}'],'loop':{'a':1,'b':2},'multiple':'last'},"
    "{'op':'lt','args':{'values':['{inventory[a]}',2,3.5],'force_strings':false}},"
    "{'op':'one-of','args':['{inventory[a]}',[1,2]]}],"
    "'actions':[{'op':'set-attribute','args':['/parameters/role/{item}','is {item}: {inventory[networking][list]}'],"
    "'loop':['x','y']},"
    "{'op':'extend-attribute','args':{'path':'/attributes/list','value':'{ports}','unique':true}},"
    "{'op':'set-port-attribute','args':['AA-00-00-00-00-01','/vlan',{'id':5}]},"
    "{'op':'log','args':['{node.name} is in {node.scope}','notice']},{'op':'notify','args':{'to':'{node.name}'}}]},"
    "{'sensitive':true,'actions':[{'op':'set-attribute','args':['/parameters/ipmi','hunter2']},"
    "{'op':'log','args':['{node.parameters[ipmi]}']}]},"
    "{'uuid':'00000000-0000-4000-8000-000000000003','conditions':[{'op':'contains','args':['{inventory}','\\\\*{{6}}']"
    "},"
    "{'op':'eq','args':['{node.parameters[ipmi]}','hunter2'],'loop':'{ports}'}],"
    "'actions':[{'op':'fail','args':['no']}]},"
    "{'conditions':[{'op':'! is-empty','args':['{plugin_data[net][list]}']}],"
    "'actions':[{'op':'del-attribute','args':['/ports/1']},{'op':'unset-plugin-data','args':['/net']}]}],"
    "'actions':['notify']}";

static const char input_text[] =
    "{'phases':['main','early'],'inventory':{'a':1,'password':'p','networking':{'list':[{'ip':'192.0.2.1'},"
    "{'ip':'10.1.2.3','token':'t'}]}},'plugin_data':{'old':[1.5]},'sensitive_paths':['/plugin_data/"
    "old'],'explain':true,"
    "'node':{'name':'web01.example.org','scope':'dc1','auto_discovered':true,"
    "'ports':[{'mac':'aa:00:00:00:00:01'},{'uuid':'1'}]}}";

/* Returns the text with " for '. The caller frees it. */
static char *quoted(const char *text)
{
    char *copy = strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

static char *all_rules, *full_input, *full_output;

static void inspect_everything(void)
{
    skv_rules *rules = skv_rules_new(all_rules, strlen(all_rules), NULL, reply);
    json_t *output;

    CHECK_STATUS(reply, SKV_OK);
    skv_rules_inspect(rules, full_input, strlen(full_input), NULL, reply);
    if (CHECK_STATUS(reply, SKV_OK))
        full_output = strdup(skv_reply_data(reply));
    skv_rules_free(rules);
    output = json_loads(full_output, 0, NULL);
    CHECK(json_array_size(json_object_get(output, "rules")) == 5);
    CHECK(json_array_size(json_object_get(output, "effects")) == 3);
    CHECK(json_array_size(json_object_get(json_object_get(output, "node"), "ports")) == 1);
    CHECK(json_array_size(json_object_get(output, "sensitive_paths")) == 2);
    CHECK_HAS(full_output, "\"condition\":{\"index\":1");
    if (!json_object_get(output, "node"))
        printf("  %s\n", full_output);
    json_decref(output);
}

/* When memory runs out, jansson 2.14 may report a syntax error, or lose a character of a long name. */
static void check_lack_of_memory(const skv_reply *mine)
{
    if (skv_reply_status(mine) != SKV_INVALID)
        CHECK_STATUS(mine, SKV_NOMEM);
}

/* An inspection returns the usual output or fails, and leaves the rules as they were. */
static void inspect_without_memory(void)
{
    skv_reply *mine = skv_reply_new();
    skv_rules *rules = mine ? skv_rules_new(all_rules, strlen(all_rules), NULL, mine) : NULL;

    if (mine && !rules)
        check_lack_of_memory(mine);
    for (int i = 0; i < 2 && rules; i++) {
        if (skv_rules_inspect(rules, full_input, strlen(full_input), NULL, mine) == SKV_OK)
            CHECK_STR(skv_reply_data(mine), full_output);
        else
            check_lack_of_memory(mine);
    }
    skv_rules_free(rules);
    skv_reply_free(mine);
}

static void *inspect_often(void *rules)
{
    skv_reply *mine = skv_reply_new();
    bool same = true;

    for (int i = 0; i < check_rounds(100); i++)
        same &= skv_rules_inspect(rules, full_input, strlen(full_input), NULL, mine) == SKV_OK &&
                strcmp(skv_reply_data(mine), full_output) == 0;
    skv_reply_free(mine);
    return same ? rules : NULL;
}

static void threads_share_rules(void)
{
    skv_rules *rules = skv_rules_new(all_rules, strlen(all_rules), NULL, reply);
    pthread_t threads[4];
    void *result;

    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, inspect_often, rules) == 0);
    for (size_t i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], &result) == 0 && result == rules);
    skv_rules_free(rules);
}

static void missing_arguments_are_refused(void)
{
    skv_rules *rules = skv_rules_new("{\"rules\":[]}", 12, NULL, reply);

    CHECK(!skv_rules_new("{\"rules\":[]}", 12, NULL, NULL));
    CHECK(!skv_rules_new(NULL, 0, NULL, reply));
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK(skv_rules_inspect(rules, "{}", 2, NULL, NULL) == SKV_INVALID);
    CHECK(skv_rules_inspect(rules, NULL, 0, NULL, reply) == SKV_INVALID);
    CHECK(skv_rules_inspect(NULL, "{}", 2, NULL, reply) == SKV_INVALID);
    skv_rules_free(rules);
    skv_rules_free(NULL);
}

int main(void)
{
    reply = skv_reply_new();
    all_rules = quoted(rules_text);
    full_input = quoted(input_text);
    missing_arguments_are_refused();
    each_json("rules.jsonl", run_case);
    inspect_everything();
    if (full_output) {
        threads_share_rules();
        chaos(inspect_without_memory);
    }
    free(all_rules);
    free(full_input);
    free(full_output);
    skv_reply_free(reply);
    return check_summary("rules");
}
