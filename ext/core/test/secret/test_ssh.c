/* Keys for SSH: what is in their texts, by OpenSSL's arithmetic. spec/integration/secret_kinds_spec.rb has OpenSSH read
 * them. */
#include "chaos.h"
#include "check.h"
#include "made.h"
#include "secret/ssh_text.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>

#define BEGIN "-----BEGIN OPENSSH PRIVATE KEY-----\n"
#define END "-----END OPENSSH PRIVATE KEY-----\n"

/* Bytes that are being read. Reads beyond their end fail, and give nothing. */
typedef struct wire {
    unsigned char bytes[8192];
    size_t at, len;
} wire;

typedef struct slice {
    const unsigned char *bytes;
    size_t len;
} slice;

static void decode(const char *text, size_t len, wire *out)
{
    EVP_ENCODE_CTX *context = EVP_ENCODE_CTX_new();
    int size = 0, rest = 0;

    CHECK(len < sizeof out->bytes);
    EVP_DecodeInit(context);
    CHECK(EVP_DecodeUpdate(context, out->bytes, &size, (const unsigned char *)text, (int)len) >= 0);
    CHECK(EVP_DecodeFinal(context, out->bytes + size, &rest) == 1);
    out->at = 0;
    out->len = (size_t)(size + rest);
    EVP_ENCODE_CTX_free(context);
}

static uint32_t next_number(wire *in)
{
    const unsigned char *at = in->bytes + in->at;

    if (!CHECK(in->len - in->at >= 4))
        return 0;
    in->at += 4;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static slice next_string(wire *in)
{
    size_t len = next_number(in);
    slice string = {in->bytes + in->at, len};

    if (!CHECK(len <= in->len - in->at))
        return (slice){in->bytes, 0};
    in->at += len;
    return string;
}

static BIGNUM *next_integer(wire *in)
{
    slice string = next_string(in);

    CHECK(string.len > 0 && !(string.bytes[0] & 0x80));
    CHECK(string.len < 2 || string.bytes[0] != 0 || string.bytes[1] & 0x80);
    return BN_bin2bn(string.bytes, (int)string.len, NULL);
}

static void is_text(slice string, const char *expected)
{
    CHECK(string.len == strlen(expected) && memcmp(string.bytes, expected, string.len) == 0);
}

/* Reads the public key out of its line, and checks type, comment and fingerprint. */
static void read_public(const json_t *key, const char *type, const char *comment, wire *public)
{
    char line[8192], expected[64], coded[48];
    unsigned char digest[32];
    char *blob, *after;

    strncpy(line, part_of(key, "public"), sizeof line - 1)[sizeof line - 1] = '\0';
    CHECK(!strchr(line, '\n'));
    blob = strchr(line, ' ');
    if (!CHECK(blob != NULL))
        return;
    *blob++ = '\0';
    after = strchr(blob, ' ');
    if (after)
        *after++ = '\0';
    CHECK_STR(line, type);
    CHECK_STR(after ? after : "", comment);
    CHECK(!after == !*comment);
    decode(blob, strlen(blob), public);
    CHECK(EVP_Digest(public->bytes, public->len, digest, NULL, EVP_sha256(), NULL) == 1);
    EVP_EncodeBlock((unsigned char *)coded, digest, sizeof digest);
    snprintf(expected, sizeof expected, "SHA256:%.43s", coded);
    CHECK_STR(part_of(key, "fingerprint"), expected);
    is_text(next_string(public), type);
}

/* Reads the file of the private key, up to the type in its private part. */
static void read_private(const json_t *key, const char *type, const wire *public, wire *private)
{
    static wire file;
    const char *text = value_of(key);
    size_t len = strlen(text);
    slice part;

    CHECK(strncmp(text, BEGIN, strlen(BEGIN)) == 0 && strcmp(text + len - strlen(END), END) == 0);
    for (const char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        CHECK(end - line <= 70);
    }
    decode(text + strlen(BEGIN), len - strlen(BEGIN END), &file);
    CHECK(memcmp(file.bytes, "openssh-key-v1", 15) == 0);
    file.at = 15;
    is_text(next_string(&file), "none");
    is_text(next_string(&file), "none");
    is_text(next_string(&file), "");
    CHECK(next_number(&file) == 1);
    part = next_string(&file);
    CHECK(part.len == public->len && memcmp(part.bytes, public->bytes, part.len) == 0);
    part = next_string(&file);
    CHECK(file.at == file.len);
    CHECK(part.len % 8 == 0);
    memcpy(private->bytes, part.bytes, part.len);
    private->at = 0;
    private->len = part.len;
    CHECK(next_number(private) == next_number(private));
    is_text(next_string(private), type);
}

/* Reads what follows the key. */
static void read_end(wire *private, const char *comment)
{
    is_text(next_string(private), comment);
    CHECK(private->len - private->at < 8);
    for (int pad = 1; private->at < private->len; pad++)
        CHECK(private->bytes[private->at++] == pad);
}

static void ed25519_keys_belong_together(void)
{
    json_t *key = made("{'kind':'ssh-ed25519','comment':'root@www \xc3\xa9'}");
    unsigned char seed_public[32];
    static wire public, private;
    size_t size = 32;
    EVP_PKEY *pair;
    slice point, again, both;

    read_public(key, "ssh-ed25519", "root@www \xc3\xa9", &public);
    read_private(key, "ssh-ed25519", &public, &private);
    point = next_string(&public);
    again = next_string(&private);
    both = next_string(&private);
    CHECK(public.at == public.len && point.len == 32 && again.len == 32 && both.len == 64);
    CHECK(memcmp(point.bytes, again.bytes, 32) == 0 && memcmp(point.bytes, both.bytes + 32, 32) == 0);
    pair = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, both.bytes, 32);
    CHECK(EVP_PKEY_get_raw_public_key(pair, seed_public, &size) == 1 && memcmp(seed_public, point.bytes, 32) == 0);
    EVP_PKEY_free(pair);
    read_end(&private, "root@www \xc3\xa9");
    json_decref(key);
}

/* p and q are the factors of n, `inverse` is that of q, and d undoes e. */
static void numbers_fit(BIGNUM *n, BIGNUM *e, BIGNUM *d, BIGNUM *inverse, BIGNUM *p, BIGNUM *q)
{
    BN_CTX *context = BN_CTX_new();
    BIGNUM *number = BN_new(), *two = BN_new();

    CHECK(BN_mul(number, p, q, context) == 1 && BN_cmp(number, n) == 0);
    CHECK(BN_mod_mul(number, inverse, q, p, context) == 1 && BN_is_one(number));
    BN_set_word(two, 2);
    CHECK(BN_mod_exp(number, two, e, n, context) == 1 && !BN_is_word(number, 2));
    CHECK(BN_mod_exp(number, number, d, n, context) == 1 && BN_is_word(number, 2));
    BN_free(two);
    BN_free(number);
    BN_CTX_free(context);
}

static void rsa_key_has(const char *request, int bits)
{
    json_t *key = made(request);
    BIGNUM *numbers[6], *e, *n;
    static wire public, private;

    read_public(key, "ssh-rsa", "", &public);
    read_private(key, "ssh-rsa", &public, &private);
    e = next_integer(&public);
    n = next_integer(&public);
    for (size_t i = 0; i < 6; i++) /* n, e, d, 1/q mod p, p, q */
        numbers[i] = next_integer(&private);
    CHECK(public.at == public.len);
    CHECK(BN_num_bits(n) == bits && BN_is_word(e, 65537));
    CHECK(BN_cmp(n, numbers[0]) == 0 && BN_cmp(e, numbers[1]) == 0);
    numbers_fit(n, e, numbers[2], numbers[3], numbers[4], numbers[5]);
    for (size_t i = 0; i < 6; i++)
        BN_free(numbers[i]);
    BN_free(e);
    BN_free(n);
    read_end(&private, "");
    json_decref(key);
}

static void rsa_keys_belong_together(void)
{
    if (!check_with_valgrind())
        rsa_key_has("{'kind':'ssh-rsa'}", 3072);
    rsa_key_has("{'kind':'ssh-rsa','bits':2048}", 2048);
}

/* Returns whether the point is the product of the number and the curve's generator. */
static bool is_product(int nid, slice point, const BIGNUM *number)
{
    EC_GROUP *group = EC_GROUP_new_by_curve_name(nid);
    EC_POINT *public = EC_POINT_new(group), *product = EC_POINT_new(group);
    bool equal = EC_POINT_oct2point(group, public, point.bytes, point.len, NULL) == 1 &&
                 EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1 &&
                 EC_POINT_cmp(group, public, product, NULL) == 0;

    EC_POINT_free(product);
    EC_POINT_free(public);
    EC_GROUP_free(group);
    return equal;
}

static void ecdsa_key_is_on(const char *request, const char *curve, int nid)
{
    json_t *key = made(request);
    static wire public, private;
    slice point, again;
    BIGNUM *number;
    char type[32];

    snprintf(type, sizeof type, "ecdsa-sha2-%s", curve);
    read_public(key, type, "", &public);
    read_private(key, type, &public, &private);
    is_text(next_string(&public), curve);
    is_text(next_string(&private), curve);
    point = next_string(&public);
    again = next_string(&private);
    number = next_integer(&private);
    CHECK(public.at == public.len);
    CHECK(point.len == again.len && memcmp(point.bytes, again.bytes, point.len) == 0);
    CHECK(is_product(nid, point, number));
    BN_free(number);
    read_end(&private, "");
    json_decref(key);
}

static void ecdsa_keys_belong_together(void)
{
    ecdsa_key_is_on("{'kind':'ssh-ecdsa','curve':'nistp384'}", "nistp384", NID_secp384r1);
    ecdsa_key_is_on("{'kind':'ssh-ecdsa','curve':'nistp256'}", "nistp256", NID_X9_62_prime256v1);
    for (int i = check_rounds(20); i; i--)
        ecdsa_key_is_on("{'kind':'ssh-ecdsa'}", "nistp256", NID_X9_62_prime256v1);
    for (int i = check_rounds(20); i; i--)
        ecdsa_key_is_on("{'kind':'ssh-ecdsa','curve':'nistp521'}", "nistp521", NID_secp521r1);
}

/* RFC 4251, section 5. */
static void numbers_have_a_bit_for_the_sign(void)
{
    static const struct {
        const char *hex, *bytes;
        size_t len;
    } numbers[] = {{"7f", "\0\0\0\1\x7f", 5},
                   {"80", "\0\0\0\2\0\x80", 6},
                   {"0080", "\0\0\0\2\0\x80", 6},
                   {"00ff00", "\0\0\0\3\0\xff\0", 7},
                   {"09a378f9b2e332a7", "\0\0\0\x08\x09\xa3\x78\xf9\xb2\xe3\x32\xa7", 12}};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        BIGNUM *number = NULL;
        skv_buf buf;

        skv_buf_init(&buf, 64);
        CHECK(BN_hex2bn(&number, numbers[i].hex) > 0);
        skv_ssh_put_number(&buf, number);
        CHECK(buf.len == numbers[i].len && memcmp(buf.bytes, numbers[i].bytes, buf.len) == 0);
        skv_buf_free(&buf);
        BN_free(number);
    }
}

static void keys_differ(void)
{
    json_t *one = made("{'kind':'ssh-ed25519'}"), *other = made("{'kind':'ssh-ed25519'}");

    CHECK(strcmp(value_of(one), value_of(other)) != 0);
    CHECK(strcmp(part_of(one, "fingerprint"), part_of(other, "fingerprint")) != 0);
    json_decref(one);
    json_decref(other);
}

static void wrong_options_are_refused(void)
{
    char request[2048];

    refused("{'kind':'ssh-rsa','bits':2047}", "option 'bits': expected an integer from 2048 to 8192");
    refused("{'kind':'ssh-rsa','bits':8193}", "option 'bits': expected an integer from 2048 to 8192");
    refused("{'kind':'ssh-rsa','bits':'3072'}", "option 'bits': expected an integer");
    refused("{'kind':'ssh-rsa','curve':'nistp256'}", "unknown option 'curve' of kind 'ssh-rsa'");
    refused("{'kind':'ssh-ed25519','bits':256}", "unknown option 'bits' of kind 'ssh-ed25519'");
    refused("{'kind':'ssh-ecdsa','curve':'nistp224'}", "option 'curve': expected 'nistp256', 'nistp384' or 'nistp521'");
    refused("{'kind':'ssh-ecdsa','curve':256}", "option 'curve': expected a text");
    refused("{'kind':'ssh-ed25519','comment':'a\\nb'}", "option 'comment': expected one line of text");
    refused("{'kind':'ssh-ed25519','comment':'a\\u007fb'}", "option 'comment': expected one line of text");
    refused("{'kind':'ssh-ed25519','comment':'a\\u0085b'}", "option 'comment': expected one line of text");
    refused("{'kind':'ssh-ed25519','comment':'a\\u2028b'}", "option 'comment': expected one line of text");
    snprintf(request, sizeof request, "{'kind':'ssh-ed25519','comment':'%01001d'}", 0);
    refused(request, "of 1000 bytes at most");
    snprintf(request, sizeof request, "{'kind':'ssh-ed25519','comment':'%01000d'}", 0);
    json_decref(made(request));
    CHECK_STATUS(result, SKV_OK);
}

/* Ruby's OpenSSL reports the errors that it finds in the queue of its thread. */
static void errors_of_others_stay(void)
{
    BIO *missing = BIO_new_file("/nonexistent/file", "r");
    unsigned long before = ERR_peek_last_error();

    CHECK(!missing && before != 0);
    json_decref(made("{'kind':'ssh-ecdsa'}"));
    CHECK(ERR_peek_last_error() == before);
    ERR_clear_error();
    json_decref(made("{'kind':'ssh-ed25519'}"));
    CHECK(ERR_peek_error() == 0);
}

static void key_is_whole_or_memory_runs_out(const char *request)
{
    skv_reply *reply;

    if (succeeds_in_chaos(skv_secret_make, request, &reply))
        CHECK_HAS(skv_reply_data(reply), "-----END OPENSSH PRIVATE KEY-----\\n\"");
    skv_reply_free(reply);
}

static void ed25519_key_is_whole_or_memory_runs_out(void)
{
    key_is_whole_or_memory_runs_out("{\"kind\":\"ssh-ed25519\",\"comment\":\"a\"}");
}

static void ecdsa_key_is_whole_or_memory_runs_out(void)
{
    key_is_whole_or_memory_runs_out("{\"kind\":\"ssh-ecdsa\"}");
}

int main(void)
{
    share_memory_with_libcrypto();
    result = skv_reply_new();
    ed25519_keys_belong_together();
    rsa_keys_belong_together();
    ecdsa_keys_belong_together();
    numbers_have_a_bit_for_the_sign();
    keys_differ();
    wrong_options_are_refused();
    errors_of_others_stay();
    skv_reply_free(result);
    chaos(ed25519_key_is_whole_or_memory_runs_out);
    chaos(ecdsa_key_is_whole_or_memory_runs_out);
    return check_summary("ssh");
}
