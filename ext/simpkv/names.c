/* Simpkv::Native: keys, distinguished names, URIs, numbers and statistics: the calls that never wait. */
#include "convert.h"

static VALUE check_key(VALUE self, VALUE key, VALUE upper)
{
    skv_reply *reply;

    StringValue(key);
    reply = skv_rb_reply_new();
    if (skv_key_check(SKV_RB_BYTES(key), RTEST(upper) ? SKV_KEY_UPPER : 0, reply) != SKV_OK)
        skv_rb_raise(reply);
    skv_reply_free(reply);
    return Qnil;
}

static VALUE join_key(VALUE self, VALUE prefix, VALUE key)
{
    skv_reply *reply;

    StringValue(prefix);
    StringValue(key);
    reply = skv_rb_reply_new();
    skv_key_join(SKV_RB_BYTES(prefix), SKV_RB_BYTES(key), reply);
    return skv_rb_take_data(reply);
}

VALUE skv_rb_path_below(VALUE folder, VALUE key, bool upper)
{
    skv_reply *reply;

    StringValue(folder);
    StringValue(key);
    reply = skv_rb_reply_new();
    if (skv_key_check(SKV_RB_BYTES(key), upper ? SKV_KEY_UPPER : 0, reply) == SKV_OK &&
        skv_key_join(SKV_RB_BYTES(folder), SKV_RB_BYTES(key), reply) == SKV_OK &&
        skv_reply_size(reply) > (size_t)RSTRING_LEN(folder))
        return rb_obj_freeze(skv_rb_take_data(reply));
    skv_reply_free(reply);
    return Qnil;
}

static int layout_number(VALUE layout)
{
    ID id = SYMBOL_P(layout) ? rb_sym2id(layout) : 0;

    if (id != rb_intern("plain") && id != rb_intern("hex"))
        rb_raise(rb_eArgError, "layout is :plain or :hex");
    return id == rb_intern("hex") ? SKV_LAYOUT_HEX : SKV_LAYOUT_PLAIN;
}

static int kind_number(VALUE kind)
{
    ID id = SYMBOL_P(kind) ? rb_sym2id(kind) : 0;

    if (id != rb_intern("key") && id != rb_intern("folder"))
        rb_raise(rb_eArgError, "kind is :key or :folder");
    return id == rb_intern("key") ? SKV_KIND_KEY : SKV_KIND_FOLDER;
}

static VALUE make_dn(VALUE self, VALUE layout, VALUE kind, VALUE base_dn, VALUE id, VALUE path)
{
    int wanted_layout = layout_number(layout), wanted_kind = kind_number(kind);
    skv_reply *reply;

    StringValue(base_dn);
    StringValue(id);
    StringValue(path);
    reply = skv_rb_reply_new();
    skv_dn_from_path(wanted_layout, wanted_kind, SKV_RB_BYTES(base_dn), SKV_RB_BYTES(id), SKV_RB_BYTES(path), reply);
    return skv_rb_take_data(reply);
}

static VALUE normalise_uris(VALUE self, VALUE uris)
{
    skv_reply *reply;

    StringValue(uris);
    reply = skv_rb_reply_new();
    skv_ldap_uris(SKV_RB_BYTES(uris), reply);
    return skv_rb_take_data(reply);
}

static VALUE format_float(VALUE self, VALUE number)
{
    char text[SKV_DOUBLE_MAX];
    size_t len = skv_format_double(NUM2DBL(number), text);

    return len ? skv_rb_utf8(text, len) : Qnil;
}

static VALUE compare_documents(VALUE self, VALUE a, VALUE b)
{
    skv_reply *reply;
    int64_t same;

    StringValue(a);
    StringValue(b);
    reply = skv_rb_reply_new();
    if (skv_document_same(SKV_RB_BYTES(a), SKV_RB_BYTES(b), reply) != SKV_OK)
        skv_rb_raise(reply);
    same = skv_reply_number(reply);
    skv_reply_free(reply);
    return same ? Qtrue : Qfalse;
}

static VALUE parsed_reply(VALUE native, skv_status (*call)(skv_reply *reply))
{
    skv_reply *reply = skv_rb_reply_new();

    call(reply);
    return rb_funcall(native, rb_intern("parse"), 1, skv_rb_take_data(reply));
}

static VALUE pool_statistics(VALUE self)
{
    return parsed_reply(self, skv_stats);
}

static VALUE store_options(VALUE self)
{
    return parsed_reply(self, skv_options);
}

void skv_rb_init_names(VALUE native)
{
    rb_define_singleton_method(native, "key_check", check_key, 2);
    rb_define_singleton_method(native, "key_join", join_key, 2);
    rb_define_singleton_method(native, "dn_from_path", make_dn, 5);
    rb_define_singleton_method(native, "ldap_uris", normalise_uris, 1);
    rb_define_singleton_method(native, "format_double", format_float, 1);
    rb_define_singleton_method(native, "document_same?", compare_documents, 2);
    rb_define_singleton_method(native, "stats", pool_statistics, 0);
    rb_define_singleton_method(native, "options", store_options, 0);
}
