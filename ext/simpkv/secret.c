/* Simpkv::Native: secrets, and forms of them. Keys and costly forms take long, so all calls run without the GVL. */
#include "convert.h"

/* One call: its arguments and its result. Lives on the stack of the method. */
typedef struct secret_call {
    VALUE first, second; /* frozen Strings; the second one is nil for a call with one text */
    skv_status (*with_one)(const char *first, size_t first_len, skv_reply *reply);
    skv_status (*with_two)(const char *first, size_t first_len, const char *second, size_t second_len,
                           skv_reply *reply);
    skv_reply *reply;
} secret_call;

static void run_secret(void *data)
{
    secret_call *call = data;

    if (call->with_one)
        call->with_one(SKV_RB_BYTES(call->first), call->reply);
    else
        call->with_two(SKV_RB_BYTES(call->first), SKV_RB_BYTES(call->second), call->reply);
}

static void perform_secret(secret_call *call)
{
    call->reply = skv_rb_reply_new();
    skv_rb_without_gvl(run_secret, call);
    RB_GC_GUARD(call->first);
    RB_GC_GUARD(call->second);
}

static VALUE perform_request(VALUE request, skv_status (*with_one)(const char *, size_t, skv_reply *))
{
    secret_call call = {.first = skv_rb_bytes(request), .second = Qnil, .with_one = with_one};

    perform_secret(&call);
    return skv_rb_take_data(call.reply);
}

static VALUE make_secret(VALUE self, VALUE request)
{
    return perform_request(request, skv_secret_make);
}

static VALUE make_revocation_list(VALUE self, VALUE request)
{
    return perform_request(request, skv_secret_crl);
}

static VALUE read_certificate(VALUE self, VALUE pem, VALUE key)
{
    secret_call call = {.first = skv_rb_bytes(pem), .second = skv_rb_bytes(key), .with_two = skv_secret_certificate};

    perform_secret(&call);
    return skv_rb_take_data(call.reply);
}

static VALUE form_secret(VALUE self, VALUE secret, VALUE request)
{
    secret_call call = {.first = skv_rb_bytes(secret), .second = skv_rb_bytes(request), .with_two = skv_secret_form};
    VALUE salted;

    perform_secret(&call);
    salted = skv_reply_number(call.reply) ? Qtrue : Qfalse;
    return rb_assoc_new(skv_rb_take_data(call.reply), salted);
}

void skv_rb_init_secret(VALUE native)
{
    rb_define_singleton_method(native, "secret_make", make_secret, 1);
    rb_define_singleton_method(native, "secret_crl", make_revocation_list, 1);
    rb_define_singleton_method(native, "secret_certificate", read_certificate, 2);
    rb_define_singleton_method(native, "secret_form", form_secret, 2);
}
