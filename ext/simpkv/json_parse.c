/*
 * Native.parse and Native.plain_document: make Ruby objects of JSON, as JSON.parse does.
 *
 * skv_json_reader reads most documents. JsonReader, in Ruby, reads the rest and raises all errors. The FFI binding uses
 * JsonReader for everything, so that both bindings return the same objects and raise the same errors.
 */
#include "../core/src/json/reader.h"
#include "convert.h"

/* The number of elements, or of names and values, that are put into their Array or Hash at once. */
#define BATCH 32

/* Values to be put into an Array or Hash: on the machine's stack, where the garbage collector finds them. */
typedef struct json_batch {
    long count;
    VALUE value[BATCH];
} json_batch;

static VALUE parse_value(skv_json_reader *reader, skv_json_token token);

/* ---- Values: each function returns Qundef if it leaves the document to JsonReader ---- */

static VALUE unescaped_string(const skv_json_reader *reader)
{
    char text[256];
    VALUE string;

    if (reader->len <= sizeof text)
        return skv_rb_utf8(text, skv_json_unescape(reader->text, reader->len, text));
    string = skv_rb_utf8(NULL, reader->len);
    rb_str_set_len(string, (long)skv_json_unescape(reader->text, reader->len, RSTRING_PTR(string)));
    return string;
}

static VALUE checked_utf8(VALUE string)
{
    return rb_enc_str_coderange(string) == ENC_CODERANGE_BROKEN ? Qundef : string;
}

static VALUE parse_string(const skv_json_reader *reader)
{
    VALUE string = reader->escaped ? unescaped_string(reader) : skv_rb_utf8(reader->text, reader->len);

    if (!reader->ascii)
        return checked_utf8(string);
    if (!reader->escaped)
        ENC_CODERANGE_SET(string, ENC_CODERANGE_7BIT);
    return string;
}

/*
 * No Ruby code may run while the reader reads a String, because it could change the String. The functions below run
 * none, except String#-@, which Rubies before 3.0 need: these read a frozen String with the same bytes.
 */
#ifdef HAVE_RB_ENC_INTERNED_STR
static VALUE unchanging(VALUE string)
{
    StringValue(string);
    return string;
}

static VALUE interned(VALUE string)
{
    return rb_str_to_interned_str(string);
}
#else
static VALUE unchanging(VALUE string)
{
    return skv_rb_bytes(string);
}

static VALUE interned(VALUE string)
{
    return rb_funcall(string, rb_intern("-@"), 0);
}
#endif

/* Returns a frozen String, the only one with these bytes in the process, as JSON.parse does. */
static VALUE parse_name(const skv_json_reader *reader)
{
    VALUE name;

#ifdef HAVE_RB_ENC_INTERNED_STR
    if (!reader->escaped) {
        name = rb_enc_interned_str(reader->text, (long)reader->len, rb_utf8_encoding());
        return reader->ascii ? name : checked_utf8(name);
    }
#endif
    name = parse_string(reader);
    return name == Qundef ? Qundef : interned(name);
}

/* Uses the conversion that JSON.parse uses. */
static VALUE parse_double(const skv_json_reader *reader)
{
    char text[SKV_JSON_NUMBER_MAX + 1];

    if (reader->exact)
        return DBL2NUM(reader->real);
    memcpy(text, reader->text, reader->len);
    text[reader->len] = '\0';
    return DBL2NUM(rb_cstr_to_dbl(text, 1));
}

static VALUE parse_array(skv_json_reader *reader)
{
    VALUE array = Qundef;
    json_batch waiting = {0};
    skv_json_token token;

    while ((token = skv_json_read(reader)) != SKV_JSON_ARRAY_END) {
        VALUE value = parse_value(reader, token);
        if (value == Qundef)
            return Qundef;
        if (waiting.count == BATCH) {
            array = array == Qundef ? rb_ary_new() : array;
            rb_ary_cat(array, waiting.value, BATCH);
            waiting.count = 0;
        }
        waiting.value[waiting.count++] = value;
    }
    if (array == Qundef)
        return rb_ary_new_from_values(waiting.count, waiting.value);
    return rb_ary_cat(array, waiting.value, waiting.count);
}

/* Puts the waiting members into their Hash. rb_hash_bulk_insert() is for an empty one: in one that has many members, it
 * indexes all of them again. */
static void add_members(VALUE hash, json_batch *waiting)
{
    if (RHASH_EMPTY_P(hash)) {
        rb_hash_bulk_insert(waiting->count, waiting->value, hash);
    } else {
        for (long i = 0; i < waiting->count; i += 2)
            rb_hash_aset(hash, waiting->value[i], waiting->value[i + 1]);
    }
    waiting->count = 0;
}

static VALUE parse_object(skv_json_reader *reader)
{
    VALUE hash = rb_hash_new();
    json_batch waiting = {0};
    skv_json_token token;

    while ((token = skv_json_read(reader)) == SKV_JSON_NAME) {
        VALUE name = parse_name(reader), value;
        waiting.value[waiting.count++] = name;
        value = parse_value(reader, skv_json_read(reader));
        if (name == Qundef || value == Qundef)
            return Qundef;
        waiting.value[waiting.count++] = value;
        if (waiting.count == BATCH)
            add_members(hash, &waiting);
    }
    if (token != SKV_JSON_OBJECT_END)
        return Qundef;
    add_members(hash, &waiting);
    return hash;
}

static VALUE parse_value(skv_json_reader *reader, skv_json_token token)
{
    switch (token) {
    case SKV_JSON_OBJECT:
        return parse_object(reader);
    case SKV_JSON_ARRAY:
        return parse_array(reader);
    case SKV_JSON_STRING:
        return parse_string(reader);
    case SKV_JSON_INT:
        return LL2NUM(reader->integer);
    case SKV_JSON_DOUBLE:
        return parse_double(reader);
    case SKV_JSON_TRUE:
        return Qtrue;
    case SKV_JSON_FALSE:
        return Qfalse;
    case SKV_JSON_NULL:
        return Qnil;
    default:
        return Qundef;
    }
}

/* ---- Documents ---- */

/* Returns true if JSON.parse would take the bytes of the String for UTF-8. */
static bool is_taken_for_utf8(VALUE string)
{
    int index = rb_enc_get_index(string);

    return index == rb_utf8_encindex() || index == rb_ascii8bit_encindex() ||
           (index == rb_usascii_encindex() && rb_enc_str_coderange(string) == ENC_CODERANGE_7BIT);
}

/*
 * call-seq: Simpkv::Native.parse(string) -> object
 *
 * Returns what JSON.parse returns. Raises Simpkv::MalformedError.
 */
static VALUE parse_document(VALUE self, VALUE string)
{
    skv_json_reader reader;
    VALUE value = Qundef;

    string = unchanging(string);
    if (is_taken_for_utf8(string)) {
        skv_json_read_init(&reader, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
        value = parse_value(&reader, skv_json_read(&reader));
        if (value != Qundef && skv_json_read(&reader) != SKV_JSON_END)
            value = Qundef;
    }
    if (value == Qundef)
        value = skv_rb_call_module("simpkv/native/json_reader", "Simpkv::JsonReader", "parse", string);
    RB_GC_GUARD(string);
    return value;
}

static bool is_named(const skv_json_reader *reader, const char *name)
{
    return !reader->escaped && reader->len == strlen(name) && memcmp(reader->text, name, reader->len) == 0;
}

#define ENCODING "\"encoding\":"

typedef struct plain_members {
    VALUE value, metadata, expires;
} plain_members;

/* Returns NULL for the name of another member. */
static VALUE *member_in(plain_members *members, const skv_json_reader *reader)
{
    if (is_named(reader, "value"))
        return &members->value;
    if (is_named(reader, "metadata"))
        return &members->metadata;
    return is_named(reader, "expires") ? &members->expires : NULL;
}

/* Passes over a value, without making an object of it. Returns false if the document is left to JsonReader. */
static bool skip_value(skv_json_reader *reader)
{
    int depth = reader->depth;

    do {
        skv_json_token token = skv_json_read(reader);

        if (token == SKV_JSON_REFUSED || token == SKV_JSON_END)
            return false;
        if ((token == SKV_JSON_NAME || token == SKV_JSON_STRING) && !reader->ascii && parse_string(reader) == Qundef)
            return false;
    } while (reader->depth > depth);
    return true;
}

static bool parse_member(plain_members *members, skv_json_reader *reader)
{
    VALUE *member = member_in(members, reader);

    if (member)
        return (*member = parse_value(reader, skv_json_read(reader))) != Qundef;
    return (is_named(reader, "stored_at") || is_named(reader, "history")) && skip_value(reader);
}

/* Reads the members of a document that has a value, perhaps metadata, times and a history, and nothing else. Returns
 * false for any other. */
static bool parse_members(skv_json_reader *reader, plain_members *members)
{
    skv_json_token token;

    if (skv_json_read(reader) != SKV_JSON_OBJECT)
        return false;
    while ((token = skv_json_read(reader)) == SKV_JSON_NAME)
        if (!parse_member(members, reader))
            return false;
    return token == SKV_JSON_OBJECT_END && skv_json_read(reader) == SKV_JSON_END && members->value != Qundef;
}

VALUE skv_rb_plain_document(const char *bytes, size_t len)
{
    plain_members members = {.value = Qundef, .metadata = Qnil, .expires = Qnil};
    VALUE document = Qnil;
    skv_json_reader reader;

    /* The search is cheaper than reading an encoded value in vain. */
    if (memmem(bytes, len, ENCODING, strlen(ENCODING)))
        return Qnil;
    skv_json_read_init(&reader, bytes, len);
    if (parse_members(&reader, &members) && (NIL_P(members.metadata) || RB_TYPE_P(members.metadata, T_HASH))) {
        const VALUE pairs[] = {ID2SYM(rb_intern("value")), members.value, ID2SYM(rb_intern("metadata")),
                               NIL_P(members.metadata) ? rb_hash_new() : members.metadata};

        document = rb_hash_new();
        rb_hash_bulk_insert(4, pairs, document);
        if (!NIL_P(members.expires))
            rb_hash_aset(document, ID2SYM(rb_intern("expires")), members.expires);
    }
    RB_GC_GUARD(members.value);
    RB_GC_GUARD(members.metadata);
    RB_GC_GUARD(members.expires);
    return document;
}

/*
 * call-seq: Simpkv::Native.plain_document(string) -> {value:, metadata:} or {value:, metadata:, expires:} or nil
 *
 * Reads most documents. Returns nil for a document that only Codec.decode can read, and for bytes that are not a
 * document.
 */
static VALUE plain_document(VALUE self, VALUE string)
{
    VALUE document = Qnil;

    string = unchanging(string);
    if (is_taken_for_utf8(string))
        document = skv_rb_plain_document(SKV_RB_BYTES(string));
    RB_GC_GUARD(string);
    return document;
}

void skv_rb_init_json_parse(VALUE native)
{
    rb_define_singleton_method(native, "parse", parse_document, 1);
    rb_define_singleton_method(native, "plain_document", plain_document, 1);
}
