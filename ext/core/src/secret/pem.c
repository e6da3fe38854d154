#include "secret/pem.h"

#include "base/base64.h"
#include "secret/keypair.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <openssl/x509.h>

#define LINE 64
#define P256_SIZE 32
#define P256_POINT_SIZE 65

json_t *skv_pem_text(const char *label, skv_buf *bytes, size_t line)
{
    skv_buf text, coded;

    skv_buf_init(&text, SKV_PEM_MAX);
    skv_buf_init(&coded, SKV_PEM_MAX);
    skv_base64_put(&coded, bytes->bytes, bytes->len);
    text.no_memory = skv_buf_failed(bytes) || skv_buf_failed(&coded);
    skv_buf_put_string(&text, "-----BEGIN ");
    skv_buf_put_string(&text, label);
    skv_buf_put_string(&text, "-----\n");
    for (size_t at = 0; at < coded.len; at += line) {
        skv_buf_put(&text, coded.bytes + at, coded.len - at < line ? coded.len - at : line);
        skv_buf_put_char(&text, '\n');
    }
    skv_buf_put_string(&text, "-----END ");
    skv_buf_put_string(&text, label);
    skv_buf_put_string(&text, "-----\n");
    skv_buf_free(&coded);
    skv_buf_free(bytes);
    return skv_json_take_text(&text);
}

void skv_put_bignum(skv_buf *out, const BIGNUM *number, size_t size)
{
    if (!skv_buf_reserve(out, size) || BN_bn2binpad(number, (unsigned char *)out->bytes + out->len, (int)size) < 0)
        return;
    out->len += size;
    out->bytes[out->len] = '\0';
}

/* Appends the tag and the length of a value in DER: ITU-T X.690, section 10.1. */
static void put_der_header(skv_buf *out, char tag, size_t len)
{
    skv_buf_put_char(out, tag);
    if (len >= 0x100)
        skv_buf_put(out, (const char[]){(char)0x82, (char)(len >> 8)}, 2);
    else if (len >= 0x80)
        skv_buf_put_char(out, (char)0x81);
    skv_buf_put_char(out, (char)len);
}

/* Appends an INTEGER, with a byte for its sign if the first bit is set. */
static void put_der_integer(skv_buf *out, const BIGNUM *number)
{
    size_t size = (size_t)BN_num_bits(number) / 8 + 1;

    put_der_header(out, V_ASN1_INTEGER, size);
    skv_put_bignum(out, number, size);
}

/* RSAPrivateKey of RFC 8017, without the tag of its sequence. */
static bool put_rsa_key(skv_buf *out, const EVP_PKEY *pair)
{
    skv_buf_put(out, "\2\1\0", 3); /* the version */
    for (int i = SKV_RSA_N; i <= SKV_RSA_INVERSE_Q; i++) {
        BIGNUM *number = skv_keypair_number(pair, (skv_key_number)i);

        if (!number)
            return false;
        put_der_integer(out, number);
        BN_clear_free(number);
    }
    return true;
}

/* PrivateKeyInfo of RFC 5208: the version, the algorithm rsaEncryption, and an OCTET STRING with the key. */
static bool put_rsa_pkcs8(skv_buf *out, EVP_PKEY *pair)
{
    static const char before[] = "\2\1\0\x30\x0d\6\x09\x2a\x86\x48\x86\xf7\x0d\1\1\1\5\0";
    skv_buf key, inner;
    bool put;

    skv_buf_init(&key, SKV_PEM_MAX);
    skv_buf_init(&inner, SKV_PEM_MAX);
    put = put_rsa_key(&key, pair);
    put_der_header(&inner, 0x30, key.len);
    put_der_header(out, 0x30, sizeof before - 1 + 4 + inner.len + key.len);
    skv_buf_put(out, before, sizeof before - 1);
    put_der_header(out, V_ASN1_OCTET_STRING, inner.len + key.len);
    skv_buf_put(out, inner.bytes, inner.len);
    skv_buf_put(out, key.bytes, key.len);
    out->no_memory |= skv_buf_failed(&key) || skv_buf_failed(&inner);
    skv_buf_free(&key);
    skv_buf_free(&inner);
    return put;
}

/* The same for the algorithm id-ecPublicKey with the curve P-256, and ECPrivateKey of RFC 5915: its version, the
 * private number, and a BIT STRING with the public point. */
static bool put_ec_pkcs8(skv_buf *out, EVP_PKEY *pair)
{
    static const char before[] =
        "\x30\x81\x87\2\1\0\x30\x13\6\7\x2a\x86\x48\xce\x3d\2\1\6\x08\x2a\x86\x48\xce\x3d\3\1\7"
        "\4\x6d\x30\x6b\2\1\1\4\x20",
                      between[] = "\xa1\x44\3\x42\0";
    BIGNUM *number = skv_keypair_number(pair, SKV_EC_PRIVATE);
    unsigned char *point = NULL;
    int len = i2d_PublicKey(pair, &point);
    bool put = number && len == P256_POINT_SIZE;

    if (put) {
        skv_buf_put(out, before, sizeof before - 1);
        skv_put_bignum(out, number, P256_SIZE);
        skv_buf_put(out, between, sizeof between - 1);
        skv_buf_put(out, point, P256_POINT_SIZE);
    }
    OPENSSL_free(point);
    BN_clear_free(number);
    return put;
}

json_t *skv_pem_private(EVP_PKEY *pair, skv_reply *reply)
{
    skv_buf der;

    skv_buf_init(&der, SKV_PEM_MAX);
    if (!(EVP_PKEY_base_id(pair) == EVP_PKEY_RSA ? put_rsa_pkcs8(&der, pair) : put_ec_pkcs8(&der, pair)))
        skv_fail_openssl("write a private key", reply);
    return skv_pem_text("PRIVATE KEY", &der, LINE);
}
