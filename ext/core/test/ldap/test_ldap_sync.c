/* The messages by which a server tells of changes, intact and malformed. The sanitizers see each byte that is read. */
#include "check.h"
#include "ldap/csn.h"
#include "ldap/sync.h"

#include <stdlib.h>
#include <string.h>

#define UUID "0123456789abcdef"
#define CSN(date, server) date ".000000Z#000000#" server "#000000"
#define FIRST CSN("20261126010203", "001")

/* A value in memory of its own, so that a read behind its end is seen. */
static struct berval own(const char *bytes, size_t len)
{
    struct berval value = {len, malloc(len ? len : 1)};

    if (len)
        memcpy(value.bv_val, bytes, len);
    return value;
}

static bool read_state_of(const char *bytes, size_t len, skv_sync_change *change, skv_sync_cookie *cookie)
{
    LDAPControl control = {(char *)(uintptr_t)LDAP_CONTROL_SYNC_STATE, own(bytes, len), 0};
    LDAPControl *controls[] = {&control, NULL};
    bool is_read = skv_sync_read_state(controls, change, cookie);

    free(control.ldctl_value.bv_val);
    return is_read;
}

static bool read_change_of(const char *bytes, size_t len, skv_sync_change *change)
{
    LDAPControl control = {(char *)(uintptr_t)LDAP_CONTROL_PERSIST_ENTRY_CHANGE_NOTICE, own(bytes, len), 0};
    LDAPControl *controls[] = {&control, NULL};
    bool is_read = skv_persistent_search_read_change(controls, change);

    free(control.ldctl_value.bv_val);
    return is_read;
}

static bool read_info_of(const char *bytes, size_t len, skv_sync_info *info)
{
    struct berval value = own(bytes, len);
    bool is_read = skv_sync_read_info(&value, info);

    free(value.bv_val);
    return is_read;
}

#define STATE(n) "\x30\x15\x0a\x01" n "\x04\x10" UUID
#define STATE_WITH_COOKIE "\x30\x1a\x0a\x01\x02\x04\x10" UUID "\x04\x03rid"

static void the_state_of_an_entry_is_read(void)
{
    static const char *const states[] = {STATE("\x01"), STATE("\x02"), STATE("\x03")};
    static const skv_sync_change expected[] = {SKV_SYNC_ADDED, SKV_SYNC_CHANGED, SKV_SYNC_DELETED};
    skv_sync_change change;
    skv_sync_cookie cookie;

    for (size_t i = 0; i < 3; i++)
        CHECK(read_state_of(states[i], 23, &change, &cookie) && change == expected[i] && !cookie.is_given);
    CHECK(read_state_of(STATE("\x00"), 23, &change, &cookie) && change == SKV_SYNC_SEEN);
    CHECK(read_state_of(STATE_WITH_COOKIE, 28, &change, &cookie) && cookie.is_given && cookie.len == 3);
    CHECK(memcmp(cookie.text, "rid", 3) == 0);
    CHECK(!skv_sync_read_state(NULL, &change, &cookie));
    CHECK(!read_state_of(STATE("\x04"), 23, &change, &cookie));
    CHECK(!read_state_of(STATE("\xff"), 23, &change, &cookie));
    CHECK(!read_state_of("\x30\x14\x0a\x01\x01\x04\x0f" UUID, 22, &change, &cookie));
}

static void the_change_of_a_persistent_search_is_read(void)
{
    skv_sync_change change;

    CHECK(read_change_of("\x30\x03\x0a\x01\x01", 5, &change) && change == SKV_SYNC_ADDED);
    CHECK(read_change_of("\x30\x03\x0a\x01\x02", 5, &change) && change == SKV_SYNC_DELETED);
    CHECK(read_change_of("\x30\x06\x0a\x01\x04\x02\x01\x07", 8, &change) && change == SKV_SYNC_CHANGED);
    CHECK(read_change_of("\x30\x06\x0a\x01\x08\x04\x01x", 8, &change) && change == SKV_SYNC_RENAMED);
    CHECK(!read_change_of("\x30\x03\x0a\x01\x03", 5, &change));
    CHECK(!skv_persistent_search_read_change(NULL, &change));
}

static void a_message_between_entries_is_read(void)
{
    skv_sync_info info;

    CHECK(read_info_of("\x80\x03rid", 5, &info) && info.cookie.len == 3 && !info.is_refreshed);
    CHECK(read_info_of("\xa1\x00", 2, &info) && info.is_refreshed && !info.cookie.is_given);
    CHECK(read_info_of("\xa2\x08\x04\x03rid\x01\x01\x00", 10, &info) && !info.is_refreshed && info.cookie.len == 3);
    CHECK(read_info_of("\xa2\x03\x01\x01\xff", 5, &info) && info.is_refreshed);
    CHECK(read_info_of("\xa3\x05\x01\x01\xff\x31\x00", 7, &info) && info.has_ids);
    CHECK(!read_info_of("\x84\x00", 2, &info));
    CHECK(!read_info_of("", 0, &info));
    CHECK(!skv_sync_read_info(NULL, &info));
}

static void read_all(const char *bytes, size_t len)
{
    skv_sync_change change;
    skv_sync_cookie cookie;
    skv_sync_info info;

    read_state_of(bytes, len, &change, &cookie);
    read_change_of(bytes, len, &change);
    read_info_of(bytes, len, &info);
}

/* Cuts each message at each byte, and sets each byte to each value. */
static void a_malformed_message_is_no_crash(void)
{
    static const struct berval messages[] = {{23, STATE("\x01")},
                                             {28, STATE_WITH_COOKIE},
                                             {8, "\x30\x06\x0a\x01\x08\x04\x01x"},
                                             {5, "\x80\x03rid"},
                                             {10, "\xa2\x08\x04\x03rid\x01\x01\x00"},
                                             {7, "\xa3\x05\x01\x01\xff\x31\x00"}};
    char bytes[32];
    skv_sync_change change;
    skv_sync_cookie cookie;

    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
        for (size_t len = 0; len < messages[i].bv_len; len++)
            read_all(messages[i].bv_val, len);
        for (size_t at = 0; at < messages[i].bv_len; at++) {
            memcpy(bytes, messages[i].bv_val, messages[i].bv_len);
            for (int byte = 0; byte < 256; byte++) {
                bytes[at] = (char)byte;
                read_all(bytes, messages[i].bv_len);
            }
        }
    }
    for (size_t len = 0; len < 23; len++)
        CHECK(!read_state_of(STATE("\x01"), len, &change, &cookie));
}

static void the_numbers_in_a_cookie_are_found(void)
{
    skv_sync_cookie cookie = {.len = 0};
    const char *csns;
    size_t len;

    CHECK(!skv_sync_find_csns(&cookie, &csns, &len));
    strcpy(cookie.text, "rid=000,csn=a;b,sid=1");
    cookie.len = strlen(cookie.text);
    CHECK(skv_sync_find_csns(&cookie, &csns, &len) && len == 3 && memcmp(csns, "a;b", 3) == 0);
    cookie.len = strlen("rid=000,csn=");
    CHECK(skv_sync_find_csns(&cookie, &csns, &len) && len == 0);
}

static bool parse(const char *text, skv_csns *csns)
{
    return skv_csns_parse(text, strlen(text), csns);
}

static void numbers_are_compared_by_server(void)
{
    skv_csns csns, other;

    CHECK(parse(FIRST ";" CSN("20261126010203", "00a"), &csns) && csns.count == 2);
    CHECK(skv_csns_are_after(&csns, CSN("20261126010200", "001")));
    CHECK(!skv_csns_are_after(&csns, CSN("20261126010201", "001")));
    CHECK(!skv_csns_are_after(&csns, CSN("20251126010200", "002")));
    CHECK(!skv_csns_are_after(&csns, "") && !skv_csns_are_after(&csns, "#0123456789abcdef"));
    CHECK(parse(CSN("20261126010204", "001"), &other));
    CHECK(!skv_csns_are_later(&other, &csns) && !skv_csns_are_later(&csns, &other));
    CHECK(skv_csns_merge(&csns, &other) && csns.count == 2);
    CHECK(skv_csns_are_later(&csns, &other) && !skv_csns_are_equal(&csns, &other));
    CHECK(parse(FIRST, &csns) && skv_csns_are_later(&other, &csns) && !skv_csns_are_later(&csns, &other));
}

static void too_many_servers_are_refused(void)
{
    char text[(SKV_CSN_LEN + 1) * (SKV_CSNS_MAX + 1) + 1] = "", server[4];
    skv_csns csns;

    for (int i = 0; i <= SKV_CSNS_MAX; i++) {
        snprintf(server, sizeof server, "%03x", i);
        strcat(strcat(text, i ? ";" : ""), FIRST);
        memcpy(text + strlen(text) - 10, server, 3);
        CHECK(parse(text, &csns) == (i < SKV_CSNS_MAX));
    }
}

int main(void)
{
    the_state_of_an_entry_is_read();
    the_change_of_a_persistent_search_is_read();
    a_message_between_entries_is_read();
    a_malformed_message_is_no_crash();
    the_numbers_in_a_cookie_are_found();
    numbers_are_compared_by_server();
    too_many_servers_are_refused();
    return check_summary("ldap_sync");
}
