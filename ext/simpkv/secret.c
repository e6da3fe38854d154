/* Simpkv::Native: secrets, and forms of them. Keys and costly forms take long, so all calls run without the GVL. */
#include "convert.h"

/* One call: its arguments and its result. Lives on the stack of the method. */
typedef struct secret_call {
    VALUE secret, request;                                                 /* frozen Strings */
    skv_status (*make)(const char *request, size_t len, skv_reply *reply); /* NULL: a form of the secret */
    skv_reply *reply;
} secret_call;

static void run_secret(void *data)
{
    secret_call *call = data;

    if (call->make)
        call->make(SKV_RB_BYTES(call->request), call->reply);
    else
        skv_secret_form(SKV_RB_BYTES(call->secret), SKV_RB_BYTES(call->request), call->reply);
}

static void perform_secret(secret_call *call)
{
    call->reply = skv_rb_reply_new();
    skv_rb_without_gvl(run_secret, call);
    RB_GC_GUARD(call->secret);
    RB_GC_GUARD(call->request);
}

static VALUE perform_request(VALUE request, skv_status (*make)(const char *, size_t, skv_reply *))
{
    secret_call call = {.secret = Qnil, .request = skv_rb_bytes(request), .make = make};

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

static VALUE read_certificate(VALUE self, VALUE pem)
{
    return perform_request(pem, skv_secret_certificate);
}

static VALUE form_secret(VALUE self, VALUE secret, VALUE request)
{
    secret_call call = {.secret = skv_rb_bytes(secret), .request = skv_rb_bytes(request)};
    VALUE salted;

    perform_secret(&call);
    salted = skv_reply_number(call.reply) ? Qtrue : Qfalse;
    return rb_assoc_new(skv_rb_take_data(call.reply), salted);
}

void skv_rb_init_secret(VALUE native)
{
    rb_define_singleton_method(native, "secret_make", make_secret, 1);
    rb_define_singleton_method(native, "secret_crl", make_revocation_list, 1);
    rb_define_singleton_method(native, "secret_certificate", read_certificate, 1);
    rb_define_singleton_method(native, "secret_form", form_secret, 2);
}
