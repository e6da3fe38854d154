/* Keyrings whose file changes, in several threads, in forked processes, and when memory runs out. */
#include "base/buf.h"
#include "chaos.h"
#include "check.h"
#include "crypt_fixture.h"
#include "simpkv_faults.h"

#include <openssl/crypto.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool decrypts(skv_keyring *keyring, const char *document)
{
    return decrypt_for(keyring, PATH, document, strlen(document)) == SKV_OK && skv_reply_number(result) == 1 &&
           strcmp(skv_reply_data(result), PLAIN) == 0;
}

static void a_changed_file_is_read_again(void)
{
    skv_keyring *keyring;
    char *by_a, *by_b;

    write_keys(KEYS_A);
    keyring = open_keys();
    by_a = encrypted(keyring);
    write_keys(KEYS_BA);
    CHECK(skv_keyring_kids(keyring, result) == SKV_OK && skv_reply_size(result) == 4);
    CHECK(memcmp(skv_reply_data(result), "b\0a", 4) == 0);
    CHECK(decrypts(keyring, by_a));
    by_b = encrypted(keyring);
    CHECK(skv_document_kid(by_b, strlen(by_b), result) == SKV_OK);
    CHECK_STR(skv_reply_data(result), "b");
    write_keys(KEYS(JWK("b", CODED_B)));
    CHECK(decrypts(keyring, by_b));
    CHECK(!decrypts(keyring, by_a) && skv_reply_status(result) == SKV_DENIED);
    CHECK_STR(skv_reply_fault(result), "encryption_keys");
    CHECK_HAS(skv_reply_message(result), "cannot decrypt '" PATH "': ");
    CHECK_HAS(skv_reply_message(result), "the key 'a', which is not in ");
    CHECK_HAS(skv_reply_message(result), key_file);
    write_keys(KEYS(JWK("a", CODED_B)));
    CHECK(!decrypts(keyring, by_a) && skv_reply_status(result) == SKV_MALFORMED);
    CHECK_HAS(skv_reply_message(result), "the key 'a' is not the one that encrypted it");
    free(by_a);
    free(by_b);
    skv_keyring_close(keyring);
}

static void check_fails(skv_keyring *keyring, const char *document, skv_status status, const char *message)
{
    CHECK(decrypt_for(keyring, PATH, document, strlen(document)) == status);
    CHECK_HAS(skv_reply_message(result), message);
    CHECK(encrypt_for(keyring, PATH, PLAIN) == status);
    CHECK(skv_reply_size(result) == 0);
    CHECK(skv_keyring_kids(keyring, result) == status);
    /* Needs no key. */
    CHECK(decrypt_for(keyring, PATH, PLAIN, strlen(PLAIN)) == SKV_OK);
}

static void calls_fail_as_long_as_the_file_is_wrong(void)
{
    skv_keyring *keyring;
    char *document;

    write_keys(KEYS_A);
    keyring = open_keys();
    document = encrypted(keyring);
    write_keys("{\"keys\":");
    check_fails(keyring, document, SKV_INVALID, "is not JSON");
    check_fails(keyring, document, SKV_INVALID, "is not JSON");
    write_keys_with_mode(KEYS_A, 0644);
    check_fails(keyring, document, SKV_DENIED, "has the mode 0644");
    CHECK(chmod(key_file, 0600) == 0);
    CHECK(decrypts(keyring, document));
    CHECK(chmod(key_file, 0606) == 0);
    check_fails(keyring, document, SKV_DENIED, "has the mode 0606");
    unlink(key_file);
    check_fails(keyring, document, SKV_INVALID, "does not exist");
    write_keys(KEYS_BA);
    CHECK(decrypts(keyring, document));
    free(document);
    skv_keyring_close(keyring);
}

static void wrong_files_are_not_opened(void)
{
    static const char nul[] = "/tmp/x\0y";

    write_keys("{}");
    CHECK(!open_keys() && skv_reply_status(result) == SKV_INVALID);
    CHECK(!skv_keyring_open("keys", 4, result));
    CHECK_STR(skv_reply_message(result), "the file of 'encryption_keys' must have an absolute path");
    CHECK(!skv_keyring_open(nul, sizeof nul - 1, result) && !skv_keyring_open(NULL, 0, result));
    CHECK(!skv_keyring_open("/tmp", 4, NULL));
    skv_keyring_close(NULL);
}

/* ---- Threads ---- */

#define THREADS 4
#define CHANGES 200

static skv_keyring *shared;
static atomic_bool over;
static atomic_long calls, failures;

static void *use_keyring(void *unused)
{
    skv_reply *own = skv_reply_new();

    (void)unused;
    while (!over || calls < 1000) {
        char *document;

        calls++;
        failures += skv_keyring_encrypt(shared, BACKEND, strlen(BACKEND), PATH, strlen(PATH), PLAIN, strlen(PLAIN),
                                        own) != SKV_OK;
        document = strdup(skv_reply_data(own));
        failures += skv_keyring_decrypt(shared, BACKEND, strlen(BACKEND), PATH, strlen(PATH), document,
                                        strlen(document), own) != SKV_OK ||
                    strcmp(skv_reply_data(own), PLAIN) != 0;
        free(document);
    }
    skv_reply_free(own);
    return NULL;
}

static void threads_share_a_keyring_whose_file_changes(void)
{
    pthread_t thread[THREADS];

    write_keys(KEYS_A);
    write_keys(KEYS_BA);
    shared = open_keys();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, use_keyring, NULL) == 0);
    for (int i = 0; i < CHANGES; i++)
        write_keys(i % 2 ? KEYS_BA : KEYS(JWK("a", CODED_A) "," JWK("b", CODED_B)));
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    CHECK(failures == 0);
    check_tally("threads with one keyring whose file changes", CHANGES, calls);
    skv_keyring_close(shared);
}

static void a_forked_process_uses_the_keyring(void)
{
    skv_keyring *keyring;
    char *document;
    int status = -1;
    pid_t child;

    write_keys(KEYS_A);
    keyring = open_keys();
    document = encrypted(keyring);
    child = fork();
    if (child == 0) {
        bool decrypted;

        write_keys(KEYS_BA);
        decrypted = decrypts(keyring, document);
        free(document);
        skv_keyring_close(keyring);
        _exit(decrypted ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(decrypts(keyring, document));
    free(document);
    skv_keyring_close(keyring);
}

/* With equal IVs, two documents would show what they have in common. */
static void a_forked_process_has_random_numbers_of_its_own(void)
{
    char theirs[1024] = "", *ours;
    skv_keyring *keyring;
    int ends[2], status = -1;
    pid_t child;

    write_keys(KEYS_A);
    keyring = open_keys();
    free(encrypted(keyring));
    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        ours = encrypted(keyring);
        status = write(ends[1], ours, strlen(ours)) < 0;
        free(ours);
        skv_keyring_close(keyring);
        _exit(status);
    }
    ours = encrypted(keyring);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(read(ends[0], theirs, sizeof theirs - 1) == (ssize_t)strlen(ours));
    CHECK(strncmp(strstr(ours, ".."), strstr(theirs, ".."), 18) != 0);
    close(ends[0]);
    close(ends[1]);
    free(ours);
    skv_keyring_close(keyring);
}

/* ---- Memory ---- */

/* The memory of libcrypto: skv_alloc() fails when the test says so. */
static void *alloc_for_libcrypto(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return skv_alloc(size);
}

static void *realloc_for_libcrypto(void *memory, size_t size, const char *file, int line)
{
    void *probe = skv_alloc(1);

    (void)file, (void)line;
    skv_free(probe);
    return probe ? realloc(memory, size) : NULL;
}

static void free_for_libcrypto(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    skv_free(memory);
}

/* When memory runs out, libcrypto does not say why it fails. */
static bool lacks_memory(const skv_reply *own)
{
    return skv_reply_status(own) == SKV_NOMEM || strstr(skv_reply_message(own), "OpenSSL cannot");
}

static void use_document_without_memory(skv_keyring *keyring, const char *document, skv_reply *own)
{
    size_t len = strlen(document);

    if (skv_keyring_decrypt(keyring, BACKEND, strlen(BACKEND), PATH, strlen(PATH), document, len, own) == SKV_OK)
        CHECK_STR(skv_reply_data(own), PLAIN);
    else
        CHECK(lacks_memory(own));
    CHECK(skv_keyring_decrypt(keyring, BACKEND, strlen(BACKEND), "other", 5, document, len, own) == SKV_MALFORMED ||
          lacks_memory(own));
    CHECK(skv_document_kid(document, len, own) == SKV_OK || lacks_memory(own));
    CHECK(skv_keyring_kids(keyring, own) == SKV_OK || lacks_memory(own));
}

static void memory_runs_out_without_harm(void)
{
    skv_reply *own = skv_reply_new();
    skv_keyring *keyring = own ? skv_keyring_open(key_file, strlen(key_file), own) : NULL;
    char document[1024];

    CHECK(!own || (keyring ? skv_reply_status(own) == SKV_OK : lacks_memory(own)));
    if (keyring && skv_keyring_encrypt(keyring, BACKEND, strlen(BACKEND), PATH, strlen(PATH), PLAIN, strlen(PLAIN),
                                       own) == SKV_OK) {
        strcpy(document, skv_reply_data(own));
        use_document_without_memory(keyring, document, own);
    } else if (keyring) {
        CHECK(lacks_memory(own));
    }
    skv_keyring_close(keyring);
    skv_reply_free(own);
}

static void memory_runs_out(void)
{
    write_keys(KEYS_BA);
    chaos(memory_runs_out_without_harm);
}

int main(void)
{
    CHECK(CRYPTO_set_mem_functions(alloc_for_libcrypto, realloc_for_libcrypto, free_for_libcrypto) == 1);
    result = skv_reply_new();
    make_key_folder();
    a_changed_file_is_read_again();
    calls_fail_as_long_as_the_file_is_wrong();
    wrong_files_are_not_opened();
    threads_share_a_keyring_whose_file_changes();
    a_forked_process_uses_the_keyring();
    a_forked_process_has_random_numbers_of_its_own();
    memory_runs_out();
    remove_key_folder();
    skv_reply_free(result);
    return check_summary("keyring");
}
