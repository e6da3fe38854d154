#include "secret/keypair.h"
#include "secret/kind.h"
#include "json/tree.h"

#include <openssl/err.h>
#include <string.h>

/* As `wg genkey` writes it, which stores the number that Curve25519 computes with: RFC 7748, section 5. */
static void clamp(unsigned char key[SKV_KEY25519_SIZE])
{
    key[0] &= 248;
    key[31] = (unsigned char)((key[31] & 127) | 64);
}

static json_t *base64_of_key(const unsigned char key[SKV_KEY25519_SIZE])
{
    skv_buf buf;

    skv_buf_init(&buf, SKV_MESSAGE_MAX);
    skv_base64_put(&buf, key, SKV_KEY25519_SIZE);
    return skv_json_take_text(&buf);
}

skv_status skv_make_wireguard(skv_request *request, json_t **made)
{
    unsigned char private[SKV_KEY25519_SIZE], public[SKV_KEY25519_SIZE];
    json_t *parts = json_object();

    ERR_set_mark();
    if (skv_request_done(request) && skv_random_bytes(private, sizeof private, request->reply) == SKV_OK) {
        clamp(private);
        if (skv_keypair_public(EVP_PKEY_X25519, private, public, request->reply) == SKV_OK) {
            skv_json_put(&parts, "public", base64_of_key(public));
            skv_json_put(made, "value", base64_of_key(private));
        }
        explicit_bzero(private, sizeof private);
    }
    ERR_pop_to_mark();
    skv_json_put(made, "parts", parts);
    return request->reply->status;
}
