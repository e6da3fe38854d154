/* Keys and decrypted documents do not stay in freed memory. */
#include "check.h"
#include "crypt_fixture.h"
#include "freed.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_FOLDER "environments/production/app"

const char *const secrets[] = {CODED_A, KEY_A, "pl4nted-in-memory", NULL};

/* Decrypts a page of a thousand records, so that its buffer grows. */
static void decrypt_page(skv_keyring *keyring, const char *document, const char *plain)
{
    const uint32_t len = (uint32_t)strlen(document), lengths[] = {8, len};
    char *page = malloc(1000 * (17 + len)), *end = page;

    for (int i = 0; i < 1000; i++, end += len) {
        *end = 'k';
        memcpy(end + 1, lengths, sizeof lengths);
        memcpy(end + 9, "password", 8);
        end += 17;
        memcpy(end, document, len);
    }
    CHECK(skv_keyring_decrypt_page(keyring, BACKEND, strlen(BACKEND), PAGE_FOLDER, strlen(PAGE_FOLDER), 0, page,
                                   (size_t)(end - page), result) == SKV_OK);
    CHECK(skv_reply_size(result) == 1000 * (17 + strlen(plain)));
    free(page);
}

static void keys_and_documents_are_wiped(void)
{
    static const char secret[] = "{\"value\":\"pl4nted-in-memory\"}";
    char document[1024];
    skv_keyring *keyring;

    write_keys(KEYS_A);
    result = skv_reply_new();
    looked = 0;
    watching = true;
    keyring = open_keys();
    CHECK(encrypt_for(keyring, PATH, secret) == SKV_OK);
    strcpy(document, skv_reply_data(result));
    CHECK(decrypt_for(keyring, PATH, document, strlen(document)) == SKV_OK);
    CHECK_STR(skv_reply_data(result), secret);
    decrypt_page(keyring, document, secret);
    document[strlen(document) - 30] ^= 1;
    CHECK(decrypt_for(keyring, PATH, document, strlen(document)) == SKV_MALFORMED);
    watching = false;
    /* Malformed after the key. */
    write_keys("{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"" CODED_A "\"},1]}");
    watching = true;
    CHECK(encrypt_for(keyring, PATH, secret) == SKV_INVALID);
    watching = false;
    write_keys(KEYS(JWK("b", CODED_B)));
    watching = true;
    CHECK(encrypt_for(keyring, PATH, secret) == SKV_OK);
    skv_keyring_close(keyring);
    skv_reply_free(result);
    watching = false;
    CHECK(looked > 50);
    CHECK(spilled == 0);
}

int main(void)
{
    make_key_folder();
    a_block_with_a_secret_is_seen();
    keys_and_documents_are_wiped();
    remove_key_folder();
    return check_summary("keyring_wipe");
}
