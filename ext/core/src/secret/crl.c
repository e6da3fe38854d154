#include "secret/certificate.h"
#include "secret/extensions.h"
#include "secret/issuer.h"
#include "secret/keypair.h"
#include "simpkv_secret.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <string.h>
#include <time.h>

/* RFC 5280, section 4.1.2.2: a serial number has 20 bytes at most. */
#define SERIAL_DIGITS_MAX 40

/* Reads the offset of RFC 3339 from UTC: "Z" or "+01:00". Returns false for another text. */
static bool read_offset(const char *text, int *seconds)
{
    int hours = 0, minutes = 0, end = 0;

    *seconds = 0;
    if (strcmp(text, "Z") == 0)
        return true;
    if ((*text != '+' && *text != '-') || strspn(text + 1, "0123456789:") != 5 ||
        sscanf(text + 1, "%2d:%2d%n", &hours, &minutes, &end) != 2 || end != 5)
        return false;
    *seconds = (hours * 60 + minutes) * (*text == '-' ? -60 : 60);
    return hours < 24 && minutes < 60 && !text[6];
}

/* Reads a time of RFC 3339; fractions of a second do not count. */
static bool read_time(const char *text, int64_t *seconds)
{
    struct tm utc = {0};
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &utc);
    int offset;

    if (rest && *rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (!rest || !read_offset(rest, &offset))
        return false;
    *seconds = (int64_t)timegm(&utc) - offset;
    return true;
}

/* The time from which the certificate is revoked: unix seconds or RFC 3339. Years have four digits in a list. */
static ASN1_TIME *read_revoked_at(skv_request *request)
{
    const int64_t max = INT64_C(253402300799);
    int64_t seconds = -1;

    if (json_is_integer(json_object_get(request->members, "at")))
        seconds = skv_request_integer(request, "at", -1, 0, max);
    else if (!read_time(skv_request_text(request, "at", ""), &seconds) || seconds < 0 || seconds > max)
        skv_request_refuse(request, "at", "a time as '2026-11-29T05:00:00Z' or in seconds since 1970");
    return request->reply->status == SKV_OK ? ASN1_TIME_set(NULL, (time_t)seconds) : NULL;
}

static ASN1_INTEGER *read_revoked_serial(skv_request *request)
{
    const char *text = skv_request_text(request, "serial", "");
    size_t digits = strspn(text, "0123456789abcdefABCDEF");
    ASN1_INTEGER *serial = NULL;
    BIGNUM *number = NULL;

    if (!digits || digits > SERIAL_DIGITS_MAX || text[digits])
        skv_request_refuse(request, "serial", "a serial number in hexadecimal digits");
    else if (BN_hex2bn(&number, text))
        serial = BN_to_ASN1_INTEGER(number, NULL);
    BN_free(number);
    return serial;
}

/* Adds a member of "revoked" to the list. */
static void add_revoked(skv_request *request, X509_CRL *crl)
{
    ASN1_INTEGER *serial = read_revoked_serial(request);
    ASN1_TIME *at = read_revoked_at(request);
    X509_REVOKED *revoked = X509_REVOKED_new();
    bool added = skv_request_done(request) && serial && at && revoked &&
                 X509_REVOKED_set_serialNumber(revoked, serial) == 1 &&
                 X509_REVOKED_set_revocationDate(revoked, at) == 1 && X509_CRL_add0_revoked(crl, revoked) == 1;

    if (!added) {
        X509_REVOKED_free(revoked);
        skv_fail_openssl("make a revocation list", request->reply);
    }
    ASN1_INTEGER_free(serial);
    ASN1_TIME_free(at);
}

/* Sorts the list. */
static void refuse_repeated(skv_request *request, X509_CRL *crl)
{
    STACK_OF(X509_REVOKED) * list;

    X509_CRL_sort(crl);
    list = X509_CRL_get_REVOKED(crl);
    for (int i = 1; i < sk_X509_REVOKED_num(list); i++)
        if (ASN1_INTEGER_cmp(X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(list, i - 1)),
                             X509_REVOKED_get0_serialNumber(sk_X509_REVOKED_value(list, i))) == 0)
            skv_request_refuse(request, "revoked", "each serial number once");
}

static void read_revoked(skv_request *request, X509_CRL *crl)
{
    skv_json_walk walk = {.container = skv_request_array(request, "revoked")};
    skv_request inner;

    while (request->reply->status == SKV_OK && skv_json_next(&walk)) {
        if (!json_is_object(walk.value)) {
            skv_request_refuse(request, "revoked", "an Array of Hashes with 'serial' and 'at'");
            return;
        }
        if (skv_request_open_member(&inner, walk.value, "revoked.", "option 'revoked'", request->reply))
            add_revoked(&inner, crl);
        skv_request_close(&inner);
    }
    refuse_repeated(request, crl);
}

static void read_crl_issuer(skv_request *request, skv_issuer *issuer)
{
    if (skv_issuer_read(request, issuer) != SKV_OK)
        return;
    if (!issuer->certificate)
        skv_request_refuse(request, "issuer", "a Hash with 'certificate' and 'private'");
    else if (!(X509_get_key_usage(issuer->certificate) & KU_CRL_SIGN))
        skv_request_refuse(request, "issuer", "a CA whose certificate allows to sign revocation lists (cRLSign)");
}

/* Fills and signs the list. Returns false if libcrypto fails. */
static bool sign_crl(X509_CRL *crl, const skv_issuer *issuer, int64_t number, int days)
{
    time_t now = time(NULL);
    ASN1_TIME *from = ASN1_TIME_adj(NULL, now, 0, -SKV_BACKDATED_SECONDS), *to = ASN1_TIME_adj(NULL, now, days, 0);
    bool is_signed = from && to && X509_CRL_set_version(crl, 1) == 1 &&
                     X509_CRL_set_issuer_name(crl, X509_get_subject_name(issuer->certificate)) == 1 &&
                     X509_CRL_set1_lastUpdate(crl, from) == 1 && X509_CRL_set1_nextUpdate(crl, to) == 1 &&
                     skv_extend_crl(crl, issuer->certificate, number) &&
                     X509_CRL_sign(crl, issuer->pair, skv_x509_digest(issuer->pair)) > 0;

    ASN1_TIME_free(from);
    ASN1_TIME_free(to);
    return is_signed;
}

static void put_crl(X509_CRL *crl, skv_reply *reply)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char *text = NULL;
    long len = bio && PEM_write_bio_X509_CRL(bio, crl) == 1 ? BIO_get_mem_data(bio, &text) : 0;

    if (len > 0)
        skv_buf_put(&reply->data, text, (size_t)len);
    else
        skv_fail_openssl("write a revocation list", reply);
    BIO_free(bio);
    skv_reply_done(reply);
}

static void make_crl(skv_request *request, X509_CRL *crl)
{
    int64_t number = skv_request_integer(request, "number", -1, 0, INT64_MAX);
    int days = (int)skv_request_integer(request, "days", 30, 1, 36500);
    skv_issuer issuer;

    if (number < 0)
        skv_request_refuse(request, "number", "an integer, higher than that of the list before");
    read_crl_issuer(request, &issuer);
    read_revoked(request, crl);
    if (skv_request_done(request)) {
        if (sign_crl(crl, &issuer, number, days))
            put_crl(crl, request->reply);
        else
            skv_fail_openssl("make a revocation list", request->reply);
    }
    skv_issuer_free(&issuer);
}

skv_status skv_secret_crl(const char *json, size_t json_len, skv_reply *reply)
{
    skv_request request;
    X509_CRL *crl;

    if (skv_reply_begin(reply) != SKV_OK)
        return SKV_INVALID;
    ERR_set_mark();
    crl = X509_CRL_new();
    if (!crl)
        skv_fail_openssl("make a revocation list", reply);
    if (skv_request_open(&request, json, json_len, reply)) {
        request.what = "a revocation list";
        make_crl(&request, crl);
    }
    skv_request_close(&request);
    X509_CRL_free(crl);
    ERR_pop_to_mark();
    return reply->status;
}
