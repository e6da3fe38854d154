#include "secret/keypair.h"
#include "secret/kind.h"
#include "secret/ssh_text.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <string.h>

/* A line of authorized_keys has 8 KiB at most. */
#define COMMENT_MAX 1000

/* How a key is made. */
typedef struct skv_ssh_kind {
    const char *type, *curve; /* names of the protocol */
    int size;                 /* for skv_keypair_new() */
    skv_status (*make)(const struct skv_ssh_kind *kind, skv_ssh_key *key, skv_reply *reply);
} skv_ssh_kind;

static void put_name(skv_buf *out, const char *name)
{
    skv_ssh_put_string(out, name, strlen(name));
}

static void put_all(skv_buf *out, const skv_buf *part)
{
    if (skv_buf_failed(part))
        out->no_memory = true;
    skv_buf_put(out, part->bytes, part->len);
}

/* Appends a number of the key. Fails with SKV_UNAVAILABLE. */
static void put_number(skv_buf *out, const EVP_PKEY *pair, skv_key_number which, skv_reply *reply)
{
    BIGNUM *number = skv_keypair_number(pair, which);

    if (number)
        skv_ssh_put_number(out, number);
    else
        skv_fail_openssl("write a private key", reply);
    BN_clear_free(number);
}

/* A private key of Ed25519 is any 32 bytes: RFC 8032, section 5.1.5. OpenSSH puts the public key behind them. */
static skv_status make_ed25519(const skv_ssh_kind *kind, skv_ssh_key *key, skv_reply *reply)
{
    unsigned char both[2 * SKV_KEY25519_SIZE], *public = both + SKV_KEY25519_SIZE;

    if (skv_random_bytes(both, SKV_KEY25519_SIZE, reply) == SKV_OK &&
        skv_keypair_public(EVP_PKEY_ED25519, both, public, reply) == SKV_OK) {
        put_name(&key->public, kind->type);
        skv_ssh_put_string(&key->public, public, SKV_KEY25519_SIZE);
        put_all(&key->private, &key->public);
        skv_ssh_put_string(&key->private, both, sizeof both);
    }
    explicit_bzero(both, sizeof both);
    return reply->status;
}

static skv_status make_rsa(const skv_ssh_kind *kind, skv_ssh_key *key, skv_reply *reply)
{
    static const skv_key_number private[] = {SKV_RSA_N, SKV_RSA_E, SKV_RSA_D, SKV_RSA_INVERSE_Q, SKV_RSA_P, SKV_RSA_Q};
    EVP_PKEY *pair = skv_keypair_new(EVP_PKEY_RSA, kind->size, reply);

    if (!pair)
        return reply->status;
    put_name(&key->public, kind->type);
    put_number(&key->public, pair, SKV_RSA_E, reply);
    put_number(&key->public, pair, SKV_RSA_N, reply);
    put_name(&key->private, kind->type);
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        put_number(&key->private, pair, private[i], reply);
    EVP_PKEY_free(pair);
    return reply->status;
}

static skv_status make_ecdsa(const skv_ssh_kind *kind, skv_ssh_key *key, skv_reply *reply)
{
    EVP_PKEY *pair = skv_keypair_new(EVP_PKEY_EC, kind->size, reply);
    unsigned char *point = NULL;
    int len = pair ? i2d_PublicKey(pair, &point) : 0;

    if (len > 0) {
        put_name(&key->public, kind->type);
        put_name(&key->public, kind->curve);
        skv_ssh_put_string(&key->public, point, (size_t)len);
        put_all(&key->private, &key->public);
        put_number(&key->private, pair, SKV_EC_PRIVATE, reply);
    } else {
        skv_fail_openssl("write a public key", reply);
    }
    OPENSSL_free(point);
    EVP_PKEY_free(pair);
    return reply->status;
}

static void put_texts(const skv_ssh_key *key, json_t **made, skv_reply *reply)
{
    json_t *parts = json_object();

    skv_json_put(&parts, "public", skv_ssh_public_text(key));
    skv_json_put(&parts, "fingerprint", skv_ssh_fingerprint(key, reply));
    skv_json_put(made, "value", skv_ssh_private_text(key, reply));
    skv_json_put(made, "parts", parts);
}

/* Reads the last options, and makes a key. */
static skv_status make_ssh(const skv_ssh_kind *kind, skv_request *request, json_t **made)
{
    skv_ssh_key key = {.comment = skv_request_line(request, "comment", "", COMMENT_MAX)};

    if (!skv_request_done(request))
        return request->reply->status;
    skv_buf_init(&key.public, SKV_PEM_MAX);
    skv_buf_init(&key.private, SKV_PEM_MAX);
    ERR_set_mark();
    if (kind->make(kind, &key, request->reply) == SKV_OK)
        put_texts(&key, made, request->reply);
    ERR_pop_to_mark();
    skv_buf_free(&key.public);
    skv_buf_free(&key.private);
    return request->reply->status;
}

skv_status skv_make_ssh_ed25519(skv_request *request, json_t **made)
{
    static const skv_ssh_kind kind = {.type = "ssh-ed25519", .make = make_ed25519};

    return make_ssh(&kind, request, made);
}

skv_status skv_make_ssh_rsa(skv_request *request, json_t **made)
{
    skv_ssh_kind kind = {.type = "ssh-rsa", .make = make_rsa};

    kind.size = (int)skv_request_integer(request, "bits", 3072, 2048, 8192);
    return make_ssh(&kind, request, made);
}

skv_status skv_make_ssh_ecdsa(skv_request *request, json_t **made)
{
    static const skv_ssh_kind kinds[] = {
        {"ecdsa-sha2-nistp256", "nistp256", NID_X9_62_prime256v1, make_ecdsa},
        {"ecdsa-sha2-nistp384", "nistp384", NID_secp384r1, make_ecdsa},
        {"ecdsa-sha2-nistp521", "nistp521", NID_secp521r1, make_ecdsa},
    };
    const char *curve = skv_request_text(request, "curve", "nistp256");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].curve, curve) == 0)
            return make_ssh(&kinds[i], request, made);
    return skv_request_refuse(request, "curve", "'nistp256', 'nistp384' or 'nistp521'");
}
