/* Two forms whose rounds are those of crypt(3), and which libxcrypt does not make:
 *
 *   apr1                    MD5 with another name; 1,000 rounds
 *   caching_sha2_password   SHA-256 with a salt of 20 bytes, of which libxcrypt would use 16; 5,000 rounds */
#include "secret/crypt_digits.h"
#include "secret/digest.h"
#include "secret/form.h"
#include "secret/salt.h"

#include <string.h>

#define APR1 "$apr1$"
#define APR1_SALT 8
#define MD5_SIZE 16
#define SHA2 "$A$005$"
#define SHA2_SALT 20
#define SHA256_SIZE 32

/* The first `len` bytes of what `block` becomes if it is repeated. */
typedef struct run {
    const void *block;
    size_t size, len;
} run;

/* One computation. */
typedef struct rounds {
    run secret, salt; /* what each round adds in the place of them */
    size_t size;      /* of a digest */
    skv_digest digest;
    unsigned char bytes[EVP_MAX_MD_SIZE]; /* of the last digest */
} rounds;

static void add_run(rounds *r, run what)
{
    skv_digest_add_repeated(&r->digest, what.block, what.size, what.len);
}

static void add_last(rounds *r)
{
    skv_digest_add(&r->digest, r->bytes, r->size);
}

static void take(rounds *r, unsigned char *out)
{
    skv_digest_take(&r->digest, out);
}

static void run_rounds(rounds *r, unsigned count)
{
    for (unsigned round = 0; round < count && !r->digest.failed; round++) {
        if (round & 1)
            add_run(r, r->secret);
        else
            add_last(r);
        if (round % 3)
            add_run(r, r->salt);
        if (round % 7)
            add_run(r, r->secret);
        if (round & 1)
            add_last(r);
        else
            add_run(r, r->secret);
        take(r, r->bytes);
    }
}

/* Computes the digest of secret, salt and secret, and begins the next one with the secret, `name` and the salt. */
static void begin_rounds(rounds *r, const char *name)
{
    add_run(r, r->secret);
    add_run(r, r->salt);
    add_run(r, r->secret);
    take(r, r->bytes);
    add_run(r, r->secret);
    skv_digest_add(&r->digest, name, strlen(name));
    add_run(r, r->salt);
    add_run(r, (run){r->bytes, r->size, r->secret.len});
}

/* Frees the state, and appends name, salt, separator and the last digest, whose bytes come in another order. */
static skv_status end_rounds(rounds *r, const char *name, const char *salt, const char *separator,
                             const unsigned char *order, skv_reply *reply)
{
    if (skv_digest_close(&r->digest, reply) == SKV_OK) {
        skv_buf_put_string(&reply->data, name);
        skv_buf_put_string(&reply->data, salt);
        skv_buf_put_string(&reply->data, separator);
        skv_put_crypt_digits(&reply->data, r->bytes, order, r->size);
    }
    explicit_bzero(r, sizeof *r);
    return reply->status;
}

static rounds new_rounds(const skv_making *making, const char *salt, const EVP_MD *type, size_t size)
{
    rounds r = {.secret = {making->secret, making->len, making->len}, .salt = {salt, strlen(salt), strlen(salt)}};

    r.size = size;
    skv_digest_open(&r.digest, type);
    return r;
}

skv_status skv_apr1_of(const skv_making *making, const char *salt, skv_reply *reply)
{
    static const unsigned char order[MD5_SIZE] = {12, 6, 0, 13, 7, 1, 14, 8, 2, 15, 9, 3, 5, 10, 4, 11};
    rounds r = new_rounds(making, salt, EVP_md5(), MD5_SIZE);

    begin_rounds(&r, APR1);
    /* A NUL for each bit of the length that is set, else the first character. */
    for (size_t bits = making->len; bits; bits >>= 1)
        skv_digest_add(&r.digest, bits & 1 ? "" : making->secret, 1);
    take(&r, r.bytes);
    run_rounds(&r, 1000);
    return end_rounds(&r, APR1, salt, "$", order, reply);
}

skv_status skv_caching_sha2_of(const skv_making *making, const char *salt, skv_reply *reply)
{
    static const unsigned char order[SHA256_SIZE] = {20, 10, 0,  11, 1, 21, 2, 22, 12, 23, 13, 3,  14, 4, 24, 5,
                                                     25, 15, 26, 16, 6, 17, 7, 27, 8,  28, 18, 29, 19, 9, 30, 31};
    unsigned char of_secret[EVP_MAX_MD_SIZE], of_salt[EVP_MAX_MD_SIZE];
    rounds r = new_rounds(making, salt, EVP_sha256(), SHA256_SIZE);

    begin_rounds(&r, "");
    /* The last digest for each bit of the length that is set, else the secret. */
    for (size_t bits = making->len; bits; bits >>= 1)
        add_run(&r, bits & 1 ? (run){r.bytes, r.size, r.size} : r.secret);
    take(&r, r.bytes);
    for (size_t i = 0; i < making->len; i++)
        add_run(&r, r.secret);
    take(&r, of_secret);
    for (size_t i = 0; i < 16 + (size_t)r.bytes[0]; i++)
        add_run(&r, r.salt);
    take(&r, of_salt);
    r.secret = (run){of_secret, r.size, making->len};
    r.salt = (run){of_salt, r.size, r.salt.len};
    run_rounds(&r, 5000);
    explicit_bzero(of_secret, sizeof of_secret);
    explicit_bzero(of_salt, sizeof of_salt);
    return end_rounds(&r, SHA2, salt, "", order, reply);
}

skv_status skv_form_apr1(const skv_making *making, skv_reply *reply)
{
    char salt[APR1_SALT + 1] = "";

    if (skv_salt_digits(making, salt, APR1_SALT, reply) != SKV_OK)
        return reply->status;
    return skv_apr1_of(making, salt, reply);
}

/* MySQL's own salts have any ASCII but '$' and NUL. These need no escape in SQL. */
skv_status skv_form_caching_sha2_password(const skv_making *making, skv_reply *reply)
{
    char salt[SHA2_SALT + 1] = "";

    if (skv_salt_digits(making, salt, SHA2_SALT, reply) != SKV_OK)
        return reply->status;
    return skv_caching_sha2_of(making, salt, reply);
}
