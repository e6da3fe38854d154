/* Simpkv::Native::Store: entries of a directory that are not keys. The DN is the name of the call; the list of texts
 * that the core takes is its document. */
#include "call.h"

#define NUL_IN_ATTRIBUTE "an attribute holds a NUL byte"

static int run_read_entry(skv_rb_call *call)
{
    return skv_entry_read(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->document), call->timeout_ms,
                          call->cancel, call->reply);
}

static int run_add_entry(skv_rb_call *call)
{
    return skv_entry_add(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->document), call->timeout_ms,
                         call->cancel, call->reply);
}

static int run_modify_entry(skv_rb_call *call)
{
    return skv_entry_modify(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->document),
                            SKV_RB_BYTES(call->expect), call->timeout_ms, call->cancel, call->reply);
}

static int run_delete_entry(skv_rb_call *call)
{
    return skv_entry_delete(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->expect), call->timeout_ms,
                            call->cancel, call->reply);
}

static int run_list_entries(skv_rb_call *call)
{
    return skv_entry_list(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->document),
                          SKV_RB_BYTES(call->expect), call->timeout_ms, call->cancel, call->reply);
}

static int run_password(skv_rb_call *call)
{
    return skv_entry_password(call->native->store, SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->expect), call->flags,
                              call->timeout_ms, call->cancel, call->reply);
}

static VALUE to_yes_or_no(skv_rb_call *call)
{
    return skv_reply_number(call->reply) == 1 ? Qtrue : Qfalse;
}

static VALUE to_nothing(skv_rb_call *call)
{
    (void)call;
    return Qnil;
}

/* False: the entry exists, or is not as the change expects it. */
static VALUE to_done(skv_rb_call *call)
{
    return skv_reply_status(call->reply) == SKV_OK ? Qtrue : Qfalse;
}

/* `filter` is nil for none. */
static VALUE read_entries(VALUE self, int (*run)(skv_rb_call *), VALUE dn, VALUE attributes, VALUE filter,
                          VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256), packed_filter = rb_str_buf_new(0);
    skv_rb_call call = {
        .run = run, .convert = skv_rb_to_parsed, .name = skv_rb_bytes(dn), .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(attributes); i++)
        skv_rb_pack(packed, rb_ary_entry(attributes, i), NUL_IN_ATTRIBUTE);
    if (!NIL_P(filter))
        skv_rb_pack(packed_filter, filter, NUL_IN_ATTRIBUTE);
    call.document = skv_rb_bytes(packed);
    call.expect = skv_rb_bytes(packed_filter);
    return skv_rb_perform(self, &call);
}

static VALUE native_read_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    return read_entries(self, run_read_entry, dn, attributes, Qnil, timeout_ms);
}

static VALUE native_list_entries(VALUE self, VALUE dn, VALUE attributes, VALUE filter, VALUE timeout_ms)
{
    return read_entries(self, run_list_entries, dn, attributes, filter, timeout_ms);
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

static VALUE native_add_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    skv_rb_call call = {.run = run_add_entry,
                        .convert = to_done,
                        .name = skv_rb_bytes(dn),
                        .refusal = SKV_EXISTS,
                        .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_HASH);
    rb_hash_foreach(attributes, pack_attribute, packed);
    call.document = skv_rb_bytes(packed);
    return skv_rb_perform(self, &call);
}

/* `changes` is a flat list of operations, attributes and values. */
static VALUE native_modify_entry(VALUE self, VALUE dn, VALUE changes, VALUE version, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    skv_rb_call call = {.run = run_modify_entry,
                        .convert = to_done,
                        .name = skv_rb_bytes(dn),
                        .expect = skv_rb_bytes(version),
                        .refusal = SKV_CONFLICT,
                        .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(changes, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(changes); i++)
        skv_rb_pack(packed, rb_ary_entry(changes, i), NUL_IN_ATTRIBUTE);
    call.document = skv_rb_bytes(packed);
    return skv_rb_perform(self, &call);
}

static VALUE native_delete_entry(VALUE self, VALUE dn, VALUE version, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_delete_entry,
                        .convert = to_yes_or_no,
                        .name = skv_rb_bytes(dn),
                        .expect = skv_rb_bytes(version),
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

static VALUE use_password(int flags, VALUE self, VALUE dn, VALUE password, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_password,
                        .convert = flags == SKV_PASSWORD_CHECK ? to_yes_or_no : to_nothing,
                        .name = skv_rb_bytes(dn),
                        .expect = skv_rb_bytes(password),
                        .flags = flags,
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

static VALUE native_set_password(VALUE self, VALUE dn, VALUE password, VALUE timeout_ms)
{
    return use_password(SKV_PASSWORD_SET, self, dn, password, timeout_ms);
}

static VALUE native_check_password(VALUE self, VALUE dn, VALUE password, VALUE timeout_ms)
{
    return use_password(SKV_PASSWORD_CHECK, self, dn, password, timeout_ms);
}

void skv_rb_init_entries(VALUE store_class)
{
    rb_define_method(store_class, "read_entry", native_read_entry, 3);
    rb_define_method(store_class, "list_entries", native_list_entries, 4);
    rb_define_method(store_class, "add_entry", native_add_entry, 3);
    rb_define_method(store_class, "modify_entry", native_modify_entry, 4);
    rb_define_method(store_class, "delete_entry", native_delete_entry, 3);
    rb_define_method(store_class, "set_password", native_set_password, 3);
    rb_define_method(store_class, "check_password", native_check_password, 3);
}
