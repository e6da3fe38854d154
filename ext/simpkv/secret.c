/* Simpkv::Native: secrets, forms of them, and revocation lists. Keys and costly forms take long, so the calls run without
 * the GVL. */
#include "convert.h"

/* One call: its arguments and its result. Lives on the stack of the method. */
typedef struct secret_call {
    skv_status (*make)(const char *request, size_t request_len, skv_reply *reply); /* NULL for a form */
    VALUE secret, request;                                                         /* frozen Strings */
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

static VALUE make_secret(VALUE self, VALUE request)
{
    secret_call call = {.make = skv_secret_make, .secret = Qnil, .request = skv_rb_bytes(request)};

    perform_secret(&call);
    return skv_rb_take_data(call.reply);
}

static VALUE make_crl(VALUE self, VALUE request)
{
    secret_call call = {.make = skv_secret_crl, .secret = Qnil, .request = skv_rb_bytes(request)};

    perform_secret(&call);
    return skv_rb_take_data(call.reply);
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
    rb_define_singleton_method(native, "secret_crl", make_crl, 1);
    rb_define_singleton_method(native, "secret_form", form_secret, 2);
}
