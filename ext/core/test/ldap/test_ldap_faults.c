/* A directory whose network loses responses, and whose server is busy, refuses, or has reached a limit. */
#include "check.h"
#include "directory.h"
#include "pool_fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static proxy between;

static void a_read_whose_response_is_lost_is_repeated(void)
{
    put_gives("globals/p", D1, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_RESPONSE, 0, 0, 1);
    get_gives("globals/p", D1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_REQUEST, 0, 0, 1);
    CHECK(kind("globals/p") == SKV_KIND_KEY);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK_HAS(listed("globals"), "kp=" D1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK_HAS(tree_of("globals"), "kp=" D1);
    CHECK(proxy_left(&between) == 0);
}

static void an_unrequested_message_is_ignored(void)
{
    put_gives("globals/m", D1, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_INTERMEDIATE, 0, 0, 3);
    get_gives("globals/m", D1);
    CHECK_HAS(listed("globals"), "km=" D1);
    CHECK(kind("globals/m") == SKV_KIND_KEY);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_MODIFY, PROXY_INTERMEDIATE, 0, 0, 1);
    put_gives("globals/m", D2, 1);
    CHECK(proxy_left(&between) == 0);
}

/* Such a list used to be empty, without an error. */
static void entries_of_a_folder_that_does_not_exist_are_an_error(void)
{
    static const char *const folders[] = {"", "globals", "globals/none"};

    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        proxy_arm(&between, PROXY_SEARCH, PROXY_ENTRY, LDAP_NO_SUCH_OBJECT, 0, 1);
        CHECK_STR(tree_of(folders[i]), "unavailable");
        CHECK_HAS(skv_reply_message(reply), "the server sent some of its entries");
        CHECK(proxy_left(&between) == 0);
    }
    proxy_arm(&between, PROXY_SEARCH, PROXY_ENTRY, LDAP_NO_SUCH_OBJECT, 0, 1);
    CHECK_STR(listed("globals/none"), "unavailable");
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, LDAP_NO_SUCH_OBJECT, 0, 1);
    CHECK_STR(tree_of("globals/none"), "not_found");
    CHECK(proxy_left(&between) == 0);
}

/* Such a response used to abort the process. */
static void malformed_ldap_ends_the_connection(void)
{
    static const char message[] = "the server sent malformed LDAP";

    put_gives("globals/h", D1, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 0, 0, 1);
    get_gives("globals/h", D1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_UNSOLICITED, 0, 0, 1);
    put_gives("globals/h", D2, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 0, 0, 1);
    CHECK_HAS(listed("globals"), "kh=" D2);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 0, 0, 1000);
    CHECK(get("globals/h") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), message);
    CHECK_HAS(skv_reply_message(reply), between.uri);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 0, 1, 1000);
    CHECK(put("globals/h", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), message);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 0, 0, 0);
}

/* The notice says nothing of the request. Its code used to be taken for that of the write: 52, refused. */
static void a_notice_of_disconnection_leaves_a_write_in_doubt(void)
{
    put_gives("globals/n", D2, 1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_UNSOLICITED, 52, 0, 1);
    CHECK(put_if("globals/n", D1, SKV_PUT_EXPECT | SKV_PUT_NON_UNIQUE, D2) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    get_gives("globals/n", D1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_UNSOLICITED, 52, 0, 1);
    put_gives("globals/n", D2, 1);
    proxy_arm(&between, PROXY_SEARCH, PROXY_UNSOLICITED, 52, 0, 1);
    get_gives("globals/n", D2);
    CHECK(proxy_left(&between) == 0);
}

static void a_write_without_a_response_succeeds_if_it_was_made(void)
{
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, 0, 1);
    put_gives("globals/p", D2, 1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_REQUEST, 0, 0, 1);
    put_gives("globals/p", D1, 1);
    get_gives("globals/p", D1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(put_if("globals/p", D2, SKV_PUT_EXPECT, D1) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(put_if("globals/q", D1, SKV_PUT_ABSENT, NULL) == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    /* The folder's response is lost, then the key's. */
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(put_if("globals/pf/q", D1, SKV_PUT_ABSENT, NULL) == SKV_OK && skv_reply_number(reply) == 1);
    get_gives("globals/pf/q", D1);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(del("globals/q") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 1, 1);
    CHECK(deletetree("globals/pf") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    CHECK(kind("globals/pf") == SKV_KIND_NONE);
}

/* The response to a write is lost, and another client writes before this one reads again. */
static const char *elsewhere, *document_elsewhere = "{\"value\":3}";

static void *write_elsewhere(void *other)
{
    skv_reply *mine = skv_reply_new();

    proxy_await_faults(&between);
    do {
        skv_put(other, elsewhere, strlen(elsewhere), document_elsewhere, strlen(document_elsewhere), SKV_PUT_ANY, NULL,
                0, LONG_MS, NULL, mine);
    } while (skv_reply_status(mine) != SKV_OK);
    skv_reply_free(mine);
    return NULL;
}

/* Other clients may put the same document: a stored one does not prove that this call has written it. */
static void a_non_unique_document_leaves_a_lost_write_unknown(void)
{
    static const struct {
        const char *key, *before;
        int condition;
        unsigned char kind;
    } cases[] = {{"globals/non_unique/a", NULL, SKV_PUT_ABSENT, PROXY_ADD},
                 {"globals/non_unique/b", D1, SKV_PUT_EXPECT, PROXY_MODIFY}};

    put("globals/non_unique/there", D1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].before)
            put(cases[i].key, cases[i].before);
        proxy_arm(&between, cases[i].kind, PROXY_LOSE_RESPONSE, 0, 0, 1);
        CHECK(put_if(cases[i].key, D2, cases[i].condition | SKV_PUT_NON_UNIQUE, cases[i].before) == SKV_UNAVAILABLE);
        CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
        CHECK(proxy_left(&between) == 0);
        get_gives(cases[i].key, D2);
        /* A lost request has changed nothing, and is repeated. */
        del(cases[i].key);
        if (cases[i].before)
            put(cases[i].key, cases[i].before);
        proxy_arm(&between, cases[i].kind, PROXY_LOSE_REQUEST, 0, 0, 1);
        CHECK(put_if(cases[i].key, D2, cases[i].condition | SKV_PUT_NON_UNIQUE, cases[i].before) == SKV_OK);
        CHECK(skv_reply_number(reply) == 1 && proxy_left(&between) == 0);
    }
}

static void an_unknown_outcome_is_reported_as_unknown(void)
{
    skv_store *other = open_with(false, (const char *[]){"id=plain", NULL});
    pthread_t thread;
    int status;

    put_gives("globals/o", D1, 1);
    elsewhere = "globals/o";
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(pthread_create(&thread, NULL, write_elsewhere, other) == 0);
    status = put_if("globals/o", D2, SKV_PUT_EXPECT, D1);
    /* The other client may be too late. */
    CHECK(status == SKV_UNAVAILABLE || status == SKV_OK);
    if (status == SKV_UNAVAILABLE)
        CHECK_HAS(skv_reply_message(reply), "the outcome is unknown");
    pthread_join(thread, NULL);
    /* A lost response for a folder does not matter. */
    elsewhere = "globals/lost/o";
    proxy_arm(&between, PROXY_ADD, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(pthread_create(&thread, NULL, write_elsewhere, other) == 0);
    status = put_if(elsewhere, D2, SKV_PUT_ABSENT, NULL);
    CHECK(status == SKV_EXISTS || status == SKV_OK);
    pthread_join(thread, NULL);
    skv_close(other);
}

static void a_busy_server_is_asked_again(void)
{
    put_gives("globals/p", D1, 1);
    proxy_arm(&between, PROXY_MODIFY, PROXY_RESPOND, 51, 0, 2);
    put_gives("globals/p", D2, 1);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, 52, 0, 1);
    get_gives("globals/p", D2);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_MODIFY, PROXY_RESPOND, 51, 0, 100);
    CHECK(put("globals/p", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "answered 51");
    CHECK_HAS(skv_reply_message(reply), "'retries'");
    CHECK(proxy_left(&between) == 97);
}

static void other_results_are_not_tried_again(void)
{
    static const struct {
        int code, status;
        const char *part;
    } cases[] = {
        {53, SKV_DENIED, "read-only"},        {50, SKV_DENIED, "admin_dn"},
        {10, SKV_UNAVAILABLE, "'write_uri'"}, {65, SKV_UNAVAILABLE, "schema/openldap/simpkv.schema"},
        {13, SKV_DENIED, "enable_tls"},       {80, SKV_UNAVAILABLE, "answered 80"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        proxy_arm(&between, PROXY_MODIFY, PROXY_RESPOND, cases[i].code, 0, 2);
        CHECK(put("globals/p", D1) == cases[i].status);
        CHECK_HAS(skv_reply_message(reply), cases[i].part);
        CHECK_HAS(skv_reply_message(reply), between.uri);
        CHECK(proxy_left(&between) == 1);
    }
}

#define LEAVES 200

static void plant(void)
{
    char key[64];

    for (int i = 0; i < LEAVES; i++) {
        snprintf(key, sizeof key, "globals/tree/f%d/k%d", i % 3, i);
        put(key, D1);
        CHECK_STATUS(reply, SKV_OK);
    }
}

static void deletetree_survives_lost_and_busy_responses(void)
{
    plant();
    proxy_arm(&between, PROXY_DELETE, PROXY_LOSE_RESPONSE, 0, 70, 1);
    CHECK(deletetree("globals/tree") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(proxy_left(&between) == 0);
    CHECK(kind("globals/tree") == SKV_KIND_NONE);

    /* The server is busy more often than the call retries, but deletes entries meanwhile. */
    plant();
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 51, 20, 60);
    CHECK(deletetree("globals/tree") == SKV_OK);
    CHECK(proxy_left(&between) == 0);
    CHECK(kind("globals/tree") == SKV_KIND_NONE);
}

static void a_failed_deletetree_reports_its_progress(void)
{
    plant();
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 51, 0, 1000);
    CHECK(deletetree("globals/tree") == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "answered 51");
    CHECK(strstr(skv_reply_message(reply), "were deleted") == NULL);
    proxy_arm(&between, PROXY_DELETE, PROXY_RESPOND, 50, 100, 1);
    CHECK(deletetree("globals/tree") == SKV_DENIED);
    CHECK_HAS(skv_reply_message(reply), "answered 50");
    CHECK_HAS(skv_reply_message(reply), " of its entries were deleted before that");
    CHECK(deletetree("globals/tree") == SKV_OK);
}

static void limits_of_the_server_are_named(void)
{
    static const struct {
        int code;
        const char *part;
        int times; /* a list that exceeds a limit is repeated in pages, and OpenLDAP may want smaller ones */
    } cases[] = {{3, "nsTimeLimit", 1}, {4, "nsSizeLimit", 2}, {11, "nsLookThroughLimit", 6}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, cases[i].code, 0, cases[i].times);
        CHECK_STR(i % 2 ? listed("globals") : tree_of("globals"), "too_large");
        CHECK(proxy_left(&between) == 0);
        CHECK_HAS(skv_reply_message(reply), cases[i].part);
    }
}

/* Returns a document of that size, which the caller frees. */
static char *document_of(size_t len)
{
    char *document = malloc(len + 1);

    memset(document, 'x', len);
    document[len] = '\0';
    return document;
}

static void a_connection_lost_to_a_large_document_names_the_limit(void)
{
    char *document = document_of(1500000);

    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_REQUEST, 0, 0, 2);
    CHECK(put("globals/p", document) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), "nsslapd-maxbersize");
    CHECK(proxy_left(&between) == 1);
    free(document);
}

/* caseExactMatch equates "a b" and "a  b". */
static void a_document_that_caseexactmatch_equals_is_not_replaced(void)
{
    static const char old[] = "{\"value\":\"a b\"}", equated[] = "{\"value\":\"a  b\"}";
    skv_store *other = open_with(false, (const char *[]){"id=plain", NULL});
    const char *keys[] = {"globals/x1", "globals/x2"};
    pthread_t thread;

    for (int i = 0; i < 2; i++) {
        put_gives(keys[i], old, 1);
        document_elsewhere = i == 0 ? equated : D1;
        elsewhere = keys[i];
        proxy_arm(&between, PROXY_MODIFY, PROXY_HOLD_REQUEST, 300, 0, 1);
        CHECK(pthread_create(&thread, NULL, write_elsewhere, other) == 0);
        CHECK(put_if(keys[i], D2, SKV_PUT_EXPECT, old) == SKV_CONFLICT);
        pthread_join(thread, NULL);
        get_gives(keys[i], document_elsewhere);
    }
    skv_close(other);
}

static void reads_follow_the_first_write(void)
{
    char write_uri[300];
    skv_store *mine = store;

    put_gives("globals/w", D1, 1);
    snprintf(write_uri, sizeof write_uri, "write_uri=%s", between.uri);
    store = open_with(false, (const char *[]){"id=plain", write_uri, NULL});
    proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, 53, 0, 1);
    get_gives("globals/w", D1);
    CHECK(proxy_left(&between) == 1);
    CHECK(put("globals/w", D2) == SKV_DENIED);
    CHECK(proxy_left(&between) == 0);
    proxy_arm(&between, PROXY_SEARCH, PROXY_RESPOND, 53, 0, 1);
    CHECK(get("globals/w") == SKV_DENIED);
    CHECK(proxy_left(&between) == 0);
    get_gives("globals/w", D1);
    skv_close(store);
    store = mine;
}

static void a_lost_response_without_retries_is_an_error(void)
{
    skv_close(store);
    store = open_through(&between, "0");
    proxy_arm(&between, PROXY_MODIFY, PROXY_LOSE_RESPONSE, 0, 0, 1);
    CHECK(put("globals/p", D1) == SKV_UNAVAILABLE);
    CHECK_HAS(skv_reply_message(reply), "the change may have been made");
    CHECK(kind("globals/p") == SKV_KIND_KEY);
}

static void test_lost_responses_and_refusals(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    store = open_through(&between, "2");
    a_read_whose_response_is_lost_is_repeated();
    an_unrequested_message_is_ignored();
    entries_of_a_folder_that_does_not_exist_are_an_error();
    malformed_ldap_ends_the_connection();
    a_notice_of_disconnection_leaves_a_write_in_doubt();
    a_write_without_a_response_succeeds_if_it_was_made();
    a_non_unique_document_leaves_a_lost_write_unknown();
    an_unknown_outcome_is_reported_as_unknown();
    a_busy_server_is_asked_again();
    other_results_are_not_tried_again();
    deletetree_survives_lost_and_busy_responses();
    a_failed_deletetree_reports_its_progress();
    limits_of_the_server_are_named();
    a_connection_lost_to_a_large_document_names_the_limit();
    reads_follow_the_first_write();
    a_lost_response_without_retries_is_an_error();
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

static void without_assertions(void)
{
    skv_store *mine = store;

    if (!CHECK(proxy_begin(&between, server.port)))
        return;
    between.hide_assertion = true;
    store = open_through(&between, "1");
    a_document_that_caseexactmatch_equals_is_not_replaced();
    skv_close(store);
    store = mine;
    proxy_end(&between);
}

/* Sending any part of the document would show: the server would cut the connection. */
static void refuses(const char *key, size_t len, const char *expect, const char *limit)
{
    char *document = document_of(len);

    CHECK(put_if(key, document, expect ? SKV_PUT_EXPECT : SKV_PUT_ANY, expect) == SKV_TOO_LARGE);
    CHECK_HAS(skv_reply_message(reply), limit);
    CHECK_HAS(skv_reply_message(reply), "olcSockbufMaxIncomingAuth");
    CHECK(strstr(skv_reply_message(reply), "xxxx") == NULL);
    free(document);
}

static void check_message_limit(const char *limit, size_t below)
{
    char *document = document_of(below);
    json_int_t before;

    CHECK(kind("globals/large") == SKV_KIND_NONE);
    before = server_stat(0, "connects");
    refuses("globals/none/large", below + 2000, NULL, limit);
    CHECK(kind("globals/none") == SKV_KIND_NONE);
    put_gives("globals/large", document, 1);
    refuses("globals/large", below + 2000, NULL, limit);
    get_gives("globals/large", document);
    CHECK(del("globals/large") == SKV_OK);
    CHECK(server_stat(0, "connects") == before);
    free(document);
}

static void a_document_above_the_configured_limit_is_refused(void)
{
    static const char rights[] = "database config\n"
                                 "access to dn.base=cn=config by dn.exact=\"" DIRECTORY_USER_DN "\" read\n";
    char path[128];
    FILE *file;

    slapd_stop(&server);
    snprintf(path, sizeof path, "%s/slapd.conf", server.folder);
    file = fopen(path, "a");
    CHECK(file && fputs(rights, file) >= 0 && fclose(file) == 0 && slapd_start(&server));
    check_message_limit(" accepts at most 1000000 ", 999000);
}

static void a_document_above_the_default_limit_is_refused(void)
{
    check_message_limit(" accept 16777215 by default", 16776000);
}

int main(void)
{
    static const char *const options[] = {"id=plain", NULL};

    reply = skv_reply_new();
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, test_lost_responses_and_refusals);
    run_ldap_tests(DIRECTORY_PLAIN, "", false, options, without_assertions);
    /* 16 MB take valgrind 12 s. It finds the same with a limit of 1 MB. */
    if (!check_with_valgrind())
        run_ldap_tests(DIRECTORY_PLAIN, "", false, options, a_document_above_the_default_limit_is_refused);
    run_ldap_tests(DIRECTORY_PLAIN, "sockbuf_max_incoming_auth 1000000", false, options,
                   a_document_above_the_configured_limit_is_refused);
    skv_reply_free(reply);
    check_tally("responses lost and refusals, before slapd", proxy_faults(), calls_made());
    return check_summary("store_ldap_faults");
}
