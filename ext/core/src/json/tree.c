#include "json/tree.h"

#include "json/memory.h"
#include "json/writer.h"

#include <locale.h>

/* When memory runs out, some versions of jansson report a code, and some an empty message. */
static bool lacks_memory(const json_error_t *error)
{
    return json_error_code(error) == json_error_out_of_memory || error->text[0] == '\0';
}

/* jansson uses the thread's locale, and aborts if its decimal point has several bytes. */
json_t *skv_json_load(const char *bytes, size_t len, size_t flags, json_error_t *error, skv_reply *reply)
{
    locale_t numbers = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0), previous;
    json_t *tree;

    *error = (json_error_t){.text = ""};
    if (!numbers) {
        skv_fail_memory(reply);
        return NULL;
    }
    previous = uselocale(numbers);
    skv_json_memory_watch();
    tree = json_loadb(bytes, len, flags | JSON_REJECT_DUPLICATES, error);
    uselocale(previous);
    freelocale(numbers);
    if (!skv_json_memory_failed() && (tree || !lacks_memory(error)))
        return tree;
    json_decref(tree);
    skv_fail_memory(reply);
    return NULL;
}

skv_status skv_json_fail_syntax(const char *name, const json_error_t *error, skv_reply *reply)
{
    if (json_error_code(error) == json_error_numeric_overflow)
        return skv_fail(reply, SKV_INVALID, "%s not usable, with a number beyond 64 bits: line %d, column %d", name,
                        error->line, error->column);
    return skv_fail(reply, SKV_INVALID, "%s not JSON: line %d, column %d", name, error->line, error->column);
}

void skv_json_put(json_t **object, const char *name, json_t *value)
{
    if (json_object_set_new(*object, name, value) == 0)
        return;
    json_decref(*object);
    *object = NULL;
}

void skv_json_append(json_t **array, json_t *value)
{
    if (json_array_append_new(*array, value) == 0)
        return;
    json_decref(*array);
    *array = NULL;
}

void skv_json_add(json_t **container, const char *name, json_t *value)
{
    if (name)
        skv_json_put(container, name, value);
    else
        skv_json_append(container, value);
}

json_t *skv_json_take_text(skv_buf *buf)
{
    json_t *text = skv_buf_failed(buf) ? NULL : json_stringn(buf->bytes ? buf->bytes : "", buf->len);

    skv_buf_free(buf);
    return text;
}

skv_status skv_json_reply(json_t *tree, skv_reply *reply)
{
    if (!tree)
        return skv_fail_memory(reply);
    skv_json_put_tree(&reply->data, tree);
    json_decref(tree);
    return skv_reply_done(reply);
}
