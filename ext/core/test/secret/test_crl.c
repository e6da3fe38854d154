/* Revocation lists, and the facts of certificates. spec/integration/secret_kinds_spec.rb has openssl verify with them.
 */
#include "authority.h"
#include "chaos.h"
#include "check.h"
#include "made.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

static authority issuer;

/* Returns a request, which the caller frees; `options` is JSON with ' for ", and has no issuer. */
static char *request_by(const authority *ca, const char *options)
{
    json_t *request = json_of(options);
    char *text;

    json_object_set_new(request, "issuer",
                        json_pack("{s:s,s:s}", "certificate", ca->certificate, "private", ca->private));
    text = json_dumps(request, 0);
    json_decref(request);
    return text;
}

static skv_status list_by(const authority *ca, const char *options)
{
    char *text = request_by(ca, options);
    skv_status status = skv_secret_crl(text, strlen(text), result);

    free(text);
    return status;
}

static void list_refused(const char *options, const char *part)
{
    CHECK(list_by(&issuer, options) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), part);
    CHECK(skv_reply_size(result) == 0);
}

/* Returns the list, which the caller owns. */
static X509_CRL *list_of(const char *options)
{
    X509_CRL *crl = NULL;
    BIO *bio;

    list_by(&issuer, options);
    CHECK_STATUS(result, SKV_OK);
    bio = BIO_new_mem_buf(skv_reply_data(result), -1);
    crl = PEM_read_bio_X509_CRL(bio, NULL, NULL, NULL);
    CHECK(crl != NULL);
    BIO_free(bio);
    return crl;
}

/* Checks that the list revokes the certificate from then on. */
static void revokes(X509_CRL *crl, long serial, const char *at)
{
    ASN1_INTEGER *number = ASN1_INTEGER_new();
    X509_REVOKED *revoked = NULL;
    char text[32] = "";
    struct tm utc;

    ASN1_INTEGER_set(number, serial);
    CHECK(X509_CRL_get0_by_serial(crl, &revoked, number) == 1);
    if (revoked && ASN1_TIME_to_tm(X509_REVOKED_get0_revocationDate(revoked), &utc) == 1)
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    CHECK_STR(text, at);
    ASN1_INTEGER_free(number);
}

static void list_is_signed_and_numbered(void)
{
    X509_CRL *crl = list_of("{'number':9223372036854775807,'revoked':[],'days':7}");
    X509 *ca = certificate_of(issuer.certificate);
    ASN1_INTEGER *number = X509_CRL_get_ext_d2i(crl, NID_crl_number, NULL, NULL);
    AUTHORITY_KEYID *key = X509_CRL_get_ext_d2i(crl, NID_authority_key_identifier, NULL, NULL);
    int64_t integer = 0;
    int days = 0, seconds = 0;

    CHECK(X509_CRL_verify(crl, X509_get0_pubkey(ca)) == 1);
    CHECK(X509_NAME_cmp(X509_CRL_get_issuer(crl), X509_get_subject_name(ca)) == 0);
    CHECK(X509_CRL_get_version(crl) == 1);
    CHECK(ASN1_INTEGER_get_int64(&integer, number) == 1 && integer == INT64_MAX);
    CHECK(ASN1_STRING_cmp(key->keyid, X509_get0_subject_key_id(ca)) == 0);
    CHECK(ASN1_TIME_diff(&days, &seconds, X509_CRL_get0_lastUpdate(crl), X509_CRL_get0_nextUpdate(crl)) == 1);
    CHECK(days == 7 && seconds == 3600);
    CHECK(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(crl)) <= 0);
    AUTHORITY_KEYID_free(key);
    ASN1_INTEGER_free(number);
    X509_free(ca);
    X509_CRL_free(crl);
}

static void list_has_what_is_revoked(void)
{
    X509_CRL *crl =
        list_of("{'number':1,'revoked':[{'serial':'0100','at':1796000000},"
                "{'serial':'fF','at':'2026-11-29T05:00:00Z'},{'serial':'3','at':'2026-11-29T05:00:00.25+05:30'},"
                "{'serial':'4','at':'2026-11-29T05:00:00-00:30'},{'serial':'5','at':'2050-01-01T00:00:00Z'}]}");

    CHECK(sk_X509_REVOKED_num(X509_CRL_get_REVOKED(crl)) == 5);
    revokes(crl, 0x100, "2026-11-30T00:53:20Z");
    revokes(crl, 0xff, "2026-11-29T05:00:00Z");
    revokes(crl, 3, "2026-11-28T23:30:00Z");
    revokes(crl, 4, "2026-11-29T05:30:00Z");
    revokes(crl, 5, "2050-01-01T00:00:00Z");
    X509_CRL_free(crl);
}

static void wrong_options_are_refused(void)
{
    static const char *const times[] = {"''",
                                        "'2026-11-29'",
                                        "'2026-11-29T05:00:00'",
                                        "'2026-11-29T05:00:00+1:00'",
                                        "'2026-11-29T05:00:00+24:00'",
                                        "'2026-13-29T05:00:00Z'",
                                        "'2026-11-29T05:00:00Zz'",
                                        "'1969-11-29T05:00:00Z'"};
    char options[256];

    list_refused("{'revoked':[]}", "option 'number': expected an integer");
    list_refused("{'number':-1}", "option 'number': expected an integer");
    list_refused("{'number':1,'days':0}", "option 'days': expected an integer from 1 to 36500");
    list_refused("{'number':1,'x':0}", "unknown option 'x' of a revocation list");
    list_refused("{'number':1,'revoked':{}}", "option 'revoked': expected an Array");
    list_refused("{'number':1,'revoked':['01']}",
                 "option 'revoked': expected an Array of Hashes with 'serial' and 'at'");
    list_refused("{'number':1,'revoked':[{'at':1}]}",
                 "option 'revoked.serial': expected a serial number in hexadecimal");
    list_refused("{'number':1,'revoked':[{'serial':'0x1','at':1}]}",
                 "option 'revoked.serial': expected a serial number");
    list_refused("{'number':1,'revoked':[{'serial':'-1','at':1}]}",
                 "option 'revoked.serial': expected a serial number");
    list_refused("{'number':1,'revoked':[{'serial':1,'at':1}]}", "option 'revoked.serial': expected a text");
    list_refused("{'number':1,'revoked':[{'serial':'01','at':1},{'serial':'1','at':2}]}",
                 "option 'revoked': expected each serial number once");
    list_refused("{'number':1,'revoked':[{'serial':'01'}]}", "option 'revoked.at': expected a time");
    list_refused("{'number':1,'revoked':[{'serial':'01','at':-1}]}", "option 'revoked.at': expected an integer from 0");
    list_refused("{'number':1,'revoked':[{'serial':'01','at':1,'why':'x'}]}",
                 "unknown option 'why' of option 'revoked'");
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        snprintf(options, sizeof options, "{'number':1,'revoked':[{'serial':'01','at':%s}]}", times[i]);
        list_refused(options, "option 'revoked.at': expected a time");
    }
}

static void issuer_must_be_allowed_to_sign_lists(void)
{
    static const authority_extension no_lists[] = {
        {NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,keyCertSign"}, {0, NULL}};
    static const char none[] = "{\"number\":1}";
    authority other = authority_with(EVP_PKEY_EC, -DAY, DAY, no_lists);

    CHECK(list_by(&other, "{'number':1}") == SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), "allows to sign revocation lists");
    CHECK(skv_secret_crl(none, strlen(none), result) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), "option 'issuer': expected a Hash with 'certificate' and 'private'");
}

static skv_status facts_of(const char *pem, const char *key)
{
    return skv_secret_certificate(pem, strlen(pem), key, strlen(key), result);
}

static void certificate_has_facts(void)
{
    json_t *leaf = made("{'kind':'x509','subject':{'CN':'www.example.com','O':'\xc3\x9c'}}"), *facts;
    char both[8192];

    snprintf(both, sizeof both, "%s%s", part_of(leaf, "certificate"), issuer.certificate);
    CHECK(facts_of(both, value_of(leaf)) == SKV_OK);
    facts = json_of(skv_reply_data(result));
    CHECK(json_object_size(facts) == 6);
    CHECK_STR(json_string_value(json_object_get(facts, "serial")), part_of(leaf, "serial"));
    CHECK_STR(json_string_value(json_object_get(facts, "subject")), "CN=www.example.com,O=\xc3\x9c");
    CHECK_STR(json_string_value(json_object_get(facts, "fingerprint")), part_of(leaf, "fingerprint"));
    CHECK_STR(json_string_value(json_object_get(facts, "not_before")), part_of(leaf, "not_before"));
    CHECK_STR(json_string_value(json_object_get(facts, "not_after")), part_of(leaf, "not_after"));
    CHECK(json_is_false(json_object_get(facts, "ca")));
    json_decref(facts);
    json_decref(leaf);
    CHECK(facts_of(issuer.certificate, issuer.private) == SKV_OK);
    CHECK_HAS(skv_reply_data(result), "\"serial\":\"01\",\"subject\":\"CN=Elder\"");
    CHECK_HAS(skv_reply_data(result), "\"ca\":true");
}

static void other_texts_are_no_certificates(void)
{
    static const char *const texts[] = {"", "s3cret",
                                        "-----BEGIN CERTIFICATE-----\ns3cret\n-----END CERTIFICATE-----\n"};

    ERR_clear_error();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK(facts_of(texts[i], issuer.private) == SKV_INVALID);
        CHECK_STR(skv_reply_message(result), "expected a certificate in PEM");
    }
    CHECK(facts_of(issuer.private, issuer.private) == SKV_INVALID);
    CHECK(skv_secret_certificate(NULL, 0, NULL, 0, result) == SKV_INVALID);
    CHECK(ERR_peek_error() == 0);
}

/* Returns the private key of the issuer with a passphrase, which the caller frees. */
static char *with_passphrase(void)
{
    BIO *plain = BIO_new_mem_buf(issuer.private, -1), *encrypted = BIO_new(BIO_s_mem());
    EVP_PKEY *pair = PEM_read_bio_PrivateKey(plain, NULL, NULL, NULL);
    char *text = NULL;
    long len;

    CHECK(PEM_write_bio_PKCS8PrivateKey(encrypted, pair, EVP_aes_256_cbc(), "s3cret", 6, NULL, NULL) == 1);
    len = BIO_get_mem_data(encrypted, &text);
    text = strndup(text, (size_t)len);
    EVP_PKEY_free(pair);
    BIO_free(encrypted);
    BIO_free(plain);
    return text;
}

static void private_key_must_be_that_of_the_certificate(void)
{
    authority other = authority_with(EVP_PKEY_EC, -DAY, DAY, usual_extensions);
    char *encrypted = with_passphrase();
    const char *const keys[] = {"", "s3cret", issuer.certificate, encrypted};

    ERR_clear_error();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        CHECK(facts_of(issuer.certificate, keys[i]) == SKV_INVALID);
        CHECK_STR(skv_reply_message(result), "expected a private key in PEM, without a passphrase");
    }
    CHECK(facts_of(issuer.certificate, other.private) == SKV_INVALID);
    CHECK_STR(skv_reply_message(result), "the private key is not that of the certificate");
    CHECK(skv_secret_certificate(issuer.certificate, strlen(issuer.certificate), NULL, 0, result) == SKV_INVALID);
    CHECK(ERR_peek_error() == 0);
    free(encrypted);
}

static char *chaos_request;

static void list_is_whole_or_memory_runs_out(void)
{
    skv_reply *reply;

    if (succeeds_in_chaos(skv_secret_crl, chaos_request, &reply))
        CHECK_HAS(skv_reply_data(reply), "-----END X509 CRL-----\n");
    skv_reply_free(reply);
}

static skv_status facts_of_issuer(const char *pem, size_t len, skv_reply *reply)
{
    return skv_secret_certificate(pem, len, issuer.private, strlen(issuer.private), reply);
}

static void facts_are_whole_or_memory_runs_out(void)
{
    skv_reply *reply;

    if (succeeds_in_chaos(facts_of_issuer, issuer.certificate, &reply))
        CHECK_HAS(skv_reply_data(reply), "\"ca\":true}");
    skv_reply_free(reply);
}

int main(void)
{
    share_memory_with_libcrypto();
    result = skv_reply_new();
    issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, usual_extensions);
    list_is_signed_and_numbered();
    list_has_what_is_revoked();
    wrong_options_are_refused();
    issuer_must_be_allowed_to_sign_lists();
    certificate_has_facts();
    other_texts_are_no_certificates();
    private_key_must_be_that_of_the_certificate();
    chaos_request = request_by(&issuer, "{'number':1,'revoked':[{'serial':'01','at':1}]}");
    chaos(list_is_whole_or_memory_runs_out);
    chaos(facts_are_whole_or_memory_runs_out);
    free(chaos_request);
    skv_reply_free(result);
    return check_summary("crl");
}
