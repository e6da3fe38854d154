#include "secret/certificate.h"
#include "secret/extensions.h"
#include "secret/issuer.h"
#include "secret/keypair.h"
#include "secret/kind.h"
#include "secret/names.h"
#include "secret/pem.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <string.h>
#include <time.h>

#define SERIAL_BITS 159

/* What a certificate is to have. */
typedef struct skv_x509 {
    X509_NAME *subject;
    GENERAL_NAMES *names;
    skv_issuer issuer;
    bool ca, rsa;
    int bits, days;
} skv_x509;

static bool reads_rsa(skv_request *request)
{
    const char *type = skv_request_text(request, "key_type", "ec");
    bool rsa = strcmp(type, "rsa") == 0;

    if (!rsa && strcmp(type, "ec") != 0)
        skv_request_refuse(request, "key_type", "'ec' or 'rsa'");
    return rsa;
}

static bool read_x509(skv_request *request, skv_x509 *wanted)
{
    *wanted = (skv_x509){.ca = skv_request_flag(request, "ca")};
    wanted->days = (int)skv_request_integer(request, "days", wanted->ca ? 3650 : 365, 1, 36500);
    wanted->rsa = reads_rsa(request);
    wanted->bits = wanted->rsa ? (int)skv_request_integer(request, "bits", 3072, 2048, 8192) : 0;
    wanted->subject = skv_names_subject(request);
    wanted->names = skv_names_alternative(request);
    skv_issuer_read(request, &wanted->issuer);
    if (skv_request_done(request) && !wanted->ca)
        skv_names_add_common(wanted->names, wanted->subject, request->reply);
    return request->reply->status == SKV_OK;
}

static void free_x509(skv_x509 *wanted)
{
    X509_NAME_free(wanted->subject);
    GENERAL_NAMES_free(wanted->names);
    skv_issuer_free(&wanted->issuer);
}

static bool set_serial(X509 *certificate)
{
    BIGNUM *number = BN_new();
    bool set = number && BN_rand(number, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
               BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate));

    BN_free(number);
    return set;
}

static bool set_validity(X509 *certificate, int days)
{
    time_t now = time(NULL);

    return X509_time_adj_ex(X509_getm_notBefore(certificate), 0, -SKV_BACKDATED_SECONDS, &now) &&
           X509_time_adj_ex(X509_getm_notAfter(certificate), days, 0, &now);
}

/* Fills and signs a certificate. Returns false if libcrypto fails. */
static bool sign_x509(const skv_x509 *wanted, X509 *certificate, EVP_PKEY *pair)
{
    X509 *issuer = wanted->issuer.certificate ? wanted->issuer.certificate : certificate;
    EVP_PKEY *signer = wanted->issuer.certificate ? wanted->issuer.pair : pair;

    return X509_set_version(certificate, 2) == 1 && set_serial(certificate) &&
           X509_set_subject_name(certificate, wanted->subject) == 1 &&
           X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1 &&
           set_validity(certificate, wanted->days) && X509_set_pubkey(certificate, pair) == 1 &&
           skv_extend_certificate(certificate, issuer, wanted->ca, wanted->rsa, wanted->names) &&
           X509_sign(certificate, signer, skv_x509_digest(signer)) > 0;
}

/* The certificate of the issuer and those above it. */
static json_t *chain_pem(const skv_issuer *issuer, skv_reply *reply)
{
    BIO *bio = BIO_new(BIO_s_mem());
    bool written = bio && PEM_write_bio_X509(bio, issuer->certificate) == 1;
    json_t *text;

    for (int i = 0; written && i < sk_X509_num(issuer->above); i++)
        written = PEM_write_bio_X509(bio, sk_X509_value(issuer->above, i)) == 1;
    text = skv_x509_text(bio, written, reply);
    BIO_free(bio);
    return text;
}

static void put_x509(const skv_x509 *wanted, X509 *certificate, json_t **made, skv_reply *reply)
{
    json_t *parts = json_object();

    skv_json_put(&parts, "certificate", skv_x509_pem(certificate, reply));
    if (wanted->issuer.certificate)
        skv_json_put(&parts, "chain", chain_pem(&wanted->issuer, reply));
    skv_json_put(&parts, "fingerprint", skv_x509_fingerprint(certificate, reply));
    skv_json_put(&parts, "serial", skv_x509_serial(X509_get0_serialNumber(certificate), reply));
    skv_x509_put_validity(certificate, &parts);
    skv_json_put(made, "parts", parts);
}

static skv_status make_x509(const skv_x509 *wanted, json_t **made, skv_reply *reply)
{
    EVP_PKEY *pair = skv_keypair_new(wanted->rsa ? EVP_PKEY_RSA : EVP_PKEY_EC,
                                     wanted->rsa ? wanted->bits : NID_X9_62_prime256v1, reply);
    X509 *certificate = X509_new();

    if (pair && (!certificate || !sign_x509(wanted, certificate, pair)))
        skv_fail_openssl("make a certificate", reply);
    if (reply->status == SKV_OK && wanted->issuer.certificate)
        skv_issuer_verify(&wanted->issuer, certificate, wanted->ca, reply);
    if (reply->status == SKV_OK) {
        skv_json_put(made, "value", skv_pem_private(pair, reply));
        put_x509(wanted, certificate, made, reply);
    }
    X509_free(certificate);
    EVP_PKEY_free(pair);
    return reply->status;
}

skv_status skv_make_x509(skv_request *request, json_t **made)
{
    skv_x509 wanted;

    ERR_set_mark();
    if (read_x509(request, &wanted))
        make_x509(&wanted, made, request->reply);
    free_x509(&wanted);
    ERR_pop_to_mark();
    return request->reply->status;
}
