/* answer.c - the functions of simpkv_answer.h. */
#include "simpkv_answer.h"

#include "base/reply.h"
#include "json/marshal.h"

#include <string.h>

/* What a caller may read comes first. `used` bytes of it are those of the last answer. */
struct skv_answer {
    char bytes[SKV_ANSWER_MAX];
    size_t used;
    skv_reply *reply;
};

typedef struct answer_request {
    int64_t timeout_ms;
    uint32_t flags, folder_len;
    const char *folder, *key;
    size_t key_len;
} answer_request;

#define REQUEST_HEADER (sizeof(int64_t) + 2 * sizeof(uint32_t))

skv_answer *skv_answer_new(void)
{
    skv_answer *answer = skv_alloc_zeroed(1, sizeof *answer);

    if (!answer)
        return NULL;
    answer->reply = skv_reply_new();
    if (answer->reply)
        return answer;
    skv_free(answer);
    return NULL;
}

void skv_answer_free(skv_answer *answer)
{
    if (!answer)
        return;
    skv_reply_free(answer->reply);
    skv_free(answer);
}

skv_reply *skv_answer_reply(skv_answer *answer)
{
    return answer->reply;
}

/* The former answer may have been a value. */
static void wipe_answer(skv_answer *answer)
{
    explicit_bzero(answer->bytes, answer->used);
    answer->used = 0;
}

static skv_status unpack_request(answer_request *request, const char *bytes, size_t len, skv_reply *reply)
{
    if (!bytes || len < REQUEST_HEADER)
        return skv_fail(reply, SKV_INVALID, "the request is NULL or too short");
    memcpy(&request->timeout_ms, bytes, sizeof request->timeout_ms);
    memcpy(&request->flags, bytes + sizeof(int64_t), sizeof request->flags);
    memcpy(&request->folder_len, bytes + sizeof(int64_t) + sizeof(uint32_t), sizeof request->folder_len);
    if (request->folder_len > len - REQUEST_HEADER)
        return skv_fail(reply, SKV_INVALID, "the folder of the request is longer than the request");
    request->folder = bytes + REQUEST_HEADER;
    request->key = request->folder + request->folder_len;
    request->key_len = len - REQUEST_HEADER - request->folder_len;
    return SKV_OK;
}

/* Reads the document into the reply. Returns its status; SKV_END for the folder itself. */
static skv_status get_requested(skv_store *store, const answer_request *request, skv_reply *reply)
{
    char path[SKV_KEY_MAX];
    size_t path_len;

    if (skv_key_check(request->key, request->key_len, (int)request->flags, reply) != SKV_OK ||
        skv_key_join(request->folder, request->folder_len, request->key, request->key_len, reply) != SKV_OK)
        return reply->status;
    path_len = reply->data.len;
    memcpy(path, skv_reply_data(reply), path_len);
    if (path_len != request->folder_len)
        return skv_get(store, path, path_len, SKV_GET_ANY, request->timeout_ms, NULL, reply);
    skv_reply_reset(reply);
    return reply->status = SKV_END;
}

int64_t skv_answer_document(const char *document, size_t document_len, skv_answer *answer)
{
    if (!document || !answer)
        return 0;
    wipe_answer(answer);
    answer->used = skv_json_marshal(document, document_len, answer->bytes, sizeof answer->bytes);
    /* What did not fit is there, too. */
    if (!answer->used)
        explicit_bzero(answer->bytes, sizeof answer->bytes);
    return (int64_t)answer->used;
}

int64_t skv_answer_get(skv_store *store, const char *request, size_t request_len, skv_answer *answer)
{
    answer_request unpacked = {0};
    int64_t result;

    if (!answer)
        return 0;
    wipe_answer(answer);
    skv_reply_reset(answer->reply);
    if (unpack_request(&unpacked, request, request_len, answer->reply) != SKV_OK ||
        get_requested(store, &unpacked, answer->reply) != SKV_OK)
        return 0;
    result = skv_answer_document(answer->reply->data.bytes, answer->reply->data.len, answer);
    if (!result && answer->reply->data.len <= sizeof answer->bytes) {
        answer->used = answer->reply->data.len;
        memcpy(answer->bytes, skv_reply_data(answer->reply), answer->used);
        result = -(int64_t)answer->used;
    }
    if (result)
        skv_reply_reset(answer->reply);
    return result;
}
