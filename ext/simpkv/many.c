/* Simpkv::Native::Store: the operations on many keys, in batches, in lists, and as they change. */
#include "call.h"

/* ---- Batches ---- */

static int run_put_many(skv_rb_call *call)
{
    return skv_put_many(call->native->store, SKV_RB_BYTES(call->document), call->timeout_ms, call->cancel, call->reply);
}

static int run_get_many(skv_rb_call *call)
{
    return skv_get_many(call->native->store, SKV_RB_BYTES(call->document), call->timeout_ms, call->cancel, call->reply);
}

/* Yields the outcomes of each round to the block, which returns the records of the next round, or nil. After an
 * interrupt, these are the records that it has left undone: the same ones if it has done none. */
static VALUE to_rounds(skv_rb_call *call)
{
    for (;;) {
        VALUE next = rb_yield(skv_rb_to_data(call));

        if (NIL_P(next))
            return Qnil;
        next = skv_rb_bytes(next);
        call->again = skv_reply_status(call->reply) == SKV_INTERRUPTED;
        call->stalled = call->again && RSTRING_LEN(next) == RSTRING_LEN(call->document);
        call->document = next;
        skv_rb_run(call);
    }
}

static VALUE run_rounds(VALUE self, int (*run)(skv_rb_call *), VALUE records, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run,
                        .convert = to_rounds,
                        .document = skv_rb_bytes(records),
                        .timeout_ms = NUM2LL(timeout_ms),
                        .per_round_trip = true,
                        .in_rounds = true};

    return skv_rb_perform(self, &call);
}

static VALUE native_put_many(VALUE self, VALUE records, VALUE timeout_ms)
{
    return run_rounds(self, run_put_many, records, timeout_ms);
}

static VALUE native_get_many(VALUE self, VALUE keys, VALUE timeout_ms)
{
    return run_rounds(self, run_get_many, keys, timeout_ms);
}

/* ---- Lists ---- */

static int run_list_open(skv_rb_call *call)
{
    call->list =
        skv_list_open(call->native->store, SKV_RB_BYTES(call->key), call->timeout_ms, call->cancel, call->reply);
    return skv_reply_status(call->reply);
}

static int run_tree_open(skv_rb_call *call)
{
    call->list = skv_tree_open(call->native->store, SKV_RB_BYTES(call->key), call->flags, call->timeout_ms,
                               call->cancel, call->reply);
    return skv_reply_status(call->reply);
}

/* Decrypts the page without the GVL, while the server looks for more. */
static int run_list_next(skv_rb_call *call)
{
    int status = skv_list_next(call->list, call->timeout_ms, call->cancel, call->reply);
    skv_reply *page = call->reply;

    if (status != SKV_OK || !call->keyring)
        return status;
    call->reply = call->page;
    call->page = page;
    return skv_keyring_decrypt_page(call->keyring, SKV_RB_BYTES(call->backend), SKV_RB_BYTES(call->place),
                                    call->page_flags, skv_reply_data(page), skv_reply_size(page), call->reply);
}

static size_t read_record(const skv_reply *page, size_t at, skv_page_record *record)
{
    return skv_page_read(skv_reply_data(page) + at, skv_reply_size(page) - at, record);
}

/* Adds the records of one page. If there is a block, its result replaces the document that it is given. */
static void unpack_page(const skv_reply *reply, VALUE keys, VALUE folders, VALUE errors, VALUE encrypted)
{
    const bool block = rb_block_given_p();
    skv_page_record record;

    for (size_t at = 0, size; (size = read_record(reply, at, &record)) > 0; at += size) {
        VALUE name = skv_rb_utf8(record.name, record.name_len), body;

        if (record.kind == 'f') {
            rb_ary_push(folders, name);
            continue;
        }
        /* A Hash copies a key that is not frozen. */
        rb_str_freeze(name);
        body = skv_rb_utf8(record.body, record.body_len);
        if (block && record.kind == 'k')
            body = rb_yield_values(2, name, body);
        rb_hash_aset(record.kind == 'k' ? keys : record.kind == 'x' ? encrypted : errors, name, body);
    }
}

/* Reads all pages of the list that the call opened. */
static VALUE to_list(skv_rb_call *call)
{
    VALUE list = rb_hash_new(), keys = rb_hash_new(), folders = rb_ary_new(), errors = rb_hash_new();
    VALUE encrypted = rb_hash_new();

    rb_hash_aset(list, ID2SYM(rb_intern("keys")), keys);
    rb_hash_aset(list, ID2SYM(rb_intern("folders")), folders);
    rb_hash_aset(list, ID2SYM(rb_intern("errors")), errors);
    if (call->keyring) {
        rb_hash_aset(list, ID2SYM(rb_intern("encrypted")), encrypted);
        call->page = skv_rb_reply_new();
    }
    call->run = run_list_next;
    call->refusal = SKV_END;
    for (;;) {
        skv_rb_run(call);
        if (skv_reply_status(call->reply) == SKV_END)
            return list;
        unpack_page(call->reply, keys, folders, errors, encrypted);
    }
}

/* Takes nil, or a list of a Keyring, the backend and the folder in the headers of documents, and two Booleans: whether
 * plain documents are errors, and whether documents with other than plain names stay encrypted. */
static void take_cipher(skv_rb_call *call, VALUE cipher)
{
    if (NIL_P(cipher))
        return;
    Check_Type(cipher, T_ARRAY);
    if (RARRAY_LEN(cipher) != 5)
        rb_raise(rb_eArgError, "a cipher has five parts");
    call->cipher = rb_ary_entry(cipher, 0);
    call->keyring = skv_rb_keyring_of(call->cipher);
    call->backend = skv_rb_bytes(rb_ary_entry(cipher, 1));
    call->place = skv_rb_bytes(rb_ary_entry(cipher, 2));
    call->page_flags = (RTEST(rb_ary_entry(cipher, 3)) ? SKV_PAGE_ENCRYPTED_ONLY : 0) |
                       (RTEST(rb_ary_entry(cipher, 4)) ? SKV_PAGE_PLAIN_NAMES : 0);
}

static VALUE native_list(VALUE self, VALUE folder, VALUE cipher, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_list_open,
                        .convert = to_list,
                        .key = skv_rb_bytes(folder),
                        .timeout_ms = NUM2LL(timeout_ms),
                        .per_round_trip = true};

    take_cipher(&call, cipher);
    return skv_rb_perform(self, &call);
}

static VALUE native_tree(VALUE self, VALUE folder, VALUE values, VALUE cipher, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_tree_open,
                        .convert = to_list,
                        .key = skv_rb_bytes(folder),
                        .flags = RTEST(values) ? 0 : SKV_TREE_NAMES,
                        .timeout_ms = NUM2LL(timeout_ms),
                        .per_round_trip = true};

    take_cipher(&call, cipher);
    return skv_rb_perform(self, &call);
}

static VALUE native_names(VALUE self, VALUE folder, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_tree_open,
                        .convert = to_list,
                        .key = skv_rb_bytes(folder),
                        .flags = SKV_TREE_NAMES | SKV_TREE_ONE_LEVEL,
                        .timeout_ms = NUM2LL(timeout_ms),
                        .per_round_trip = true};

    return skv_rb_perform(self, &call);
}

/* ---- Changes ---- */

static int run_changes_open(skv_rb_call *call)
{
    const bool since = !NIL_P(call->document);

    call->changes =
        skv_changes_open(call->native->store, SKV_RB_BYTES(call->key), since ? RSTRING_PTR(call->document) : NULL,
                         since ? (size_t)RSTRING_LEN(call->document) : 0, call->timeout_ms, call->cancel, call->reply);
    return skv_reply_status(call->reply);
}

static int run_changes_next(skv_rb_call *call)
{
    return skv_changes_next(call->changes, call->wait_ms, call->cancel, call->reply);
}

static VALUE unpack_changes(const skv_reply *reply)
{
    VALUE changes = rb_ary_new();
    skv_page_record record;

    for (size_t at = 0, size; (size = read_record(reply, at, &record)) > 0; at += size) {
        VALUE name = skv_rb_utf8(record.name, record.name_len), cookie = skv_rb_utf8(record.body, record.body_len);

        rb_ary_push(changes, rb_ary_new_from_args(3, skv_rb_utf8(&record.kind, 1), name, cookie));
    }
    return changes;
}

/* Yields the records of each page to the block, until it breaks or raises. */
static VALUE to_changes(skv_rb_call *call)
{
    call->run = run_changes_next;
    for (;;) {
        skv_rb_run(call);
        rb_yield(unpack_changes(call->reply));
    }
    return Qnil;
}

/*
 * call-seq: watch(folder, since, wait_ms, timeout_ms) { |changes| }
 *
 * Yields lists of [kind, name, cookie] as skv_changes_next() has them; an empty one after `wait_ms` without a change.
 */
static VALUE native_watch(VALUE self, VALUE folder, VALUE since, VALUE wait_ms, VALUE timeout_ms)
{
    skv_rb_call call = {.run = run_changes_open,
                        .convert = to_changes,
                        .key = skv_rb_bytes(folder),
                        .document = NIL_P(since) ? Qnil : skv_rb_bytes(since),
                        .wait_ms = NUM2LL(wait_ms),
                        .timeout_ms = NUM2LL(timeout_ms),
                        .advances = true};

    return skv_rb_perform(self, &call);
}

void skv_rb_init_many(VALUE store_class)
{
    rb_define_method(store_class, "put_many", native_put_many, 2);
    rb_define_method(store_class, "get_many", native_get_many, 2);
    rb_define_method(store_class, "list", native_list, 3);
    rb_define_method(store_class, "tree", native_tree, 4);
    rb_define_method(store_class, "names", native_names, 2);
    rb_define_method(store_class, "watch", native_watch, 4);
}
