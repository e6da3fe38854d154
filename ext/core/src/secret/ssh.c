#include "secret/keypair.h"
#include "secret/kind.h"
#include "secret/ssh_text.h"
#include "json/tree.h"

#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <string.h>

/* A line of authorized_keys has 8 KiB at most. */
#define COMMENT_MAX 1000

/* How a key is made and encoded. */
typedef struct skv_ssh_kind {
    const char *type, *curve; /* names of the protocol */
    int pair, size;           /* for skv_keypair_new() */
    bool (*put)(const struct skv_ssh_kind *kind, EVP_PKEY *pair, skv_ssh_key *key);
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

/* The private key is the seed, followed by the public key. */
static bool put_ed25519(const skv_ssh_kind *kind, EVP_PKEY *pair, skv_ssh_key *key)
{
    unsigned char bytes[64];
    size_t private_size = 32, public_size = 32;
    bool read = EVP_PKEY_get_raw_private_key(pair, bytes, &private_size) == 1 &&
                EVP_PKEY_get_raw_public_key(pair, bytes + 32, &public_size) == 1;

    if (read) {
        put_name(&key->public, kind->type);
        skv_ssh_put_string(&key->public, bytes + 32, 32);
        put_all(&key->private, &key->public);
        skv_ssh_put_string(&key->private, bytes, sizeof bytes);
    }
    explicit_bzero(bytes, sizeof bytes);
    return read;
}

/* A value in DER. */
typedef struct skv_der {
    const unsigned char *bytes;
    long len;
} skv_der;

/* Finds the first values of a SEQUENCE. Returns false if it has fewer. */
static bool find_values(const unsigned char *sequence, long len, skv_der *values, size_t count)
{
    const unsigned char *at = sequence, *end;
    long size;
    int tag, class;

    if (ASN1_get_object(&at, &size, &tag, &class, len) & 0x80)
        return false;
    for (end = at + size; count; count--, values++, at += size) {
        if (at >= end || ASN1_get_object(&at, &size, &tag, &class, end - at) & 0x80)
            return false;
        *values = (skv_der){at, size};
    }
    return true;
}

/* Calls `put` with the first values of the private key in DER: RFC 8017, appendix A.1.2, and RFC 5915, section 3.
 * OpenSSL 1.1.1 and 3 have no other functions in common that tell the numbers of a key and are not deprecated. */
static bool with_values(EVP_PKEY *pair, size_t count, void (*put)(const skv_der *values, skv_ssh_key *key),
                        skv_ssh_key *key)
{
    unsigned char *der = NULL;
    int len = i2d_PrivateKey(pair, &der);
    skv_der values[9] = {{NULL, 0}};
    bool found = len > 0 && find_values(der, len, values, count);

    if (found)
        put(values, key);
    if (len > 0)
        OPENSSL_clear_free(der, (size_t)len);
    return found;
}

static void put_der_integer(skv_buf *out, const skv_der *value)
{
    skv_ssh_put_number(out, value->bytes, (size_t)value->len);
}

/* The values are the version, n, e, d, p, q, d mod (p-1), d mod (q-1), and 1/q mod p. */
static void put_rsa_values(const skv_der *values, skv_ssh_key *key)
{
    static const size_t private[] = {1, 2, 3, 8, 4, 5};

    put_der_integer(&key->public, &values[2]);
    put_der_integer(&key->public, &values[1]);
    for (size_t i = 0; i < sizeof private / sizeof *private; i++)
        put_der_integer(&key->private, &values[private[i]]);
}

static bool put_rsa(const skv_ssh_kind *kind, EVP_PKEY *pair, skv_ssh_key *key)
{
    put_name(&key->public, kind->type);
    put_name(&key->private, kind->type);
    return with_values(pair, 9, put_rsa_values, key);
}

/* The values are the version and the private number. */
static void put_ecdsa_values(const skv_der *values, skv_ssh_key *key)
{
    put_der_integer(&key->private, &values[1]);
}

static bool put_ecdsa(const skv_ssh_kind *kind, EVP_PKEY *pair, skv_ssh_key *key)
{
    unsigned char *point = NULL;
    int len = i2d_PublicKey(pair, &point);

    if (len <= 0)
        return false;
    put_name(&key->public, kind->type);
    put_name(&key->public, kind->curve);
    skv_ssh_put_string(&key->public, point, (size_t)len);
    OPENSSL_free(point);
    put_all(&key->private, &key->public);
    return with_values(pair, 2, put_ecdsa_values, key);
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
    EVP_PKEY *pair;

    if (!skv_request_done(request))
        return request->reply->status;
    skv_buf_init(&key.public, SKV_SSH_KEY_MAX);
    skv_buf_init(&key.private, SKV_SSH_KEY_MAX);
    ERR_set_mark();
    pair = skv_keypair_new(kind->pair, kind->size, request->reply);
    if (pair && !kind->put(kind, pair, &key))
        skv_fail_openssl("write a key for SSH", request->reply);
    else if (pair)
        put_texts(&key, made, request->reply);
    EVP_PKEY_free(pair);
    ERR_pop_to_mark();
    skv_buf_free(&key.public);
    skv_buf_free(&key.private);
    return request->reply->status;
}

skv_status skv_make_ssh_ed25519(skv_request *request, json_t **made)
{
    static const skv_ssh_kind kind = {"ssh-ed25519", NULL, EVP_PKEY_ED25519, 0, put_ed25519};

    return make_ssh(&kind, request, made);
}

skv_status skv_make_ssh_rsa(skv_request *request, json_t **made)
{
    skv_ssh_kind kind = {"ssh-rsa", NULL, EVP_PKEY_RSA, 0, put_rsa};

    kind.size = (int)skv_request_integer(request, "bits", 3072, 2048, 8192);
    return make_ssh(&kind, request, made);
}

skv_status skv_make_ssh_ecdsa(skv_request *request, json_t **made)
{
    static const skv_ssh_kind kinds[] = {
        {"ecdsa-sha2-nistp256", "nistp256", EVP_PKEY_EC, NID_X9_62_prime256v1, put_ecdsa},
        {"ecdsa-sha2-nistp384", "nistp384", EVP_PKEY_EC, NID_secp384r1, put_ecdsa},
        {"ecdsa-sha2-nistp521", "nistp521", EVP_PKEY_EC, NID_secp521r1, put_ecdsa},
    };
    const char *curve = skv_request_text(request, "curve", "nistp256");

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].curve, curve) == 0)
            return make_ssh(&kinds[i], request, made);
    return skv_request_refuse(request, "curve", "'nistp256', 'nistp384' or 'nistp521'");
}
