#include "rules/pattern.h"

#include "rules/limits.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

/* A skv_pattern is PCRE2's own object: an inspection reads the memory of many rules. */
static pcre2_code *code_of(skv_pattern *pattern)
{
    return (pcre2_code *)pattern;
}

static const pcre2_code *const_code_of(const skv_pattern *pattern)
{
    return (const pcre2_code *)pattern;
}

struct skv_matcher {
    pcre2_match_context *limits;
    pcre2_match_data *data;
    size_t work, last; /* the work of all matches so far; the offset in the text at the last item of the expression */
    size_t checked;    /* the work at which an interrupt was looked for */
    bool interrupted;
    skv_deadline *deadline;
};

/* ---- Memory ---- */

static void *allocate_for_pcre2(size_t size, void *context)
{
    (void)context;
    return skv_alloc(size);
}

static void free_for_pcre2(void *memory, void *context)
{
    (void)context;
    skv_free(memory);
}

/* Objects made with the context keep its functions, and may outlive it. */
static pcre2_general_context *new_allocator(void)
{
    return pcre2_general_context_create(allocate_for_pcre2, free_for_pcre2, NULL);
}

/* ---- Compiling ---- */

static skv_status fail_to_compile(int error, size_t offset, skv_reply *reply)
{
    PCRE2_UCHAR text[256];

    if (error == PCRE2_ERROR_HEAP_FAILED)
        return skv_fail_memory(reply);
    pcre2_get_error_message(error, text, sizeof text);
    return skv_fail(reply, SKV_INVALID, "the regular expression is wrong at offset %zu: %s", offset, (char *)text);
}

static skv_status compile_with(pcre2_compile_context *context, const char *text, size_t len, bool whole,
                               skv_pattern **out, skv_reply *reply)
{
    uint32_t options =
        PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | PCRE2_AUTO_CALLOUT | (whole ? PCRE2_ANCHORED | PCRE2_ENDANCHORED : 0);
    PCRE2_SIZE offset = 0;
    int error = 0;

    *out = (skv_pattern *)pcre2_compile((PCRE2_SPTR)text, len, options, &error, &offset, context);
    return *out ? SKV_OK : fail_to_compile(error, offset, reply);
}

skv_status skv_pattern_compile(const char *text, size_t len, bool whole, skv_pattern **out, skv_reply *reply)
{
    pcre2_general_context *allocator;
    pcre2_compile_context *context;

    *out = NULL;
    if (len > SKV_PATTERN_SIZE_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expression exceeds %d bytes", SKV_PATTERN_SIZE_MAX);
    allocator = new_allocator();
    context = allocator ? pcre2_compile_context_create(allocator) : NULL;
    if (context)
        compile_with(context, text, len, whole, out, reply);
    else
        skv_fail_memory(reply);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(allocator);
    return reply->status;
}

void skv_pattern_free(skv_pattern *pattern)
{
    pcre2_code_free(code_of(pattern));
}

/* Returns true if the '-' at that offset can be in a class, and can have a character beyond ASCII behind it. */
static bool is_wide_range(const char *text, size_t len, size_t at)
{
    size_t end = at + 1;

    while (end < len && (text[end] == ' ' || text[end] == '\t'))
        end++;
    return end < len && (text[end] == '\\' || (unsigned char)text[end] >= 0x80) && memchr(text, '[', at) &&
           memchr(text + end, ']', len - end);
}

/* For a range of characters beyond ASCII in a caseless class, PCRE2 tries each of up to a million characters. */
size_t skv_pattern_slow_ranges(const char *text, size_t len)
{
    size_t ranges = 0;
    bool has_option = false, is_caseless = false;

    for (size_t i = 0; i < len; i++) {
        has_option |= text[i] == '?';
        is_caseless |= has_option && text[i] == 'i';
        ranges += text[i] == '-' && is_wide_range(text, len, i);
    }
    return is_caseless ? ranges : 0;
}

size_t skv_pattern_size(const skv_pattern *pattern)
{
    size_t size = 0;

    pcre2_pattern_info(const_code_of(pattern), PCRE2_INFO_SIZE, &size);
    return size;
}

/* ---- Matching ---- */

/* The work between two looks for an interrupt: some 0.1 ms. */
#define WORK_BETWEEN_CHECKS 10000

static bool is_interrupted(skv_matcher *matcher)
{
    if (matcher->work - matcher->checked < WORK_BETWEEN_CHECKS)
        return false;
    matcher->checked = matcher->work;
    matcher->interrupted = skv_deadline_check_work(matcher->deadline) != SKV_OK;
    return matcher->interrupted;
}

/* PCRE2 calls this before each item of an expression. Its match limit alone bounds no time: it counts from 0 again at
 * each offset in the text. An item of more than one character, such as a{30000}, may read the rest of the text and then
 * fail without another call, so that a share of the rest counts, too. */
static int count_work(pcre2_callout_block *block, void *data)
{
    skv_matcher *matcher = data;
    size_t at = block->current_position, last = matcher->last;

    matcher->work += 1 + (at > last ? at - last : last - at);
    if (block->next_item_length > 1)
        matcher->work += (block->subject_length - at) / 64;
    matcher->last = at;
    return matcher->work > SKV_INSPECTION_PATTERN_WORK_MAX || is_interrupted(matcher) ? PCRE2_ERROR_CALLOUT : 0;
}

skv_matcher *skv_matcher_new(skv_deadline *deadline)
{
    skv_matcher *matcher = skv_alloc_zeroed(1, sizeof *matcher);
    pcre2_general_context *allocator = matcher ? new_allocator() : NULL;

    if (allocator) {
        matcher->limits = pcre2_match_context_create(allocator);
        matcher->data = pcre2_match_data_create(1, allocator);
    }
    pcre2_general_context_free(allocator);
    if (!matcher || !matcher->limits || !matcher->data) {
        skv_matcher_free(matcher);
        return NULL;
    }
    matcher->deadline = deadline;
    pcre2_set_match_limit(matcher->limits, SKV_PATTERN_MATCH_MAX);
    pcre2_set_depth_limit(matcher->limits, SKV_PATTERN_DEPTH_MAX);
    pcre2_set_heap_limit(matcher->limits, SKV_PATTERN_HEAP_MAX);
    pcre2_set_callout(matcher->limits, count_work, matcher);
    return matcher;
}

void skv_matcher_free(skv_matcher *matcher)
{
    if (!matcher)
        return;
    pcre2_match_data_free(matcher->data);
    pcre2_match_context_free(matcher->limits);
    skv_free(matcher);
}

static skv_status fail_to_match(int error, skv_reply *reply)
{
    switch (error) {
    case PCRE2_ERROR_NOMEMORY:
        return skv_fail_memory(reply);
    case PCRE2_ERROR_MATCHLIMIT:
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expression exceeds PCRE2's match limit of %d",
                        SKV_PATTERN_MATCH_MAX);
    case PCRE2_ERROR_DEPTHLIMIT:
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expression exceeds PCRE2's depth limit of %d",
                        SKV_PATTERN_DEPTH_MAX);
    case PCRE2_ERROR_CALLOUT:
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expressions of an inspection exceed %d steps",
                        SKV_INSPECTION_PATTERN_WORK_MAX);
    case PCRE2_ERROR_HEAPLIMIT:
        return skv_fail(reply, SKV_TOO_LARGE, "the regular expression exceeds PCRE2's heap limit of %d KiB",
                        SKV_PATTERN_HEAP_MAX);
    default:
        if (error >= PCRE2_ERROR_UTF8_ERR21 && error <= PCRE2_ERROR_UTF8_ERR1)
            return skv_fail(reply, SKV_INVALID, "the text is not UTF-8");
        return skv_fail(reply, SKV_INVALID, "the regular expression cannot be matched: PCRE2's error %d", error);
    }
}

skv_status skv_pattern_match(const skv_pattern *pattern, skv_matcher *matcher, const char *text, size_t len,
                             bool *matched, skv_reply *reply)
{
    int result;

    *matched = false;
    if (len > SKV_PATTERN_SUBJECT_MAX)
        return skv_fail(reply, SKV_TOO_LARGE, "a text of more than %d bytes is not matched with a regular expression",
                        SKV_PATTERN_SUBJECT_MAX);
    matcher->last = 0;
    matcher->interrupted = false;
    result = pcre2_match(const_code_of(pattern), (PCRE2_SPTR)text, len, 0, 0, matcher->data, matcher->limits);
    if (matcher->interrupted)
        return skv_fail(reply, SKV_INTERRUPTED, "interrupted");
    *matched = result >= 0;
    return result >= 0 || result == PCRE2_ERROR_NOMATCH ? SKV_OK : fail_to_match(result, reply);
}
