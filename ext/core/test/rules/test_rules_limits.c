/* Rules that would take long, or make much, end at the limits of an inspection. */
#include "check.h"
#include "json_text.h"
#include "simpkv_rules.h"

static skv_reply *reply;

/* The rules, the input, and the part of the message. LIST is a list of 1,000, LONG one of 50,000 elements; the step
 * STEP is repeated 100 times. */
static const struct limit_case {
    const char *step, *kind, *input, *message;
} limit_cases[] = {
    {"{'op':'!one-of','args':[-1,'{inventory[long]}'],'loop':'{inventory[list]}','multiple':'all'}", "",
     "{'list':LIST,'long':LONG}", "takes more than 200000 steps"},
    {"{'op':'eq','args':['{inventory[long]}','{inventory[same]}'],'loop':'{inventory[list]}','multiple':'all'}", "",
     "{'list':LIST,'long':LONG,'same':LONG}", "takes more than 200000 steps"},
    {"{'op':'lt','args':{'values':'{inventory[long]}','force_strings':true},'loop':'{inventory[list]}','multiple':'all'"
     "}",
     "", "{'list':LIST,'long':LONG}", "takes more than 200000 steps"},
    {"{'op':'eq','args':['{plugin_data}',1],'loop':'{inventory[list]}'}", "", "{'list':LIST}", NULL},
    {"{'op':'extend-plugin-data','args':{'path':'/long','value':'{item}','unique':true},'loop':'{inventory[list]}'}",
     NULL, "{'list':LIST}", "takes more than 200000 steps"},
    {"{'op':'unset-plugin-data','args':['/long/0'],'loop':'{inventory[list]}'}", NULL, "{'list':LIST}",
     "takes more than 200000 steps"},
    {"{'op':'set-plugin-data','args':['/x','{plugin_data}'],'loop':'{inventory[list]}'}", NULL, "{'list':LIST}",
     "adds more than 1048576 bytes"},
    {"{'op':'!eq','args':['{inventory[text]}','{inventory[other]}'],'loop':'{inventory[list]}','multiple':'all'}", "",
     "{'list':LIST,'text':'LONG1','other':'LONG2'}", "takes more than 200000 steps"},
    {"{'op':'lt','args':['{inventory[text]}','{inventory[other]}'],'loop':'{inventory[list]}','multiple':'all'}", "",
     "{'list':LIST,'text':'LONG1','other':'LONG2'}", "takes more than 200000 steps"},
    {"{'op':'!contains','args':['a','{inventory[regex]}'],'loop':'{inventory[list]}','multiple':'all'}", "",
     "{'list':LIST,'regex':'(?i)[\\\\x{100}-\\\\x{10ffff}]'}", "takes more than 200000 steps"},
    {"{'op':'unset-plugin-data','args':['{inventory[path]}'],'loop':'{inventory[list]}'}", NULL,
     "{'list':LIST,'path':'/LONG'}", "takes more than 200000 steps"},
    {"{'op':'log','args':['x'],'loop':'{inventory[list]}'}", NULL, "{'list':LIST}", "more than 1000 effects"},
    {"{'op':'set-plugin-data','args':['/x','-{inventory[text]}']}", NULL, "{'text':LONG}",
     "an interpolated string exceeds 65536 bytes"},
    {"{'op':'log','args':['x'],'loop':'{inventory[long]}'}", NULL, "{'long':LONG}", "the loop has 50000 items"}};

/* Replaces the words LIST and LONG. The caller frees the result. */
static char *expand(const char *text)
{
    char *out = malloc(3000000), *end = out;

    while (*text) {
        int count = strncmp(text, "LIST", 4) == 0 ? 1000 : strncmp(text, "LONG", 4) == 0 ? 50000 : 0;

        if (!count) {
            *end++ = (char)(*text == '\'' ? '"' : *text);
            text++;
            continue;
        }
        for (int i = 0; i < count; i++)
            end += sprintf(end, "%s%d", i ? "," : "[", i + 100000);
        *end++ = ']';
        text += 4;
    }
    *end = '\0';
    return out;
}

static char *repeat_step(const struct limit_case *c)
{
    static const char log[] = "{'op':'log','args':['x']}";
    char *rules = malloc(100000), *end = rules;

    end += sprintf(end, "{'rules':[{'phase':'early','%s':[", c->kind ? "conditions" : "actions");
    for (int i = 0; i < 100; i++)
        end += sprintf(end, "%s%s", i ? "," : "", c->step);
    sprintf(end, c->kind ? "],'actions':[%s]}]}" : "]}]}", log);
    return rules;
}

static void check_limit_case(const struct limit_case *c)
{
    char *text = repeat_step(c), *json = expand(text), *input_text = malloc(1000), *input;
    skv_rules *rules = skv_rules_new(json, strlen(json), NULL, reply);

    snprintf(input_text, 1000, "{'phases':['early'],'plugin_data':{'long':LONG},'inventory':%s}", c->input);
    input = expand(input_text);
    CHECK_STATUS(reply, SKV_OK);
    if (rules)
        skv_rules_inspect(rules, input, strlen(input), NULL, reply);
    CHECK_STATUS(reply, SKV_OK);
    if (c->message && !CHECK(strstr(skv_reply_data(reply), c->message)))
        printf("  %s\n", c->step);
    CHECK(!c->message == !strstr(skv_reply_data(reply), "\"error\":"));
    skv_rules_free(rules);
    free(input);
    free(input_text);
    free(json);
    free(text);
}

/* Applies one rule with the step to the input, and expects the limit of steps. */
static void check_counted(const char *kind, const char *step, const char *input)
{
    static const char log[] = ",'actions':[{'op':'log','args':['x']}]";
    char *text = malloc(strlen(step) + 200), *json;
    skv_rules *rules;

    sprintf(text, "{'rules':[{'%s':[%s]%s}]}", kind, step, kind[0] == 'c' ? log : "");
    json = expand(text);
    rules = skv_rules_new(json, strlen(json), NULL, reply);
    CHECK_STATUS(reply, SKV_OK);
    free(json);
    json = expand(input);
    CHECK(skv_rules_inspect(rules, json, strlen(json), NULL, reply) == SKV_OK);
    if (!CHECK(strstr(skv_reply_data(reply), "takes more than 200000 steps")))
        printf("  %.100s: %.200s\n", step, skv_reply_data(reply));
    skv_rules_free(rules);
    free(json);
    free(text);
}

/* Looking for the last one of 100,000 ports, 1,000 times, counted 1,000 steps and took 4 s. */
static void looking_up_ports_is_counted(void)
{
    char *input = malloc(2500000), *end = input;

    end += sprintf(end, "{'phases':['main'],'inventory':{'list':LIST},'node':{'ports':[");
    for (int i = 0; i < 100000; i++)
        end += sprintf(end, "%s{'mac':'%06d'}", i ? "," : "", i);
    sprintf(end, "]}}");
    check_counted("actions", "{'op':'set-port-attribute','args':['099999','/x',1],'loop':'{inventory[list]}'}", input);
    free(input);
}

/* The time to compile such an expression grows with the square of its length. A compilation used to count as one step,
 * and 1,000 compilations of 4 KiB took 1.7 s. */
static void compiling_a_fact_is_counted(void)
{
    char *input = malloc(10000), *end = input;

    end += sprintf(end, "{'phases':['main'],'node':{},'inventory':{'list':LIST,'regex':'x");
    for (int i = 0; i < 1300; i++)
        end += sprintf(end, "|a?");
    sprintf(end, "'}}");
    check_counted("conditions",
                  "{'op':'!contains','args':['','(?=b)(?:{inventory[regex]})'],'loop':'{inventory[list]}',"
                  "'multiple':'all'}",
                  input);
    free(input);
}

static void a_number_beyond_64_bits_is_named(void)
{
    static const char input[] = "{\"phases\":[\"early\"],\"inventory\":{\"x\":18446744073709551616}}";
    static const char json[] = "{\"rules\":[]}";
    skv_rules *rules = skv_rules_new(json, strlen(json), NULL, reply);

    CHECK(skv_rules_inspect(rules, input, strlen(input), NULL, reply) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "a number beyond 64 bits: line 1");
    CHECK(!strstr(skv_reply_message(reply), "18446744073709551616"));
    skv_rules_free(rules);
}

/* A path of 20,000 bytes, deleted 1,000 times. */
static void an_explanation_is_bounded(void)
{
    char *text = malloc(30000), *json;
    static const char input[] = "{\"phases\":[\"early\"],\"explain\":true}";
    skv_rules *rules;

    snprintf(text, 30000,
             "{'rules':[{'phase':'early','actions':[{'op':'unset-plugin-data','args':['/%020000d'],"
             "'loop':LIST}]}]}",
             1);
    json = expand(text);
    rules = skv_rules_new(json, strlen(json), NULL, reply);
    CHECK_STATUS(reply, SKV_OK);
    CHECK(skv_rules_inspect(rules, input, strlen(input), NULL, reply) == SKV_OK);
    CHECK(skv_reply_size(reply) < 9000000);
    skv_rules_free(rules);
    free(json);
    free(text);
}

/* Makes `count` rules, with `conditions` conditions that have the expression `repeat` times. */
static char *rules_with_expressions(int count, int conditions, const char *expression, int repeat)
{
    size_t size = (size_t)count * (size_t)conditions * ((size_t)repeat * strlen(expression) + 50) + (size_t)count * 100;
    char *json = malloc(size + 100), *end = json;

    end += sprintf(end, "{\"rules\":[");
    for (int i = 0; i < count; i++) {
        end += sprintf(end, "%s{\"conditions\":[", i ? "," : "");
        for (int j = 0; j < conditions; j++) {
            end += sprintf(end, "%s{\"op\":\"contains\",\"args\":[\"x\",\"(?i)", j ? "," : "");
            for (int k = 0; k < repeat; k++)
                end += sprintf(end, "%s", expression);
            end += sprintf(end, "\"]}");
        }
        end += sprintf(end, "],\"actions\":[{\"op\":\"log\",\"args\":[\"x\"]}]}");
    }
    sprintf(end, "]}");
    return json;
}

/* 100 rules of 8 KB used to take 370 MB, and two rules of 50 KB used to take 32 s to read. */
static void expressions_of_rules_are_limited(void)
{
    static const char large[] = "(((a|b){{5}}){{20}}){{9}}", slow[] = "[a-\\\\x7a]";
    static const struct {
        const char *expression;
        int count, conditions, repeat;
        const char *message; /* NULL if the rules are valid */
    } cases[] = {
        {large, 10, 25, 1, NULL},
        {large, 1, 100, 1, "args[1]: the regular expressions of the rule take more than 1048576 bytes, compiled"},
        {large, 100, 25, 1, "args[1]: the regular expressions of all rules take more than 67108864 bytes, compiled"},
        {slow, 30, 1, 100, NULL},
        {slow, 1, 1, 101, "args[1]: the regular expressions of the rule have more than 100 ranges"},
        {slow, 31, 1, 100, "conditions[0].args[1]: the regular expressions of all rules have more than 3000 ranges"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *json = rules_with_expressions(cases[i].count, cases[i].conditions, cases[i].expression, cases[i].repeat);
        skv_rules *rules = skv_rules_new(json, strlen(json), NULL, reply);

        CHECK_STATUS(reply, cases[i].message ? SKV_INVALID : SKV_OK);
        if (cases[i].message)
            CHECK_HAS(skv_reply_message(reply), cases[i].message);
        skv_rules_free(rules);
        free(json);
    }
}

static void the_size_of_all_rules_is_limited(void)
{
    size_t len = (1 << 24) + 1;
    char *json = malloc(len);

    memset(json, ' ', len);
    memcpy(json, "{\"rules\":[]}", 12);
    CHECK(!skv_rules_new(json, len, NULL, reply));
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "the rules have 16777217 bytes of JSON: 16777216 are allowed");
    skv_rules_free(skv_rules_new(json, len - 1, NULL, reply));
    CHECK_STATUS(reply, SKV_OK);
    free(json);
}

/* Formerly, no interrupt could end an inspection. */
static void a_cancel_handle_ends_reading_and_inspection(void)
{
    char *json = expand("{'rules':[{'conditions':[{'op':'!contains','args':['{inventory[text]}','a.*?[xy]'],"
                        "'loop':'{inventory[list]}','multiple':'all'}],'actions':[{'op':'log','args':['x']}]}]}");
    char *input = expand("{'phases':['main'],'node':{},'inventory':{'list':LIST,'text':'aaaaaaaaaa'}}");
    skv_cancel *cancel = skv_cancel_new();
    skv_rules *rules;

    skv_cancel_fire(cancel);
    CHECK(!skv_rules_new(json, strlen(json), cancel, reply));
    CHECK_STATUS(reply, SKV_INTERRUPTED);
    rules = skv_rules_new(json, strlen(json), cancel, reply);
    CHECK_STATUS(reply, SKV_OK);
    skv_cancel_fire(cancel);
    CHECK(skv_rules_inspect(rules, input, strlen(input), cancel, reply) == SKV_INTERRUPTED);
    CHECK(skv_reply_size(reply) == 0);
    CHECK(skv_rules_inspect(rules, input, strlen(input), cancel, reply) == SKV_OK);
    CHECK_HAS(skv_reply_data(reply), "\"op\":\"log\"");
    skv_rules_free(rules);
    skv_cancel_free(cancel);
    free(input);
    free(json);
}

int main(void)
{
    reply = skv_reply_new();
    for (size_t i = 0; i < sizeof limit_cases / sizeof *limit_cases; i++)
        check_limit_case(&limit_cases[i]);
    looking_up_ports_is_counted();
    compiling_a_fact_is_counted();
    a_cancel_handle_ends_reading_and_inspection();
    a_number_beyond_64_bits_is_named();
    an_explanation_is_bounded();
    expressions_of_rules_are_limited();
    the_size_of_all_rules_is_limited();
    skv_reply_free(reply);
    return check_summary("rules_limits");
}
