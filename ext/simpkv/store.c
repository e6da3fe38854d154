/*
 * Simpkv::Native::Store: a store of the core. Each call converts its arguments, runs without the GVL, and converts what
 * came of it. An interrupt of the thread (a signal, Thread#raise, Timeout) ends a call that waits: see without_gvl().
 */
#include "simpkv_ext.h"

#include <pthread.h>
#include <ruby/thread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#define NUL_IN_OPTION "an option holds a NUL byte"
#define NUL_IN_ATTRIBUTE "an attribute holds a NUL byte"
#define RECORD_HEADER (1 + 2 * sizeof(uint32_t))

static ID id_any, id_absent, id_expect, id_key, id_folder, id_keys, id_folders, id_errors;

/* Guarded by the GVL. */
typedef struct native_store {
    skv_store *store; /* NULL before it is opened and after it is freed */
    int users;        /* calls that are inside the core: the last one frees a closed store */
    bool closed;
} native_store;

static void release(native_store *native)
{
    if (native->users == 0 && native->store) {
        skv_close(native->store);
        native->store = NULL;
    }
}

static void store_free(void *data)
{
    native_store *native = data;

    skv_close(native->store);
    ruby_xfree(native);
}

static size_t store_size(const void *data)
{
    return sizeof(native_store);
}

static const rb_data_type_t store_type = {
    .wrap_struct_name = "Simpkv::Native::Store",
    .function = {.dfree = store_free, .dsize = store_size},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE store_alloc(VALUE class)
{
    native_store *native;

    return TypedData_Make_Struct(class, native_store, &store_type, native);
}

static native_store *native_of(VALUE self)
{
    native_store *native;

    TypedData_Get_Struct(self, native_store, &store_type, native);
    return native;
}

/* Cancel handles that no call uses: to make one, and its descriptor, costs as much as the rest of a call. Guarded by
 * the GVL. */
#define SPARE_MAX 8
static skv_cancel *spare[SPARE_MAX];
static int spares;

static skv_cancel *cancel_take(void)
{
    skv_cancel *cancel = spares > 0 ? spare[--spares] : skv_cancel_new();

    if (!cancel)
        rb_memerror();
    return cancel;
}

static void cancel_give_back(skv_cancel *cancel)
{
    if (cancel && spares < SPARE_MAX)
        spare[spares++] = cancel;
    else
        skv_cancel_free(cancel);
}

/* In a forked child their descriptors are the parent's, too. */
static void forget_spares(void)
{
    while (spares > 0)
        skv_cancel_free(spare[--spares]);
}

/* One call: its arguments, what the core needs for it, and what came of it. Lives on the stack of the method. */
typedef struct call {
    native_store *native;
    int (*run)(struct call *); /* without the GVL */
    VALUE (*convert)(struct call *);
    VALUE key, document, expect; /* frozen Strings */
    int condition;
    int flags;   /* SKV_GET_*, SKV_TREE_* */
    int refusal; /* a status that is an answer, too */
    int64_t timeout_ms;
    skv_cancel *cancel;
    skv_reply *reply;
    skv_list *list;
    VALUE thread;
    bool per_round_trip; /* what timeout_ms is for */
    bool in_rounds;      /* what an interrupt leaves is the caller's to ask for again */
    bool again;          /* the call repeats one that was interrupted */
    bool was_there;      /* what an interrupted deletion may have deleted */
    bool entered;        /* counted in native->users */
    bool ran;
} call;

#define BYTES(string) RSTRING_PTR(string), (size_t)RSTRING_LEN(string)

static void call_unblock(void *cancel)
{
    skv_cancel_fire(cancel);
}

/* Before Ruby 3.3, no thread may tell the main thread of a signal while other threads of Ruby live. This one reads a
 * flag of its own thread, whose object the stack of call_body() keeps in place; thread.c of Ruby says of the function
 * that it can be called without the GVL. */
static int is_interrupted(void *thread)
{
    return rb_thread_interrupted((VALUE)thread);
}

static void *run_without_gvl(void *data)
{
    call *c = data;

    c->ran = true;
    c->run(c);
    return NULL;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/*
 * Runs c->run. An interrupt ends its waiting; Ruby's handlers then run here, where the core has unwound and they may
 * raise. Most interrupts are harmless: the call has changed nothing so far and is made again, for the rest of its time.
 * Nothing of Ruby runs inside the core, and a result is never given up for an interrupt that came too late to stop it.
 */
static void without_gvl(call *c)
{
    int64_t timeout_ms = c->timeout_ms, end = now_ms();

    end = timeout_ms > INT64_MAX - end ? INT64_MAX : end + timeout_ms;
    if (!c->again)
        skv_cancel_reset(c->cancel);
    for (;;) {
        c->ran = false;
        rb_nogvl(run_without_gvl, c, call_unblock, c->cancel, RB_NOGVL_INTR_FAIL | RB_NOGVL_UBF_ASYNC_SAFE);
        if (c->ran && skv_reply_status(c->reply) != SKV_INTERRUPTED)
            break;
        rb_thread_check_ints();
        if (c->ran && c->in_rounds)
            break;
        if (timeout_ms > 0 && !c->per_round_trip)
            c->timeout_ms = end > now_ms() ? end - now_ms() : 0;
    }
    c->timeout_ms = timeout_ms;
}

/* Raises if the call failed, but for one that says what came of each of many all the same. */
static void check(call *c)
{
    skv_reply *reply = c->reply;

    if (skv_reply_status(reply) == SKV_OK || skv_reply_status(reply) == c->refusal)
        return;
    if (c->in_rounds && skv_reply_size(reply) > 0)
        return;
    c->reply = NULL;
    skv_rb_raise(reply);
}

static VALUE call_body(VALUE argument)
{
    call *c = (call *)argument;

    c->reply = skv_rb_reply_new();
    c->cancel = cancel_take();
    c->thread = rb_thread_current();
    skv_cancel_watch(c->cancel, is_interrupted, (void *)c->thread);
    without_gvl(c);
    check(c);
    return c->convert(c);
}

static VALUE call_end(VALUE argument)
{
    call *c = (call *)argument;

    skv_list_close(c->list);
    skv_reply_free(c->reply);
    cancel_give_back(c->cancel);
    if (c->entered) {
        c->native->users--;
        if (c->native->closed)
            release(c->native);
    }
    return Qnil;
}

/* Runs a call on an open store, and answers what its convert() answers. Frees all of it, whatever happens. */
static VALUE perform(VALUE self, call *c)
{
    VALUE result;

    c->native = native_of(self);
    if (!c->native->store || c->native->closed)
        skv_rb_raise_status("invalid", rb_str_new_cstr("the store is closed"));
    c->native->users++;
    c->entered = true;
    result = rb_ensure(call_body, (VALUE)c, call_end, (VALUE)c);
    RB_GC_GUARD(c->key);
    RB_GC_GUARD(c->document);
    RB_GC_GUARD(c->expect);
    RB_GC_GUARD(self);
    return result;
}

static VALUE to_data(call *c)
{
    return skv_rb_utf8(skv_reply_data(c->reply), skv_reply_size(c->reply));
}

static VALUE to_boolean(call *c)
{
    return skv_reply_number(c->reply) || c->was_there ? Qtrue : Qfalse;
}

static VALUE to_kind(call *c)
{
    switch (skv_reply_number(c->reply)) {
    case SKV_KIND_KEY:
        return ID2SYM(id_key);
    case SKV_KIND_FOLDER:
        return ID2SYM(id_folder);
    default:
        return Qnil;
    }
}

static int run_get(call *c)
{
    return skv_get(c->native->store, BYTES(c->key), c->flags, c->timeout_ms, c->cancel, c->reply);
}

static int run_kind(call *c)
{
    return skv_exists(c->native->store, BYTES(c->key), c->timeout_ms, c->cancel, c->reply);
}

static int run_put(call *c)
{
    bool expects = !NIL_P(c->expect);
    int status = skv_put(c->native->store, BYTES(c->key), BYTES(c->document), c->condition,
                         expects ? RSTRING_PTR(c->expect) : NULL, expects ? (size_t)RSTRING_LEN(c->expect) : 0,
                         c->timeout_ms, c->cancel, c->reply);

    /* Should the call be made again. */
    if (status == SKV_INTERRUPTED && skv_reply_number(c->reply))
        c->condition |= SKV_PUT_IN_DOUBT;
    return status;
}

/* Should the call be made again. */
static int note_deletion(call *c, int status)
{
    c->was_there |= status == SKV_INTERRUPTED && skv_reply_number(c->reply);
    return status;
}

static int run_delete(call *c)
{
    return note_deletion(c, skv_delete(c->native->store, BYTES(c->key), c->timeout_ms, c->cancel, c->reply));
}

static int run_deletetree(call *c)
{
    return note_deletion(c, skv_deletetree(c->native->store, BYTES(c->key), c->timeout_ms, c->cancel, c->reply));
}

static VALUE store_get(VALUE self, VALUE key, VALUE latest, VALUE timeout_ms)
{
    call c = {.run = run_get,
              .convert = to_data,
              .key = skv_rb_bytes(key),
              .flags = RTEST(latest) ? SKV_GET_LATEST : SKV_GET_ANY,
              .timeout_ms = NUM2LL(timeout_ms)};

    return perform(self, &c);
}

static VALUE store_kind(VALUE self, VALUE key, VALUE timeout_ms)
{
    call c = {.run = run_kind, .convert = to_kind, .key = skv_rb_bytes(key), .timeout_ms = NUM2LL(timeout_ms)};

    return perform(self, &c);
}

static int condition_of(VALUE condition)
{
    ID id = SYMBOL_P(condition) ? rb_sym2id(condition) : 0;

    if (id == id_any)
        return SKV_PUT_ANY;
    if (id == id_absent)
        return SKV_PUT_ABSENT;
    if (id == id_expect)
        return SKV_PUT_EXPECT;
    rb_raise(rb_eArgError, "condition is :any or :absent or :expect");
}

static VALUE store_put(VALUE self, VALUE key, VALUE document, VALUE condition, VALUE expect, VALUE non_unique,
                       VALUE timeout_ms)
{
    call c = {.run = run_put,
              .convert = to_boolean,
              .key = skv_rb_bytes(key),
              .document = skv_rb_bytes(document),
              .condition = condition_of(condition) | (RTEST(non_unique) ? SKV_PUT_NON_UNIQUE : 0),
              .expect = NIL_P(expect) ? Qnil : skv_rb_bytes(expect),
              .timeout_ms = NUM2LL(timeout_ms)};

    return perform(self, &c);
}

static VALUE store_delete(VALUE self, VALUE key, VALUE timeout_ms)
{
    call c = {.run = run_delete, .convert = to_boolean, .key = skv_rb_bytes(key), .timeout_ms = NUM2LL(timeout_ms)};

    return perform(self, &c);
}

static VALUE store_deletetree(VALUE self, VALUE folder, VALUE timeout_ms)
{
    call c = {.run = run_deletetree,
              .convert = to_boolean,
              .key = skv_rb_bytes(folder),
              .timeout_ms = NUM2LL(timeout_ms),
              .per_round_trip = true};

    return perform(self, &c);
}

static int run_put_many(call *c)
{
    return skv_put_many(c->native->store, BYTES(c->document), c->condition, c->timeout_ms, c->cancel, c->reply);
}

static int run_get_many(call *c)
{
    return skv_get_many(c->native->store, BYTES(c->document), c->timeout_ms, c->cancel, c->reply);
}

/* Gives what came of a round to the block, which answers the next one, [records, in_doubt], or nil. */
static VALUE to_rounds(call *c)
{
    for (;;) {
        VALUE next = rb_yield(skv_rb_utf8(skv_reply_data(c->reply), skv_reply_size(c->reply)));

        if (NIL_P(next))
            return Qnil;
        Check_Type(next, T_ARRAY);
        c->document = skv_rb_bytes(rb_ary_entry(next, 0));
        c->condition &= ~SKV_PUT_IN_DOUBT;
        if (RTEST(rb_ary_entry(next, 1)))
            c->condition |= SKV_PUT_IN_DOUBT;
        c->again = skv_reply_status(c->reply) == SKV_INTERRUPTED;
        without_gvl(c);
        check(c);
    }
}

static VALUE store_put_many(VALUE self, VALUE records, VALUE condition, VALUE timeout_ms)
{
    call c = {.run = run_put_many,
              .convert = to_rounds,
              .document = skv_rb_bytes(records),
              .condition = condition_of(condition),
              .timeout_ms = NUM2LL(timeout_ms),
              .per_round_trip = true,
              .in_rounds = true};

    return perform(self, &c);
}

static VALUE store_get_many(VALUE self, VALUE keys, VALUE timeout_ms)
{
    call c = {.run = run_get_many,
              .convert = to_rounds,
              .document = skv_rb_bytes(keys),
              .timeout_ms = NUM2LL(timeout_ms),
              .per_round_trip = true,
              .in_rounds = true};

    return perform(self, &c);
}

static int run_list_open(call *c)
{
    c->list = skv_list_open(c->native->store, BYTES(c->key), c->timeout_ms, c->cancel, c->reply);
    return skv_reply_status(c->reply);
}

static int run_tree_open(call *c)
{
    c->list = skv_tree_open(c->native->store, BYTES(c->key), c->flags, c->timeout_ms, c->cancel, c->reply);
    return skv_reply_status(c->reply);
}

static int run_list_next(call *c)
{
    return skv_list_next(c->list, c->timeout_ms, c->cancel, c->reply);
}

/* Sorts the records of one page into the Hash and Arrays that a list answers. For a document, a block of the list's
 * answers what is to stand there in its place. */
static void unpack_page(const skv_reply *reply, VALUE keys, VALUE folders, VALUE errors)
{
    const bool block = rb_block_given_p();
    const char *p = skv_reply_data(reply), *end = p + skv_reply_size(reply);

    while (p < end) {
        uint32_t lengths[2];
        VALUE name, body;

        memcpy(lengths, p + 1, sizeof lengths);
        name = skv_rb_utf8(p + RECORD_HEADER, lengths[0]);
        if (*p == 'f') {
            rb_ary_push(folders, name);
        } else {
            /* Frozen, it is a Hash's key as it is. */
            rb_str_freeze(name);
            body = skv_rb_utf8(p + RECORD_HEADER + lengths[0], lengths[1]);
            if (block && *p == 'k')
                body = rb_yield_values(2, name, body);
            rb_hash_aset(*p == 'k' ? keys : errors, name, body);
        }
        p += RECORD_HEADER + lengths[0] + lengths[1];
    }
}

/* Fetches page after page. */
static VALUE to_list(call *c)
{
    VALUE list = rb_hash_new(), keys = rb_hash_new(), folders = rb_ary_new(), errors = rb_hash_new();

    rb_hash_aset(list, ID2SYM(id_keys), keys);
    rb_hash_aset(list, ID2SYM(id_folders), folders);
    rb_hash_aset(list, ID2SYM(id_errors), errors);
    c->run = run_list_next;
    for (;;) {
        without_gvl(c);
        if (skv_reply_status(c->reply) == SKV_END)
            return list;
        check(c);
        unpack_page(c->reply, keys, folders, errors);
    }
}

static VALUE store_list(VALUE self, VALUE folder, VALUE timeout_ms)
{
    call c = {.run = run_list_open,
              .convert = to_list,
              .key = skv_rb_bytes(folder),
              .timeout_ms = NUM2LL(timeout_ms),
              .per_round_trip = true};

    return perform(self, &c);
}

static VALUE store_tree(VALUE self, VALUE folder, VALUE values, VALUE timeout_ms)
{
    call c = {.run = run_tree_open,
              .convert = to_list,
              .key = skv_rb_bytes(folder),
              .flags = RTEST(values) ? 0 : SKV_TREE_NAMES,
              .timeout_ms = NUM2LL(timeout_ms),
              .per_round_trip = true};

    return perform(self, &c);
}

static VALUE store_close(VALUE self)
{
    native_store *native = native_of(self);

    native->closed = true;
    release(native);
    return Qnil;
}

/* Appends a text and the NUL that ends it. */
static void append(VALUE packed, VALUE text, const char *message)
{
    StringValue(text);
    if (memchr(RSTRING_PTR(text), '\0', (size_t)RSTRING_LEN(text)))
        skv_rb_raise_status("invalid", rb_str_new_cstr(message));
    rb_str_cat(packed, RSTRING_PTR(text), RSTRING_LEN(text));
    rb_str_cat(packed, "", 1);
    RB_GC_GUARD(text);
}

static int pack_option(VALUE name, VALUE value, VALUE packed)
{
    append(packed, name, NUL_IN_OPTION);
    append(packed, value, NUL_IN_OPTION);
    return ST_CONTINUE;
}

/* Takes the type as its key and the options as its document. */
static int run_open(call *c)
{
    c->native->store = skv_open(BYTES(c->key), BYTES(c->document), c->reply);
    return skv_reply_status(c->reply);
}

static VALUE to_nil(call *c)
{
    return Qnil;
}

static VALUE store_initialize(VALUE self, VALUE type, VALUE options)
{
    VALUE packed = rb_str_buf_new(256);
    call c = {.run = run_open, .convert = to_nil, .key = skv_rb_bytes(type), .native = native_of(self)};

    if (c.native->store)
        skv_rb_raise_status("invalid", rb_str_new_cstr("the store is open already"));
    Check_Type(options, T_HASH);
    rb_hash_foreach(options, pack_option, packed);
    c.document = skv_rb_bytes(packed);
    rb_ensure(call_body, (VALUE)&c, call_end, (VALUE)&c);
    RB_GC_GUARD(c.key);
    RB_GC_GUARD(c.document);
    RB_GC_GUARD(self);
    return self;
}

/* ---- Entries: the DN is the key, what the core calls a list the document ---- */

static int run_read_entry(call *c)
{
    return skv_entry_read(c->native->store, BYTES(c->key), BYTES(c->document), c->timeout_ms, c->cancel, c->reply);
}

static int run_add_entry(call *c)
{
    return skv_entry_add(c->native->store, BYTES(c->key), BYTES(c->document), c->timeout_ms, c->cancel, c->reply);
}

static int run_extend_entry(call *c)
{
    return skv_entry_extend(c->native->store, BYTES(c->key), BYTES(c->document), c->timeout_ms, c->cancel, c->reply);
}

/* Parsed by Native.parse, as any document. */
static VALUE to_parsed(call *c)
{
    return rb_funcall(skv_rb_native, rb_intern("parse"), 1, to_data(c));
}

static VALUE to_done(call *c)
{
    return skv_reply_status(c->reply) == SKV_OK ? Qtrue : Qfalse;
}

static VALUE store_read_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    call c = {.run = run_read_entry, .convert = to_parsed, .key = skv_rb_bytes(dn), .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(attributes); i++)
        append(packed, rb_ary_entry(attributes, i), NUL_IN_ATTRIBUTE);
    c.document = skv_rb_bytes(packed);
    return perform(self, &c);
}

static int pack_attribute(VALUE name, VALUE values, VALUE packed)
{
    Check_Type(values, T_ARRAY);
    for (long i = 0; i < RARRAY_LEN(values); i++) {
        append(packed, name, NUL_IN_ATTRIBUTE);
        append(packed, rb_ary_entry(values, i), NUL_IN_ATTRIBUTE);
    }
    return ST_CONTINUE;
}

static VALUE change_entry(VALUE self, int (*run)(call *), VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    VALUE packed = rb_str_buf_new(256);
    call c = {.run = run,
              .convert = to_done,
              .key = skv_rb_bytes(dn),
              .refusal = SKV_EXISTS,
              .timeout_ms = NUM2LL(timeout_ms)};

    Check_Type(attributes, T_HASH);
    rb_hash_foreach(attributes, pack_attribute, packed);
    c.document = skv_rb_bytes(packed);
    return perform(self, &c);
}

static VALUE store_add_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    return change_entry(self, run_add_entry, dn, attributes, timeout_ms);
}

static VALUE store_extend_entry(VALUE self, VALUE dn, VALUE attributes, VALUE timeout_ms)
{
    return change_entry(self, run_extend_entry, dn, attributes, timeout_ms);
}

void skv_rb_init_store(VALUE native)
{
    VALUE class = rb_define_class_under(native, "Store", rb_cObject);

    pthread_atfork(NULL, NULL, forget_spares);
    id_any = rb_intern("any");
    id_absent = rb_intern("absent");
    id_expect = rb_intern("expect");
    id_key = rb_intern("key");
    id_folder = rb_intern("folder");
    id_keys = rb_intern("keys");
    id_folders = rb_intern("folders");
    id_errors = rb_intern("errors");
    rb_define_alloc_func(class, store_alloc);
    rb_define_method(class, "initialize", store_initialize, 2);
    rb_define_method(class, "get", store_get, 3);
    rb_define_method(class, "kind", store_kind, 2);
    rb_define_method(class, "put", store_put, 6);
    rb_define_method(class, "put_many", store_put_many, 3);
    rb_define_method(class, "get_many", store_get_many, 2);
    rb_define_method(class, "delete", store_delete, 2);
    rb_define_method(class, "deletetree", store_deletetree, 2);
    rb_define_method(class, "list", store_list, 2);
    rb_define_method(class, "tree", store_tree, 3);
    rb_define_method(class, "read_entry", store_read_entry, 3);
    rb_define_method(class, "add_entry", store_add_entry, 3);
    rb_define_method(class, "extend_entry", store_extend_entry, 3);
    rb_define_method(class, "close", store_close, 0);
}
