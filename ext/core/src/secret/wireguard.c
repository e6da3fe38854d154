#include "secret/keypair.h"
#include "secret/kind.h"
#include "json/tree.h"

#include <openssl/err.h>
#include <string.h>

#define KEY_SIZE 32

/* As `wg genkey` writes it, which stores the number that Curve25519 computes with: RFC 7748, section 5. */
static void clamp(unsigned char key[KEY_SIZE])
{
    key[0] &= 248;
    key[31] = (unsigned char)((key[31] & 127) | 64);
}

static json_t *base64_of_key(const unsigned char key[KEY_SIZE])
{
    skv_buf buf;

    skv_buf_init(&buf, SKV_MESSAGE_MAX);
    skv_base64_put(&buf, key, KEY_SIZE);
    return skv_json_take_text(&buf);
}

static skv_status put_wireguard(const EVP_PKEY *pair, json_t **made, skv_reply *reply)
{
    unsigned char private[KEY_SIZE], public[KEY_SIZE];
    size_t private_size = sizeof private, public_size = sizeof public;
    json_t *parts = json_object();

    if (EVP_PKEY_get_raw_private_key(pair, private, &private_size) == 1 &&
        EVP_PKEY_get_raw_public_key(pair, public, &public_size) == 1) {
        clamp(private);
        skv_json_put(&parts, "public", base64_of_key(public));
        skv_json_put(made, "value", base64_of_key(private));
    } else {
        skv_fail_openssl("write a key of Curve25519", reply);
    }
    explicit_bzero(private, sizeof private);
    skv_json_put(made, "parts", parts);
    return reply->status;
}

skv_status skv_make_wireguard(skv_request *request, json_t **made)
{
    EVP_PKEY *pair;

    if (!skv_request_done(request))
        return request->reply->status;
    ERR_set_mark();
    pair = skv_keypair_new(EVP_PKEY_X25519, 0, request->reply);
    if (pair)
        put_wireguard(pair, made, request->reply);
    EVP_PKEY_free(pair);
    ERR_pop_to_mark();
    return request->reply->status;
}
