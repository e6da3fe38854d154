/* The forms of secrets: published vectors, libcrypt and libcrypto as judges, and what is refused. */
#include "chaos.h"
#include "check.h"
#include "secret/form.h"
#include "simpkv_secret.h"

#include <crypt.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

static skv_reply *reply;

static skv_status form(const char *secret, const char *request)
{
    return skv_secret_form(secret, strlen(secret), request, strlen(request), reply);
}

static void form_is(const char *secret, const char *format, const char *expected)
{
    char request[64];

    snprintf(request, sizeof request, "{\"format\":\"%s\"}", format);
    CHECK(form(secret, request) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), expected);
    CHECK(skv_reply_number(reply) == 0);
}

static void refused(const char *secret, const char *request, const char *message)
{
    CHECK(form(secret, request) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), message);
    CHECK(skv_reply_size(reply) == 0);
}

/* ---- Forms without a salt ---- */

static void forms_without_a_salt_are_the_same_each_time(void)
{
    form_is("p\xc3\xa4ss", "plain", "p\xc3\xa4ss");
    form_is("", "plain", "");
    form_is("p\xc3\xa4ss", "hex", "70c3a47373");
    /* RFC 4648, section 10. */
    form_is("", "base64", "");
    form_is("f", "base64", "Zg==");
    form_is("fo", "base64", "Zm8=");
    form_is("foo", "base64", "Zm9v");
    form_is("foobar", "base64", "Zm9vYmFy");
    form_is("\xfb\xff", "base64", "+/8=");
    /* MariaDB's PASSWORD('password'). */
    form_is("password", "mysql_native_password", "*2470C0C06DEE42FD1618BB99005ADCA2EC9D1E19");
}

static void bytes_may_have_a_nul(void)
{
    static const char request[] = "{\"format\":\"hex\"}";

    CHECK(skv_secret_form("a\0b", 3, request, sizeof request - 1, reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), "610062");
}

/* ---- Forms with a given salt ---- */

static void given(const char *secret, skv_making *making)
{
    *making = (skv_making){.format = "x", .secret = secret, .len = strlen(secret), .cost = 4096};
    skv_reply_reset(reply);
}

/* What `openssl passwd -apr1` of OpenSSL 3.0 makes. */
static void apr1_is_what_openssl_makes(void)
{
    static const char *const vectors[][2] = {
        {"a", "3eL.cfxWhikF2Wu/ht2ij1"},
        {"password", "eTiEnucX3yg1qtdR9ZA5N."},
        {"12345678", "viZvf9msATPA0mHdmcNoQ1"},
        {"0123456789abcdef", "p7HdSUSHluIZZFS3lnmWv."},
        {"0123456789abcdefg", "A1IcuGjDRHt005CH5tyr21"},
        {"pl4nted secret with spaces and more than two blocks of MD5 in it", "bMN597SxZvOA/3ONq5RIa/"}};
    char expected[64];
    skv_making making;

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        given(vectors[i][0], &making);
        CHECK(skv_apr1_of(&making, "sA./9zXy", reply) == SKV_OK);
        snprintf(expected, sizeof expected, "$apr1$sA./9zXy$%s", vectors[i][1]);
        CHECK_STR(skv_reply_data(reply), expected);
    }
}

/* hashcat's example of its mode 7401. */
static void caching_sha2_password_is_that_of_hashcat(void)
{
    static const char salt[] = "\xf9\xcc\x98\xce\x08\x89\x29\x24\xf5\x0a\x21\x3b\x6b\xc5\x71\xa2\xc1\x17\x78\xc5";
    skv_making making;

    given("hashcat", &making);
    CHECK(skv_caching_sha2_of(&making, salt, reply) == SKV_OK);
    CHECK(skv_reply_size(reply) == 7 + 20 + 43 && memcmp(skv_reply_data(reply) + 7, salt, 20) == 0);
    CHECK_STR(skv_reply_data(reply) + 27, "bTy95Y99eAME1dwEkHOA1ndHGBWz.1bxSSRkuTXFGV/");
}

/* With salts that libcrypt does not cut, the digits are the same. */
static void caching_sha2_password_is_the_sha256_of_libcrypt(void)
{
    static const char setting[] = "$5$16charactersalt.$";
    char secret[257] = "";
    struct crypt_data *data = calloc(1, sizeof *data);
    skv_making making;

    for (size_t len = 1; len < sizeof secret; len += len < 70 ? 1 : 31) {
        memset(secret, 'a' + (int)(len % 26), len);
        given(secret, &making);
        CHECK(skv_caching_sha2_of(&making, "16charactersalt.", reply) == SKV_OK);
        CHECK_STR(skv_reply_data(reply) + 7 + 16, crypt_rn(secret, setting, data, sizeof *data) + strlen(setting));
    }
    free(data);
}

/* The salt, the password and the iterations of RFC 7677, section 3. With this ServerKey, its AuthMessage has the
 * signature 6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=, as there. */
static void scram_is_that_of_rfc_7677(void)
{
    static const unsigned char salt[] = {0x5b, 0x6d, 0x99, 0x68, 0x9d, 0x12, 0x35, 0x8e,
                                         0xec, 0xa0, 0x4b, 0x14, 0x12, 0x36, 0xfa, 0x81};
    skv_making making;

    given("pencil", &making);
    CHECK(skv_scram_of(&making, salt, reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply),
              "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtb"
              "sT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=");
}

/* ---- Forms with a random salt ---- */

/* libcrypt itself finds the secret in the form, and no other one. */
static void crypt_accepts(const char *request, const char *prefix)
{
    struct crypt_data *data = calloc(1, sizeof *data);
    char made[CRYPT_OUTPUT_SIZE];

    CHECK(form("pl4nted s\xc3\xa9"
               "cret",
               request) == SKV_OK);
    CHECK(skv_reply_number(reply) == 1);
    snprintf(made, sizeof made, "%s", skv_reply_data(reply));
    CHECK(strncmp(made, prefix, strlen(prefix)) == 0);
    CHECK_STR(crypt_rn("pl4nted s\xc3\xa9"
                       "cret",
                       made, data, sizeof *data),
              made);
    CHECK(strcmp(crypt_rn("pl4nted s\xc3\xa9"
                          "creT",
                          made, data, sizeof *data),
                 made) != 0);
    CHECK(form("pl4nted s\xc3\xa9"
               "cret",
               request) == SKV_OK);
    CHECK(strcmp(skv_reply_data(reply), made) != 0);
    free(data);
}

static void forms_of_crypt_are_accepted_by_libcrypt(void)
{
    crypt_accepts("{\"format\":\"yescrypt\",\"cost\":1}", "$y$j75$");
    crypt_accepts("{\"format\":\"bcrypt\",\"cost\":4}", "$2b$04$");
    crypt_accepts("{\"format\":\"htpasswd-bcrypt\",\"cost\":5}", "$2y$05$");
    crypt_accepts("{\"format\":\"sha256-crypt\",\"cost\":1000}", "$5$rounds=1000$");
    crypt_accepts("{\"format\":\"sha512-crypt\",\"cost\":5001}", "$6$rounds=5001$");
}

static void costs_have_defaults(void)
{
    static const char *const cases[][2] = {{"{\"format\":\"yescrypt\"}", "$y$j9T$"},
                                           {"{\"format\":\"bcrypt\"}", "$2b$12$"},
                                           {"{\"format\":\"htpasswd-bcrypt\"}", "$2y$10$"},
                                           {"{\"format\":\"sha256-crypt\"}", "$5$rounds=100000$"},
                                           {"{\"format\":\"sha512-crypt\"}", "$6$rounds=100000$"},
                                           {"{\"format\":\"scram-sha-256\"}", "SCRAM-SHA-256$4096:"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(form("pl4nted", cases[i][0]) == SKV_OK);
        CHECK(strncmp(skv_reply_data(reply), cases[i][1], strlen(cases[i][1])) == 0);
    }
}

static void ssha_is_the_digest_of_secret_and_salt(void)
{
    unsigned char bytes[64], text[32] = "pl4nted", digest[20];

    CHECK(form("pl4nted", "{\"format\":\"ssha\"}") == SKV_OK && skv_reply_number(reply) == 1);
    CHECK(skv_reply_size(reply) == 6 + 48 && strncmp(skv_reply_data(reply), "{SSHA}", 6) == 0);
    CHECK(EVP_DecodeBlock(bytes, (const unsigned char *)skv_reply_data(reply) + 6, 48) == 36);
    memcpy(text + 7, bytes + 20, 16);
    CHECK(EVP_Digest(text, 23, digest, NULL, EVP_sha1(), NULL) == 1 && memcmp(digest, bytes, sizeof digest) == 0);
}

/* Each form has its usual beginning and length, and the next one differs. */
static void salts_are_random(void)
{
    static const struct {
        const char *request, *start;
        size_t len;
    } cases[] = {{"{\"format\":\"apr1\"}", "$apr1$", 37},
                 {"{\"format\":\"caching_sha2_password\"}", "$A$005$", 70},
                 {"{\"format\":\"ssha\"}", "{SSHA}", 54},
                 {"{\"format\":\"scram-sha-256\"}", "SCRAM-SHA-256$4096:", 133},
                 {"{\"format\":\"scram-sha-256\",\"cost\":5000}", "SCRAM-SHA-256$5000:", 133}};
    char before[256];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(form("pl4nted", cases[i].request) == SKV_OK && skv_reply_number(reply) == 1);
        CHECK(strncmp(skv_reply_data(reply), cases[i].start, strlen(cases[i].start)) == 0);
        CHECK(skv_reply_size(reply) == cases[i].len);
        snprintf(before, sizeof before, "%s", skv_reply_data(reply));
        CHECK(form("pl4nted", cases[i].request) == SKV_OK);
        CHECK(strcmp(skv_reply_data(reply), before) != 0);
    }
}

/* The salt that was made makes the same form again. */
static void a_random_salt_is_the_one_in_the_form(void)
{
    char made[128], salt[32];
    skv_making making;

    CHECK(form("pl4nted", "{\"format\":\"apr1\"}") == SKV_OK);
    snprintf(made, sizeof made, "%s", skv_reply_data(reply));
    snprintf(salt, sizeof salt, "%.8s", made + 6);
    given("pl4nted", &making);
    CHECK(skv_apr1_of(&making, salt, reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), made);
    CHECK(form("pl4nted", "{\"format\":\"caching_sha2_password\"}") == SKV_OK);
    snprintf(made, sizeof made, "%s", skv_reply_data(reply));
    snprintf(salt, sizeof salt, "%.20s", made + 7);
    CHECK(strspn(salt, "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") == 20);
    given("pl4nted", &making);
    CHECK(skv_caching_sha2_of(&making, salt, reply) == SKV_OK);
    CHECK_STR(skv_reply_data(reply), made);
}

/* ---- Refusals ---- */

#define FORMATS                                                                                                        \
    "'plain', 'base64', 'hex', 'mysql_native_password', 'yescrypt', 'bcrypt', 'htpasswd-bcrypt', 'sha256-crypt', "     \
    "'sha512-crypt', 'scram-sha-256', 'caching_sha2_password', 'ssha' or 'apr1'"

static void wrong_requests_are_refused(void)
{
    refused("x", "{}", "option 'format': expected " FORMATS);
    refused("x", "{\"format\":\"nt\"}", "option 'format': expected " FORMATS);
    refused("x", "{\"format\":1}", "option 'format': expected a text");
    refused("x", "{\"format\":\"ssha\",\"cost\":1}", "unknown option 'cost' of format 'ssha'");
    refused("x", "{\"format\":\"plain\",\"salt\":1}", "unknown option 'salt' of format 'plain'");
    refused("x", "{\"format\":\"yescrypt\",\"cost\":10}", "option 'cost': expected an integer from 1 to 9");
    refused("x", "{\"format\":\"bcrypt\",\"cost\":16}", "option 'cost': expected an integer from 4 to 15");
    refused("x", "{\"format\":\"htpasswd-bcrypt\",\"cost\":3}", "option 'cost': expected an integer from 4 to 15");
    refused("x", "{\"format\":\"sha256-crypt\",\"cost\":999}",
            "option 'cost': expected an integer from 1000 to 1000000");
    refused("x", "{\"format\":\"sha512-crypt\",\"cost\":1000001}",
            "option 'cost': expected an integer from 1000 to 1000000");
    refused("x", "{\"format\":\"scram-sha-256\",\"cost\":4095}",
            "option 'cost': expected an integer from 4096 to 1000000");
    refused("x", "[]", "the request is no object");
    CHECK(skv_secret_form("x", 1, NULL, 0, reply) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "the request is NULL");
    CHECK(skv_secret_form(NULL, 0, "{\"format\":\"hex\"}", 16, reply) == SKV_INVALID);
    CHECK_STR(skv_reply_message(reply), "the secret is NULL");
    CHECK(skv_secret_form("x", 1, "{}", 2, NULL) == SKV_INVALID);
}

static const char *const of_texts[] = {
    "mysql_native_password", "yescrypt", "bcrypt", "htpasswd-bcrypt", "sha256-crypt", "sha512-crypt", "scram-sha-256",
    "caching_sha2_password", "ssha",     "apr1"};

static void empty_secrets_and_those_with_a_nul_are_refused(void)
{
    char request[64], expected[160];

    for (size_t i = 0; i < sizeof of_texts / sizeof *of_texts; i++) {
        int len = snprintf(request, sizeof request, "{\"format\":\"%s\"}", of_texts[i]);

        snprintf(expected, sizeof expected, "format '%s': the secret is empty", of_texts[i]);
        refused("", request, expected);
        CHECK(skv_secret_form("a\0b", 3, request, (size_t)len, reply) == SKV_INVALID);
        snprintf(expected, sizeof expected,
                 "format '%s': the secret has a NUL byte, which programs take for its end: expected a text",
                 of_texts[i]);
        CHECK_STR(skv_reply_message(reply), expected);
    }
}

/* libcrypt would cut bcrypt's after 72 bytes. */
static void long_secrets_are_refused(void)
{
    static const struct {
        const char *format, *cost;
        size_t max;
    } cases[] = {{"bcrypt", ",\"cost\":4", 72},           {"htpasswd-bcrypt", ",\"cost\":4", 72},
                 {"yescrypt", ",\"cost\":1", 511},        {"sha256-crypt", ",\"cost\":1000", 511},
                 {"sha512-crypt", ",\"cost\":1000", 511}, {"scram-sha-256", "", 1024},
                 {"caching_sha2_password", "", 256},      {"apr1", "", 255}};
    char secret[1026], request[64], expected[128];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(request, sizeof request, "{\"format\":\"%s\"%s}", cases[i].format, cases[i].cost);
        memset(secret, 'x', cases[i].max);
        secret[cases[i].max] = '\0';
        CHECK(form(secret, request) == SKV_OK);
        strcpy(secret + cases[i].max, "x");
        snprintf(expected, sizeof expected, "format '%s': the secret has %zu bytes: expected %zu at most",
                 cases[i].format, cases[i].max + 1, cases[i].max);
        refused(secret, request, expected);
    }
}

static void scram_refuses_what_clients_would_normalise(void)
{
    static const char *const secrets[] = {"p\xc3\xa4ss", "a\tb", "a\x7f"};

    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++)
        refused(secrets[i], "{\"format\":\"scram-sha-256\"}",
                "format 'scram-sha-256': the secret has a character that is not printable ASCII: expected a secret "
                "without, because simpkv has no SASLprep");
    CHECK(form(" ~", "{\"format\":\"scram-sha-256\"}") == SKV_OK);
}

/* ---- Failing allocations ---- */

static void forms_without_memory(void)
{
    static const char *const requests[] = {"{\"format\":\"plain\"}",
                                           "{\"format\":\"base64\"}",
                                           "{\"format\":\"hex\"}",
                                           "{\"format\":\"yescrypt\",\"cost\":1}",
                                           "{\"format\":\"bcrypt\",\"cost\":4}",
                                           "{\"format\":\"scram-sha-256\"}",
                                           "{\"format\":\"caching_sha2_password\"}",
                                           "{\"format\":\"mysql_native_password\"}",
                                           "{\"format\":\"ssha\"}",
                                           "{\"format\":\"apr1\"}"};

    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        skv_reply *own = skv_reply_new();
        skv_status status;

        if (!own)
            continue;
        status = skv_secret_form("pl4nted", 7, requests[i], strlen(requests[i]), own);
        CHECK(status == SKV_OK || status == SKV_NOMEM);
        CHECK((status == SKV_OK) == (skv_reply_size(own) > 0));
        skv_reply_free(own);
    }
}

int main(void)
{
    reply = skv_reply_new();
    forms_without_a_salt_are_the_same_each_time();
    bytes_may_have_a_nul();
    apr1_is_what_openssl_makes();
    caching_sha2_password_is_that_of_hashcat();
    caching_sha2_password_is_the_sha256_of_libcrypt();
    scram_is_that_of_rfc_7677();
    forms_of_crypt_are_accepted_by_libcrypt();
    costs_have_defaults();
    ssha_is_the_digest_of_secret_and_salt();
    salts_are_random();
    a_random_salt_is_the_one_in_the_form();
    wrong_requests_are_refused();
    empty_secrets_and_those_with_a_nul_are_refused();
    long_secrets_are_refused();
    scram_refuses_what_clients_would_normalise();
    chaos(forms_without_memory);
    skv_reply_free(reply);
    return check_summary("form");
}
