/*
 * JSON: Ruby's objects to and from text, through the core's writer and reader.
 *
 * Both directions do the usual documents and decline the rest, which then goes the slow way: JsonWriter and JsonReader
 * in Ruby, which are what the FFI binding uses for everything. Thus both bindings answer the same, and refuse the same.
 */
#include "simpkv_ext.h"

#include "json/reader.h"
#include "json/writer.h"
#include "base/reply.h"

static ID id_generate, id_parse, id_compare_by_identity_p, id_value, id_metadata;
static int utf8_index, usascii_index, binary_index;

/* What the Ruby module of that file answers. */
static VALUE slow_way(const char *feature, const char *module, ID method, VALUE argument)
{
    rb_require(feature);
    return rb_funcall(rb_path2class(module), method, 1, argument);
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

typedef struct encoder {
    VALUE object;
    skv_buf buf;
    skv_json_writer writer;
    bool declined;  /* go the slow way */
    bool too_large; /* the buffer was, before it was freed */
} encoder;

/* Bytes: enough for most documents, so that they need no second block. */
#define FIRST_SIZE 500

/* In a Hash of no more members it is cheaper to compare each String with those before it than to ask the Hash whether
 * it compares by identity. */
#define FEW 8

/* The members of one Hash. Its names cannot collide as long as they are all Symbols, all Integers, or all Strings in a
 * Hash that does not compare by identity. */
typedef struct members {
    skv_json_writer *writer;
    int kind; /* of the keys so far: a T_ constant, 0 for none */
    bool declined;
    bool unique; /* whether the Hash has been asked */
    int count;
    VALUE strings[FEW]; /* the keys so far, which the Hash keeps alive */
} members;

static bool write_value(skv_json_writer *writer, VALUE value);

/* Whether the bytes of the String are the UTF-8 that it stands for. */
static bool is_plain_utf8(VALUE string)
{
    int range = ENC_CODERANGE(string);

    if (range == ENC_CODERANGE_UNKNOWN)
        range = rb_enc_str_coderange(string);
    return range == ENC_CODERANGE_7BIT || (range == ENC_CODERANGE_VALID && ENCODING_GET(string) == utf8_index);
}

static bool write_string(skv_json_writer *writer, VALUE string)
{
    if (!is_plain_utf8(string))
        return false;
    skv_json_write_string(writer, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(string);
    return true;
}

static bool write_name_string(skv_json_writer *writer, VALUE string)
{
    if (!is_plain_utf8(string))
        return false;
    skv_json_write_name(writer, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    RB_GC_GUARD(string);
    return true;
}

static bool write_name(skv_json_writer *writer, VALUE key, int kind)
{
    switch (kind) {
    case T_STRING:
        return write_name_string(writer, key);
    case T_SYMBOL:
        return write_name_string(writer, rb_sym2str(key));
    case T_FIXNUM:
        return write_name_string(writer, rb_fix2str(key, 10));
    default:
        return false;
    }
}

static bool is_repeated(members *all, VALUE string)
{
    if (all->count == FEW)
        return true;
    for (int i = 0; i < all->count; i++)
        if (RSTRING_LEN(all->strings[i]) == RSTRING_LEN(string) &&
            memcmp(RSTRING_PTR(all->strings[i]), RSTRING_PTR(string), (size_t)RSTRING_LEN(string)) == 0)
            return true;
    all->strings[all->count++] = string;
    return false;
}

static int write_member(VALUE key, VALUE value, VALUE argument)
{
    members *all = (members *)argument;
    int kind = rb_type(key);

    if (all->kind && all->kind != kind)
        all->declined = true;
    all->kind = kind;
    if (kind == T_STRING && !all->unique && is_repeated(all, key))
        all->declined = true;
    if (all->declined || !write_name(all->writer, key, kind) || !write_value(all->writer, value)) {
        all->declined = true;
        return ST_STOP;
    }
    return ST_CONTINUE;
}

static bool write_hash(skv_json_writer *writer, VALUE hash)
{
    members all = {.writer = writer, .unique = RHASH_SIZE(hash) > FEW};

    if (all.unique && RTEST(rb_funcallv(hash, id_compare_by_identity_p, 0, NULL)))
        return false;
    if (!skv_json_begin_object(writer))
        return false;
    rb_hash_foreach(hash, write_member, (VALUE)&all);
    if (all.declined)
        return false;
    skv_json_end_object(writer);
    return true;
}

static bool write_array(skv_json_writer *writer, VALUE array)
{
    if (!skv_json_begin_array(writer))
        return false;
    for (long i = 0; i < RARRAY_LEN(array); i++)
        if (!write_value(writer, RARRAY_AREF(array, i)))
            return false;
    skv_json_end_array(writer);
    return true;
}

static bool write_big_integer(skv_json_writer *writer, VALUE number)
{
    VALUE digits = rb_big2str(number, 10);

    skv_json_write_digits(writer, RSTRING_PTR(digits), (size_t)RSTRING_LEN(digits));
    RB_GC_GUARD(digits);
    return true;
}

static bool write_word(skv_json_writer *writer, int type)
{
    if (type == T_NIL)
        skv_json_write_null(writer);
    else
        skv_json_write_bool(writer, type == T_TRUE);
    return true;
}

/* False when the value, or something in it, is to go the slow way. */
static bool write_value(skv_json_writer *writer, VALUE value)
{
    int type = rb_type(value);

    switch (type) {
    case T_STRING:
        return write_string(writer, value);
    case T_SYMBOL:
        return write_string(writer, rb_sym2str(value));
    case T_HASH:
        return write_hash(writer, value);
    case T_ARRAY:
        return write_array(writer, value);
    case T_FIXNUM:
        skv_json_write_int(writer, FIX2LONG(value));
        return true;
    case T_BIGNUM:
        return write_big_integer(writer, value);
    case T_FLOAT:
        return skv_json_write_double(writer, RFLOAT_VALUE(value));
    case T_NIL:
    case T_TRUE:
    case T_FALSE:
        return write_word(writer, type);
    default:
        return false;
    }
}

/* Answers the String, or Qundef, with what kept it from being one in `declined` and the buffer's flags. */
static VALUE encode(VALUE argument)
{
    encoder *e = (encoder *)argument;

    skv_buf_reserve(&e->buf, FIRST_SIZE);
    e->declined = !write_value(&e->writer, e->object);
    if (e->declined || skv_buf_failed(&e->buf))
        return Qundef;
    return skv_rb_utf8(e->buf.bytes, e->buf.len);
}

static VALUE free_buffer(VALUE argument)
{
    encoder *e = (encoder *)argument;

    e->too_large = e->buf.too_large;
    skv_buf_free(&e->buf);
    return Qnil;
}

/*
 * call-seq: Simpkv::Native.generate(object) -> String
 *
 * Raises Simpkv::UnencodableError, which names the place in the object; Simpkv::TooLargeError above 1 GiB.
 */
static VALUE generate(VALUE self, VALUE object)
{
    encoder e = {.object = object};
    VALUE json;

    skv_buf_init(&e.buf, SKV_DATA_MAX);
    skv_json_write_init(&e.writer, &e.buf);
    json = rb_ensure(encode, (VALUE)&e, free_buffer, (VALUE)&e);
    if (json != Qundef)
        return json;
    if (e.declined)
        return slow_way("simpkv/json_writer", "Simpkv::JsonWriter", id_generate, object);
    if (e.too_large)
        skv_rb_raise_status("too_large", rb_sprintf("the document is above %zu bytes", SKV_DATA_MAX));
    skv_rb_raise_status("no_memory", rb_str_new_cstr("out of memory"));
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* How many elements, or names and values, are put into their Array or Hash at once. */
#define BATCH 32

/* Values that wait for that: on the machine's stack, where the garbage collector finds them. */
typedef struct batch {
    long count;
    VALUE value[BATCH];
} batch;

static VALUE read_value(skv_json_reader *reader, skv_json_token token);

static VALUE unescaped(const skv_json_reader *reader)
{
    char text[256];
    VALUE string;

    if (reader->len <= sizeof text)
        return skv_rb_utf8(text, skv_json_unescape(reader->text, reader->len, text));
    string = rb_enc_str_new(NULL, (long)reader->len, rb_utf8_encoding());
    rb_str_set_len(string, (long)skv_json_unescape(reader->text, reader->len, RSTRING_PTR(string)));
    return string;
}

static VALUE read_string(const skv_json_reader *reader)
{
    VALUE string;

    if (reader->escaped)
        return unescaped(reader);
    string = skv_rb_utf8(reader->text, reader->len);
    ENC_CODERANGE_SET(string, reader->ascii ? ENC_CODERANGE_7BIT : ENC_CODERANGE_VALID);
    return string;
}

/*
 * While a String is read, no Ruby code may run that could change it. Nothing that the reader calls runs any, but for
 * String#-@ in Rubies before 3.0, which have no function for that: there a frozen String with the same bytes is read.
 */
#ifdef HAVE_RB_ENC_INTERNED_STR
static VALUE readable(VALUE string)
{
    StringValue(string);
    return string;
}

static VALUE interned(VALUE string)
{
    return rb_str_to_interned_str(string);
}
#else
static VALUE readable(VALUE string)
{
    return skv_rb_bytes(string);
}

static VALUE interned(VALUE string)
{
    return rb_funcall(string, rb_intern("-@"), 0);
}
#endif

/* Frozen and the only one of its kind in the process, as JSON.parse makes them. */
static VALUE read_name(const skv_json_reader *reader)
{
#ifdef HAVE_RB_ENC_INTERNED_STR
    if (!reader->escaped)
        return rb_enc_interned_str(reader->text, (long)reader->len, rb_utf8_encoding());
#endif
    return interned(read_string(reader));
}

/* By the conversion that JSON.parse uses. */
static VALUE read_double(const skv_json_reader *reader)
{
    char text[SKV_JSON_NUMBER_MAX + 1];

    if (reader->exact)
        return DBL2NUM(reader->real);
    memcpy(text, reader->text, reader->len);
    text[reader->len] = '\0';
    return DBL2NUM(rb_cstr_to_dbl(text, 1));
}

static VALUE read_array(skv_json_reader *reader)
{
    VALUE array = Qundef;
    batch waiting = {0};
    skv_json_token token;

    while ((token = skv_json_read(reader)) != SKV_JSON_ARRAY_END) {
        VALUE value = read_value(reader, token);
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

static VALUE read_hash(skv_json_reader *reader)
{
    VALUE hash = rb_hash_new();
    batch waiting = {0};
    skv_json_token token;

    while ((token = skv_json_read(reader)) == SKV_JSON_NAME) {
        VALUE value;
        waiting.value[waiting.count++] = read_name(reader);
        value = read_value(reader, skv_json_read(reader));
        if (value == Qundef)
            return Qundef;
        waiting.value[waiting.count++] = value;
        if (waiting.count == BATCH) {
            rb_hash_bulk_insert(BATCH, waiting.value, hash);
            waiting.count = 0;
        }
    }
    if (token != SKV_JSON_OBJECT_END)
        return Qundef;
    if (waiting.count)
        rb_hash_bulk_insert(waiting.count, waiting.value, hash);
    return hash;
}

/* Qundef when the reader refused something. */
static VALUE read_value(skv_json_reader *reader, skv_json_token token)
{
    switch (token) {
    case SKV_JSON_OBJECT:
        return read_hash(reader);
    case SKV_JSON_ARRAY:
        return read_array(reader);
    case SKV_JSON_STRING:
        return read_string(reader);
    case SKV_JSON_INT:
        return LL2NUM(reader->integer);
    case SKV_JSON_DOUBLE:
        return read_double(reader);
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

/* Whether the String's bytes are what JSON.parse would take for UTF-8. */
static bool holds_utf8(VALUE string)
{
    int index = rb_enc_get_index(string);

    return index == utf8_index || index == binary_index ||
           (index == usascii_index && rb_enc_str_coderange(string) == ENC_CODERANGE_7BIT);
}

/*
 * call-seq: Simpkv::Native.parse(string) -> object
 *
 * What JSON.parse answers. Raises Simpkv::MalformedError.
 */
static VALUE parse(VALUE self, VALUE string)
{
    skv_json_reader reader;
    VALUE value = Qundef;

    string = readable(string);
    if (holds_utf8(string)) {
        skv_json_read_init(&reader, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
        value = read_value(&reader, skv_json_read(&reader));
        if (value != Qundef && skv_json_read(&reader) != SKV_JSON_END)
            value = Qundef;
    }
    if (value == Qundef)
        value = slow_way("simpkv/json_reader", "Simpkv::JsonReader", id_parse, string);
    RB_GC_GUARD(string);
    return value;
}

static bool is_named(const skv_json_reader *reader, const char *name)
{
    return !reader->escaped && reader->len == strlen(name) && memcmp(reader->text, name, reader->len) == 0;
}

#define ENCODING "\"encoding\":"

/* The members of a document that has a value, perhaps metadata, and nothing else; false if it is not such a one. */
static bool read_members(skv_json_reader *reader, VALUE *value, VALUE *metadata)
{
    skv_json_token token;

    if (skv_json_read(reader) != SKV_JSON_OBJECT)
        return false;
    while ((token = skv_json_read(reader)) == SKV_JSON_NAME) {
        VALUE *member = is_named(reader, "value") ? value : is_named(reader, "metadata") ? metadata : NULL;

        if (!member || (*member = read_value(reader, skv_json_read(reader))) == Qundef)
            return false;
    }
    return token == SKV_JSON_OBJECT_END && skv_json_read(reader) == SKV_JSON_END && *value != Qundef;
}

/*
 * call-seq: Simpkv::Native.plain_document(string) -> {value:, metadata:} or nil
 *
 * The short way to read what most documents are; nil for all others, and for what is none.
 */
static VALUE plain_document(VALUE self, VALUE string)
{
    VALUE value = Qundef, metadata = Qnil, document = Qnil;
    skv_json_reader reader;

    string = readable(string);
    /* What is encoded would be read in vain. */
    if (!holds_utf8(string) || memmem(RSTRING_PTR(string), (size_t)RSTRING_LEN(string), ENCODING, strlen(ENCODING)))
        return Qnil;
    skv_json_read_init(&reader, RSTRING_PTR(string), (size_t)RSTRING_LEN(string));
    if (read_members(&reader, &value, &metadata) && (NIL_P(metadata) || RB_TYPE_P(metadata, T_HASH))) {
        const VALUE pairs[] = {ID2SYM(id_value), value, ID2SYM(id_metadata),
                               NIL_P(metadata) ? rb_hash_new() : metadata};

        document = rb_hash_new();
        rb_hash_bulk_insert(4, pairs, document);
    }
    RB_GC_GUARD(value);
    RB_GC_GUARD(metadata);
    RB_GC_GUARD(string);
    return document;
}

void skv_rb_init_json(VALUE native)
{
    id_value = rb_intern("value");
    id_metadata = rb_intern("metadata");
    id_generate = rb_intern("generate");
    id_parse = rb_intern("parse");
    id_compare_by_identity_p = rb_intern("compare_by_identity?");
    utf8_index = rb_utf8_encindex();
    usascii_index = rb_usascii_encindex();
    binary_index = rb_ascii8bit_encindex();
    rb_define_singleton_method(native, "generate", generate, 1);
    rb_define_singleton_method(native, "parse", parse, 1);
    rb_define_singleton_method(native, "plain_document", plain_document, 1);
}
