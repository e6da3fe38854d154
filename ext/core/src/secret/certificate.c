#include "secret/certificate.h"

#include "secret/keypair.h"
#include "simpkv_secret.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

#define PEM_MAX 1048576

const char *skv_x509_time(const ASN1_TIME *time, char out[SKV_TIME_MAX])
{
    struct tm utc;

    if (ASN1_TIME_to_tm(time, &utc) != 1 || !strftime(out, SKV_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &utc))
        out[0] = '\0';
    return out;
}

json_t *skv_x509_text(BIO *bio, bool written, skv_reply *reply)
{
    char *text = NULL;
    long len = written ? BIO_get_mem_data(bio, &text) : 0;

    if (!written)
        skv_fail_openssl("write a text", reply);
    else if (!skv_is_utf8(text, (size_t)len))
        skv_fail(reply, SKV_INVALID, "the certificate has a name that is not UTF-8");
    else
        return json_stringn(len ? text : "", (size_t)len);
    return NULL;
}

json_t *skv_x509_pem(X509 *certificate, skv_reply *reply)
{
    BIO *bio = BIO_new(BIO_s_mem());
    json_t *text = skv_x509_text(bio, bio && PEM_write_bio_X509(bio, certificate) == 1, reply);

    BIO_free(bio);
    return text;
}

json_t *skv_x509_serial(const ASN1_INTEGER *serial, skv_reply *reply)
{
    BIO *bio = BIO_new(BIO_s_mem());
    json_t *text = skv_x509_text(bio, bio && i2a_ASN1_INTEGER(bio, serial) > 0, reply);

    BIO_free(bio);
    return text;
}

json_t *skv_x509_fingerprint(const X509 *certificate, skv_reply *reply)
{
    static const char digits[] = "0123456789ABCDEF";
    unsigned char digest[EVP_MAX_MD_SIZE];
    char text[3 * EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (X509_digest(certificate, EVP_sha256(), digest, &len) != 1 || !len) {
        skv_fail_openssl("compute a fingerprint", reply);
        return NULL;
    }
    for (size_t i = 0; i < len; i++) {
        text[3 * i] = digits[digest[i] >> 4];
        text[3 * i + 1] = digits[digest[i] & 15];
        text[3 * i + 2] = ':';
    }
    return json_stringn(text, 3 * (size_t)len - 1);
}

void skv_x509_put_validity(const X509 *certificate, json_t **object)
{
    char time[SKV_TIME_MAX];

    skv_json_put(object, "not_before", json_string(skv_x509_time(X509_get0_notBefore(certificate), time)));
    skv_json_put(object, "not_after", json_string(skv_x509_time(X509_get0_notAfter(certificate), time)));
}

/* libcrypto's default asks for a passphrase on the terminal. */
static int no_passphrase(char *buffer, int size, int writes, void *context)
{
    (void)buffer, (void)size, (void)writes, (void)context;
    return -1;
}

X509 *skv_x509_next(BIO *pem)
{
    return PEM_read_bio_X509(pem, NULL, no_passphrase, NULL);
}

EVP_PKEY *skv_x509_private(const char *pem, size_t len)
{
    BIO *bio = BIO_new_mem_buf(pem, (int)len);
    EVP_PKEY *pair = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL) : NULL;

    BIO_free(bio);
    return pair;
}

const EVP_MD *skv_x509_digest(const EVP_PKEY *pair)
{
    int type = EVP_PKEY_base_id(pair);

    return type == EVP_PKEY_ED25519 || type == EVP_PKEY_ED448 ? NULL : EVP_sha256();
}

/* RFC 2253, but with the letters of UTF-8 as they are. */
static json_t *text_of_name(const X509_NAME *name, skv_reply *reply)
{
    BIO *bio = BIO_new(BIO_s_mem());
    bool written = bio && X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB) >= 0;
    json_t *text = skv_x509_text(bio, written, reply);

    BIO_free(bio);
    return text;
}

static skv_status put_certificate_facts(X509 *certificate, skv_reply *reply)
{
    json_t *facts = json_object();

    if (X509_get_extension_flags(certificate) & EXFLAG_INVALID)
        skv_fail(reply, SKV_INVALID, "the extensions of the certificate are malformed");
    skv_json_put(&facts, "serial", skv_x509_serial(X509_get0_serialNumber(certificate), reply));
    skv_json_put(&facts, "subject", text_of_name(X509_get_subject_name(certificate), reply));
    skv_json_put(&facts, "fingerprint", skv_x509_fingerprint(certificate, reply));
    skv_x509_put_validity(certificate, &facts);
    skv_json_put(&facts, "ca", json_boolean(X509_check_ca(certificate) == 1));
    if (reply->status == SKV_OK)
        return skv_json_reply(facts, reply);
    json_decref(facts);
    return reply->status;
}

static void check_private(const X509 *certificate, const char *key, size_t len, skv_reply *reply)
{
    EVP_PKEY *pair = key && len <= PEM_MAX ? skv_x509_private(key, len) : NULL;

    if (!pair)
        skv_fail(reply, SKV_INVALID, "expected a private key in PEM, without a passphrase");
    else if (X509_check_private_key(certificate, pair) != 1)
        skv_fail(reply, SKV_INVALID, "the private key is not that of the certificate");
    EVP_PKEY_free(pair);
}

skv_status skv_secret_certificate(const char *pem, size_t pem_len, const char *key, size_t key_len, skv_reply *reply)
{
    BIO *bio;
    X509 *certificate;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    if (!pem || pem_len > PEM_MAX)
        return skv_fail(reply, SKV_INVALID, "expected a certificate in PEM");
    ERR_set_mark();
    bio = BIO_new_mem_buf(pem, (int)pem_len);
    certificate = bio ? skv_x509_next(bio) : NULL;
    if (certificate)
        check_private(certificate, key, key_len, reply);
    else
        skv_fail(reply, SKV_INVALID, "expected a certificate in PEM");
    if (reply->status == SKV_OK)
        put_certificate_facts(certificate, reply);
    X509_free(certificate);
    BIO_free(bio);
    ERR_pop_to_mark();
    return reply->status;
}
