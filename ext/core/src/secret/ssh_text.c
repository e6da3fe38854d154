#include "secret/ssh_text.h"

#include "secret/keypair.h"
#include "secret/kind.h"
#include "json/tree.h"

#include <openssl/bn.h>
#include <string.h>

/* ssh-keygen breaks the lines of its files here. */
#define LINE 70

/* The block of the cipher "none": PROTOCOL.key pads the private part to a multiple of it. */
#define BLOCK 8

static void put_uint32(skv_buf *out, size_t number)
{
    const unsigned char bytes[] = {(unsigned char)(number >> 24), (unsigned char)(number >> 16),
                                   (unsigned char)(number >> 8), (unsigned char)number};

    skv_buf_put(out, bytes, sizeof bytes);
}

void skv_ssh_put_string(skv_buf *out, const void *bytes, size_t len)
{
    put_uint32(out, len);
    skv_buf_put(out, bytes, len);
}

/* The first bit is that of the sign. */
void skv_ssh_put_number(skv_buf *out, const BIGNUM *number)
{
    size_t size = (size_t)BN_num_bits(number) / 8 + 1;

    put_uint32(out, size);
    skv_put_bignum(out, number, size);
}

/* Appends a buffer as a string. If it has failed, `out` fails, too. */
static void put_part(skv_buf *out, const skv_buf *part)
{
    if (skv_buf_failed(part))
        out->no_memory = true;
    skv_ssh_put_string(out, part->bytes, part->len);
}

/* Two equal random numbers, by which a reader recognises a wrong passphrase; the key; the padding 1, 2, 3... */
static void put_private_part(skv_buf *out, const skv_ssh_key *key, skv_reply *reply)
{
    unsigned char check[4];

    if (skv_random_bytes(check, sizeof check, reply) != SKV_OK)
        return;
    skv_buf_put(out, check, sizeof check);
    skv_buf_put(out, check, sizeof check);
    skv_buf_put(out, key->private.bytes, key->private.len);
    skv_ssh_put_string(out, key->comment, strlen(key->comment));
    for (char pad = 1; out->len % BLOCK && !skv_buf_failed(out); pad++)
        skv_buf_put_char(out, pad);
}

/* The bytes of the file that base64 encodes. */
static void put_private_file(skv_buf *out, const skv_ssh_key *key, skv_reply *reply)
{
    static const char magic[] = "openssh-key-v1"; /* with its NUL */
    skv_buf part;

    skv_buf_init(&part, SKV_PEM_MAX);
    part.no_memory = skv_buf_failed(&key->private);
    put_private_part(&part, key, reply);
    skv_buf_put(out, magic, sizeof magic);
    skv_ssh_put_string(out, "none", 4); /* the cipher */
    skv_ssh_put_string(out, "none", 4); /* how the passphrase becomes a key */
    skv_ssh_put_string(out, "", 0);     /* the options of that */
    put_uint32(out, 1);                 /* the number of keys */
    put_part(out, &key->public);
    put_part(out, &part);
    skv_buf_free(&part);
}

json_t *skv_ssh_private_text(const skv_ssh_key *key, skv_reply *reply)
{
    skv_buf file;

    skv_buf_init(&file, SKV_PEM_MAX);
    put_private_file(&file, key, reply);
    return skv_pem_text("OPENSSH PRIVATE KEY", &file, LINE);
}

json_t *skv_ssh_public_text(const skv_ssh_key *key)
{
    const unsigned char *type = (const unsigned char *)key->public.bytes;
    skv_buf text;

    skv_buf_init(&text, SKV_PEM_MAX);
    text.no_memory = skv_buf_failed(&key->public);
    if (!text.no_memory)
        skv_buf_put(&text, type + 4, type[3]); /* the first string; its length fits in a byte */
    skv_buf_put_char(&text, ' ');
    skv_base64_put(&text, key->public.bytes, key->public.len);
    if (*key->comment)
        skv_buf_put_char(&text, ' ');
    skv_buf_put_string(&text, key->comment);
    return skv_json_take_text(&text);
}

json_t *skv_ssh_fingerprint(const skv_ssh_key *key, skv_reply *reply)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;
    skv_buf text;

    if (skv_buf_failed(&key->public))
        return NULL;
    if (EVP_Digest(key->public.bytes, key->public.len, digest, &len, EVP_sha256(), NULL) != 1) {
        skv_fail_openssl("compute a fingerprint", reply);
        return NULL;
    }
    skv_buf_init(&text, SKV_PEM_MAX);
    skv_buf_put_string(&text, "SHA256:");
    skv_base64_put(&text, digest, len);
    if (!skv_buf_failed(&text))
        skv_buf_truncate(&text, text.len - 1); /* without the padding of 32 bytes */
    return skv_json_take_text(&text);
}
