/* Simpkv::Native::Store: opening and closing a store, and the operations on one key or folder. */
#include "call.h"

static VALUE allocate_store(VALUE class)
{
    skv_rb_store *native;

    return TypedData_Make_Struct(class, skv_rb_store, &skv_rb_store_type, native);
}

/* ---- Opening and closing ---- */

static int pack_option(VALUE name, VALUE value, VALUE packed)
{
    skv_rb_pack(packed, name, "an option holds a NUL byte");
    skv_rb_pack(packed, value, "an option holds a NUL byte");
    return ST_CONTINUE;
}

/* Takes the type as its name and the options as its document. */
static int run_open(skv_rb_call *call)
{
    call->native->store = skv_open(SKV_RB_BYTES(call->name), SKV_RB_BYTES(call->document), call->reply);
    return skv_reply_status(call->reply);
}

static VALUE to_nil(skv_rb_call *call)
{
    return Qnil;
}

static VALUE native_initialize(VALUE self, VALUE type, VALUE options)
{
    VALUE packed = rb_str_buf_new(256);
    skv_rb_call call = {.run = run_open, .convert = to_nil, .name = skv_rb_bytes(type), .opens = true};

    Check_Type(options, T_HASH);
    rb_hash_foreach(options, pack_option, packed);
    call.document = skv_rb_bytes(packed);
    return skv_rb_perform(self, &call);
}

static VALUE native_close(VALUE self)
{
    skv_rb_store *native = skv_rb_store_of(self);

    native->closed = true;
    skv_rb_release(native);
    return Qnil;
}

/* ---- Reading ---- */

static int run_get(skv_rb_call *call)
{
    return skv_get(call->native->store, SKV_RB_BYTES(call->key), call->flags, call->timeout_ms, call->cancel,
                   call->reply);
}

static VALUE native_get(VALUE self, VALUE key, VALUE flags, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_get,
                        .convert = skv_rb_to_data,
                        .key = skv_rb_bytes(key),
                        .flags = NUM2INT(flags),
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

/* A document with more than a value and metadata stays a String. */
static VALUE to_decoded(skv_rb_call *call)
{
    VALUE decoded = skv_rb_plain_document(skv_reply_data(call->reply), skv_reply_size(call->reply));

    return NIL_P(decoded) || RHASH_SIZE(decoded) != 2 ? skv_rb_to_data(call) : decoded;
}

/*
 * call-seq: get_decoded(folder, key, upper, timeout_ms) -> {value:, metadata:} or String or nil
 *
 * Checks a key, and reads and decodes it, in one call.
 */
static VALUE native_get_decoded(VALUE self, VALUE folder, VALUE key, VALUE upper, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_get,
                        .convert = to_decoded,
                        .key = skv_rb_path_below(folder, key, RTEST(upper)),
                        .flags = SKV_GET_ANY,
                        .timeout_ms = NUM2LL(timeout_ms)};

    return NIL_P(call.key) ? Qnil : skv_rb_perform(self, &call);
}

static int run_kind(skv_rb_call *call)
{
    return skv_exists(call->native->store, SKV_RB_BYTES(call->key), call->timeout_ms, call->cancel, call->reply);
}

static VALUE to_kind(skv_rb_call *call)
{
    switch (skv_reply_number(call->reply)) {
    case SKV_KIND_KEY:
        return ID2SYM(rb_intern("key"));
    case SKV_KIND_FOLDER:
        return ID2SYM(rb_intern("folder"));
    default:
        return Qnil;
    }
}

static VALUE native_kind(VALUE self, VALUE key, VALUE timeout_ms)
{
    skv_rb_call call = {
        .run = run_kind, .convert = to_kind, .key = skv_rb_bytes(key), .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

static int run_stat(skv_rb_call *call)
{
    return skv_stat(call->native->store, SKV_RB_BYTES(call->key), call->flags, call->timeout_ms, call->cancel,
                    call->reply);
}

static VALUE native_stat(VALUE self, VALUE key, VALUE count, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_stat,
                        .convert = skv_rb_to_parsed,
                        .key = skv_rb_bytes(key),
                        .flags = RTEST(count) ? SKV_STAT_COUNT : 0,
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

/* ---- Writing: each notes what an interrupted call may have done, for its repetition ---- */

static VALUE to_boolean(skv_rb_call *call)
{
    return skv_reply_number(call->reply) || call->had_result ? Qtrue : Qfalse;
}

/* The expected document of a call, for the arguments of a function of the core. */
#define EXPECTED(call)                                                                                                 \
    NIL_P((call)->expect) ? NULL : RSTRING_PTR((call)->expect),                                                        \
        NIL_P((call)->expect) ? 0 : (size_t)RSTRING_LEN((call)->expect)

static int note_doubt(skv_rb_call *call, int status)
{
    if (status == SKV_INTERRUPTED && skv_reply_number(call->reply))
        call->condition |= SKV_PUT_IN_DOUBT;
    return status;
}

static int run_put(skv_rb_call *call)
{
    return note_doubt(call, skv_put(call->native->store, SKV_RB_BYTES(call->key), SKV_RB_BYTES(call->document),
                                    call->condition, EXPECTED(call), call->timeout_ms, call->cancel, call->reply));
}

/* The number of each condition, by its Symbol. */
static VALUE conditions;

static void define_conditions(VALUE native)
{
    conditions = rb_hash_new();
    rb_gc_register_mark_object(conditions);
    rb_hash_aset(conditions, ID2SYM(rb_intern("any")), INT2FIX(SKV_PUT_ANY));
    rb_hash_aset(conditions, ID2SYM(rb_intern("absent")), INT2FIX(SKV_PUT_ABSENT));
    rb_hash_aset(conditions, ID2SYM(rb_intern("expect")), INT2FIX(SKV_PUT_EXPECT));
    rb_define_const(native, "CONDITIONS", rb_hash_freeze(conditions));
    rb_define_const(native, "LATEST", INT2FIX(SKV_GET_LATEST));
    rb_define_const(native, "STORED", INT2FIX(SKV_GET_STORED));
    rb_define_const(native, "IN_DOUBT", INT2FIX(SKV_PUT_IN_DOUBT));
    rb_define_const(native, "NON_UNIQUE", INT2FIX(SKV_PUT_NON_UNIQUE));
    rb_define_const(native, "KEEP_ENCRYPTED", INT2FIX(SKV_PUT_KEEP_ENCRYPTED));
}

static int condition_number(VALUE condition)
{
    VALUE number = SYMBOL_P(condition) ? rb_hash_lookup(conditions, condition) : Qnil;

    if (NIL_P(number))
        rb_raise(rb_eArgError, "condition is :any or :absent or :expect");
    return FIX2INT(number);
}

static VALUE native_put(VALUE self, VALUE key, VALUE document, VALUE condition, VALUE expect, VALUE flags,
                        VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_put,
                        .convert = to_boolean,
                        .key = skv_rb_bytes(key),
                        .document = skv_rb_bytes(document),
                        .condition = condition_number(condition) | NUM2INT(flags),
                        .expect = NIL_P(expect) ? Qnil : skv_rb_bytes(expect),
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

static int run_delete(skv_rb_call *call)
{
    return note_doubt(call, skv_delete(call->native->store, SKV_RB_BYTES(call->key), call->condition, EXPECTED(call),
                                       call->timeout_ms, call->cancel, call->reply));
}

static VALUE native_delete(VALUE self, VALUE key, VALUE expect, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_delete,
                        .convert = to_boolean,
                        .key = skv_rb_bytes(key),
                        .condition = NIL_P(expect) ? SKV_PUT_ANY : SKV_PUT_EXPECT,
                        .expect = NIL_P(expect) ? Qnil : skv_rb_bytes(expect),
                        .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

/* The number of an interrupted call is 1 if the folder existed, or if this call may have made or deleted it. */
static int note_result(skv_rb_call *call, int status)
{
    call->had_result |= status == SKV_INTERRUPTED && skv_reply_number(call->reply);
    return status;
}

static int run_deletetree(skv_rb_call *call)
{
    int status = note_result(call, skv_deletetree(call->native->store, SKV_RB_BYTES(call->key), call->timeout_ms,
                                                  call->cancel, call->reply));

    call->advances = skv_reply_number(call->reply) > 1;
    return status;
}

static VALUE native_deletetree(VALUE self, VALUE folder, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_deletetree,
                        .convert = to_boolean,
                        .key = skv_rb_bytes(folder),
                        .timeout_ms = NUM2LL(timeout_ms),
                        .per_round_trip = true};

    return skv_rb_perform(self, &call);
}

static int run_create_folder(skv_rb_call *call)
{
    return note_result(call, skv_create_folder(call->native->store, SKV_RB_BYTES(call->key), call->timeout_ms,
                                               call->cancel, call->reply));
}

static VALUE native_create_folder(VALUE self, VALUE folder, VALUE timeout_ms)
{
    skv_rb_call call = {
        .run = run_create_folder, .convert = to_boolean, .key = skv_rb_bytes(folder), .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

static int run_delete_folder(skv_rb_call *call)
{
    return note_result(call, skv_delete_folder(call->native->store, SKV_RB_BYTES(call->key), call->timeout_ms,
                                               call->cancel, call->reply));
}

static VALUE native_delete_folder(VALUE self, VALUE folder, VALUE timeout_ms)
{
    skv_rb_call call = {
        .run = run_delete_folder, .convert = to_boolean, .key = skv_rb_bytes(folder), .timeout_ms = NUM2LL(timeout_ms)};

    return skv_rb_perform(self, &call);
}

void skv_rb_init_store(VALUE native)
{
    VALUE class = rb_define_class_under(native, "Store", rb_cObject);

    define_conditions(native);
    skv_rb_init_calls();
    rb_define_alloc_func(class, allocate_store);
    rb_define_method(class, "initialize", native_initialize, 2);
    rb_define_method(class, "close", native_close, 0);
    rb_define_method(class, "get", native_get, 3);
    rb_define_method(class, "get_decoded", native_get_decoded, 4);
    rb_define_method(class, "kind", native_kind, 2);
    rb_define_method(class, "stat", native_stat, 3);
    rb_define_method(class, "put", native_put, 6);
    rb_define_method(class, "delete", native_delete, 3);
    rb_define_method(class, "deletetree", native_deletetree, 2);
    rb_define_method(class, "create_folder", native_create_folder, 2);
    rb_define_method(class, "delete_folder", native_delete_folder, 2);
    skv_rb_init_many(class);
    skv_rb_init_entries(class);
}
