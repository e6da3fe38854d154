/* Certificates: what is in them, and which issuers are refused. spec/integration/secret_kinds_spec.rb has the programs
 * of OpenSSL verify them, and serve with them. */
#include "authority.h"
#include "chaos.h"
#include "check.h"
#include "made.h"

#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <time.h>

#define HOUR 3600
#define THREADS 4

/* A request with an issuer, as the core gets it. */
static char issuer_request[4096];

/* A request for the issuer to sign; `options` is JSON with ' for ", and has no issuer. */
static json_t *signed_by(const char *certificate, const char *private, const char *options)
{
    json_t *request = json_of(options);

    json_object_set_new(request, "kind", json_string("x509"));
    json_object_set_new(request, "issuer", json_pack("{s:s,s:s}", "certificate", certificate, "private", private));
    return made_of(request);
}

static json_t *made_by(const authority *issuer, const char *options)
{
    return signed_by(issuer->certificate, issuer->private, options);
}

/* Checks an extension by the text that OpenSSL prints of it; NULL for one that is missing. */
static void extension_is(X509 *certificate, int nid, bool critical, const char *expected)
{
    int at = X509_get_ext_by_NID(certificate, nid, -1);
    X509_EXTENSION *extension = at < 0 ? NULL : X509_get_ext(certificate, at);
    BIO *bio = BIO_new(BIO_s_mem());
    char text[512] = "";

    CHECK(!extension == !expected);
    if (extension && expected) {
        CHECK(X509V3_EXT_print(bio, extension, 0, 0) == 1);
        BIO_read(bio, text, sizeof text - 1);
        CHECK_STR(text, expected);
        CHECK(X509_EXTENSION_get_critical(extension) == critical);
    }
    BIO_free(bio);
}

static void name_is(const X509_NAME *name, const char *expected)
{
    BIO *bio = BIO_new(BIO_s_mem());
    char text[512] = "";

    X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
    BIO_read(bio, text, sizeof text - 1);
    CHECK_STR(text, expected);
    BIO_free(bio);
}

/* Returns the seconds from now. */
static double seconds_until(const ASN1_TIME *at)
{
    int days = 0, seconds = 0;

    CHECK(ASN1_TIME_diff(&days, &seconds, NULL, at) == 1);
    return (double)days * DAY + seconds;
}

static void time_is(const char *text, const ASN1_TIME *at)
{
    char expected[32];
    struct tm utc;

    CHECK(ASN1_TIME_to_tm(at, &utc) == 1);
    strftime(expected, sizeof expected, "%Y-%m-%dT%H:%M:%SZ", &utc);
    CHECK_STR(text, expected);
}

/* Checks what each certificate has, and that the private key is its own. The times
 * have room for slow machines. */
static void certificate_is_sound(const json_t *object, X509 *certificate, int days)
{
    BIO *bio = BIO_new_mem_buf(value_of(object), -1);
    EVP_PKEY *pair = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    double from = seconds_until(X509_get0_notBefore(certificate)), to = seconds_until(X509_get0_notAfter(certificate));
    BIGNUM *serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), NULL);
    char *digits = BN_bn2hex(serial);

    CHECK(strncmp(value_of(object), "-----BEGIN PRIVATE KEY-----\n", 28) == 0);
    CHECK(pair && X509_check_private_key(certificate, pair) == 1);
    CHECK(X509_get_version(certificate) == 2);
    CHECK(from <= -HOUR && from > -HOUR - 600);
    CHECK(to <= days * DAY && to > days * DAY - 600);
    time_is(part_of(object, "not_before"), X509_get0_notBefore(certificate));
    time_is(part_of(object, "not_after"), X509_get0_notAfter(certificate));
    CHECK(BN_num_bits(serial) == 159);
    CHECK_STR(part_of(object, "serial"), digits);
    CHECK(strlen(part_of(object, "fingerprint")) == 95);
    OPENSSL_free(digits);
    BN_free(serial);
    EVP_PKEY_free(pair);
    BIO_free(bio);
}

/* Checks the type and the size of the key. */
static void key_has(X509 *certificate, int type, int bits)
{
    EVP_PKEY *key = X509_get0_pubkey(certificate);

    CHECK(EVP_PKEY_base_id(key) == type && EVP_PKEY_bits(key) == bits);
}

static void ca_signs_itself(void)
{
    json_t *ca = made("{'kind':'x509','ca':true,'subject':{'CN':'Example CA','OU':'\xc3\x9c','O':'Example','L':'B',"
                      "'ST':'BE','C':'DE'}}");
    X509 *certificate = certificate_of(part_of(ca, "certificate"));

    certificate_is_sound(ca, certificate, 3650);
    key_has(certificate, EVP_PKEY_EC, 256);
    CHECK(X509_verify(certificate, X509_get0_pubkey(certificate)) == 1);
    CHECK(X509_check_ca(certificate) == 1);
    name_is(X509_get_subject_name(certificate), "CN=Example CA,OU=\xc3\x9c,O=Example,L=B,ST=BE,C=DE");
    name_is(X509_get_issuer_name(certificate), "CN=Example CA,OU=\xc3\x9c,O=Example,L=B,ST=BE,C=DE");
    extension_is(certificate, NID_basic_constraints, true, "CA:TRUE");
    extension_is(certificate, NID_key_usage, true, "Certificate Sign, CRL Sign");
    extension_is(certificate, NID_ext_key_usage, false, NULL);
    extension_is(certificate, NID_subject_alt_name, false, NULL);
    CHECK(ASN1_STRING_cmp(X509_get0_subject_key_id(certificate), X509_get0_authority_key_id(certificate)) == 0);
    CHECK(!json_object_get(json_object_get(ca, "parts"), "chain"));
    X509_free(certificate);
    json_decref(ca);
}

static void leaf_signs_itself(void)
{
    json_t *leaf = made("{'kind':'x509','subject':{'CN':'www.example.com'},'days':1}");
    X509 *certificate = certificate_of(part_of(leaf, "certificate"));

    certificate_is_sound(leaf, certificate, 1);
    CHECK(X509_verify(certificate, X509_get0_pubkey(certificate)) == 1);
    extension_is(certificate, NID_basic_constraints, true, "CA:FALSE");
    extension_is(certificate, NID_key_usage, true, NULL);
    extension_is(certificate, NID_ext_key_usage, false, "TLS Web Server Authentication, TLS Web Client Authentication");
    extension_is(certificate, NID_subject_alt_name, false, "DNS:www.example.com");
    X509_free(certificate);
    json_decref(leaf);
}

static json_t *new_ca(void)
{
    return made("{'kind':'x509','ca':true,'subject':{'CN':'Root'}}");
}

static json_t *signed_with(const json_t *issuer, const char *options)
{
    return signed_by(part_of(issuer, "certificate"), value_of(issuer), options);
}

static void ca_signs_leaf(void)
{
    json_t *ca = new_ca();
    json_t *leaf = signed_with(ca, "{'subject':{'CN':'www.example.com'},'names':['192.0.2.1','2001:db8::1',"
                                   "'*.example.com','www.example.com','_x.example.com']}");
    X509 *issuer = certificate_of(part_of(ca, "certificate")),
         *certificate = certificate_of(part_of(leaf, "certificate"));

    certificate_is_sound(leaf, certificate, 365);
    key_has(certificate, EVP_PKEY_EC, 256);
    CHECK(X509_verify(certificate, X509_get0_pubkey(issuer)) == 1);
    name_is(X509_get_issuer_name(certificate), "CN=Root");
    extension_is(certificate, NID_basic_constraints, true, "CA:FALSE");
    extension_is(certificate, NID_key_usage, true, "Digital Signature");
    extension_is(certificate, NID_subject_alt_name, false,
                 "IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1, DNS:*.example.com, DNS:www.example.com, "
                 "DNS:_x.example.com");
    CHECK(ASN1_STRING_cmp(X509_get0_subject_key_id(issuer), X509_get0_authority_key_id(certificate)) == 0);
    CHECK_STR(part_of(leaf, "chain"), part_of(ca, "certificate"));
    X509_free(certificate);
    X509_free(issuer);
    json_decref(leaf);
    json_decref(ca);
}

static void rsa_leaf_encrypts_keys(void)
{
    json_t *ca = new_ca(), *leaf = signed_with(ca, "{'subject':{'CN':'Jo Doe'},'key_type':'rsa','bits':2048}");
    X509 *certificate = certificate_of(part_of(leaf, "certificate"));

    key_has(certificate, EVP_PKEY_RSA, 2048);
    extension_is(certificate, NID_key_usage, true, "Digital Signature, Key Encipherment");
    extension_is(certificate, NID_subject_alt_name, false, NULL);
    X509_free(certificate);
    json_decref(leaf);
    json_decref(ca);
}

static void chain_has_all_above(void)
{
    json_t *ca = new_ca(), *middle = signed_with(ca, "{'subject':{'CN':'Middle'},'ca':true,'days':3000}"), *leaf;
    char chain[8192];

    snprintf(chain, sizeof chain, "%s%s", part_of(middle, "certificate"), part_of(middle, "chain"));
    leaf = signed_by(chain, value_of(middle), "{'subject':{'CN':'www.example.com'}}");
    CHECK_STR(part_of(leaf, "chain"), chain);
    json_decref(leaf);
    /* The one above must have signed it. */
    json_decref(ca);
    ca = new_ca();
    snprintf(chain, sizeof chain, "%s%s", part_of(middle, "certificate"), part_of(ca, "certificate"));
    check_refused(signed_by(chain, value_of(middle), "{'subject':{'CN':'a'}}"),
                  "option 'issuer': OpenSSL would not accept");
    snprintf(chain, sizeof chain, "%s%.200s\n", part_of(middle, "certificate"), part_of(ca, "certificate"));
    check_refused(signed_by(chain, value_of(middle), "{'subject':{'CN':'a'}}"),
                  "option 'issuer.certificate': expected");
    json_decref(middle);
    json_decref(ca);
}

static void certificate_does_not_outlive_its_issuer(void)
{
    json_t *ca = made("{'kind':'x509','ca':true,'subject':{'CN':'Root'},'days':30}");
    char expected[128];

    snprintf(expected, sizeof expected, "would outlive that of its issuer, which is valid until %s",
             part_of(ca, "not_after"));
    check_refused(signed_with(ca, "{'subject':{'CN':'a'},'days':31}"), expected);
    json_decref(signed_with(ca, "{'subject':{'CN':'a'},'days':29}"));
    CHECK_STATUS(result, SKV_OK);
    json_decref(ca);
}

static void issuer_is_a_ca_with_its_key(void)
{
    json_t *ca = new_ca(), *other = new_ca(), *leaf = signed_with(ca, "{'subject':{'CN':'a'}}");
    json_t *garbage = json_pack("{s:s,s:{s:s},s:{s:s,s:s,s:b}}", "kind", "x509", "subject", "CN", "a", "issuer",
                                "certificate", part_of(ca, "certificate"), "private", value_of(ca), "x", 1);

    check_refused(signed_with(leaf, "{'subject':{'CN':'b'},'days':1}"),
                  "option 'issuer.certificate': expected the certificate of a CA");
    check_refused(signed_by(part_of(ca, "certificate"), value_of(other), "{'subject':{'CN':'b'}}"),
                  "option 'issuer.private': expected the private key of the certificate");
    check_refused(signed_by("", value_of(ca), "{'subject':{'CN':'b'}}"), "option 'issuer.certificate': expected");
    check_refused(signed_by(part_of(ca, "certificate"), "s3cret", "{'subject':{'CN':'b'}}"),
                  "option 'issuer.private': expected a private key in PEM");
    CHECK(!strstr(skv_reply_message(result), "s3cret"));
    check_refused(made_of(garbage), "unknown option 'x' of option 'issuer'");
    json_decref(leaf);
    json_decref(other);
    json_decref(ca);
}

/* libcrypto would ask for it on the terminal. */
static void key_with_a_passphrase_is_refused(void)
{
    authority issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, usual_extensions);
    BIO *plain = BIO_new_mem_buf(issuer.private, -1), *locked = BIO_new(BIO_s_mem());
    EVP_PKEY *pair = PEM_read_bio_PrivateKey(plain, NULL, NULL, NULL);

    CHECK(PEM_write_bio_PKCS8PrivateKey(locked, pair, EVP_aes_128_cbc(), "locked", 6, NULL, NULL) == 1);
    write_pem(locked, issuer.private, sizeof issuer.private);
    check_refused(made_by(&issuer, "{'subject':{'CN':'a'},'days':1}"), "without a passphrase");
    EVP_PKEY_free(pair);
    BIO_free(plain);
}

static void issuer_is_valid_now(void)
{
    authority expired = authority_with(EVP_PKEY_EC, -9 * DAY, -DAY, usual_extensions);
    authority early = authority_with(EVP_PKEY_EC, DAY, 9 * DAY, usual_extensions);

    check_refused(made_by(&expired, "{'subject':{'CN':'a'},'days':1}"),
                  "option 'issuer': its certificate is valid from");
    check_refused(made_by(&early, "{'subject':{'CN':'a'},'days':1}"), "option 'issuer': its certificate is valid from");
}

/* Each of these CAs forbids what it would sign. */
static void issuer_allows_what_it_signs(void)
{
    static const authority_extension no_ca_below[] = {{NID_basic_constraints, "critical,CA:TRUE,pathlen:0"}, {0, NULL}};
    static const authority_extension one_domain[] = {{NID_basic_constraints, "critical,CA:TRUE"},
                                                     {NID_name_constraints, "critical,permitted;DNS:example.com"},
                                                     {0, NULL}};
    static const authority_extension no_certificates[] = {
        {NID_basic_constraints, "critical,CA:TRUE"}, {NID_key_usage, "critical,cRLSign"}, {0, NULL}};
    authority issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, no_ca_below);

    check_refused(made_by(&issuer, "{'subject':{'CN':'a'},'days':1,'ca':true}"),
                  "option 'ca': the issuer or a CA above it allows no further CA");
    json_decref(made_by(&issuer, "{'subject':{'CN':'a'},'days':1}"));
    CHECK_STATUS(result, SKV_OK);
    issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, one_domain);
    check_refused(made_by(&issuer, "{'subject':{'CN':'www.example.org'},'days':1}"), "permitted subtree violation");
    json_decref(made_by(&issuer, "{'subject':{'CN':'www.example.com'},'days':1}"));
    CHECK_STATUS(result, SKV_OK);
    issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, no_certificates);
    check_refused(made_by(&issuer, "{'subject':{'CN':'a'},'days':1}"), "expected the certificate of a CA");
}

/* The certificate names its issuer by name and number if that has no key identifier. */
static void other_kinds_of_issuers_sign(void)
{
    static const authority_extension few[] = {{NID_basic_constraints, "critical,CA:TRUE"}, {0, NULL}};
    authority issuer = authority_with(EVP_PKEY_ED25519, -DAY, 9 * DAY, few);
    json_t *leaf = made_by(&issuer, "{'subject':{'CN':'a'},'days':1}");
    X509 *certificate = certificate_of(part_of(leaf, "certificate"));

    CHECK(X509_get_signature_nid(certificate) == NID_ED25519);
    CHECK(X509_get0_authority_serial(certificate) && !X509_get0_authority_key_id(certificate));
    X509_free(certificate);
    json_decref(leaf);
}

static void wrong_options_are_refused(void)
{
    refused("{'kind':'x509'}", "option 'subject': expected a Hash with 'CN'");
    refused("{'kind':'x509','subject':'CN=a'}", "option 'subject': expected a Hash");
    refused("{'kind':'x509','subject':{'O':'a'}}", "option 'subject.CN': expected a name");
    refused("{'kind':'x509','subject':{'CN':''}}", "option 'subject.CN': expected a name");
    refused("{'kind':'x509','subject':{'CN':'a\\nb'}}", "option 'subject.CN': expected one line of text");
    refused("{'kind':'x509','subject':{'CN':'a','C':'Germany'}}", "option 'subject.C': expected one line of text");
    refused("{'kind':'x509','subject':{'CN':'a','C':'de'}}", "option 'subject.C': expected the two capital letters");
    refused("{'kind':'x509','subject':{'CN':'a','cn':'b'}}", "unknown option 'cn' of option 'subject'");
    refused("{'kind':'x509','subject':{'CN':'a'},'days':0}", "option 'days': expected an integer from 1 to 36500");
    refused("{'kind':'x509','subject':{'CN':'a'},'days':36501}", "option 'days': expected an integer from 1 to 36500");
    refused("{'kind':'x509','subject':{'CN':'a'},'key_type':'dsa'}", "option 'key_type': expected 'ec' or 'rsa'");
    refused("{'kind':'x509','subject':{'CN':'a'},'bits':2048}", "unknown option 'bits' of kind 'x509'");
    refused("{'kind':'x509','subject':{'CN':'a'},'ca':'true'}", "option 'ca': expected true or false");
    refused("{'kind':'x509','subject':{'CN':'a'},'issuer':'ca'}", "option 'issuer': expected a Hash");
    refused("{'kind':'x509','subject':{'CN':'a'},'names':'b'}", "option 'names': expected an Array");
}

static void wrong_names_are_refused(void)
{
    static const char *const names[] = {"",
                                        "a b",
                                        "-a.example.com",
                                        "a-.example.com",
                                        "a..example.com",
                                        ".example.com",
                                        "example.com.",
                                        "192.0.2",
                                        "192.0.2.256",
                                        "2001:db8::g",
                                        "*",
                                        "*.*.example.com",
                                        "a.*.com",
                                        "DNS:example.com",
                                        "b\xc3\xbc.example.com",
                                        "a@example.com",
                                        "https://example.com",
                                        "a234567890123456789012345678901234567890123456789012345678901234.example.com"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_refused(
            made_of(json_pack("{s:s,s:{s:s},s:[s]}", "kind", "x509", "subject", "CN", "a", "names", names[i])),
            "option 'names': expected an Array of DNS names and IP addresses");
    refused("{'kind':'x509','subject':{'CN':'a'},'names':[1]}", "option 'names': expected an Array of DNS names");
}

static void errors_do_not_stay(void)
{
    ERR_clear_error();
    refused("{'kind':'x509','subject':{'CN':'a'},'issuer':{'certificate':'x','private':'y'}}", "in PEM");
    CHECK(ERR_peek_error() == 0);
}

/* Each has a reply of its own. */
static void *make_secrets(void *issuer)
{
    skv_reply *own = skv_reply_new();
    const char *requests[] = {"{\"kind\":\"ssh-ed25519\"}", "{\"kind\":\"ssh-ecdsa\"}", "{\"kind\":\"wireguard\"}",
                              issuer};

    for (int i = check_rounds(20); i; i--)
        for (size_t j = 0; j < sizeof requests / sizeof *requests; j++) {
            CHECK(skv_secret_make(requests[j], strlen(requests[j]), own) == SKV_OK);
            CHECK_STATUS(own, SKV_OK);
        }
    skv_reply_free(own);
    return NULL;
}

static void certificate_is_whole_or_memory_runs_out(void)
{
    skv_reply *reply;

    if (succeeds_in_chaos(skv_secret_make, issuer_request, &reply))
        CHECK_HAS(skv_reply_data(reply), "-----END CERTIFICATE-----\\n");
    skv_reply_free(reply);
}

static void fill_issuer_request(void)
{
    authority issuer = authority_with(EVP_PKEY_EC, -DAY, 9 * DAY, usual_extensions);
    json_t *request =
        json_pack("{s:s,s:{s:s,s:s},s:[s],s:i,s:{s:s,s:s}}", "kind", "x509", "subject", "CN", "a", "O", "b", "names",
                  "192.0.2.1", "days", 1, "issuer", "certificate", issuer.certificate, "private", issuer.private);
    char *text = json_dumps(request, JSON_COMPACT);

    CHECK(strlen(text) < sizeof issuer_request);
    strncpy(issuer_request, text, sizeof issuer_request - 1);
    free(text);
    json_decref(request);
}

static void threads_make_secrets_at_once(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, make_secrets, issuer_request) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    share_memory_with_libcrypto();
    result = skv_reply_new();
    ca_signs_itself();
    leaf_signs_itself();
    ca_signs_leaf();
    rsa_leaf_encrypts_keys();
    chain_has_all_above();
    certificate_does_not_outlive_its_issuer();
    issuer_is_a_ca_with_its_key();
    key_with_a_passphrase_is_refused();
    issuer_is_valid_now();
    issuer_allows_what_it_signs();
    other_kinds_of_issuers_sign();
    wrong_options_are_refused();
    wrong_names_are_refused();
    errors_do_not_stay();
    fill_issuer_request();
    threads_make_secrets_at_once();
    chaos(certificate_is_whole_or_memory_runs_out);
    skv_reply_free(result);
    return check_summary("x509");
}
