/* Regular expressions and their limits. */
#include "rules/pattern.h"

#include "chaos.h"
#include "check.h"
#include "rules/limits.h"

#include <stdlib.h>
#include <string.h>

static skv_reply *reply;
static skv_matcher *matcher;
static skv_deadline deadline; /* without a cancel handle */

static skv_pattern *compiled(const char *text, bool whole)
{
    skv_pattern *pattern;

    skv_reply_reset(reply);
    CHECK(skv_pattern_compile(text, strlen(text), whole, &pattern, reply) == SKV_OK);
    CHECK_STATUS(reply, SKV_OK);
    return pattern;
}

static void check_match(const char *text, bool whole, const char *subject, size_t len, bool expected)
{
    skv_pattern *pattern = compiled(text, whole);
    char *exact = malloc(len ? len : 1);
    bool matched = !expected;

    memcpy(exact, subject, len);
    CHECK(skv_pattern_match(pattern, matcher, exact, len, &matched, reply) == SKV_OK);
    if (!CHECK(matched == expected))
        printf("  %s: %s\n", text, subject);
    free(exact);
    skv_pattern_free(pattern);
}

static void expressions_match_somewhere_or_the_whole_text(void)
{
    static const struct {
        const char *pattern, *text;
        bool somewhere, whole;
    } cases[] = {{"", "", true, true},
                 {"", "a", true, false},
                 {"a", "a", true, true},
                 {"a", "bab", true, false},
                 {"a", "b", false, false},
                 {"a|ab", "ab", true, true},
                 {"^a$", "a\n", true, false},
                 {"a.b", "a\nb", false, false},
                 {"(?s)a.b", "a\nb", true, true},
                 {"(?i)STRA\xc3\x9f"
                  "E",
                  "stra\xc3\x9f"
                  "e",
                  true, true},
                 {"^.$", "\xc3\xa9", true, true},
                 {"[0-9]{3}", "x123", true, false},
                 {"web\\d+\\.example", "web12.example", true, true},
                 {"(a)\\1", "aa", true, true},
                 {"(?<=a)b", "ab", true, false},
                 {"a(?=b)", "ab", true, false},
                 {"a\\Kb", "ab", true, true},
                 {"(*ACCEPT)a", "b", true, false},
                 {"\\x{1F600}", "\xf0\x9f\x98\x80", true, true}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_match(cases[i].pattern, false, cases[i].text, strlen(cases[i].text), cases[i].somewhere);
        check_match(cases[i].pattern, true, cases[i].text, strlen(cases[i].text), cases[i].whole);
    }
    check_match("a.b", true, "a\0b", 3, true);
}

static void check_refusal(const char *text, size_t len, skv_status status, const char *message)
{
    skv_pattern *pattern;

    skv_reply_reset(reply);
    CHECK(skv_pattern_compile(text, len, false, &pattern, reply) == status);
    CHECK_HAS(skv_reply_message(reply), message);
    CHECK(!strstr(skv_reply_message(reply), "hidden"));
    CHECK(!pattern);
}

static void wrong_expressions_are_refused_with_their_offset(void)
{
    char large[SKV_PATTERN_SIZE_MAX + 2], nested[2001];

    check_refusal("hidden(", 7, SKV_INVALID, "wrong at offset 7: missing closing parenthesis");
    check_refusal("hidden[", 7, SKV_INVALID, "wrong at offset 7");
    check_refusal("*hidden", 7, SKV_INVALID, "wrong at offset 0");
    check_refusal("hidden\\", 7, SKV_INVALID, "wrong at offset 7");
    check_refusal("hidden\\Cx", 9, SKV_INVALID, "wrong at offset 8");
    check_refusal("hidden\xff", 7, SKV_INVALID, "UTF-8");
    check_refusal("(?<hidden>a)(?<hidden>b)", 24, SKV_INVALID, "two named subpatterns");
    memset(large, 'a', sizeof large);
    check_refusal(large, SKV_PATTERN_SIZE_MAX + 1, SKV_TOO_LARGE, "exceeds 4096 bytes");
    memset(nested, '(', 1000);
    memset(nested + 1000, ')', 1000);
    check_refusal(nested, 2000, SKV_INVALID, "too deeply nested");
    check_refusal("((a{1,1000}){1,1000}){1,1000}", 29, SKV_INVALID, "too large");
    large[SKV_PATTERN_SIZE_MAX] = '\0';
    skv_pattern_free(compiled(large, true));
}

static void check_limit(const char *text, const char *unit, size_t count, const char *last, skv_status status,
                        const char *message)
{
    skv_pattern *pattern = compiled(text, false);
    size_t unit_len = strlen(unit), len = count * unit_len + strlen(last);
    char *subject = malloc(len + 1);
    bool matched = true;

    for (size_t i = 0; i < count; i++)
        memcpy(subject + i * unit_len, unit, unit_len);
    memcpy(subject + count * unit_len, last, strlen(last) + 1);
    CHECK(skv_pattern_match(pattern, matcher, subject, len, &matched, reply) == status);
    CHECK_HAS(skv_reply_message(reply), message);
    CHECK(matched == (status == SKV_OK));
    free(subject);
    skv_pattern_free(pattern);
}

static void matches_end_within_their_limits(void)
{
    check_limit("^(a+)+$", "a", 40, "!", SKV_TOO_LARGE, "match limit of 100000");
    check_limit("(a|aa)+$", "a", 40, "!", SKV_TOO_LARGE, "match limit of 100000");
    check_limit("^(?:a|b)*$", "ab", 20000, "", SKV_TOO_LARGE, "depth limit of 10000");
    check_limit("^(?:a|b)*$", "ab", 1000, "", SKV_OK, "");
    check_limit("(?(R)a+|(?R))", "a", 1000, "b", SKV_OK, "");
    check_limit("(?R)", "a", 1, "", SKV_INVALID, "cannot be matched");
    check_limit("a$", "a", SKV_PATTERN_SUBJECT_MAX, "", SKV_OK, "");
    check_limit("a$", "a", SKV_PATTERN_SUBJECT_MAX + 1, "", SKV_TOO_LARGE, "more than 65536 bytes");
    check_limit("a", "\xff", 1, "", SKV_INVALID, "not UTF-8");
    check_limit("(*LIMIT_MATCH=4000000000)^(a+)+$", "a", 40, "!", SKV_TOO_LARGE, "match limit of 100000");
}

/* A match of 64 KiB took 49 s: PCRE2's match limit counts from 0 again at each offset. */
static void all_matches_together_end_within_their_limit(void)
{
    const char *expressions[] = {"(a?){15}[bc]", "(a+)\\1[bc]", "a*[bc]", "(?:.{40000}|x)[bc]"};

    for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
        skv_pattern *pattern = compiled(expressions[i], false), *next = compiled("b", true);
        skv_matcher *own = skv_matcher_new(&deadline);
        char *subject = malloc(SKV_PATTERN_SUBJECT_MAX);
        bool matched = true;

        memset(subject, 'a', SKV_PATTERN_SUBJECT_MAX);
        CHECK(skv_pattern_match(pattern, own, subject, SKV_PATTERN_SUBJECT_MAX, &matched, reply) == SKV_TOO_LARGE);
        CHECK_HAS(skv_reply_message(reply), "of an inspection exceed 50000000 steps");
        CHECK(!matched);
        /* The limit is that of all matches, so that the next one has no steps left. */
        CHECK(skv_pattern_match(next, own, "b", 1, &matched, reply) == SKV_TOO_LARGE);
        free(subject);
        skv_matcher_free(own);
        skv_pattern_free(next);
        skv_pattern_free(pattern);
    }
}

/* At each offset the item reads thousands of characters, and fails before PCRE2 calls back again. */
static void what_a_failing_item_reads_counts(void)
{
    skv_pattern *pattern = compiled("[ab]{30000}", false);
    skv_matcher *own = skv_matcher_new(&deadline);
    char subject[60000];
    bool matched = true;

    memset(subject, 'a', sizeof subject);
    subject[29999] = subject[59999] = 'c';
    for (int i = 0; i < 3; i++)
        skv_pattern_match(pattern, own, subject, sizeof subject, &matched, reply);
    CHECK_HAS(skv_reply_message(reply), "of an inspection exceed 50000000 steps");
    skv_matcher_free(own);
    skv_pattern_free(pattern);
}

/* A failed match leaves the matcher usable. */
static void a_matcher_serves_many_expressions(void)
{
    for (int i = 0; i < 100; i++) {
        check_match("(\\w+)@(\\w+)", false, "name@host", 9, true);
        check_limit("^(a+)+$", "a", 40, "!", SKV_TOO_LARGE, "match limit");
    }
}

static void lack_of_memory_is_a_status(void)
{
    skv_reply *mine = skv_reply_new();
    skv_matcher *own = skv_matcher_new(&deadline);
    skv_pattern *pattern = NULL;
    bool matched = true;

    if (mine && skv_pattern_compile("^(?:a|b)*(?<name>c)$", 20, false, &pattern, mine) == SKV_OK && own) {
        char text[301];
        skv_status status;

        memset(text, 'a', 300);
        text[300] = 'c';
        status = skv_pattern_match(pattern, own, text, sizeof text, &matched, mine);
        CHECK(status == SKV_OK ? matched : status == SKV_NOMEM && !matched);
    } else if (mine && own) {
        CHECK_STATUS(mine, SKV_NOMEM);
        CHECK(!pattern);
    }
    skv_pattern_free(pattern);
    skv_matcher_free(own);
    skv_reply_free(mine);
}

static void slow_ranges_are_counted(void)
{
    static const struct {
        const char *pattern;
        size_t ranges;
    } cases[] = {{"[\\x{100}-\\x{10ffff}]", 0},
                 {"(?i)[a-z0-9]", 0},
                 {"(?i)web-\\d+\\.example", 0},
                 {"(?i)[\\x{100}-\\x{10ffff}]", 1},
                 {"(?i:[a-\xc3\xa9][\xc3\xa9-\xc3\xaf])", 2},
                 {"(?xxi)[a - \\x{10ffff}]", 1},
                 {"(?i)[a-", 0}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!CHECK(skv_pattern_slow_ranges(cases[i].pattern, strlen(cases[i].pattern)) == cases[i].ranges))
            printf("  %s\n", cases[i].pattern);
}

static int count_calls(void *calls)
{
    return ++*(int *)calls == 3;
}

/* The function of a runtime that cannot fire the handle ends a match, too. */
static void a_cancel_handle_ends_a_match(void)
{
    static char text[60000];
    int calls = 0;
    bool matched = true;
    skv_deadline watched = {.cancel = skv_cancel_new()};
    skv_matcher *own = skv_matcher_new(&watched);
    skv_pattern *pattern = compiled("a.*?[xy]", false);

    memset(text, 'a', sizeof text);
    skv_cancel_watch(watched.cancel, count_calls, &calls);
    CHECK(skv_pattern_match(pattern, own, text, sizeof text, &matched, reply) == SKV_INTERRUPTED);
    CHECK(calls == 3 && !matched);
    skv_pattern_free(pattern);
    skv_matcher_free(own);
    skv_cancel_free(watched.cancel);
}

int main(void)
{
    reply = skv_reply_new();
    matcher = skv_matcher_new(&deadline);
    expressions_match_somewhere_or_the_whole_text();
    wrong_expressions_are_refused_with_their_offset();
    matches_end_within_their_limits();
    a_matcher_serves_many_expressions();
    all_matches_together_end_within_their_limit();
    what_a_failing_item_reads_counts();
    slow_ranges_are_counted();
    chaos(lack_of_memory_is_a_status);
    a_cancel_handle_ends_a_match();
    skv_matcher_free(matcher);
    skv_reply_free(reply);
    return check_summary("pattern");
}
