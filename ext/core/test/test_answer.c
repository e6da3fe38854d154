/* Gets in one call. The specs of the FFI binding load the answers with Ruby: here it is what they are, and where. */
#include "check.h"
#include "simpkv_answer.h"
#include "json/marshal.h"

#include <stdlib.h>
#include <string.h>

#define FOLDER "environments/dev"
#define LITERAL(text) text, sizeof(text) - 1

static char root[] = "/tmp/simpkv-test-answer-XXXXXX";
static skv_store *store;
static skv_reply *reply;
static skv_answer *answer;

/* Returns the size of a request, which it packs. */
static size_t pack(char *request, const char *folder, const char *key, uint32_t flags)
{
    int64_t timeout_ms = 1000;
    uint32_t folder_len = (uint32_t)strlen(folder);

    memcpy(request, &timeout_ms, 8);
    memcpy(request + 8, &flags, 4);
    memcpy(request + 12, &folder_len, 4);
    memcpy(request + 16, folder, folder_len);
    memcpy(request + 16 + folder_len, key, strlen(key));
    return 16 + folder_len + strlen(key);
}

static int64_t get_key(const char *folder, const char *key, uint32_t flags)
{
    char request[9000];

    return skv_answer_get(store, request, pack(request, folder, key, flags), answer);
}

static void keep(const char *document, size_t len)
{
    CHECK(skv_put(store, LITERAL(FOLDER "/k"), document, len, SKV_PUT_ANY, NULL, 0, 1000, NULL, reply) == SKV_OK);
}

static void a_plain_document_is_packed(void)
{
    static const struct {
        const char *document, *packed;
        size_t packed_len;
    } cases[] = {
        {"{\"value\":null}", LITERAL("\4\10{\1\2:\1\5value0:\1\10metadata{\0")},
        {" { \"value\" : true , \"metadata\" : {} } ", LITERAL("\4\10{\1\2:\1\5valueT:\1\10metadata{\2\0\0")},
        {"{\"value\":[0,-1,1073741824]}",
         LITERAL("\4\10{\1\2:\1\5value[\2\3\0i\0l-\1\1\1\0l+\1\2\0\0\0\x40:\1\10metadata{\0")},
        {"{\"value\":{\"a\":\"\\n\"},\"metadata\":null}",
         LITERAL("\4\10{\1\2:\1\5value{\2\1\0I\"\2\1\0a\1\1:\1\1ETI\"\2\1\0\n\1\1;\1\1T:\1\10metadata{\0")},
        {"{\"value\":1.5}", LITERAL("\4\10{\1\2:\1\5valuef\1\3"
                                    "1.5:\1\10metadata{\0")},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        keep(cases[i].document, strlen(cases[i].document));
        CHECK(get_key(FOLDER, "k", 0) == (int64_t)cases[i].packed_len);
        CHECK(memcmp(answer, cases[i].packed, cases[i].packed_len) == 0);
        CHECK(skv_reply_size(skv_answer_reply(answer)) == 0);
    }
}

static void other_documents_are_there_as_they_are(void)
{
    static const char *const documents[] = {
        "{\"value\":1,\"expires\":null}",
        "{\"value\":1,\"value\":2}",
        "{\"metadata\":{},\"value\":1}",
        "{\"value\":1,\"metadata\":[]}",
        "{\"metadata\":{}}",
        "{\"value\":1e400}",
        "{\"value\":1.00000000000000000001}",
        "{\"value\":\"\xff\"}",
        "{\"value\":1",
        "no JSON",
    };

    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        keep(documents[i], strlen(documents[i]));
        CHECK(get_key(FOLDER, "//k/", 0) == -(int64_t)strlen(documents[i]));
        CHECK(memcmp(answer, documents[i], strlen(documents[i])) == 0);
        CHECK(skv_answer_document(documents[i], strlen(documents[i]), answer) == 0);
    }
    keep("", 0);
    CHECK(get_key(FOLDER, "k", 0) == 0);
    CHECK_STATUS(skv_answer_reply(answer), SKV_OK);
}

static void what_does_not_fit_is_in_the_reply(void)
{
    char document[SKV_ANSWER_MAX + 100];

    for (size_t len = SKV_ANSWER_MAX - 60; len < sizeof document; len++) {
        int64_t size;

        memset(document, 'x', len);
        memcpy(document, "{\"value\":\"", 10);
        memcpy(document + len - 2, "\"}", 2);
        keep(document, len);
        size = get_key(FOLDER, "k", 0);
        CHECK(size <= SKV_ANSWER_MAX && size >= -SKV_ANSWER_MAX);
        CHECK(size ? skv_reply_size(skv_answer_reply(answer)) == 0
                   : len > SKV_ANSWER_MAX && skv_reply_size(skv_answer_reply(answer)) == len);
    }
}

static void the_writer_stays_within_its_room(void)
{
    static const char document[] = "{\"value\":{\"a\":[\"b\\u00e9\",1,-70000,1234567890123456,2.5,true,null,{}],\"c\":"
                                   "\"d\"},\"metadata\":{\"e\":\"f\"}}";
    char out[256], whole[256];
    size_t needed = skv_json_marshal(document, strlen(document), whole, sizeof whole);

    CHECK(needed > 60);
    for (size_t room = 0; room < sizeof out - 1; room++) {
        memset(out, '#', sizeof out);
        CHECK(skv_json_marshal(document, strlen(document), out, room) == (room < needed ? 0 : needed));
        CHECK(out[room] == '#');
        CHECK(room < needed || memcmp(out, whole, needed) == 0);
    }
}

/* The length used to be cut to 16 bits, so that Ruby would have loaded the end of the text as objects. */
static void a_text_whose_length_has_more_than_16_bits_is_left(void)
{
    static char document[70000], out[80000];

    memset(document, 'x', sizeof document);
    memcpy(document, "{\"value\":\"", 10);
    memcpy(document + sizeof document - 2, "\"}", 2);
    CHECK(skv_json_marshal(document, sizeof document, out, sizeof out) == 0);
    memcpy(document + 60000, "\"}", 2);
    CHECK(skv_json_marshal(document, 60002, out, sizeof out) > 60000 - 10);
}

static void failures_are_in_the_reply(void)
{
    static const struct {
        const char *folder, *key;
        uint32_t flags;
        skv_status status;
    } cases[] = {
        {FOLDER, "none", 0, SKV_NOT_FOUND},
        {FOLDER, "", 0, SKV_INVALID},
        {FOLDER, "a b", 0, SKV_INVALID},
        {FOLDER, "K", 0, SKV_INVALID},
        {FOLDER, "../k", 0, SKV_INVALID},
        {FOLDER, "/", 0, SKV_END},
        {FOLDER, "K", SKV_KEY_UPPER, SKV_NOT_FOUND},
        {"environments", "dev", 0, SKV_IS_FOLDER},
    };
    char request[64], long_key[5000];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(get_key(cases[i].folder, cases[i].key, cases[i].flags) == 0);
        CHECK_STATUS(skv_answer_reply(answer), cases[i].status);
    }
    memset(long_key, 'k', sizeof long_key);
    long_key[sizeof long_key - 1] = '\0';
    CHECK(get_key(FOLDER, long_key, 0) == 0);
    CHECK_STATUS(skv_answer_reply(answer), SKV_TOO_LARGE);
    CHECK(skv_answer_get(store, request, 15, answer) == 0);
    CHECK(skv_answer_get(store, request, pack(request, FOLDER, "", 0) - 1, answer) == 0);
    CHECK_STATUS(skv_answer_reply(answer), SKV_INVALID);
    CHECK(skv_answer_get(store, NULL, 64, answer) == 0);
    CHECK(skv_answer_get(NULL, request, pack(request, FOLDER, "k", 0), answer) == 0);
    CHECK_STATUS(skv_answer_reply(answer), SKV_INVALID);
    CHECK(skv_answer_get(store, request, sizeof request, NULL) == 0);
    CHECK(skv_answer_document(NULL, 0, answer) == 0 && skv_answer_document("{}", 2, NULL) == 0);
    skv_answer_free(NULL);
}

/* The former answer is longer. */
static void the_former_answer_is_wiped(void)
{
    static const char secret[] = "{\"value\":\"0123456789012345678901234567890123456789-secret\"}";

    keep(LITERAL(secret));
    CHECK(get_key(FOLDER, "k", 0) > 0);
    CHECK(memmem(answer, SKV_ANSWER_MAX, "-secret", 7) != NULL);
    CHECK(get_key(FOLDER, "none", 0) == 0);
    CHECK(memmem(answer, 128, "-secret", 7) == NULL);
    CHECK(skv_answer_document("{\"value\":\"-secret\"", 18, answer) == 0);
    CHECK(memmem(answer, 128, "-secret", 7) == NULL);
}

int main(void)
{
    char options[128];
    size_t len;

    if (!CHECK(mkdtemp(root) != NULL))
        return check_summary("answer");
    len = (size_t)snprintf(options, sizeof options, "root_path%c%s", '\0', root) + 1;
    reply = skv_reply_new();
    answer = skv_answer_new();
    store = skv_open("file", 4, options, len, reply);
    a_plain_document_is_packed();
    other_documents_are_there_as_they_are();
    what_does_not_fit_is_in_the_reply();
    the_writer_stays_within_its_room();
    a_text_whose_length_has_more_than_16_bits_is_left();
    failures_are_in_the_reply();
    the_former_answer_is_wiped();
    skv_close(store);
    skv_answer_free(answer);
    skv_reply_free(reply);
    if (snprintf(options, sizeof options, "rm -rf %s", root) > 0)
        CHECK(system(options) == 0);
    return check_summary("answer");
}
