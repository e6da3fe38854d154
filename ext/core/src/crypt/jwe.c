#include "crypt/jwe.h"

#include "base/base64.h"
#include "crypt/keys.h"
#include "json/tree.h"
#include "json/writer.h"

#include <stdint.h>
#include <string.h>

/* ---- The document ---- */

static bool begins_with(skv_span document, const char *text)
{
    size_t len = strlen(text);

    return document.len >= len && memcmp(document.bytes, text, len) == 0;
}

static bool ends_with(skv_span document, const char *text)
{
    size_t len = strlen(text);

    return document.len >= len && memcmp(document.bytes + document.len - len, text, len) == 0;
}

/* Returns true if the first string in the text has four dots, as a compact JWE has. */
static bool has_five_parts(skv_span text)
{
    int dots = 0;

    for (size_t i = 0; i < text.len && text.bytes[i] != '"'; i++)
        dots += text.bytes[i] == '.';
    return dots == 4;
}

/* Returns true for a document that was encrypted before its last bytes changed or were lost: its value begins as the
 * header of a JWE does. A plain document with such a value has metadata behind it. */
static bool was_encrypted(skv_span document)
{
    static const char object[] = "eyJ", direct[] = "eyJhbGciOiJkaXIiLC"; /* {" and {"alg":"dir", */
    static const char metadata[] = "\",\"metadata\":{";
    skv_span value = document;

    if (!begins_with(document, SKV_JWE_BEFORE))
        return false;
    value.bytes += strlen(SKV_JWE_BEFORE);
    value.len -= strlen(SKV_JWE_BEFORE);
    return (begins_with(value, direct) || (begins_with(value, object) && has_five_parts(value))) &&
           !memmem(value.bytes, value.len, metadata, sizeof metadata - 1);
}

/* Returns the place of the quotation mark at the end of the string that begins at `at`, or the end of the text. */
static size_t closing_quote(skv_span text, size_t at)
{
    while (at < text.len && text.bytes[at] != '"')
        at += text.bytes[at] == '\\' ? 2 : 1;
    return at < text.len ? at : text.len;
}

/* Moves *at behind white space and this text. Returns false if there is another text. */
static bool skip_text(skv_span document, size_t *at, const char *text)
{
    while (*at < document.len && memchr(" \t\r\n", document.bytes[*at], 4))
        ++*at;
    if (!begins_with((skv_span){document.bytes + *at, document.len - *at}, text))
        return false;
    *at += strlen(text);
    return true;
}

static bool has_encoding_at(skv_span document, size_t at)
{
    return skip_text(document, &at, "\"encoding\"") && skip_text(document, &at, ":") &&
           skip_text(document, &at, "\"jwe\"");
}

/* Returns true if the document has the member "encoding" with the value "jwe": an encrypted one that another program
 * has written, for instance with spaces. */
static bool is_respelled(skv_span document)
{
    int depth = 0;

    if (!memmem(document.bytes, document.len, "\"jwe\"", 5))
        return false;
    for (size_t at = 0; at < document.len; at++) {
        char c = document.bytes[at];

        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c != '"')
            continue;
        if (depth == 1 && has_encoding_at(document, at))
            return true;
        at = closing_quote(document, at + 1);
    }
    return false;
}

/* Cuts off the text before the next dot. Returns false without a dot. */
static bool cut_part(skv_span *rest, skv_span *part)
{
    const char *dot = memchr(rest->bytes, '.', rest->len);

    if (!dot)
        return false;
    *part = (skv_span){rest->bytes, (size_t)(dot - rest->bytes)};
    *rest = (skv_span){dot + 1, rest->len - part->len - 1};
    return true;
}

static bool split(skv_span rest, skv_jwe *jwe)
{
    skv_span key;

    if (!cut_part(&rest, &jwe->header) || !cut_part(&rest, &key) || !cut_part(&rest, &jwe->iv) ||
        !cut_part(&rest, &jwe->text))
        return false;
    jwe->tag = rest;
    return key.len == 0 && skv_base64url_size(jwe->iv.len) == SKV_JWE_IV_SIZE &&
           skv_base64url_size(jwe->tag.len) == SKV_JWE_TAG_SIZE;
}

bool skv_jwe_is_plain(skv_span document)
{
    return !ends_with(document, SKV_JWE_AFTER) && !was_encrypted(document) && !is_respelled(document);
}

skv_status skv_jwe_find(skv_span document, skv_jwe *jwe, skv_reply *reply)
{
    const size_t before = strlen(SKV_JWE_BEFORE), after = strlen(SKV_JWE_AFTER);
    bool complete = ends_with(document, SKV_JWE_AFTER);

    *jwe = (skv_jwe){.header = {NULL, 0}};
    if (skv_jwe_is_plain(document))
        return SKV_OK;
    if (!complete && !was_encrypted(document))
        return skv_fail(reply, SKV_MALFORMED, "its encrypted document was edited: it must be %s<JWE>%s", SKV_JWE_BEFORE,
                        SKV_JWE_AFTER);
    if (!complete || !begins_with(document, SKV_JWE_BEFORE) || document.len < before + after ||
        !split((skv_span){document.bytes + before, document.len - before - after}, jwe))
        return skv_fail(reply, SKV_MALFORMED, "its encrypted document is damaged or truncated");
    return SKV_OK;
}

/* ---- The header ---- */

static void put_string(skv_buf *json, skv_span text)
{
    skv_json_put_string(json, text.bytes, text.len);
}

void skv_jwe_put_header(skv_buf *buf, const char *kid, const skv_place *place)
{
    skv_buf json;

    skv_buf_init(&json, SIZE_MAX);
    skv_buf_reserve(&json, 128 + place->backend.len + place->path.len);
    skv_buf_put_string(&json, "{\"alg\":\"dir\",\"backend\":");
    put_string(&json, place->backend);
    skv_buf_put_string(&json, ",\"enc\":\"A256GCM\",\"kid\":");
    put_string(&json, (skv_span){kid, strlen(kid)});
    skv_buf_put_string(&json, ",\"path\":");
    put_string(&json, place->path);
    skv_buf_put_string(&json, "}");
    if (skv_buf_failed(&json))
        buf->no_memory = true;
    else
        skv_base64url_put(buf, json.bytes, json.len);
    skv_buf_free(&json);
}

/* Larger than a header with a path of SKV_KEY_MAX in which each character is escaped. */
#define HEADER_MAX 32768

static skv_status fail_header(skv_reply *reply, const char *why)
{
    return skv_fail(reply, SKV_MALFORMED, "the header of its encrypted document %s", why);
}

static json_t *parse_header(const char *json, size_t len, skv_reply *reply)
{
    json_error_t error;
    json_t *tree = skv_json_load(json, len, 0, &error, reply);

    if (!tree)
        fail_header(reply, "is not JSON, or has a member twice");
    return tree;
}

static json_t *decode_header(skv_span text, skv_reply *reply)
{
    size_t size = skv_base64url_size(text.len);
    json_t *tree = NULL;
    char *json;

    if (text.len > HEADER_MAX) {
        fail_header(reply, "is too long");
        return NULL;
    }
    json = skv_alloc(size);
    if (!json)
        skv_fail_memory(reply);
    else if (!skv_base64url_decode(text.bytes, text.len, (unsigned char *)json))
        fail_header(reply, "is not base64url");
    else
        tree = parse_header(json, size, reply);
    skv_free(json);
    return tree;
}

/* Returns NULL if the member is missing or not a string. jansson has refused strings with NUL. */
static const char *text_member(const json_t *tree, const char *name)
{
    return json_string_value(json_object_get(tree, name));
}

static bool is_member(const json_t *tree, const char *name, const char *expected)
{
    const char *value = text_member(tree, name);

    return value && strcmp(value, expected) == 0;
}

skv_status skv_jwe_read_header(const skv_jwe *jwe, skv_jwe_header *header, skv_reply *reply)
{
    json_t *tree = header->tree = decode_header(jwe->header, reply);

    if (!tree)
        return reply->status;
    header->kid = text_member(tree, "kid");
    header->backend = text_member(tree, "backend");
    header->path = text_member(tree, "path");
    if (!is_member(tree, "alg", "dir") || !is_member(tree, "enc", "A256GCM"))
        fail_header(reply, "has another algorithm than 'dir' (alg) with 'A256GCM' (enc), which are the only ones that "
                           "simpkv supports");
    else if (!header->kid || !header->backend || !header->path || json_object_size(tree) != 5)
        fail_header(reply, "has not exactly the members alg, backend, enc, kid and path");
    else if (strlen(header->kid) > SKV_KID_MAX)
        fail_header(reply, "has a kid that no key can have");
    return reply->status;
}
