/* Simpkv::Native::Keyring: the keys of a file, which encrypt documents and decrypt them. Any number of threads may use
 * them at once. */
#include "convert.h"

/* Larger documents are encrypted and decrypted without the GVL. Releasing it costs as much as a small document. */
#define SHORT_DOCUMENT 8192

typedef skv_status (*keyring_function)(skv_keyring *keyring, const char *backend, size_t backend_len, const char *path,
                                       size_t path_len, const char *document, size_t document_len, skv_reply *reply);

/* One call: its arguments and its results. Lives on the stack of the method. */
typedef struct keyring_call {
    keyring_function run;
    skv_keyring *keyring;          /* of the object; NULL while the file is read */
    VALUE backend, path, document; /* frozen Strings */
    skv_reply *reply;
} keyring_call;

/* ---- The object ---- */

static void free_keyring(void *keyring)
{
    skv_keyring_close(keyring);
}

static const rb_data_type_t keyring_type = {
    .wrap_struct_name = "Simpkv::Native::Keyring",
    .function = {.dfree = free_keyring},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate_keyring(VALUE class)
{
    return TypedData_Wrap_Struct(class, &keyring_type, NULL);
}

static skv_keyring *keyring_or_null(VALUE self)
{
    skv_keyring *keyring;

    TypedData_Get_Struct(self, skv_keyring, &keyring_type, keyring);
    return keyring;
}

skv_keyring *skv_rb_keyring_of(VALUE self)
{
    skv_keyring *keyring = keyring_or_null(self);

    if (!keyring)
        skv_rb_raise_status("invalid", rb_str_new_cstr("no keys are read"));
    return keyring;
}

/* Keeps the GVL, as the file is small and local: no other thread can initialize the object meanwhile. */
static VALUE initialize_keyring(VALUE self, VALUE file)
{
    VALUE path = skv_rb_bytes(file);
    skv_reply *reply;

    if (keyring_or_null(self))
        skv_rb_raise_status("invalid", rb_str_new_cstr("the keys are read already"));
    reply = skv_rb_reply_new();
    RTYPEDDATA_DATA(self) = skv_keyring_open(SKV_RB_BYTES(path), reply);
    if (!RTYPEDDATA_DATA(self))
        skv_rb_raise(reply);
    skv_reply_free(reply);
    RB_GC_GUARD(path);
    return Qnil;
}

/* ---- Encrypting and decrypting ---- */

static void run_cipher(void *data)
{
    keyring_call *call = data;

    call->run(call->keyring, SKV_RB_BYTES(call->backend), SKV_RB_BYTES(call->path), SKV_RB_BYTES(call->document),
              call->reply);
}

/* Returns the data, or nil if the number is 0 and there are none. */
static VALUE take_result(skv_reply *reply)
{
    if (skv_reply_status(reply) == SKV_OK && skv_reply_number(reply) == 0 && skv_reply_size(reply) == 0) {
        skv_reply_free(reply);
        return Qnil;
    }
    return skv_rb_take_data(reply);
}

static VALUE call_cipher(keyring_function run, VALUE self, VALUE backend, VALUE path, VALUE document)
{
    keyring_call call = {.run = run,
                         .keyring = skv_rb_keyring_of(self),
                         .backend = skv_rb_bytes(backend),
                         .path = skv_rb_bytes(path),
                         .document = skv_rb_bytes(document)};

    call.reply = skv_rb_reply_new();
    if (RSTRING_LEN(call.document) <= SHORT_DOCUMENT)
        run_cipher(&call);
    else
        skv_rb_without_gvl(run_cipher, &call);
    RB_GC_GUARD(call.backend);
    RB_GC_GUARD(call.path);
    RB_GC_GUARD(call.document);
    RB_GC_GUARD(self);
    return take_result(call.reply);
}

static VALUE encrypt_document(VALUE self, VALUE backend, VALUE path, VALUE document)
{
    return call_cipher(skv_keyring_encrypt, self, backend, path, document);
}

static VALUE decrypt_for(VALUE self, VALUE backend, VALUE path, VALUE document)
{
    return call_cipher(skv_keyring_decrypt, self, backend, path, document);
}

/* ---- Names of keys ---- */

static VALUE list_kids(VALUE self)
{
    skv_keyring *keyring = skv_rb_keyring_of(self);
    skv_reply *reply = skv_rb_reply_new();
    VALUE kids = rb_ary_new(), texts;

    skv_keyring_kids(keyring, reply);
    texts = skv_rb_take_data(reply);
    for (long at = 0; at < RSTRING_LEN(texts);) {
        const char *kid = RSTRING_PTR(texts) + at;

        at += (long)strlen(kid) + 1;
        rb_ary_push(kids, skv_rb_utf8(kid, strlen(kid)));
    }
    RB_GC_GUARD(texts);
    RB_GC_GUARD(self);
    return kids;
}

static VALUE kid_of_document(VALUE self, VALUE document)
{
    VALUE bytes = skv_rb_bytes(document);
    skv_reply *reply = skv_rb_reply_new();

    skv_document_kid(SKV_RB_BYTES(bytes), reply);
    RB_GC_GUARD(bytes);
    return take_result(reply);
}

void skv_rb_init_keyring(VALUE native)
{
    VALUE class = rb_define_class_under(native, "Keyring", rb_cObject);

    rb_define_alloc_func(class, allocate_keyring);
    rb_define_method(class, "initialize", initialize_keyring, 1);
    rb_define_method(class, "encrypt", encrypt_document, 3);
    rb_define_method(class, "decrypt", decrypt_for, 3);
    rb_define_method(class, "kids", list_kids, 0);
    rb_define_singleton_method(class, "kid_of", kid_of_document, 1);
}
