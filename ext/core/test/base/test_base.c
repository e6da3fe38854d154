/* The lowest layer of the core: buffers, replies, deadlines. */
#include "base/buf.h"
#include "base/deadline.h"
#include "base/record.h"
#include "base/reply.h"
#include "chaos.h"
#include "check.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

static void buffer_keeps_what_is_put_into_it(void)
{
    skv_buf buf;

    skv_buf_init(&buf, 1000);
    for (int i = 0; i < 100; i++)
        skv_buf_put(&buf, "0123456789", 10);
    if (!skv_buf_failed(&buf)) {
        CHECK(buf.len == 1000);
        CHECK(buf.bytes[1000] == '\0');
        CHECK(memcmp(buf.bytes + 990, "0123456789", 10) == 0);
    } else {
        CHECK(buf.no_memory);
    }
    skv_buf_free(&buf);
    CHECK(buf.len == 0 && buf.bytes == NULL);
}

static void buffer_refuses_more_than_its_maximum(void)
{
    skv_buf buf;

    skv_buf_init(&buf, 10);
    skv_buf_put_string(&buf, "0123456789");
    CHECK(!skv_buf_failed(&buf));
    skv_buf_put_char(&buf, 'x');
    CHECK(buf.too_large);
    CHECK(buf.len == 10);
    skv_buf_clear(&buf);
    CHECK(!skv_buf_failed(&buf) && buf.len == 0);
    skv_buf_free(&buf);
}

static void first_failure_wins_and_messages_are_printable(void)
{
    skv_reply *reply = skv_reply_new();

    skv_fail(reply, SKV_INVALID, "bad\n%s", "\xff\xc3\xa9");
    skv_fail(reply, SKV_TIMEOUT, "later");
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "bad??\xc3\xa9");
    skv_reply_reset(reply);
    CHECK_STATUS(reply, SKV_OK);
    CHECK_STR(skv_reply_message(reply), "");
    skv_fail_errno(reply, EACCES, "Cannot read '%s'", "x");
    CHECK_STATUS(reply, SKV_DENIED);
    CHECK_STR(skv_reply_message(reply), "Cannot read 'x': Permission denied");
    skv_reply_free(reply);
    skv_reply_free(NULL);
}

static void utf8_is_told_from_other_bytes(void)
{
    static const struct {
        const char *bytes;
        bool valid;
    } cases[] = {{"", true},
                 {"a\x7f", true},
                 {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", true},
                 {"\xed\x9f\xbf", true},
                 {"\xf4\x8f\xbf\xbf", true},
                 {"\x80", false},
                 {"\xc1\xbf", false},
                 {"\xe0\x9f\xbf", false},
                 {"\xed\xa0\x80", false},
                 {"\xf0\x8f\xbf\xbf", false},
                 {"\xf4\x90\x80\x80", false},
                 {"\xf5\x80\x80\x80", false},
                 {"\xe2\x82", false},
                 {"\xc3(", false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(skv_is_utf8(cases[i].bytes, strlen(cases[i].bytes)) == cases[i].valid);
    /* At each place of a text in which the check takes eight bytes at once, and at its end. */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t at = 0; at <= 16; at++) {
            char text[] = "abcdefghijklmnopqrstuvwxyz";
            size_t len = strlen(cases[i].bytes);

            memcpy(text + at, cases[i].bytes, len);
            CHECK(skv_is_utf8(text, sizeof text - 1) == cases[i].valid);
            CHECK(skv_is_utf8(text, at + len) == cases[i].valid);
        }
    }
}

static void records_are_read_as_they_are_packed(void)
{
    skv_page_record record;
    skv_buf page;
    size_t first;

    skv_buf_init(&page, 1000);
    skv_page_put(&page, 'k', "name", 4, "", 0);
    skv_buf_put_string(&page, "document");
    skv_page_end(&page, 0);
    first = page.len;
    skv_page_put(&page, 'f', "folder", 6, "", 0);
    CHECK(skv_page_read(page.bytes, page.len, &record) == first);
    CHECK(record.kind == 'k' && record.name_len == 4 && record.body_len == 8);
    CHECK(memcmp(record.name, "name", 4) == 0 && memcmp(record.body, "document", 8) == 0);
    CHECK(skv_page_read(page.bytes + first, page.len - first, &record) == page.len - first);
    CHECK(record.kind == 'f' && record.name_len == 6 && record.body_len == 0);
    CHECK(skv_page_read(page.bytes + page.len, 0, &record) == 0);
    for (size_t len = 0; len < first; len++)
        CHECK(skv_page_read(page.bytes, len, &record) == 0);
    CHECK(skv_page_read(NULL, 0, &record) == 0);
    skv_page_put(&page, 'k', "name", 4, "", (size_t)UINT32_MAX + 1);
    CHECK(page.too_large);
    skv_buf_free(&page);
}

static void statuses_have_names(void)
{
    CHECK_STR(skv_status_name(SKV_OK), "ok");
    CHECK_STR(skv_status_name(SKV_NOMEM), "no_memory");
    CHECK_STR(skv_status_name(SKV_FULL), "full");
    CHECK(skv_status_name(-1) == NULL);
    CHECK(skv_status_name(SKV_FULL + 1) == NULL);
    CHECK(skv_abi() == SKV_ABI);
    CHECK(strlen(skv_version()) > 0);
}

static void *fire(void *cancel)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    skv_cancel_fire(cancel);
    return NULL;
}

static void waiting_ends_at_the_deadline(void)
{
    skv_reply *reply = skv_reply_new();
    skv_deadline deadline;
    int tries = 0;

    CHECK(skv_deadline_init(&deadline, 60000, NULL, reply) == SKV_OK);
    CHECK(skv_deadline_sleep(&deadline, 1000000) == SKV_OK);
    /* On a busy machine, the deadline may have passed before the wait begins. */
    do {
        CHECK(skv_deadline_init(&deadline, 200, NULL, reply) == SKV_OK);
    } while (skv_deadline_sleep(&deadline, 3600000000000) != SKV_OK && ++tries < 20);
    CHECK(tries < 20);
    CHECK(skv_deadline_sleep(&deadline, 1) == SKV_TIMEOUT);
    CHECK(skv_deadline_init(&deadline, -1, NULL, reply) == SKV_INVALID);
    skv_reply_reset(reply);
    CHECK(skv_deadline_init(&deadline, INT64_MAX, NULL, reply) == SKV_OK);
    CHECK(skv_deadline_sleep(&deadline, 1000) == SKV_OK);
    skv_reply_free(reply);
}

static void waiting_is_cancelled_before_and_during_it(void)
{
    skv_reply *reply = skv_reply_new();
    skv_cancel *cancel = skv_cancel_new();
    pthread_t thread;
    skv_deadline deadline;

    skv_deadline_init(&deadline, 3600000, cancel, reply);
    skv_cancel_fire(cancel);
    CHECK(skv_deadline_check(&deadline) == SKV_INTERRUPTED);
    CHECK(skv_deadline_check(&deadline) == SKV_OK);
    pthread_create(&thread, NULL, fire, cancel);
    CHECK(skv_deadline_sleep(&deadline, 3600000000000) == SKV_INTERRUPTED);
    pthread_join(thread, NULL);
    skv_cancel_fire(cancel);
    skv_cancel_reset(cancel);
    CHECK(skv_deadline_check(&deadline) == SKV_OK);
    skv_cancel_free(cancel);
    skv_cancel_free(NULL);
    skv_reply_free(reply);
}

int main(void)
{
    chaos(buffer_keeps_what_is_put_into_it);
    buffer_refuses_more_than_its_maximum();
    first_failure_wins_and_messages_are_printable();
    utf8_is_told_from_other_bytes();
    records_are_read_as_they_are_packed();
    statuses_have_names();
    waiting_ends_at_the_deadline();
    waiting_is_cancelled_before_and_during_it();
    return check_summary("base");
}
