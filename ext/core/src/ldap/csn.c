#include "ldap/csn.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* The parts of a number. */
#define SERVER_AT 30
#define SERVER_LEN 3

/* A server numbers a change before it makes it. */
#define SLACK_S 2

/* A digit stands for digits, an 'x' for hexadecimal ones. */
static const char form[] = "00000000000000.000000Z#xxxxxx#xxx#xxxxxx";

static bool is_csn(const char *text, size_t len)
{
    if (len != SKV_CSN_LEN)
        return false;
    for (size_t i = 0; i < len; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9', hex = digit || (text[i] >= 'a' && text[i] <= 'f');

        if (form[i] == '0' ? !digit : form[i] == 'x' ? !hex : text[i] != form[i])
            return false;
    }
    return true;
}

/* Returns the number of the same server, or NULL. */
static const char *find_csn(const skv_csns *csns, const char *csn)
{
    for (int i = 0; i < csns->count; i++)
        if (memcmp(csns->csn[i] + SERVER_AT, csn + SERVER_AT, SERVER_LEN) == 0)
            return csns->csn[i];
    return NULL;
}

static bool merge_csn(skv_csns *csns, const char *csn)
{
    const char *old = find_csn(csns, csn);
    int at = old ? (int)((old - csns->csn[0]) / (SKV_CSN_LEN + 1)) : csns->count;

    if (at == SKV_CSNS_MAX)
        return false;
    if (old && strncmp(old, csn, SKV_CSN_LEN) > 0)
        return true;
    csns->count += !old;
    memcpy(csns->csn[at], csn, SKV_CSN_LEN);
    csns->csn[at][SKV_CSN_LEN] = '\0';
    return true;
}

bool skv_csns_parse(const char *text, size_t len, skv_csns *csns)
{
    *csns = (skv_csns){0};
    for (;;) {
        const char *end = len ? memchr(text, ';', len) : NULL;
        size_t used = end ? (size_t)(end - text) : len;

        if (!is_csn(text, used) || !merge_csn(csns, text))
            return false;
        if (!end)
            return true;
        text += used + 1;
        len -= used + 1;
    }
}

bool skv_csns_merge(skv_csns *csns, const skv_csns *more)
{
    for (int i = 0; i < more->count; i++)
        if (!merge_csn(csns, more->csn[i]))
            return false;
    return true;
}

void skv_csns_put(skv_buf *buf, const skv_csns *csns)
{
    for (int i = 0; i < csns->count; i++) {
        if (i > 0)
            skv_buf_put_char(buf, ';');
        skv_buf_put_string(buf, csns->csn[i]);
    }
}

static int two_digits(const char *text)
{
    return (text[0] - '0') * 10 + text[1] - '0';
}

static time_t seconds_of_csn(const char *csn)
{
    struct tm date = {.tm_year = two_digits(csn) * 100 + two_digits(csn + 2) - 1900,
                      .tm_mon = two_digits(csn + 4) - 1,
                      .tm_mday = two_digits(csn + 6),
                      .tm_hour = two_digits(csn + 8),
                      .tm_min = two_digits(csn + 10),
                      .tm_sec = two_digits(csn + 12)};

    return timegm(&date);
}

bool skv_csns_are_after(const skv_csns *csns, const char *csn)
{
    const char *last = is_csn(csn, strlen(csn)) ? find_csn(csns, csn) : NULL;

    return last && seconds_of_csn(csn) < seconds_of_csn(last) - SLACK_S;
}

bool skv_csns_are_later(const skv_csns *newer, const skv_csns *older)
{
    for (int i = 0; i < older->count; i++) {
        const char *same = find_csn(newer, older->csn[i]);

        if (!same || strcmp(same, older->csn[i]) < 0)
            return false;
    }
    return true;
}

bool skv_csns_are_equal(const skv_csns *a, const skv_csns *b)
{
    return skv_csns_are_later(a, b) && skv_csns_are_later(b, a);
}
