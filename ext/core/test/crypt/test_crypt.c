/* Encrypted documents, and which changed ones are refused. */
#include "base/base64.h"
#include "check.h"
#include "crypt/cipher.h"
#include "crypt_fixture.h"

#include <stdlib.h>
#include <string.h>

#define HEADER "{\"alg\":\"dir\",\"backend\":\"" BACKEND "\",\"enc\":\"A256GCM\",\"kid\":\"a\",\"path\":\"" PATH "\"}"
#define BEFORE "{\"value\":\""

static skv_keyring *keyring;

/* ---- base64url ---- */

static void bytes_come_back_from_base64url(void)
{
    unsigned char bytes[64], back[64];

    for (size_t len = 0; len <= sizeof bytes; len++) {
        skv_buf coded;

        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)(len * 37 + i * 101);
        skv_buf_init(&coded, SIZE_MAX);
        skv_base64url_put(&coded, bytes, len);
        CHECK(coded.len == (len * 4 + 2) / 3 && skv_base64url_size(coded.len) == len);
        CHECK(!len || (skv_base64url_decode(coded.bytes, coded.len, back) && memcmp(bytes, back, len) == 0));
        skv_buf_free(&coded);
    }
}

/* RFC 4648, section 10, without padding; and texts that a lenient decoder takes. */
static void base64url_has_one_text_for_bytes(void)
{
    static const char *const valid[] = {"", "Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy", "-_-_"};
    static const char *const wrong[] = {"Z",
                                        "Zh",
                                        "Zn",
                                        "Zm9",
                                        "Zg==",
                                        "Zg=",
                                        "Zm8=",
                                        "Zm9v\n",
                                        " Zm9v",
                                        "Zm+v",
                                        "Zm/v",
                                        "Zm9vY",
                                        "Zm\xff"
                                        "v"};
    unsigned char out[16];

    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        CHECK(skv_base64url_decode(valid[i], strlen(valid[i]), out));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        CHECK(!skv_base64url_decode(wrong[i], strlen(wrong[i]), out));
    CHECK(!skv_base64url_decode("Zm\0v", 4, out));
}

/* ---- Published vectors ---- */

static size_t unhex(const char *hex, unsigned char *out)
{
    size_t len = strlen(hex) / 2;

    for (size_t i = 0; i < len; i++)
        out[i] = (unsigned char)strtol((char[]){hex[2 * i], hex[2 * i + 1], '\0'}, NULL, 16);
    return len;
}

static void check_vector(const char *key, const char *iv, const char *aad, const char *text, const char *tag,
                         const char *plain)
{
    unsigned char header[64], bytes[128], expected[128];
    skv_sealed sealed = {.header = {(char *)header, unhex(aad, header)}, .text = bytes, .len = unhex(text, bytes)};
    skv_secret with = {.kid = "a"};

    skv_cipher *cipher = skv_cipher_new(false);

    skv_reply_reset(result);
    CHECK(unhex(key, with.bytes) == 32 && unhex(iv, sealed.iv) == 12 && unhex(tag, sealed.tag) == 16);
    CHECK(skv_cipher_open(cipher, &with, &sealed, result) == SKV_OK);
    CHECK(unhex(plain, expected) == sealed.len && memcmp(bytes, expected, sealed.len) == 0);
    unhex(text, bytes);
    sealed.tag[15] ^= 1;
    CHECK(skv_cipher_open(cipher, &with, &sealed, result) == SKV_MALFORMED);
    skv_cipher_free(cipher);
}

#define ZEROS "00000000000000000000000000000000"
/* McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13, 14 and 16: AES-256. */
static void vectors_of_gcm_are_opened(void)
{
    check_vector(ZEROS ZEROS, "000000000000000000000000", "", "", "530f8afbc74536b9a963b4f1c4cb738b", "");
    check_vector(ZEROS ZEROS, "000000000000000000000000", "", "cea7403d4d606b6e074ec5d3baf39d18",
                 "d0d1c8a799996bf0265b98b5d48ab919", ZEROS);
    check_vector(
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838c5f61e63"
        "93ba7a0abcc9f662",
        "76fc6ece0f4e1768cddf8853bb2d551b",
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5"
        "aa0de657ba637b39");
}

/* RFC 7516, appendix A.1: its content is encrypted with A256GCM, and the appendix has the content encryption key. */
static void the_content_of_rfc_7516_is_opened(void)
{
    static const char header[] = "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ";
    static const char text[] = "5eym8TW_c8SuK0ltJ3rpYIzOeDQz7TALvtu6UG9oMo4vpzs9tX_EFShS8iB7j6jiSdiwkIr3ajwQzaBtQD_A";
    static const char plain[] = "The true sign of intelligence is not knowledge but imagination.";
    const skv_secret key = {.bytes = {177, 161, 244, 128, 84,  143, 225, 115, 63, 180, 3,   255, 107, 154, 212, 246,
                                      138, 7,   110, 91,  112, 46,  34,  105, 47, 130, 203, 46,  122, 234, 64,  252}};
    unsigned char bytes[64];
    skv_sealed sealed = {.header = {header, sizeof header - 1}, .text = bytes, .len = sizeof plain - 1};
    skv_cipher *cipher = skv_cipher_new(false);

    skv_reply_reset(result);
    CHECK(skv_base64url_decode("48V1_ALb6US04U3b", 16, sealed.iv));
    CHECK(skv_base64url_decode("XFBoMYUZodetZdvTiFvSkQ", 22, sealed.tag));
    CHECK(skv_base64url_decode(text, sizeof text - 1, bytes));
    CHECK(skv_cipher_open(cipher, &key, &sealed, result) == SKV_OK && memcmp(bytes, plain, sizeof plain - 1) == 0);
    skv_cipher_free(cipher);
}

/* RFC 7520, section 5.6, is "dir" with A128GCM, and RFC 7516, appendix A.1, RSA-OAEP. */
static void other_algorithms_of_the_rfcs_are_refused(void)
{
    static const char *const headers[] = {
        "eyJhbGciOiJkaXIiLCJraWQiOiI3N2M3ZTJiOC02ZTEzLTQ1Y2YtODY3Mi02MTdiNWI0NTI0M2EiLCJlbmMiOiJBMTI4R0NNIn0",
        "eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ"};

    for (size_t i = 0; i < 2; i++) {
        char document[256];

        snprintf(document, sizeof document,
                 BEFORE "%s..refa467QzzKx6QAB.JW_i.vbb32Xvllea2OtmHAdccRQ\",\"encoding\":"
                        "\"jwe\"}",
                 headers[i]);
        CHECK(decrypt_for(keyring, PATH, document, strlen(document)) == SKV_MALFORMED);
        CHECK_HAS(skv_reply_message(result), "'dir' (alg) with 'A256GCM' (enc)");
    }
}

/* ---- Documents ---- */

static void documents_of_all_sizes_come_back(void)
{
    static const size_t sizes[] = {0, 1, 2, 3, 4, 100, 8191, 100000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *plain = calloc(1, sizes[i] + 1), *document;
        size_t len;

        memset(plain, 'x', sizes[i]);
        CHECK(encrypt_for(keyring, PATH, plain) == SKV_OK);
        len = skv_reply_size(result);
        document = strdup(skv_reply_data(result));
        CHECK(strlen(document) == len && !strstr(document, "xxxxxxxxxxxx"));
        CHECK(decrypt_for(keyring, PATH, document, len) == SKV_OK && skv_reply_number(result) == 1);
        CHECK_STR(skv_reply_data(result), plain);
        free(document);
        free(plain);
    }
}

static void a_document_says_how_and_for_what_it_is_encrypted(void)
{
    char *document = encrypted(keyring), *dot = strchr(document, '.');
    unsigned char header[256] = "";

    CHECK(strncmp(document, BEFORE, strlen(BEFORE)) == 0);
    CHECK(skv_base64url_decode(document + strlen(BEFORE), (size_t)(dot - document) - strlen(BEFORE), header));
    CHECK_STR((char *)header, HEADER);
    CHECK(skv_document_kid(document, strlen(document), result) == SKV_OK && skv_reply_number(result) == 1);
    CHECK_STR(skv_reply_data(result), "a");
    free(document);
}

static void a_path_of_any_characters_is_kept(void)
{
    static const char *const paths[] = {"globals/\xc3\xa9", "globals/a\"b\\c", "globals/a\tb", ""};
    char document[512];

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK(encrypt_for(keyring, paths[i], PLAIN) == SKV_OK);
        strcpy(document, skv_reply_data(result));
        CHECK(decrypt_for(keyring, paths[i], document, strlen(document)) == SKV_OK);
        CHECK_STR(skv_reply_data(result), PLAIN);
        CHECK(decrypt_for(keyring, "globals/other", document, strlen(document)) == SKV_MALFORMED);
    }
    CHECK(encrypt_for(keyring, "globals/\xff", PLAIN) == SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), "is not UTF-8: its document cannot be encrypted");
    CHECK(decrypt_for(keyring, "globals/\xff", PLAIN, strlen(PLAIN)) == SKV_OK);
    CHECK(encrypt_for(keyring, "globals/../x", PLAIN) == SKV_INVALID);
    CHECK(encrypt_for(keyring, "//globals///a/", PLAIN) == SKV_OK);
    strcpy(document, skv_reply_data(result));
    CHECK(decrypt_for(keyring, "globals/a", document, strlen(document)) == SKV_OK && skv_reply_number(result) == 1);
}

static void equal_documents_are_encrypted_differently(void)
{
    char *first = encrypted(keyring), *second = encrypted(keyring);

    CHECK(strcmp(first, second) != 0);
    free(first);
    free(second);
}

static void plain_documents_are_told_from_encrypted_ones(void)
{
    static const char *const plain[] = {
        "", "x", "{}", PLAIN, BEFORE "x\"}", "{\"value\":\"eA==\",\"encoding\":\"base64\",\"metadata\":{}}",
        /* Somebody's own JWT or JWE as a value. */
        BEFORE "eyJhbGciOiJIUzI1NiJ9.e30.abc\"}",
        BEFORE "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..a.b.c\",\"metadata\":{}}",
        /* Values that have what an encrypted document has. */
        "{\"value\":{\"encoding\":\"jwe\"},\"metadata\":{}}",
        "{\"value\":[\"encoding\",\"jwe\"],\"metadata\":{\"encoding\":\"jwe\"}}",
        "{\"value\":\"\\\"encoding\\\":\\\"jwe\\\"\",\"metadata\":{\"jwe\":1}}",
        "{\"encoding\" : \"base64\" , \"value\" : \"jwe\"}", "{\"value\":\"jwe\",\"encoding\"", "\"jwe\"\\"};

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        CHECK(decrypt_for(keyring, PATH, plain[i], strlen(plain[i])) == SKV_OK && skv_reply_number(result) == 0);
        CHECK(skv_reply_size(result) == 0);
        CHECK(skv_document_kid(plain[i], strlen(plain[i]), result) == SKV_OK && skv_reply_number(result) == 0);
    }
}

/* ---- Documents that are not as they were ---- */

static void each_flipped_bit_is_noticed(void)
{
    char *document = encrypted(keyring);
    size_t len = strlen(document);
    long noticed = 0;

    for (size_t i = 0; i < len * 8; i++) {
        document[i / 8] = (char)(document[i / 8] ^ 1 << i % 8);
        noticed += decrypt_for(keyring, PATH, document, len) == SKV_MALFORMED || skv_reply_status(result) == SKV_DENIED;
        CHECK(skv_reply_size(result) == 0 && !strstr(skv_reply_message(result), "s3cret"));
        document[i / 8] = (char)(document[i / 8] ^ 1 << i % 8);
    }
    CHECK(noticed == (long)len * 8);
    CHECK(decrypt_for(keyring, PATH, document, len) == SKV_OK);
    check_tally("flipped bits of an encrypted document", noticed, (long)len * 8);
    free(document);
}

/* The codec refuses the shortest ones, which are not JSON. */
static void truncated_documents_are_refused(void)
{
    char *document = encrypted(keyring);
    size_t len = strlen(document);

    for (size_t cut = 0; cut < len; cut++) {
        skv_status status = decrypt_for(keyring, PATH, document, cut);

        CHECK(status == SKV_MALFORMED || (status == SKV_OK && skv_reply_number(result) == 0 && cut < 30));
        if (cut >= 30 && len - cut > 1)
            CHECK(decrypt_for(keyring, PATH, document + cut, len - cut) == SKV_MALFORMED ||
                  len - cut < strlen("\",\"encoding\":\"jwe\"}"));
    }
    free(document);
}

static void a_document_of_another_place_is_refused(void)
{
    char *document = encrypted(keyring);

    CHECK(decrypt_for(keyring, "environments/test/app/password", document, strlen(document)) == SKV_MALFORMED);
    CHECK_STR(skv_reply_message(result),
              "cannot decrypt 'environments/test/app/password': its document was encrypted for '" PATH
              "' of the backend '" BACKEND "', and copied or moved here ('" BACKEND "'): store the value again");
    CHECK(skv_keyring_decrypt(keyring, "ldap/x", 6, PATH, strlen(PATH), document, strlen(document), result) ==
          SKV_MALFORMED);
    CHECK_HAS(skv_reply_message(result), "copied or moved here ('ldap/x')");
    free(document);
}

static void check_forged(const char *header, skv_status status, const char *message)
{
    char *document = forged(header, PLAIN);

    CHECK(decrypt_for(keyring, PATH, document, strlen(document)) == status);
    CHECK_HAS(skv_reply_message(result), message);
    CHECK(status == SKV_OK || skv_reply_size(result) == 0);
    free(document);
}

#define REST "\"backend\":\"" BACKEND "\",\"kid\":\"a\",\"path\":\"" PATH "\"}"
#define MEMBERS "exactly the members"

/* All of these are authentic: somebody with the key has made them. */
static void only_one_form_of_header_is_accepted(void)
{
    check_forged(HEADER, SKV_OK, "");
    check_forged("{ \"enc\":\"A256GCM\", \"alg\":\"d\\u0069r\", " REST, SKV_OK, "");
    check_forged("{\"alg\":\"dir\",\"enc\":\"A128GCM\"," REST, SKV_MALFORMED, "which are the only ones");
    check_forged("{\"alg\":\"none\",\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "which are the only ones");
    check_forged("{\"alg\":\"DIR\",\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "which are the only ones");
    check_forged("{\"alg\":[\"dir\"],\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "which are the only ones");
    check_forged("{\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "which are the only ones");
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"zip\":\"DEF\"," REST, SKV_MALFORMED, MEMBERS);
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"crit\":[\"x\"],\"x\":1," REST, SKV_MALFORMED, MEMBERS);
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":\"a\",\"path\":\"" PATH "\"}", SKV_MALFORMED, MEMBERS);
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":1,\"backend\":\"x\",\"path\":\"y\"}", SKV_MALFORMED,
                 MEMBERS);
    check_forged("{\"alg\":\"dir\",\"alg\":\"dir\",\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "a member twice");
    check_forged("{\"alg\":\"none\",\"alg\":\"dir\",\"enc\":\"A256GCM\"," REST, SKV_MALFORMED, "a member twice");
    check_forged(HEADER "{}", SKV_MALFORMED, "not JSON");
    check_forged("[" HEADER "]", SKV_MALFORMED, "which are the only ones");
    check_forged("\xff", SKV_MALFORMED, "not JSON");
    check_forged("", SKV_MALFORMED, "not JSON");
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":\"a\\u0000\",\"backend\":\"x\",\"path\":\"y\"}",
                 SKV_MALFORMED, "not JSON");
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":\"2026-old\",\"backend\":\"" BACKEND
                 "\",\"path\":\"" PATH "\"}",
                 SKV_DENIED, "encrypted with the key '2026-old', which is not in /tmp/");
    check_forged("{\"alg\":\"dir\",\"enc\":\"A256GCM\",\"kid\":\"b\",\"backend\":\"" BACKEND "\",\"path\":\"" PATH
                 "\"}",
                 SKV_MALFORMED, "was changed, or the key 'b' is not the one that encrypted it");
}

/* Replaces one text of the document by another one. */
static char *changed(const char *document, const char *from, const char *to)
{
    const char *at = strstr(document, from);
    char *copy = calloc(1, strlen(document) + strlen(to) + 1);

    CHECK(at != NULL);
    if (at)
        sprintf(copy, "%.*s%s%s", (int)(at - document), document, to, at + strlen(from));
    return copy;
}

static void check_changed(const char *from, const char *to)
{
    char *document = forged(HEADER, PLAIN), *other = changed(document, from, to);

    CHECK(decrypt_for(keyring, PATH, other, strlen(other)) == SKV_MALFORMED);
    free(document);
    free(other);
}

static void only_one_text_of_a_document_is_accepted(void)
{
    char *document = forged(HEADER, PLAIN), *last = strstr(document, "\",\"encoding\"") - 1;

    /* The last character of a tag has four bits that belong to no byte. */
    for (const char *digit = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_="; *digit; digit++) {
        char kept = *last;

        *last = *digit;
        CHECK((decrypt_for(keyring, PATH, document, strlen(document)) == SKV_OK) == (*digit == kept));
        *last = kept;
    }
    free(document);
    check_changed("\",\"encoding\"", "=\",\"encoding\"");
    check_changed("..", ".AAAA.");
    check_changed("..", ".");
    check_changed("..", "...");
    check_changed("\",\"encoding\"", ".\",\"encoding\"");
    check_changed("\",\"encoding\"", " \",\"encoding\"");
    check_changed("\",\"encoding\"", "\\n\",\"encoding\"");
    check_changed("\",\"encoding\"", "\", \"encoding\"");
    check_changed("{\"value\":\"", "{ \"value\":\"");
    check_changed("{\"value\":\"", "{\"value\":\"=");
    check_changed("{\"value\"", "{\"value\":\"x\",\"value\"");
}

/* They used to count as plain documents: 'simpkv rekey' encrypted them once more, and an export had their JWE as a
 * value. */
static void edited_documents_are_refused(void)
{
    static const char *const edited[] = {"{ \"value\": \"e30..a.b.c\", \"encoding\": \"jwe\" }",
                                         "{\n\t\"encoding\" :\r\n\"jwe\",\"value\":\"e30..a.b.c\"}\n",
                                         "{\"metadata\":{\"a\":[\"}\\\"\"]},\"encoding\":\"jwe\",\"value\":\"\"}",
                                         BEFORE "x\",\"encoding\":\"jwe\",\"metadata\":{}}"};

    for (size_t i = 0; i < sizeof edited / sizeof *edited; i++) {
        CHECK(decrypt_for(keyring, PATH, edited[i], strlen(edited[i])) == SKV_MALFORMED);
        CHECK(strstr(skv_reply_message(result), "was edited: it must be {\"value\":\"<JWE>\",\"encoding\":\"jwe\"}"));
        CHECK(skv_document_kid(edited[i], strlen(edited[i]), result) == SKV_MALFORMED);
    }
}

static void null_arguments_are_refused(void)
{
    CHECK(skv_keyring_encrypt(NULL, "", 0, "", 0, "", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_decrypt(NULL, "", 0, "", 0, "", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_encrypt(keyring, NULL, 0, "", 0, "", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_decrypt(keyring, "", 0, NULL, 1, "", 0, result) == SKV_INVALID);
    CHECK(skv_keyring_decrypt(keyring, "", 0, "", 0, NULL, 1, result) == SKV_INVALID);
    CHECK(skv_document_kid(NULL, 1, result) == SKV_INVALID);
    CHECK(skv_keyring_kids(NULL, result) == SKV_INVALID);
}

int main(void)
{
    result = skv_reply_new();
    make_key_folder();
    write_keys(KEYS(JWK("a", CODED_A) "," JWK("b", CODED_B)));
    keyring = open_keys();
    CHECK_STATUS(result, SKV_OK);
    bytes_come_back_from_base64url();
    base64url_has_one_text_for_bytes();
    vectors_of_gcm_are_opened();
    the_content_of_rfc_7516_is_opened();
    other_algorithms_of_the_rfcs_are_refused();
    documents_of_all_sizes_come_back();
    a_document_says_how_and_for_what_it_is_encrypted();
    a_path_of_any_characters_is_kept();
    equal_documents_are_encrypted_differently();
    plain_documents_are_told_from_encrypted_ones();
    each_flipped_bit_is_noticed();
    truncated_documents_are_refused();
    a_document_of_another_place_is_refused();
    only_one_form_of_header_is_accepted();
    only_one_text_of_a_document_is_accepted();
    edited_documents_are_refused();
    null_arguments_are_refused();
    skv_keyring_close(keyring);
    remove_key_folder();
    skv_reply_free(result);
    return check_summary("crypt");
}
