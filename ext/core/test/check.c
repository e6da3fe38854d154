#include "check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_int passed, failed; /* atomic: threads check as well */
static const char *table = "";
static int table_line;

bool check_(bool held, const char *file, int line, const char *what)
{
    if (held) {
        passed++;
        return true;
    }
    failed++;
    printf("%s:%d: failed: %s", file, line, what);
    if (table_line)
        printf(" (%s line %d)", table, table_line);
    printf("\n");
    return false;
}

bool check_string_(const char *actual, const char *expected, const char *file, int line)
{
    bool held = check_(strcmp(actual, expected) == 0, file, line, "strings are equal");

    if (!held)
        printf("  expected: %s\n  actual:   %s\n", expected, actual);
    return held;
}

bool check_has_(const char *actual, const char *part, const char *file, int line)
{
    bool held = check_(strstr(actual, part) != NULL, file, line, "string has a part");

    if (!held)
        printf("  expected part: %s\n  actual:        %s\n", part, actual);
    return held;
}

bool check_status_(const skv_reply *reply, skv_status expected, const char *file, int line)
{
    bool held = check_(skv_reply_status(reply) == expected, file, line, "status");

    if (!held)
        printf("  expected: %s\n  actual:   %s (%s)\n", skv_status_name(expected),
               skv_status_name(skv_reply_status(reply)), skv_reply_message(reply));
    return held;
}

void check_tally(const char *what, long faults, long operations)
{
    printf("%s: %ld faults, %ld operations, %d anomalies\n", what, faults, operations, failed);
}

bool check_with_valgrind(void)
{
    return getenv("SKV_VALGRIND") != NULL;
}

int check_rounds(int times)
{
    return check_with_valgrind() ? times / 10 : times;
}

int check_summary(const char *name)
{
    printf("%s: %d passed, %d failed\n", name, passed, failed);
    return failed || !passed;
}

int status_named(const char *name)
{
    for (int i = 0; skv_status_name(i); i++)
        if (strcmp(skv_status_name(i), name) == 0)
            return i;
    return -1;
}

/* Undoes the escapes in place. Returns the length. */
static size_t unescape(char *text)
{
    char *out = text;

    for (char *in = text; *in; in++) {
        char hex[3] = "";
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        switch (*++in) {
        case 't':
            *out++ = '\t';
            break;
        case 'n':
            *out++ = '\n';
            break;
        case 'r':
            *out++ = '\r';
            break;
        case '0':
            *out++ = '\0';
            break;
        case 'x':
            memcpy(hex, in + 1, 2);
            *out++ = (char)strtol(hex, NULL, 16);
            in += 2;
            break;
        default:
            *out++ = *in;
        }
    }
    *out = '\0';
    return (size_t)(out - text);
}

FILE *case_file(const char *name)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", TEST_CASES, name);
    file = fopen(path, "r");
    CHECK(file != NULL);
    return file;
}

void each_case(const char *name, void (*run)(const test_case *))
{
    FILE *file = case_file(name);
    char *line = NULL;
    size_t size = 0;
    ssize_t len;
    int cases = 0;

    if (!file)
        return;
    table = name;
    for (table_line = 1; (len = getline(&line, &size, file)) > 0; table_line++) {
        test_case c = {.line = table_line};
        char *rest = line;

        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '#' || line[0] == '\0')
            continue;
        while (rest && c.fields < CASE_FIELDS) {
            c.field[c.fields] = strsep(&rest, "\t");
            c.len[c.fields] = unescape(c.field[c.fields]);
            c.fields++;
        }
        run(&c);
        cases++;
    }
    table_line = 0;
    fclose(file);
    free(line);
    CHECK(cases > 0);
}
