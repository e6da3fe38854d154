#include "json/writer.h"

#include "simpkv.h"
#include "json/tree.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Writes to `out`, or only counts if that is NULL. */
typedef struct writer {
    skv_buf *out;
    size_t size;
    size_t max;
    bool too_deep;
} writer;

static bool is_stopped(const writer *w)
{
    return w->too_deep || w->size > w->max || (w->out && skv_buf_failed(w->out));
}

static void emit(writer *w, const char *bytes, size_t len)
{
    w->size += len;
    if (w->out)
        skv_buf_put(w->out, bytes, len);
}

static void emit_escape(writer *w, unsigned char c)
{
    static const char *const named[] = {['\b'] = "\\b", ['\t'] = "\\t", ['\n'] = "\\n", ['\f'] = "\\f",
                                        ['\r'] = "\\r", ['"'] = "\\\"", ['\\'] = "\\\\"};
    char code[8];

    if (named[c])
        emit(w, named[c], 2);
    else
        emit(w, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
}

static void emit_string(writer *w, const char *text, size_t len)
{
    size_t start = 0;

    emit(w, "\"", 1);
    for (size_t i = 0; i < len && !is_stopped(w); i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        emit(w, text + start, i - start);
        emit_escape(w, c);
        start = i + 1;
    }
    emit(w, text + start, len - start);
    emit(w, "\"", 1);
}

static void emit_integer(writer *w, json_int_t number)
{
    char text[24];

    emit(w, text, (size_t)snprintf(text, sizeof text, "%" JSON_INTEGER_FORMAT, number));
}

static void emit_real(writer *w, double number)
{
    char text[SKV_DOUBLE_MAX];

    emit(w, text, skv_format_double(number, text));
}

static void emit_value(writer *w, json_t *value, size_t depth);

/* `depth` is the number of brackets that may still open. */
static void emit_container(writer *w, json_t *value, size_t depth)
{
    bool is_object = json_is_object(value);

    if (depth == 0) {
        w->too_deep = true;
        return;
    }
    emit(w, is_object ? "{" : "[", 1);
    for (skv_json_walk walk = {.container = value}; !is_stopped(w) && skv_json_next(&walk);) {
        emit(w, ",", walk.count > 1);
        if (walk.name) {
            emit_string(w, walk.name, strlen(walk.name));
            emit(w, ":", 1);
        }
        emit_value(w, walk.value, depth - 1);
    }
    emit(w, is_object ? "}" : "]", 1);
}

static void emit_value(writer *w, json_t *value, size_t depth)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        emit_string(w, json_string_value(value), json_string_length(value));
        break;
    case JSON_INTEGER:
        emit_integer(w, json_integer_value(value));
        break;
    case JSON_REAL:
        emit_real(w, json_real_value(value));
        break;
    case JSON_TRUE:
        emit(w, "true", 4);
        break;
    case JSON_FALSE:
        emit(w, "false", 5);
        break;
    case JSON_NULL:
        emit(w, "null", 4);
        break;
    default:
        emit_container(w, value, depth);
    }
}

void skv_json_put_string(skv_buf *out, const char *text, size_t len)
{
    writer w = {.out = out, .max = SIZE_MAX};

    emit_string(&w, text, len);
}

void skv_json_put_tree(skv_buf *out, json_t *tree)
{
    writer w = {.out = out, .max = SIZE_MAX};

    emit_value(&w, tree, SKV_TREE_DEPTH_MAX);
    if (w.too_deep)
        out->too_large = true;
}

size_t skv_json_size(json_t *tree, size_t max)
{
    writer w = {.max = max};

    emit_value(&w, tree, SKV_TREE_DEPTH_MAX);
    return w.too_deep ? SIZE_MAX : w.size;
}
