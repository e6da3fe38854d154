/* Private keys stay neither in freed memory nor on the stack. libcrypto makes them of random numbers of its own, so
 * nobody knows them before. The private key of an issuer does stay: docs/adr/0107. */
#include "check.h"
#include "freed.h"
#include "made.h"

#include <openssl/evp.h>

const char *const secrets[] = {"pl4nted-in-memory", NULL};

/* One call, in a thread with a stack of its own. */
typedef struct call {
    const char *request;
    char *data; /* what it made */
    char *stack;
} call;

static void *run_call(void *argument)
{
    call *each = argument;
    skv_reply *own = skv_reply_new();

    CHECK(skv_secret_make(each->request, strlen(each->request), own) == SKV_OK);
    each->data = malloc(skv_reply_size(own) + 1);
    memcpy(each->data, skv_reply_data(own), skv_reply_size(own) + 1);
    skv_reply_free(own);
    return NULL;
}

static void run_in_thread(call *each)
{
    recording = true;
    each->stack = stack_of(run_call, each);
    recording = false;
}

static void is_nowhere(const call *each, const void *secret, size_t len)
{
    if (!CHECK(len >= 16))
        return;
    if (!CHECK(!was_freed(secret, len)))
        printf("  freed memory has the private key after %s\n", each->request);
    if (!CHECK(!stack_has(each->stack, secret, len)))
        printf("  the stack has the private key after %s\n", each->request);
}

/* The same for a number: OpenSSL's begin with the lowest byte. */
static void number_is_nowhere(const call *each, const unsigned char *number, size_t len)
{
    unsigned char reversed[4096];

    if (!CHECK(len <= sizeof reversed))
        return;
    for (size_t i = 0; i < len; i++)
        reversed[i] = number[len - 1 - i];
    is_nowhere(each, number, len);
    is_nowhere(each, reversed, len);
}

/* Bytes that are searched for the private key. */
typedef struct decoded {
    unsigned char bytes[8192];
    size_t len;
} decoded;

/* Checks the text, and decodes it. */
static void decode_text(const call *each, const char *text, size_t len, decoded *out)
{
    EVP_ENCODE_CTX *context = EVP_ENCODE_CTX_new();
    int size = 0, rest = 0;

    is_nowhere(each, text, len);
    CHECK(len < sizeof out->bytes);
    EVP_DecodeInit(context);
    CHECK(EVP_DecodeUpdate(context, out->bytes, &size, (const unsigned char *)text, (int)len) >= 0);
    CHECK(EVP_DecodeFinal(context, out->bytes + size, &rest) == 1);
    out->len = (size_t)(size + rest);
    EVP_ENCODE_CTX_free(context);
}

static void decode_pem(const call *each, const char *pem, decoded *out)
{
    const char *text = strchr(pem, '\n') + 1;

    decode_text(each, text, (size_t)(strstr(text, "-----END") - text), out);
}

/* Checks the number that follows the last place of a mark. `len` is 0 for all bytes up to the end. */
static void number_after(const call *each, const decoded *key, const char *mark, size_t mark_len, size_t skip,
                         size_t len)
{
    const unsigned char *at = key->bytes, *end = key->bytes + key->len, *next;

    while ((next = memmem(at, (size_t)(end - at), mark, mark_len)))
        at = next + mark_len;
    if (CHECK(at != key->bytes && at + skip + len < end))
        number_is_nowhere(each, at + skip, len ? len : (size_t)(end - at) - skip);
}

static void finish(call *each, json_t *made)
{
    json_decref(made);
    free(each->data);
    free_stack(each->stack);
}

static void wireguard_keys_are_wiped(void)
{
    call each = {.request = "{\"kind\":\"wireguard\"}"};
    decoded key;
    json_t *made;

    run_in_thread(&each);
    made = json_of(each.data);
    decode_text(&each, value_of(made), 44, &key);
    number_is_nowhere(&each, key.bytes, 32);
    finish(&each, made);
}

/* The key is behind the length of a string with it and the public key; behind the public key, and behind e = 65537. */
static void ssh_keys_are_wiped(void)
{
    static const struct {
        const char *request, *mark;
        size_t mark_len, skip, len;
    } kinds[] = {{"{\"kind\":\"ssh-ed25519\"}", "\0\0\0\x40", 4, 0, 32},
                 {"{\"kind\":\"ssh-ecdsa\"}", "\0\0\0\x41\x04", 5, 64 + 5, 31},
                 {"{\"kind\":\"ssh-rsa\",\"bits\":2048}", "\0\0\0\3\1\0\1", 7, 4, 0}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        call each = {.request = kinds[i].request};
        decoded key;
        json_t *made;

        run_in_thread(&each);
        made = json_of(each.data);
        decode_pem(&each, value_of(made), &key);
        number_after(&each, &key, kinds[i].mark, kinds[i].mark_len, kinds[i].skip, kinds[i].len);
        finish(&each, made);
    }
}

/* The key is behind the version and its length; and behind e = 65537. */
static void keys_of_certificates_are_wiped(void)
{
    call ec = {.request = "{\"kind\":\"x509\",\"subject\":{\"CN\":\"a\"}}"};
    call rsa = {.request = "{\"kind\":\"x509\",\"subject\":{\"CN\":\"a\"},\"key_type\":\"rsa\",\"bits\":2048}"};
    decoded key;
    json_t *made;

    run_in_thread(&ec);
    made = json_of(ec.data);
    decode_pem(&ec, value_of(made), &key);
    number_after(&ec, &key, "\2\1\1\4\x20", 5, 0, 32);
    finish(&ec, made);
    run_in_thread(&rsa);
    made = json_of(rsa.data);
    decode_pem(&rsa, value_of(made), &key);
    number_after(&rsa, &key, "\2\3\1\0\1", 5, 4, 0);
    finish(&rsa, made);
}

int main(void)
{
    a_block_with_a_secret_is_seen();
    wireguard_keys_are_wiped();
    ssh_keys_are_wiped();
    keys_of_certificates_are_wiped();
    return check_summary("kinds_wipe");
}
