/* A watch of a server that sends what it should not. The server has all of its responses ready, and keeps the
 * connection open. */
#include "changes.h"
#include "check.h"
#include "ldap/watch.h"

#include <lber.h>
#include <ldap.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FOLDER_DN "ou=w,ou=globals,ou=x,ou=instances,ou=simpkv,o=puppet,dc=simp"
#define KEY_DN "simpkvKey=k," FOLDER_DN
#define STATE "\x30\x15\x0a\x01\x01\x04\x10" /* added */
#define UUID "0123456789abcdef"
#define REFRESHED "\xa2\x00"

#define CHANGE "\x30\x03\x0a\x01\x01" /* added */
#define LAST_PAGE "\x30\x05\x02\x01\x00\x04\x00"

/* The requests of a watch, in their order. A persistent search has a list beside it. */
enum { BIND = 1, ROOT_DSE, KIND, SEARCH, LIST, SECOND_LIST };

static char socket_path[64];
static int listener;
static BerElement *responses;

/* ---- The server ---- */

static void *serve(void *unused)
{
    struct berval bytes;
    int client = accept(listener, NULL, NULL);

    if (ber_flatten2(responses, &bytes, 0) == 0)
        CHECK(send(client, bytes.bv_val, bytes.bv_len, MSG_NOSIGNAL) == (ssize_t)bytes.bv_len);
    while (read(client, (char[512]){0}, 512) > 0)
        ;
    close(client);
    return unused;
}

static void add_result(int id, ber_tag_t tag, int code)
{
    ber_printf(responses, "{it{ess}}", id, tag, code, "", "");
}

static void add_entry(const char *dn, const char *oid, const char *value, size_t len)
{
    ber_printf(responses, "{it{s{}}t{{so}}}", SEARCH, LDAP_RES_SEARCH_ENTRY, dn, 0xa0U, oid, value, (ber_len_t)len);
}

static void add_info(const char *value, size_t len)
{
    ber_printf(responses, "{it{tsto}}", SEARCH, LDAP_RES_INTERMEDIATE, 0x80U, LDAP_SYNC_INFO, 0x81U, value,
               (ber_len_t)len);
}

/* The responses before those to the search, of a server with these controls. */
static void begin_responses_with(const char *control, const char *other)
{
    responses = ber_alloc_t(LBER_USE_DER);
    add_result(BIND, LDAP_RES_BIND, LDAP_SUCCESS);
    ber_printf(responses, "{it{s{{s[ss]}}}}", ROOT_DSE, LDAP_RES_SEARCH_ENTRY, "", "supportedControl", control, other);
    add_result(ROOT_DSE, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS);
    ber_printf(responses, "{it{s{}}}", KIND, LDAP_RES_SEARCH_ENTRY, FOLDER_DN);
    add_result(KIND, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS);
}

static void begin_responses(void)
{
    begin_responses_with(LDAP_CONTROL_SYNC, LDAP_CONTROL_ASSERT);
}

/* A list of one page, with a key. */
static void list(int id)
{
    ber_printf(responses, "{it{s{}}}", id, LDAP_RES_SEARCH_ENTRY, KEY_DN);
    ber_printf(responses, "{it{ess}t{{so}}}", id, LDAP_RES_SEARCH_RESULT, LDAP_SUCCESS, "", "", 0xa0U,
               LDAP_CONTROL_PAGEDRESULTS, LAST_PAGE, (ber_len_t)7);
}

static void refresh(void)
{
    add_entry(FOLDER_DN, LDAP_CONTROL_SYNC_STATE, STATE UUID, 23);
    add_info(REFRESHED, 2);
}

/* ---- The client ---- */

int64_t __real_skv_now_plus_ns(int64_t ns);
int64_t __wrap_skv_now_plus_ns(int64_t ns);

/* The linker has the core call this: the second list follows the first one at once. */
int64_t __wrap_skv_now_plus_ns(int64_t ns)
{
    return __real_skv_now_plus_ns(ns == SKV_WATCH_SECOND_LIST_NS ? 0 : ns);
}

static bool listen_on_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    snprintf(socket_path, sizeof socket_path, "/tmp/simpkv-hostile-%d", (int)getpid());
    strcpy(address.sun_path, socket_path);
    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 4) == 0;
}

static void open_hostile(void)
{
    char options[512];
    int len = snprintf(options, sizeof options, "ldap_uri%cldapi://%%2Ftmp%%2F%s%cid%cx%cretries%c0", 0,
                       socket_path + strlen("/tmp/"), 0, 0, 0, 0);

    store = skv_open("ldap", 4, options, (size_t)len + 1, reply);
    CHECK_STATUS(reply, SKV_OK);
}

/* Watches, until the watch ends. Returns the records. */
static const char *told(void)
{
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, serve, NULL) == 0);
    seen[0] = '\0';
    watch_since("globals/w", NULL);
    while (changes && skv_changes_next(changes, LONG_MS, NULL, reply) == SKV_OK && skv_reply_number(reply) > 0)
        note_records();
    stop();
    pthread_join(thread, NULL);
    ber_free(responses, 1);
    return seen;
}

static void expect_malformed(const char *records)
{
    CHECK_STR(told(), records);
    CHECK_STATUS(reply, SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the server sent a malformed message");
}

static void an_entry_without_its_control_ends_the_watch(void)
{
    begin_responses();
    add_entry(KEY_DN, LDAP_CONTROL_ASSERT, "", 0);
    expect_malformed("");
}

static void a_malformed_control_ends_the_watch(void)
{
    static const struct berval values[] = {{0, ""}, {2, "\x30\x7f"}, {22, STATE UUID}, {5, "\x30\x03\x0a\x01\x01"}};

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        begin_responses();
        add_entry(KEY_DN, LDAP_CONTROL_SYNC_STATE, values[i].bv_val, values[i].bv_len);
        expect_malformed("");
    }
}

static void a_malformed_message_between_entries_ends_the_watch(void)
{
    begin_responses();
    add_info("\xa2\x05\x04", 3);
    expect_malformed("");
    begin_responses();
    add_info("", 0);
    expect_malformed("");
}

/* These bytes used to abort the process: an intermediate response whose name is empty, and an unsolicited response
 * without a name. The first ones come instead of the entries, the others while the watch follows. */
static void bytes_that_libldap_aborts_at_end_the_watch(void)
{
    static const struct berval messages[] = {{9, "\x30\x07\x02\x01\x04\x79\x02\x80\x00"},
                                             {10, "\x30\x08\x02\x01\x04\x79\x03\x80\x01\x00"},
                                             {9, "\x30\x07\x02\x01\x04\x79\x00\x80\x00"},
                                             {9, "\x30\x07\x02\x01\x04\x79\x02\x8a\x00"},
                                             {16, "\x30\x0e\x02\x01\x00\x78\x09\x0a\x01\x34\x04\x00\x04\x00\x8a\x00"}};

    for (size_t i = 0; i < 2 * (sizeof messages / sizeof *messages); i++) {
        const struct berval *message = &messages[i / 2];

        begin_responses();
        if (i % 2)
            refresh();
        ber_write(responses, message->bv_val, message->bv_len, 0);
        CHECK_STR(told(), i % 2 ? "c " : "");
        CHECK_STATUS(reply, SKV_UNAVAILABLE);
        CHECK_HAS(skv_reply_message(reply), "the server sent malformed LDAP");
        CHECK_HAS(skv_reply_message(reply), socket_path + strlen("/tmp/"));
    }
}

/* The caller would not learn of them otherwise. */
static void changes_before_a_malformed_message_are_told(void)
{
    begin_responses();
    refresh();
    add_entry(KEY_DN, LDAP_CONTROL_SYNC_STATE, STATE UUID, 23);
    add_info("\x04", 1);
    expect_malformed("c pk ");
}

/* Names that no key can have, and entries elsewhere. */
static void foreign_entries_are_left_out(void)
{
    static const char *const foreign[] = {"",
                                          "cn=x",
                                          "simpkvKey=k,"
                                          "dc=simp",
                                          "simpkvKey=..," FOLDER_DN,
                                          "simpkvKey=\\00," FOLDER_DN,
                                          "simpkvKey=k,cn=y," FOLDER_DN};

    begin_responses();
    refresh();
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        add_entry(foreign[i], LDAP_CONTROL_SYNC_STATE, STATE UUID, 23);
    add_info("\x04", 1);
    expect_malformed("c ");
}

/* OpenLDAP sends none with a change that came from another server. */
static void a_change_without_its_number_keeps_the_cookie(void)
{
    static const char numbers[] = "20261126010203.000004Z#000000#001#000000";
    char refreshed[64], expected[64];
    int len = snprintf(refreshed, sizeof refreshed,
                       "\xa2\x2e\x04\x2c"
                       "csn=%s",
                       numbers);

    begin_responses();
    add_entry(FOLDER_DN, LDAP_CONTROL_SYNC_STATE, STATE UUID, 23);
    add_info(refreshed, (size_t)len);
    add_entry(KEY_DN, LDAP_CONTROL_SYNC_STATE, "\x30\x1e\x0a\x01\x01\x04\x10" UUID "\x04\x07rid=000", 32);
    add_info("\x04", 1);
    expect_malformed("c pk ");
    snprintf(expected, sizeof expected, "ldap:%s", numbers);
    CHECK_STR(cookie, expected);
}

/* The second list used to leak the cookie of the last page of the first one, which valgrind and ASan find. The second
 * list reports a key whose version the server does not show. */
static void a_persistent_search_tells_changes_after_two_lists(void)
{
    begin_responses_with(LDAP_CONTROL_PERSIST_REQUEST, LDAP_CONTROL_PAGEDRESULTS);
    list(LIST);
    list(SECOND_LIST);
    add_entry("simpkvKey=new," FOLDER_DN, LDAP_CONTROL_PERSIST_ENTRY_CHANGE_NOTICE, CHANGE, 5);
    add_entry("simpkvKey=bad," FOLDER_DN, LDAP_CONTROL_PERSIST_ENTRY_CHANGE_NOTICE, CHANGE, 4);
    expect_malformed("c pk pnew ");
}

static void a_server_that_refuses_the_search_is_an_error(void)
{
    begin_responses();
    add_result(SEARCH, LDAP_RES_SEARCH_RESULT, 12);
    told();
    CHECK_STATUS(reply, SKV_INVALID);
    CHECK_HAS(skv_reply_message(reply), "overlay syncprov");
    begin_responses();
    add_result(SEARCH, LDAP_RES_SEARCH_RESULT, 4);
    told();
    CHECK_STATUS(reply, SKV_TOO_LARGE);
}

int main(void)
{
    reply = skv_reply_new();
    if (CHECK(listen_on_socket())) {
        open_hostile();
        an_entry_without_its_control_ends_the_watch();
        a_malformed_control_ends_the_watch();
        a_malformed_message_between_entries_ends_the_watch();
        bytes_that_libldap_aborts_at_end_the_watch();
        changes_before_a_malformed_message_are_told();
        foreign_entries_are_left_out();
        a_change_without_its_number_keeps_the_cookie();
        a_persistent_search_tells_changes_after_two_lists();
        a_server_that_refuses_the_search_is_an_error();
        skv_close(store);
        close(listener);
        unlink(socket_path);
    }
    skv_reply_free(reply);
    return check_summary("store_ldap_watch_hostile");
}
