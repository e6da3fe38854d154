/* Pages of lists, whose documents are decrypted at once. */
#include "chaos.h"
#include "check.h"
#include "crypt_fixture.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "environments/production/app"

static skv_keyring *keyring;
static char page[4096], *by_a, *by_b;
static size_t page_len;

static void add(char kind, const char *name, const char *body)
{
    const uint32_t lengths[] = {(uint32_t)strlen(name), (uint32_t)strlen(body)};

    page[page_len] = kind;
    memcpy(page + page_len + 1, lengths, sizeof lengths);
    strcpy(page + page_len + 9, name);
    strcpy(page + page_len + 9 + lengths[0], body);
    page_len += 9 + lengths[0] + lengths[1];
}

static skv_status decrypt_page(const char *folder, int flags, skv_reply *reply)
{
    return skv_keyring_decrypt_page(keyring, BACKEND, strlen(BACKEND), folder, strlen(folder), flags, page, page_len,
                                    reply);
}

/* Checks the next record of the result, and moves behind it. `body` is the beginning of it. */
static void check_record(const char **at, char kind, const char *name, const char *body)
{
    uint32_t lengths[2];

    memcpy(lengths, *at + 1, sizeof lengths);
    CHECK(**at == kind && lengths[0] == strlen(name) && memcmp(*at + 9, name, lengths[0]) == 0);
    CHECK(lengths[1] >= strlen(body) && memcmp(*at + 9 + lengths[0], body, strlen(body)) == 0);
    *at += 9 + lengths[0] + lengths[1];
}

static void documents_of_a_page_are_decrypted(void)
{
    const char *at;

    page_len = 0;
    add('k', "password", by_a);
    add('f', "folder", "");
    add('k', "other", by_a);
    add('k', "password", by_b);
    add('e', "unreadable", "why");
    add('k', "plain", PLAIN);
    add('k', "damaged", "{\"value\":\"eyJ\",\"encoding\":\"jwe\"}");
    CHECK(decrypt_page("/" FOLDER "//", 0, result) == SKV_OK && skv_reply_number(result) == 7);
    at = skv_reply_data(result);
    check_record(&at, 'k', "password", PLAIN);
    check_record(&at, 'f', "folder", "");
    check_record(&at, 'e', "other", "cannot decrypt '" FOLDER "/other': its document was encrypted for '" PATH "'");
    check_record(&at, 'k', "password", PLAIN);
    check_record(&at, 'e', "unreadable", "why");
    check_record(&at, 'k', "plain", PLAIN);
    check_record(&at, 'e', "damaged", "its encrypted document is damaged or truncated");
    CHECK(at == skv_reply_data(result) + skv_reply_size(result));
}

static void plain_documents_are_refused_on_request(void)
{
    const char *at;

    page_len = 0;
    add('k', "plain", PLAIN);
    add('k', "password", by_a);
    CHECK(decrypt_page(FOLDER, SKV_PAGE_ENCRYPTED_ONLY, result) == SKV_OK);
    at = skv_reply_data(result);
    check_record(&at, 'e', "plain", "its document is not encrypted, which 'encrypted_only' requires");
    check_record(&at, 'k', "password", PLAIN);
}

static void documents_of_other_names_stay_encrypted_on_request(void)
{
    const char *at;

    page_len = 0;
    add('k', "Password", by_a);
    add('k', "Plain", PLAIN);
    add('k', "app/password", by_a);
    CHECK(decrypt_page("environments/production", SKV_PAGE_PLAIN_NAMES, result) == SKV_OK);
    at = skv_reply_data(result);
    check_record(&at, 'x', "Password", by_a);
    check_record(&at, 'k', "Plain", PLAIN);
    check_record(&at, 'k', "app/password", PLAIN);
}

static void pages_that_are_none_are_refused(void)
{
    page_len = 0;
    add('k', "plain", PLAIN);
    while (--page_len)
        CHECK(decrypt_page(FOLDER, 0, result) == SKV_INVALID);
    CHECK(decrypt_page(FOLDER, 0, result) == SKV_OK && skv_reply_size(result) == 0);
    CHECK(decrypt_page("a/../b", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_decrypt_page(NULL, "", 0, "", 0, 0, "", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_decrypt_page(keyring, "", 0, "", 0, 0, NULL, 1, result) == SKV_INVALID);
}

static void memory_runs_out(void)
{
    skv_reply *own = skv_reply_new();

    if (!own)
        return;
    if (decrypt_page(FOLDER, 0, own) == SKV_OK)
        CHECK(skv_reply_number(own) == 3);
    else
        CHECK_STATUS(own, SKV_NOMEM);
    skv_reply_free(own);
}

int main(void)
{
    result = skv_reply_new();
    make_key_folder();
    write_keys(KEYS_A);
    keyring = open_keys();
    by_a = encrypted(keyring);
    write_keys(KEYS_BA);
    by_b = encrypted(keyring);
    documents_of_a_page_are_decrypted();
    plain_documents_are_refused_on_request();
    documents_of_other_names_stay_encrypted_on_request();
    pages_that_are_none_are_refused();
    page_len = 0;
    add('k', "plain", PLAIN);
    add('k', "password", by_b);
    add('k', "other", by_a);
    chaos(memory_runs_out);
    write_keys("{}");
    CHECK(decrypt_page(FOLDER, 0, result) == SKV_INVALID && skv_reply_size(result) == 0);
    free(by_a);
    free(by_b);
    skv_keyring_close(keyring);
    remove_key_folder();
    skv_reply_free(result);
    return check_summary("page");
}
