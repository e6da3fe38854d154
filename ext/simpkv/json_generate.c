/*
 * Native.generate: writes Ruby objects as JSON, spelled as MRI's json spells them.
 *
 * It handles plain data with simple keys. JsonWriter, in Ruby, handles the rest and raises all errors. The FFI binding
 * uses JsonWriter for everything, so that both bindings return the same JSON and raise the same errors.
 */
#include "../core/src/json/text.h"
#include "convert.h"

/* Enough for most documents. */
#define CHUNK_SIZE 1000

/* A Hash with at most this many members is checked for equal names by comparing them: that is cheaper than asking the
 * Hash if it compares by identity. */
#define COMPARED_MAX 8

/* The text written so far: a String, then a chunk on the machine's stack. */
typedef struct json_text {
    VALUE string; /* nil until the first chunk is full */
    size_t len;   /* of the chunk */
    int depth;    /* of open arrays and objects */
    bool comma;   /* the next value or name needs a comma before it */
    char chunk[CHUNK_SIZE];
} json_text;

/* The members of one Hash. Their names cannot be equal if the keys are all Symbols, all Integers, or all Strings of a
 * Hash that does not compare by identity. */
typedef struct json_members {
    json_text *text;
    int type; /* T_STRING, T_SYMBOL or T_FIXNUM: of all keys so far; 0 before the first */
    bool declined;
    bool distinct; /* the Hash does not compare by identity */
    int count;
    VALUE names[COMPARED_MAX]; /* the keys so far, which the Hash keeps alive */
} json_members;

static bool generate_value(json_text *text, VALUE value);

/* ---- Text ---- */

/* Moves the chunk to the String. Raises Simpkv::TooLargeError. */
static void flush_chunk(json_text *text)
{
    if (NIL_P(text->string))
        text->string = skv_rb_utf8(NULL, 0);
    rb_str_cat(text->string, text->chunk, (long)text->len);
    text->len = 0;
    if (RSTRING_LEN(text->string) > SKV_DATA_MAX)
        skv_rb_raise_status("too_large", rb_sprintf("the document is above %d bytes", SKV_DATA_MAX));
}

static void append_bytes(json_text *text, const char *bytes, size_t len)
{
    if (len > CHUNK_SIZE - text->len) {
        flush_chunk(text);
        if (len > CHUNK_SIZE) {
            rb_str_cat(text->string, bytes, (long)len);
            return;
        }
    }
    memcpy(text->chunk + text->len, bytes, len);
    text->len += len;
}

static void append_char(json_text *text, char c)
{
    if (text->len == CHUNK_SIZE)
        flush_chunk(text);
    text->chunk[text->len++] = c;
}

static void append_comma(json_text *text)
{
    if (text->comma)
        append_char(text, ',');
    text->comma = true;
}

static void append_scalar(json_text *text, const char *bytes, size_t len)
{
    append_comma(text);
    append_bytes(text, bytes, len);
}

static void append_escape(json_text *text, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char short_escapes[0x20] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    if (c < 0x20 && !short_escapes[c]) {
        const char unicode[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
        append_bytes(text, unicode, sizeof unicode);
    } else {
        append_char(text, '\\');
        append_char(text, c < 0x20 ? short_escapes[c] : (char)c);
    }
}

static void append_quoted(json_text *text, const char *bytes, size_t len)
{
    uint64_t seen = 0;
    size_t plain;

    append_comma(text);
    append_char(text, '"');
    while ((plain = skv_json_plain_span(bytes, len, &seen)) < len) {
        append_bytes(text, bytes, plain);
        append_escape(text, (unsigned char)bytes[plain++]);
        bytes += plain;
        len -= plain;
    }
    append_bytes(text, bytes, len);
    append_char(text, '"');
}

/* ---- Objects: each function returns false if it leaves the document to JsonWriter ---- */

/* Returns true if the bytes of the String are UTF-8 that means the same as the String. */
static bool is_plain_utf8(VALUE string)
{
    int range = rb_enc_str_coderange(string);

    return range == ENC_CODERANGE_7BIT || (range == ENC_CODERANGE_VALID && ENCODING_GET(string) == rb_utf8_encindex());
}

static bool generate_string(json_text *text, VALUE string)
{
    if (!is_plain_utf8(string))
        return false;
    append_quoted(text, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(string);
    return true;
}

static bool generate_name(json_text *text, VALUE key, int type)
{
    if (type == T_SYMBOL)
        key = rb_sym2str(key);
    else if (type == T_FIXNUM)
        key = rb_fix2str(key, 10);
    else if (type != T_STRING)
        return false;
    if (!generate_string(text, key))
        return false;
    append_char(text, ':');
    text->comma = false;
    return true;
}

static bool is_repeated(json_members *members, VALUE name)
{
    if (members->count == COMPARED_MAX)
        return true;
    for (int i = 0; i < members->count; i++)
        if (RSTRING_LEN(members->names[i]) == RSTRING_LEN(name) &&
            memcmp(RSTRING_PTR(members->names[i]), RSTRING_PTR(name), (size_t)RSTRING_LEN(name)) == 0)
            return true;
    members->names[members->count++] = name;
    return false;
}

static int generate_member(VALUE key, VALUE value, VALUE argument)
{
    json_members *members = (json_members *)argument;
    int type = rb_type(key);

    if ((members->type && members->type != type) ||
        (type == T_STRING && !members->distinct && is_repeated(members, key)) ||
        !generate_name(members->text, key, type) || !generate_value(members->text, value)) {
        members->declined = true;
        return ST_STOP;
    }
    members->type = type;
    return ST_CONTINUE;
}

static bool begin_nesting(json_text *text, char bracket)
{
    if (text->depth++ == SKV_DOCUMENT_DEPTH_MAX)
        return false;
    append_comma(text);
    append_char(text, bracket);
    text->comma = false;
    return true;
}

static void end_nesting(json_text *text, char bracket)
{
    text->depth--;
    append_char(text, bracket);
    text->comma = true;
}

static bool generate_hash(json_text *text, VALUE hash)
{
    json_members members = {.text = text, .distinct = RHASH_SIZE(hash) > COMPARED_MAX};

    if (members.distinct && RTEST(rb_funcallv(hash, rb_intern("compare_by_identity?"), 0, NULL)))
        return false;
    if (!begin_nesting(text, '{'))
        return false;
    rb_hash_foreach(hash, generate_member, (VALUE)&members);
    end_nesting(text, '}');
    return !members.declined;
}

static bool generate_array(json_text *text, VALUE array)
{
    if (!begin_nesting(text, '['))
        return false;
    for (long i = 0; i < RARRAY_LEN(array); i++)
        if (!generate_value(text, RARRAY_AREF(array, i)))
            return false;
    end_nesting(text, ']');
    return true;
}

static void generate_fixnum(json_text *text, long value)
{
    unsigned long rest = value < 0 ? 0 - (unsigned long)value : (unsigned long)value;
    char digits[20];
    char *start = digits + sizeof digits;

    do
        *--start = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--start = '-';
    append_scalar(text, start, (size_t)(digits + sizeof digits - start));
}

static void generate_bignum(json_text *text, VALUE number)
{
    VALUE digits = rb_big2str(number, 10);

    append_scalar(text, RSTRING_PTR(digits), (size_t)RSTRING_LEN(digits));
    RB_GC_GUARD(digits);
}

static bool generate_float(json_text *text, double value)
{
    char digits[SKV_DOUBLE_MAX];
    size_t len = skv_format_double(value, digits);

    if (!len)
        return false;
    append_scalar(text, digits, len);
    return true;
}

static bool generate_value(json_text *text, VALUE value)
{
    switch (rb_type(value)) {
    case T_STRING:
        return generate_string(text, value);
    case T_SYMBOL:
        return generate_string(text, rb_sym2str(value));
    case T_HASH:
        return generate_hash(text, value);
    case T_ARRAY:
        return generate_array(text, value);
    case T_FLOAT:
        return generate_float(text, RFLOAT_VALUE(value));
    case T_FIXNUM:
        generate_fixnum(text, FIX2LONG(value));
        return true;
    case T_BIGNUM:
        generate_bignum(text, value);
        return true;
    case T_NIL:
        append_scalar(text, "null", 4);
        return true;
    case T_TRUE:
        append_scalar(text, "true", 4);
        return true;
    case T_FALSE:
        append_scalar(text, "false", 5);
        return true;
    default:
        return false;
    }
}

/*
 * call-seq: Simpkv::Native.generate(object) -> String
 *
 * Raises Simpkv::UnencodableError, which names the place in the object, and Simpkv::TooLargeError above SKV_DATA_MAX.
 */
static VALUE generate_document(VALUE self, VALUE object)
{
    json_text text;

    text.string = Qnil;
    text.len = 0;
    text.depth = 0;
    text.comma = false;
    if (!generate_value(&text, object))
        return skv_rb_call_module("simpkv/native/json_writer", "Simpkv::JsonWriter", "generate", object);
    if (NIL_P(text.string))
        return skv_rb_utf8(text.chunk, text.len);
    flush_chunk(&text);
    return text.string;
}

void skv_rb_init_json_generate(VALUE native)
{
    rb_define_singleton_method(native, "generate", generate_document, 1);
}
