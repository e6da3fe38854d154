#include "simpkv_ext.h"

VALUE skv_rb_native;

skv_reply *skv_rb_reply_new(void)
{
    skv_reply *reply = skv_reply_new();

    if (!reply)
        rb_memerror();
    return reply;
}

VALUE skv_rb_utf8(const char *bytes, size_t len)
{
    return rb_enc_str_new(bytes, (long)len, rb_utf8_encoding());
}

void skv_rb_raise_status(const char *status, VALUE message)
{
    VALUE error = rb_const_get(rb_const_get(rb_cObject, rb_intern("Simpkv")), rb_intern("Error"));
    VALUE class = rb_funcall(error, rb_intern("for"), 1, rb_str_new_cstr(status));

    rb_exc_raise(rb_class_new_instance(1, &message, class));
}

void skv_rb_raise(skv_reply *reply)
{
    const char *message = skv_reply_message(reply);
    const char *status = skv_status_name(skv_reply_status(reply));
    VALUE text = skv_rb_utf8(message, strlen(message));

    skv_reply_free(reply);
    skv_rb_raise_status(status, text);
}

VALUE skv_rb_take_data(skv_reply *reply)
{
    VALUE data;

    if (skv_reply_status(reply) != SKV_OK)
        skv_rb_raise(reply);
    data = skv_rb_utf8(skv_reply_data(reply), skv_reply_size(reply));
    skv_reply_free(reply);
    return data;
}

VALUE skv_rb_bytes(VALUE string)
{
    StringValue(string);
    return rb_str_new_frozen(string);
}

static VALUE binding_name(VALUE self)
{
    return rb_usascii_str_new_cstr("cext");
}

static VALUE abi(VALUE self)
{
    return INT2FIX(skv_abi());
}

static VALUE version(VALUE self)
{
    return rb_usascii_str_new_cstr(skv_version());
}

/* nil for a number that is none. */
static VALUE status_name(VALUE self, VALUE number)
{
    const char *name = skv_status_name(NUM2INT(number));

    return name ? rb_usascii_str_new_cstr(name) : Qnil;
}

RUBY_FUNC_EXPORTED void Init_simpkv_ext(void);

void Init_simpkv_ext(void)
{
    skv_rb_native = rb_define_module_under(rb_define_module("Simpkv"), "Native");
    rb_define_singleton_method(skv_rb_native, "binding_name", binding_name, 0);
    rb_define_singleton_method(skv_rb_native, "abi", abi, 0);
    rb_define_singleton_method(skv_rb_native, "version", version, 0);
    rb_define_singleton_method(skv_rb_native, "status_name", status_name, 1);
    skv_rb_init_names(skv_rb_native);
    skv_rb_init_json(skv_rb_native);
    skv_rb_init_store(skv_rb_native);
}
