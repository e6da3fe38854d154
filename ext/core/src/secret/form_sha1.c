/* The forms of SHA-1: of MySQL before 8, with MariaDB, and of OpenLDAP. */
#include "base/ascii.h"
#include "base/base64.h"
#include "base/hex.h"
#include "secret/digest.h"
#include "secret/form.h"
#include "secret/salt.h"

#include <string.h>

#define SHA1_SIZE 20
#define SSHA_SALT 16 /* bytes; OpenLDAP takes any number */

/* '*', and the digest of the digest with capital letters. */
skv_status skv_form_mysql_native_password(const skv_making *making, skv_reply *reply)
{
    unsigned char bytes[EVP_MAX_MD_SIZE];
    skv_digest digest;

    skv_digest_open(&digest, EVP_sha1());
    skv_digest_add(&digest, making->secret, making->len);
    skv_digest_take(&digest, bytes);
    skv_digest_add(&digest, bytes, SHA1_SIZE);
    skv_digest_take(&digest, bytes);
    if (skv_digest_close(&digest, reply) == SKV_OK) {
        skv_buf_put_char(&reply->data, '*');
        skv_hex_put(&reply->data, bytes, SHA1_SIZE);
        for (size_t i = 0; i < reply->data.len; i++)
            reply->data.bytes[i] = skv_ascii_upper(reply->data.bytes[i]);
    }
    explicit_bzero(bytes, sizeof bytes);
    return reply->status;
}

/* The digest of the secret and the salt, followed by the salt. */
skv_status skv_form_ssha(const skv_making *making, skv_reply *reply)
{
    unsigned char bytes[EVP_MAX_MD_SIZE + SSHA_SALT], salt[SSHA_SALT];
    skv_digest digest;

    if (skv_salt_bytes(making, salt, sizeof salt, reply) != SKV_OK)
        return reply->status;
    skv_digest_open(&digest, EVP_sha1());
    skv_digest_add(&digest, making->secret, making->len);
    skv_digest_add(&digest, salt, sizeof salt);
    skv_digest_take(&digest, bytes);
    if (skv_digest_close(&digest, reply) == SKV_OK) {
        memcpy(bytes + SHA1_SIZE, salt, sizeof salt);
        skv_buf_put_string(&reply->data, "{SSHA}");
        skv_base64_put(&reply->data, bytes, SHA1_SIZE + sizeof salt);
    }
    return reply->status;
}
