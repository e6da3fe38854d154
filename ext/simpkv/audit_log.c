/* Simpkv::Native::AuditLog: lines that are appended to a file or sent to syslog. Any number of threads may use it. */
#include "convert.h"

/* One call: its arguments and its results. Lives on the stack of the method. */
typedef struct audit_call {
    skv_audit *audit;
    VALUE lines; /* a frozen String; nil if space is reserved */
    size_t bytes;
    int64_t timeout_ms;
    skv_reply *reply;
} audit_call;

/* ---- The object ---- */

static void free_audit(void *audit)
{
    skv_audit_close(audit);
}

static const rb_data_type_t audit_type = {
    .wrap_struct_name = "Simpkv::Native::AuditLog",
    .function = {.dfree = free_audit},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate_audit(VALUE class)
{
    return TypedData_Wrap_Struct(class, &audit_type, NULL);
}

static skv_audit *audit_or_null(VALUE self)
{
    skv_audit *audit;

    TypedData_Get_Struct(self, skv_audit, &audit_type, audit);
    return audit;
}

static VALUE initialize_audit(VALUE self, VALUE target)
{
    VALUE text = skv_rb_bytes(target);
    skv_reply *reply;

    if (audit_or_null(self))
        skv_rb_raise_status("invalid", rb_str_new_cstr("the audit log has a target already"));
    reply = skv_rb_reply_new();
    RTYPEDDATA_DATA(self) = skv_audit_open(SKV_RB_BYTES(text), reply);
    if (!RTYPEDDATA_DATA(self))
        skv_rb_raise(reply);
    skv_reply_free(reply);
    RB_GC_GUARD(text);
    return Qnil;
}

/* ---- Reserving and writing ---- */

static void run_audit(void *data)
{
    audit_call *call = data;

    if (NIL_P(call->lines))
        skv_audit_reserve(call->audit, call->bytes, call->timeout_ms, call->reply);
    else
        skv_audit_write(call->audit, SKV_RB_BYTES(call->lines), call->timeout_ms, call->reply);
}

/* The line must be written even if an interrupt is pending: the operation that it tells of was done. */
static VALUE call_audit(VALUE self, VALUE lines, size_t bytes, VALUE timeout_ms)
{
    audit_call call = {.audit = audit_or_null(self), .lines = lines, .bytes = bytes, .timeout_ms = NUM2LL(timeout_ms)};

    if (!call.audit)
        skv_rb_raise_status("invalid", rb_str_new_cstr("the audit log has no target"));
    call.reply = skv_rb_reply_new();
    skv_rb_without_gvl(run_audit, &call);
    RB_GC_GUARD(call.lines);
    RB_GC_GUARD(self);
    if (skv_reply_status(call.reply) != SKV_OK)
        skv_rb_raise(call.reply);
    skv_reply_free(call.reply);
    return Qnil;
}

static VALUE reserve_space(VALUE self, VALUE bytes, VALUE timeout_ms)
{
    return call_audit(self, Qnil, NUM2SIZET(bytes), timeout_ms);
}

static VALUE append_lines(VALUE self, VALUE lines, VALUE timeout_ms)
{
    return call_audit(self, skv_rb_bytes(lines), 0, timeout_ms);
}

void skv_rb_init_audit_log(VALUE native)
{
    VALUE class = rb_define_class_under(native, "AuditLog", rb_cObject);

    rb_define_alloc_func(class, allocate_audit);
    rb_define_method(class, "initialize", initialize_audit, 1);
    rb_define_method(class, "reserve", reserve_space, 2);
    rb_define_method(class, "write", append_lines, 2);
}
