/* The conversions and exceptions that all files of the extension use. */
#include "convert.h"

#include <ruby/thread.h>
#include <stdbool.h>

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

static VALUE error_for(const char *status, VALUE message)
{
    VALUE error = rb_const_get(rb_const_get(rb_cObject, rb_intern("Simpkv")), rb_intern("Error"));
    VALUE class = rb_funcall(error, rb_intern("for"), 1, rb_str_new_cstr(status));

    return rb_class_new_instance(1, &message, class);
}

void skv_rb_raise_status(const char *status, VALUE message)
{
    rb_exc_raise(error_for(status, message));
}

void skv_rb_raise_about(skv_reply *reply, VALUE key)
{
    const char *message = skv_reply_message(reply);
    const char *status = skv_status_name(skv_reply_status(reply)), *fault = skv_reply_fault(reply);
    VALUE text = skv_rb_utf8(message, strlen(message)), error;

    skv_reply_free(reply);
    error = error_for(status, text);
    rb_funcall(error, rb_intern("with_fault"), 1, rb_str_new_cstr(fault));
    if (RTEST(key))
        rb_funcall(error, rb_intern("about"), 1, key);
    rb_exc_raise(error);
}

void skv_rb_raise(skv_reply *reply)
{
    skv_rb_raise_about(reply, Qfalse);
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

void skv_rb_pack(VALUE packed, VALUE text, const char *message)
{
    StringValue(text);
    if (memchr(RSTRING_PTR(text), '\0', (size_t)RSTRING_LEN(text)))
        skv_rb_raise_status("invalid", rb_str_new_cstr(message));
    rb_str_cat(packed, RSTRING_PTR(text), RSTRING_LEN(text));
    rb_str_cat(packed, "", 1);
    RB_GC_GUARD(text);
}

VALUE skv_rb_call_module(const char *feature, const char *module, const char *method, VALUE argument)
{
    rb_require(feature);
    return rb_funcall(rb_path2class(module), rb_intern(method), 1, argument);
}

typedef struct single_run {
    void (*run)(void *);
    void *data;
    bool ran;
} single_run;

static void *run_once(void *argument)
{
    single_run *single = argument;

    single->ran = true;
    single->run(single->data);
    return NULL;
}

/* If an interrupt is pending, Ruby runs nothing without the GVL. */
void skv_rb_without_gvl(void (*run)(void *), void *data)
{
    single_run single = {.run = run, .data = data};

    rb_nogvl(run_once, &single, NULL, NULL, RB_NOGVL_INTR_FAIL);
    if (!single.ran)
        run_once(&single);
}
