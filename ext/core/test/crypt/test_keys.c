/* Files of keys: which ones are read, and why others are refused. */
#include "check.h"
#include "crypt/keys.h"
#include "crypt_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void check_refused(const char *json, const char *message)
{
    skv_keys *keys;

    write_keys(json);
    skv_reply_reset(result);
    keys = skv_keys_read(key_file, result);
    CHECK(!keys);
    CHECK_STATUS(result, SKV_INVALID);
    CHECK_HAS(skv_reply_message(result), "the file of 'encryption_keys', /tmp/skv-keys-");
    CHECK_HAS(skv_reply_message(result), message);
    CHECK(!strstr(skv_reply_message(result), "cGw0"));
    skv_keys_free(keys);
}

static void check_read(const char *json, size_t count)
{
    skv_keys *keys;

    write_keys(json);
    skv_reply_reset(result);
    keys = skv_keys_read(key_file, result);
    CHECK_STATUS(result, SKV_OK);
    CHECK(keys && keys->count == count && memcmp(keys->key[0].bytes, KEY_A, SKV_KEY_SIZE) == 0);
    skv_keys_free(keys);
}

static void sets_of_keys_are_read(void)
{
    check_read(KEYS_A, 1);
    check_read(KEYS(JWK("a", CODED_A) "," JWK("b", CODED_B)), 2);
    check_read(" {\n\"keys\" : [ { \"k\" :\t\"" CODED_A "\" , \"kid\":\"a b\",\"kty\":\"oct\"}]}\n", 1);
    check_read("{\"x\":{\"k\":\"" CODED_B
               "\"},\"keys\":[{\"kty\":\"oct\",\"use\":\"enc\",\"created\":1.5,\"kid\":\"k\","
               "\"k\":\"" CODED_A "\"}]}",
               1);
}

static void malformed_sets_are_refused(void)
{
    check_refused("", "is not JSON");
    check_refused("{\"keys\":[", "is not JSON, or has a member twice: line 1, column 9");
    check_refused(KEYS_A "x", "is not JSON");
    check_refused("{\"k\":\"" CODED_A, "is not JSON");
    check_refused("{\"k\":\"" CODED_A "\\", "is not JSON");
    check_refused("{\"keys\":[{\"kid\":\"a\",\"kid\":\"b\"}]}", "a member twice");
    check_refused("[]", "has no keys");
    check_refused("{}", "has no keys");
    check_refused("{\"keys\":[]}",
                  "has no keys: it must be a JWK Set, {\"keys\":[...]} ('simpkv keys generate' makes it)");
    check_refused("{\"keys\":{}}", "has no keys");
    check_refused(JWK("a", CODED_A), "has no keys");
}

static void wrong_keys_are_refused(void)
{
    check_refused(KEYS("1"), "key 1 is not an object");
    check_refused(KEYS("{\"kty\":\"oct\",\"k\":\"" CODED_A "\"}"), "key 1 has no kid");
    check_refused(KEYS(JWK("", CODED_A)), "key 1 has no kid");
    check_refused(KEYS(JWK("12345678901234567890123456789012345678901234567890123456789012345", CODED_A)),
                  "one of more than 64 characters");
    check_refused(KEYS(JWK("\xc3\xa9", CODED_A)), "printable ASCII");
    check_refused(KEYS(JWK("a\\nb", CODED_A)), "printable ASCII");
    check_refused(KEYS(JWK("\\u0061", CODED_A)), "the kid of key 1 must be written without escapes");
    check_refused(KEYS(JWK("a", CODED_A) "," JWK("a", CODED_B)), "has two keys with the kid 'a'");
    check_refused(KEYS("{\"kid\":\"a\",\"k\":\"" CODED_A "\"}"), "key 1 ('a') has another kty than \"oct\"");
    check_refused(KEYS("{\"kid\":\"a\",\"kty\":\"EC\",\"k\":\"" CODED_A "\"}"), "another kty");
    check_refused(KEYS("{\"kid\":\"a\",\"kty\":\"oct\",\"alg\":\"A128GCM\",\"k\":\"" CODED_A "\"}"), "another alg");
    check_refused(KEYS("{\"kid\":\"a\",\"kty\":\"oct\",\"use\":\"sig\",\"k\":\"" CODED_A "\"}"), "another use");
    check_refused(KEYS("{\"kid\":\"a\",\"kty\":\"oct\"}"), "the k of key 1 ('a') is not 32 bytes");
    check_refused(KEYS(JWK("a", "")), "is not 32 bytes");
    check_refused(KEYS(JWK("a", "AAAA")), "is not 32 bytes");
    check_refused(KEYS(JWK("a", CODED_A "A")), "is not 32 bytes");
    check_refused(KEYS(JWK("a", CODED_A "=")), "is not 32 bytes in base64url without padding");
    check_refused(KEYS(JWK("a", "cGw0bnRlZC1rZXktQS0wMTIzNDU2Nzg5YWJjZGVmZ2h")), "is not 32 bytes");
    check_refused(KEYS(JWK("a", "cGw0bnRlZC1rZXktQS0wMTIzNDU2Nzg5YWJjZGVmZ2+")), "is not 32 bytes");
    /* The second kid used to get the key of the first one: this text was the placeholder of a key while the file was
     * read. */
    check_refused(KEYS(JWK("a", CODED_A) ",{\"kid\":\"b\",\"kty\":\"oct\","
                                         "\"\\u006b\":\"#0000000###################################\"}"),
                  "the k of key 2 ('b') is not 32 bytes");
}

static void large_files_are_refused(void)
{
    char *json = malloc(1100000), *end = json;

    end += sprintf(end, "{\"keys\":[");
    for (int i = 0; i < 1001; i++)
        end += sprintf(end, "%s{\"kty\":\"oct\",\"kid\":\"%d\",\"k\":\"" CODED_A "\"}", i ? "," : "", i);
    strcpy(end, "]}");
    check_refused(json, "has 1001 keys: 1000 are allowed");
    memset(json, ' ', 1048577);
    json[1048577] = '\0';
    check_refused(json, "is larger than 1048576 bytes");
    free(json);
}

static void check_status(skv_status status, const char *message)
{
    skv_reply_reset(result);
    CHECK(!skv_keys_read(key_file, result));
    CHECK_STATUS(result, status);
    CHECK_HAS(skv_reply_message(result), message);
}

static void check_mode(unsigned mode, bool allowed)
{
    skv_keys *keys;

    write_keys_with_mode(KEYS_A, mode);
    skv_reply_reset(result);
    keys = skv_keys_read(key_file, result);
    CHECK(!keys == !allowed);
    CHECK_STATUS(result, allowed ? SKV_OK : SKV_DENIED);
    CHECK_HAS(skv_reply_message(result), allowed ? ""
                                                 : "only its owner may write it, and only its owner and its group "
                                                   "may read it (chmod g-w,o= /tmp/");
    skv_keys_free(keys);
}

static void others_may_not_read_or_change_the_file(void)
{
    check_mode(0600, true);
    check_mode(0640, true);
    check_mode(0400, true);
    check_mode(0660, false);
    check_mode(0644, false);
    check_mode(0604, false);
    check_mode(0602, false);
}

/* Root tests with the file of another user. Other users test with a file that root alone may read. */
static void the_file_of_another_user_is_refused(void)
{
    write_keys(KEYS_A);
    if (geteuid() == 0) {
        CHECK(chown(key_file, 65534, 0) == 0);
        check_status(SKV_DENIED, "belongs to the user 65534, who could change the keys");
    } else {
        CHECK(chmod(key_file, 0) == 0);
        check_status(SKV_DENIED, "cannot read");
    }
}

static void missing_files_and_folders_are_refused(void)
{
    CHECK(unlink(key_file) == 0);
    check_status(SKV_INVALID, "does not exist");
    CHECK(mkdir(key_file, 0700) == 0);
    check_status(SKV_INVALID, "is not a file");
    CHECK(rmdir(key_file) == 0 && mkfifo(key_file, 0600) == 0);
    check_status(SKV_INVALID, "is not a file");
    CHECK(unlink(key_file) == 0);
}

int main(void)
{
    result = skv_reply_new();
    make_key_folder();
    sets_of_keys_are_read();
    malformed_sets_are_refused();
    wrong_keys_are_refused();
    large_files_are_refused();
    others_may_not_read_or_change_the_file();
    the_file_of_another_user_is_refused();
    missing_files_and_folders_are_refused();
    remove_key_folder();
    skv_reply_free(result);
    return check_summary("keys");
}
