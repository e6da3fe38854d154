/* authority.h - CAs that simpkv does not make, such as one that has expired. */
#ifndef SKV_TEST_AUTHORITY_H
#define SKV_TEST_AUTHORITY_H

#include "check.h"

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <time.h>

#define DAY 86400

/* Texts in PEM. */
typedef struct authority {
    char certificate[4096], private[1024];
} authority;

/* An extension in the notation of openssl.cnf; .nid 0 ends a list of them. */
typedef struct authority_extension {
    int nid;
    const char *value;
} authority_extension;

static const authority_extension usual_extensions[] = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                       {NID_key_usage, "critical,keyCertSign,cRLSign"},
                                                       {NID_subject_key_identifier, "hash"},
                                                       {0, NULL}};

static inline EVP_PKEY *new_pair(int type)
{
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_id(type, NULL);
    EVP_PKEY *pair = NULL;

    CHECK(EVP_PKEY_keygen_init(context) == 1);
    CHECK(type != EVP_PKEY_EC || EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1);
    CHECK(EVP_PKEY_keygen(context, &pair) == 1);
    EVP_PKEY_CTX_free(context);
    return pair;
}

static inline void write_pem(BIO *bio, char *out, size_t size)
{
    int len = BIO_read(bio, out, (int)size - 1);

    CHECK(len > 0 && (size_t)len < size - 1);
    out[len > 0 ? len : 0] = '\0';
    BIO_free(bio);
}

static inline void extend(X509 *certificate, const authority_extension *extensions)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, certificate, certificate, NULL, NULL, 0);
    for (; extensions->nid; extensions++) {
        X509_EXTENSION *one = X509V3_EXT_conf_nid(NULL, &context, extensions->nid, extensions->value);

        CHECK(one && X509_add_ext(certificate, one, -1) == 1);
        X509_EXTENSION_free(one);
    }
}

/* Makes a certificate that signs itself, valid from and to these seconds from now. */
static inline authority authority_with(int type, long from, long to, const authority_extension *extensions)
{
    EVP_PKEY *pair = new_pair(type);
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    BIO *pem[] = {BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem())};
    authority made;

    CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"Elder", -1, -1, 0) == 1);
    CHECK(X509_set_version(certificate, 2) == 1 && X509_set_issuer_name(certificate, name) == 1);
    CHECK(ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1) == 1);
    CHECK(X509_gmtime_adj(X509_getm_notBefore(certificate), from) != NULL);
    CHECK(X509_gmtime_adj(X509_getm_notAfter(certificate), to) != NULL);
    CHECK(X509_set_pubkey(certificate, pair) == 1);
    extend(certificate, extensions);
    CHECK(X509_sign(certificate, pair, type == EVP_PKEY_ED25519 ? NULL : EVP_sha256()) > 0);
    CHECK(PEM_write_bio_X509(pem[0], certificate) == 1);
    CHECK(PEM_write_bio_PKCS8PrivateKey(pem[1], pair, NULL, NULL, 0, NULL, NULL) == 1);
    write_pem(pem[0], made.certificate, sizeof made.certificate);
    write_pem(pem[1], made.private, sizeof made.private);
    X509_free(certificate);
    EVP_PKEY_free(pair);
    return made;
}

/* Reads a certificate. The caller owns it. */
static inline X509 *certificate_of(const char *pem)
{
    BIO *bio = BIO_new_mem_buf(pem, -1);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    BIO_free(bio);
    CHECK(certificate != NULL);
    return certificate;
}

#endif
