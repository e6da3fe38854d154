#include "secret/issuer.h"

#include "secret/certificate.h"
#include "secret/keypair.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>

/* Reads the certificates of a text. Returns false if one is malformed, or there is none. */
static bool read_chain(BIO *pem, skv_issuer *issuer)
{
    X509 *next;

    issuer->certificate = skv_x509_next(pem);
    issuer->above = sk_X509_new_null();
    if (!issuer->certificate || !issuer->above)
        return false;
    while ((next = skv_x509_next(pem)))
        if (sk_X509_push(issuer->above, next) <= 0) {
            X509_free(next);
            return false;
        }
    return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
}

static void read_issuer_certificate(skv_request *request, skv_issuer *issuer)
{
    const char *text = skv_request_text(request, "certificate", "");
    BIO *pem = BIO_new_mem_buf(text, (int)strlen(text));

    if (!pem || !read_chain(pem, issuer))
        skv_request_refuse(request, "certificate", "the certificate of a CA in PEM, and those above it");
    else if (X509_check_ca(issuer->certificate) != 1)
        skv_request_refuse(request, "certificate", "the certificate of a CA");
    BIO_free(pem);
}

static void read_issuer_key(skv_request *request, skv_issuer *issuer)
{
    const char *text = skv_request_text(request, "private", "");

    issuer->pair = skv_x509_private(text, strlen(text));
    if (!issuer->pair)
        skv_request_refuse(request, "private", "a private key in PEM, without a passphrase");
    else if (request->reply->status == SKV_OK && X509_check_private_key(issuer->certificate, issuer->pair) != 1)
        skv_request_refuse(request, "private", "the private key of the certificate");
}

static void check_validity(const X509 *certificate, skv_reply *reply)
{
    const ASN1_TIME *from = X509_get0_notBefore(certificate), *to = X509_get0_notAfter(certificate);
    char begin[SKV_TIME_MAX], end[SKV_TIME_MAX];

    if (X509_cmp_current_time(from) >= 0 || X509_cmp_current_time(to) <= 0)
        skv_fail(reply, SKV_INVALID, "option 'issuer': its certificate is valid from %s to %s, not now",
                 skv_x509_time(from, begin), skv_x509_time(to, end));
}

skv_status skv_issuer_read(skv_request *request, skv_issuer *issuer)
{
    json_t *object = skv_request_object(request, "issuer");
    skv_request inner;

    *issuer = (skv_issuer){NULL, NULL, NULL};
    if (!object)
        return request->reply->status;
    if (skv_request_open_member(&inner, object, "issuer.", "option 'issuer'", request->reply)) {
        read_issuer_certificate(&inner, issuer);
        read_issuer_key(&inner, issuer);
        if (skv_request_done(&inner))
            check_validity(issuer->certificate, request->reply);
    }
    skv_request_close(&inner);
    return request->reply->status;
}

void skv_issuer_free(skv_issuer *issuer)
{
    X509_free(issuer->certificate);
    sk_X509_pop_free(issuer->above, X509_free);
    EVP_PKEY_free(issuer->pair);
}

/* The last certificate of the chain is trusted, be it a root or not. */
static bool trust_last(X509_STORE *store, const skv_issuer *issuer)
{
    int count = sk_X509_num(issuer->above);
    X509 *last = count ? sk_X509_value(issuer->above, count - 1) : issuer->certificate;

    return X509_STORE_add_cert(store, last) == 1 && X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN) == 1;
}

/* Covers what a CA may forbid: further CAs below it, names; and the chain above it. */
static void verify_chain(const skv_issuer *issuer, X509 *certificate, skv_reply *reply)
{
    STACK_OF(X509) *others = sk_X509_dup(issuer->above);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    int verified = -1;

    if (others && store && context && sk_X509_push(others, issuer->certificate) > 0 && trust_last(store, issuer) &&
        X509_STORE_CTX_init(context, store, certificate, others) == 1)
        verified = X509_verify_cert(context);
    if (verified == 0)
        skv_fail(reply, SKV_INVALID, "option 'issuer': OpenSSL would not accept what it signs: %s",
                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(context)));
    else if (verified < 0)
        skv_fail_openssl("verify a certificate", reply);
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    sk_X509_free(others);
}

/* libcrypto finds this only in the chains of what the new CA will sign. */
static void check_further_ca(const skv_issuer *issuer, skv_reply *reply)
{
    for (int i = 0; i <= sk_X509_num(issuer->above); i++) {
        long allowed = X509_get_pathlen(i ? sk_X509_value(issuer->above, i - 1) : issuer->certificate);

        if (allowed >= 0 && allowed <= i)
            skv_fail(reply, SKV_INVALID, "option 'ca': the issuer or a CA above it allows no further CA (pathlen)");
    }
}

skv_status skv_issuer_verify(const skv_issuer *issuer, X509 *certificate, bool ca, skv_reply *reply)
{
    const ASN1_TIME *end = X509_get0_notAfter(issuer->certificate);
    int days = 0, seconds = 0;
    char time[SKV_TIME_MAX];

    if (ASN1_TIME_diff(&days, &seconds, X509_get0_notAfter(certificate), end) != 1)
        return skv_fail_openssl("compare times", reply);
    if (days < 0 || seconds < 0)
        return skv_fail(reply, SKV_INVALID,
                        "option 'days': the certificate would outlive that of its issuer, which is "
                        "valid until %s",
                        skv_x509_time(end, time));
    if (ca)
        check_further_ca(issuer, reply);
    verify_chain(issuer, certificate, reply);
    return reply->status;
}
