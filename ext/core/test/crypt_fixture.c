#include "crypt_fixture.h"

#include "base/base64.h"
#include "check.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

skv_reply *result;
char key_file[64];
static char folder[32];

void make_key_folder(void)
{
    strcpy(folder, "/tmp/skv-keys-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(key_file, sizeof key_file, "%s/keys", folder);
}

void remove_key_folder(void)
{
    unlink(key_file);
    rmdir(folder);
}

void write_keys_with_mode(const char *json, unsigned mode)
{
    char other[80];
    FILE *file;

    snprintf(other, sizeof other, "%s.new", key_file);
    file = fopen(other, "w");
    CHECK(file && fputs(json, file) >= 0 && fclose(file) == 0);
    CHECK(chmod(other, mode) == 0 && rename(other, key_file) == 0);
}

void write_keys(const char *json)
{
    write_keys_with_mode(json, 0600);
}

skv_keyring *open_keys(void)
{
    return skv_keyring_open(key_file, strlen(key_file), result);
}

skv_status encrypt_for(skv_keyring *keyring, const char *path, const char *document)
{
    return skv_keyring_encrypt(keyring, BACKEND, strlen(BACKEND), path, strlen(path), document, strlen(document),
                               result);
}

skv_status decrypt_for(skv_keyring *keyring, const char *path, const char *document, size_t len)
{
    return skv_keyring_decrypt(keyring, BACKEND, strlen(BACKEND), path, strlen(path), document, len, result);
}

char *encrypted(skv_keyring *keyring)
{
    CHECK(encrypt_for(keyring, PATH, PLAIN) == SKV_OK);
    return strdup(skv_reply_data(result));
}

char *forged(const char *header, const char *plain)
{
    unsigned char iv[12] = "forged-iv-01", tag[16], text[256];
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    int len = (int)strlen(plain), done = 0;
    skv_buf out, coded;

    skv_buf_init(&out, SIZE_MAX);
    skv_buf_init(&coded, SIZE_MAX);
    skv_base64url_put(&coded, header, strlen(header));
    CHECK(EVP_EncryptInit_ex(context, EVP_aes_256_gcm(), NULL, (const unsigned char *)KEY_A, iv) == 1);
    CHECK(EVP_EncryptUpdate(context, NULL, &done, (const unsigned char *)coded.bytes, (int)coded.len) == 1);
    CHECK(EVP_EncryptUpdate(context, text, &done, (const unsigned char *)plain, len) == 1);
    CHECK(EVP_EncryptFinal_ex(context, text + done, &done) == 1);
    CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, sizeof tag, tag) == 1);
    EVP_CIPHER_CTX_free(context);
    skv_buf_put_string(&out, "{\"value\":\"");
    skv_buf_put(&out, coded.bytes, coded.len);
    skv_buf_put_string(&out, "..");
    skv_base64url_put(&out, iv, sizeof iv);
    skv_buf_put_string(&out, ".");
    skv_base64url_put(&out, text, (size_t)len);
    skv_buf_put_string(&out, ".");
    skv_base64url_put(&out, tag, sizeof tag);
    skv_buf_put_string(&out, "\",\"encoding\":\"jwe\"}");
    skv_buf_free(&coded);
    return out.bytes;
}
