/* Keys, distinguished names, numbers and statistics: the calls that only compute. */
#include "simpkv_ext.h"

static ID id_plain, id_hex, id_key, id_folder;

static VALUE key_check(VALUE self, VALUE key, VALUE upper)
{
    skv_reply *reply;

    StringValue(key);
    reply = skv_rb_reply_new();
    if (skv_key_check(RSTRING_PTR(key), (size_t)RSTRING_LEN(key), RTEST(upper) ? SKV_KEY_UPPER : 0, reply) != SKV_OK)
        skv_rb_raise(reply);
    skv_reply_free(reply);
    return Qnil;
}

static VALUE key_join(VALUE self, VALUE prefix, VALUE key)
{
    skv_reply *reply;

    StringValue(prefix);
    StringValue(key);
    reply = skv_rb_reply_new();
    skv_key_join(RSTRING_PTR(prefix), (size_t)RSTRING_LEN(prefix), RSTRING_PTR(key), (size_t)RSTRING_LEN(key), reply);
    return skv_rb_take_data(reply);
}

static int layout_of(VALUE layout)
{
    ID id = SYMBOL_P(layout) ? rb_sym2id(layout) : 0;

    if (id != id_plain && id != id_hex)
        rb_raise(rb_eArgError, "layout is :plain or :hex");
    return id == id_hex ? SKV_LAYOUT_HEX : SKV_LAYOUT_PLAIN;
}

static int kind_of(VALUE kind)
{
    ID id = SYMBOL_P(kind) ? rb_sym2id(kind) : 0;

    if (id != id_key && id != id_folder)
        rb_raise(rb_eArgError, "kind is :key or :folder");
    return id == id_key ? SKV_KIND_KEY : SKV_KIND_FOLDER;
}

static VALUE dn_from_path(VALUE self, VALUE layout, VALUE kind, VALUE base_dn, VALUE id, VALUE path)
{
    int wanted_layout = layout_of(layout), wanted_kind = kind_of(kind);
    skv_reply *reply;

    StringValue(base_dn);
    StringValue(id);
    StringValue(path);
    reply = skv_rb_reply_new();
    skv_dn_from_path(wanted_layout, wanted_kind, RSTRING_PTR(base_dn), (size_t)RSTRING_LEN(base_dn), RSTRING_PTR(id),
                     (size_t)RSTRING_LEN(id), RSTRING_PTR(path), (size_t)RSTRING_LEN(path), reply);
    return skv_rb_take_data(reply);
}

static VALUE format_double(VALUE self, VALUE number)
{
    char text[SKV_DOUBLE_MAX];
    size_t len = skv_format_double(NUM2DBL(number), text);

    return len ? skv_rb_utf8(text, len) : Qnil;
}

static VALUE document_same(VALUE self, VALUE a, VALUE b)
{
    skv_reply *reply;
    int64_t same;

    StringValue(a);
    StringValue(b);
    reply = skv_rb_reply_new();
    if (skv_document_same(RSTRING_PTR(a), (size_t)RSTRING_LEN(a), RSTRING_PTR(b), (size_t)RSTRING_LEN(b), reply) !=
        SKV_OK)
        skv_rb_raise(reply);
    same = skv_reply_number(reply);
    skv_reply_free(reply);
    return same ? Qtrue : Qfalse;
}

/* Parsed by Native.parse, as any document. */
static VALUE stats(VALUE self)
{
    skv_reply *reply = skv_rb_reply_new();

    skv_stats(reply);
    return rb_funcall(self, rb_intern("parse"), 1, skv_rb_take_data(reply));
}

void skv_rb_init_names(VALUE native)
{
    id_plain = rb_intern("plain");
    id_hex = rb_intern("hex");
    id_key = rb_intern("key");
    id_folder = rb_intern("folder");
    rb_define_singleton_method(native, "key_check", key_check, 2);
    rb_define_singleton_method(native, "key_join", key_join, 2);
    rb_define_singleton_method(native, "dn_from_path", dn_from_path, 5);
    rb_define_singleton_method(native, "format_double", format_double, 1);
    rb_define_singleton_method(native, "document_same?", document_same, 2);
    rb_define_singleton_method(native, "stats", stats, 0);
}
