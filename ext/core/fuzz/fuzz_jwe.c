/*
 * A document, which is decrypted as it is, and a header, for which an authentic document is made. Only authentic
 * documents are decrypted, and only with a header that has the five members.
 */
#include "base/base64.h"
#include "base/reply.h"

#include "simpkv_keyring.h"

#include <assert.h>
#include <jansson.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char keys[] =
    "{\"keys\":[{\"kty\":\"oct\",\"kid\":\"a\",\"k\":\"cGw0bnRlZC1rZXktQS0wMTIzNDU2Nzg5YWJjZGVmZ2g\"}]}";
static const char backend[] = "file/default", path[] = "globals/a", plain[] = "{\"value\":\"x\"}";

/* The file of keys has no name, so that nothing stays when the fuzzer ends. */
static skv_keyring *open_keyring(skv_reply *reply)
{
    char file[64];
    int fd = memfd_create("keys", 0);

    assert(fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, keys, sizeof keys - 1) == (ssize_t)(sizeof keys - 1));
    snprintf(file, sizeof file, "/proc/self/fd/%d", fd);
    return skv_keyring_open(file, strlen(file), reply);
}

static void seal(const uint8_t *header, size_t size, skv_buf *document)
{
    unsigned char iv[12] = "fuzz-iv-0123", tag[16], text[sizeof plain];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int len;
    size_t start;

    skv_buf_put_string(document, "{\"value\":\"");
    start = document->len;
    skv_base64url_put(document, header, size);
    EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, (const unsigned char *)"pl4nted-key-A-0123456789abcdefgh", iv);
    EVP_EncryptUpdate(context, NULL, &len, (unsigned char *)document->bytes + start, (int)(document->len - start));
    EVP_EncryptUpdate(context, text, &len, (const unsigned char *)plain, (int)strlen(plain));
    EVP_EncryptFinal_ex(context, text + len, &len);
    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, sizeof tag, tag);
    EVP_CIPHER_CTX_free(context);
    skv_buf_put_string(document, "..");
    skv_base64url_put(document, iv, sizeof iv);
    skv_buf_put_string(document, ".");
    skv_base64url_put(document, text, strlen(plain));
    skv_buf_put_string(document, ".");
    skv_base64url_put(document, tag, sizeof tag);
    skv_buf_put_string(document, "\",\"encoding\":\"jwe\"}");
}

static void check_header(const uint8_t *header, size_t size)
{
    json_t *tree = json_loadb((const char *)header, size, JSON_REJECT_DUPLICATES, NULL);

    assert(tree && json_object_size(tree) == 5);
    assert(strcmp(json_string_value(json_object_get(tree, "alg")), "dir") == 0);
    assert(strcmp(json_string_value(json_object_get(tree, "enc")), "A256GCM") == 0);
    assert(strcmp(json_string_value(json_object_get(tree, "backend")), backend) == 0);
    assert(strcmp(json_string_value(json_object_get(tree, "path")), path) == 0);
    json_decref(tree);
}

/* Returns true if the document was decrypted. */
static bool decrypt(skv_keyring *keyring, const char *document, size_t len, skv_reply *reply)
{
    skv_status status =
        skv_keyring_decrypt(keyring, backend, strlen(backend), path, strlen(path), document, len, reply);
    bool decrypted = status == SKV_OK && skv_reply_number(reply) == 1;

    assert(status == SKV_OK || (skv_reply_message(reply)[0] && skv_reply_size(reply) == 0));
    assert(!decrypted || strcmp(skv_reply_data(reply), plain) == 0);
    skv_document_kid(document, len, reply);
    return decrypted;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static skv_keyring *keyring;
    skv_reply *reply = skv_reply_new();
    skv_buf document;

    if (!keyring)
        keyring = open_keyring(reply);
    decrypt(keyring, size ? (const char *)data : "", size, reply);
    skv_buf_init(&document, SKV_DATA_MAX);
    seal(data, size, &document);
    if (decrypt(keyring, document.bytes, document.len, reply))
        check_header(data, size);
    skv_buf_free(&document);
    skv_reply_free(reply);
    return 0;
}
