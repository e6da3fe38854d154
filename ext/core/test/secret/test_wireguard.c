/* Keys for WireGuard. spec/integration/secret_kinds_spec.rb has wg read them. */
#include "chaos.h"
#include "check.h"
#include "made.h"

#include <openssl/err.h>
#include <openssl/evp.h>

/* Decodes a key of 32 bytes, as wg takes it: 44 characters. */
static void decode_key(const char *text, unsigned char key[33])
{
    CHECK(strlen(text) == 44 && text[43] == '=');
    CHECK(EVP_DecodeBlock(key, (const unsigned char *)text, 44) == 33);
}

static void keys_belong_together(void)
{
    unsigned char private[33], public[33], expected[32];
    json_t *key = made("{'kind':'wireguard'}");
    size_t size = sizeof expected;
    EVP_PKEY *pair;

    decode_key(value_of(key), private);
    decode_key(part_of(key, "public"), public);
    CHECK((private[0] & 7) == 0 && (private[31] & 0xc0) == 0x40);
    pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, NULL, private, 32);
    CHECK(EVP_PKEY_get_raw_public_key(pair, expected, &size) == 1 && memcmp(public, expected, 32) == 0);
    EVP_PKEY_free(pair);
    json_decref(key);
}

static void keys_differ(void)
{
    json_t *one = made("{'kind':'wireguard'}"), *other = made("{'kind':'wireguard'}");

    CHECK(strcmp(value_of(one), value_of(other)) != 0);
    json_decref(one);
    json_decref(other);
}

static void key_is_whole_or_memory_runs_out(void)
{
    skv_reply *reply;

    if (succeeds_in_chaos(skv_secret_make, "{\"kind\":\"wireguard\"}", &reply))
        CHECK(skv_reply_size(reply) == strlen("{\"value\":\"\",\"parts\":{\"public\":\"\"}}") + 2 * 44);
    skv_reply_free(reply);
}

int main(void)
{
    share_memory_with_libcrypto();
    result = skv_reply_new();
    for (int i = 0; i < 20; i++)
        keys_belong_together();
    keys_differ();
    refused("{'kind':'wireguard','bits':256}", "unknown option 'bits' of kind 'wireguard'");
    CHECK(ERR_peek_error() == 0);
    skv_reply_free(result);
    chaos(key_is_whole_or_memory_runs_out);
    return check_summary("wireguard");
}
