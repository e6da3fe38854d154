/* Simpkv::Native::Store: entries of a directory that are not keys. The DN is the key of the call; the list of texts
 * that the core takes is its document. */
#include "call.h"

#define NUL_IN_ATTRIBUTE "an attribute holds a NUL byte"

static int run_read_entry(skv_rb_call *call)
{
    return skv_entry_read(call->native->store, SKV_RB_BYTES(call->key), SKV_RB_BYTES(call->document), call->timeout_ms,
                          call->cancel, call->reply);
}

static int run_add_entry(skv_rb_call *call)
{
    return skv_entry_add(call->native->store, SKV_RB_BYTES(call->key), SKV_RB_BYTES(call->document), call->timeout_ms,
                         call->cancel, call->reply);
}

static int run_extend_entry(skv_rb_call *call)
{
    return skv_entry_extend(call->native->store, SKV_RB_BYTES(call->key), SKV_RB_BYTES(call->document),
                            call->timeout_ms, call->cancel, call->reply);
}

static VALUE to_parsed(skv_rb_call *call)
{
    return rb_funcall(skv_rb_native, rb_intern("parse"), 1, skv_rb_to_data(call));
}

/* False: the entry, or one of the values, exists. */
static VALUE to_done(skv_rb_call *call)
{
    return skv_reply_status(call->reply) == SKV_OK ? Qtrue : Qfalse;
}

static VALUE native_read_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    skv_rb_call call = {
        .run = run_read_entry, .convert = to_parsed, .key = skv_rb_bytes(dn), .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(attributes); i++)
        skv_rb_pack(packed, rb_ary_entry(attributes, i), NUL_IN_ATTRIBUTE);
    call.document = skv_rb_bytes(packed);
    return skv_rb_perform(self, &call);
}

static int pack_attribute(VALUE name, VALUE values, VALUE packed)
{
    Check_Type(values, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(values); i++) {
        skv_rb_pack(packed, name, NUL_IN_ATTRIBUTE);
        skv_rb_pack(packed, rb_ary_entry(values, i), NUL_IN_ATTRIBUTE);
    }
    return ST_CONTINUE;
}

static VALUE change_entry(VALUE self, int (*run)(skv_rb_call *), VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    skv_rb_call call = {.run = run,
                        .convert = to_done,
                        .key = skv_rb_bytes(dn),
                        .refusal = SKV_EXISTS,
                        .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_HASH);
    rb_hash_foreach(attributes, pack_attribute, packed);
    call.document = skv_rb_bytes(packed);
    return skv_rb_perform(self, &call);
}

static VALUE native_add_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    return change_entry(self, run_add_entry, dn, attributes, timeout_ms);
}

static VALUE native_extend_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    return change_entry(self, run_extend_entry, dn, attributes, timeout_ms);
}

void skv_rb_init_entries(VALUE store_class)
{
    rb_define_method(store_class, "read_entry", native_read_entry, 3);
    rb_define_method(store_class, "add_entry", native_add_entry, 3);
    rb_define_method(store_class, "extend_entry", native_extend_entry, 3);
}
