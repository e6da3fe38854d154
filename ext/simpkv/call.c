#include "call.h"

#include <pthread.h>
#include <ruby/thread.h>
#include <time.h>

/* ---- The object ---- */

void skv_rb_release(skv_rb_store *native)
{
    if (native->users == 0 && native->store) {
        skv_close(native->store);
        native->store = NULL;
    }
}

static void free_store(void *data)
{
    skv_rb_store *native = data;

    skv_close(native->store);
    ruby_xfree(native);
}

static size_t size_of_store(const void *data)
{
    return sizeof(skv_rb_store);
}

const rb_data_type_t skv_rb_store_type = {
    .wrap_struct_name = "Simpkv::Native::Store",
    .function = {.dfree = free_store, .dsize = size_of_store},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

skv_rb_store *skv_rb_store_of(VALUE self)
{
    skv_rb_store *native;

    TypedData_Get_Struct(self, skv_rb_store, &skv_rb_store_type, native);
    return native;
}

/* ---- Cancel handles ---- */

/* Spare handles, which no call uses: making a handle and its descriptor costs as much as the rest of a call. Guarded by
 * the GVL. */
#define SPARE_MAX 8
static skv_cancel *spare_cancels[SPARE_MAX];
static int spare_count;

/* Before Ruby 3.3, it can happen that no thread tells the main thread of a signal while other Ruby threads live. So the
 * core asks here. Reads a flag of the calling thread, whose object the stack of the caller keeps in place; Ruby's
 * thread.c says that rb_thread_interrupted() can be called without the GVL. */
static int is_thread_interrupted(void *thread)
{
    return rb_thread_interrupted((VALUE)thread);
}

skv_cancel *skv_rb_take_cancel(VALUE thread)
{
    skv_cancel *cancel = spare_count > 0 ? spare_cancels[--spare_count] : skv_cancel_new();

    if (!cancel)
        rb_memerror();
    skv_cancel_reset(cancel);
    skv_cancel_watch(cancel, is_thread_interrupted, (void *)thread);
    return cancel;
}

void skv_rb_give_back_cancel(skv_cancel *cancel)
{
    if (cancel && spare_count < SPARE_MAX)
        spare_cancels[spare_count++] = cancel;
    else
        skv_cancel_free(cancel);
}

void skv_rb_fire_cancel(void *cancel)
{
    skv_cancel_fire(cancel);
}

/* In a forked child, the parent uses the descriptors of the handles, too. */
static void discard_spare_cancels(void)
{
    while (spare_count > 0)
        skv_cancel_free(spare_cancels[--spare_count]);
}

void skv_rb_init_calls(void)
{
    pthread_atfork(NULL, NULL, discard_spare_cancels);
}

/* ---- Running without the GVL ---- */

static void *run_without_gvl(void *data)
{
    skv_rb_call *call = data;

    call->ran = true;
    call->run(call);
    return NULL;
}

static int64_t monotonic_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int64_t end_after(int64_t ms)
{
    int64_t now = monotonic_ms();

    return ms > INT64_MAX - now ? INT64_MAX : now + ms;
}

/* The timeout of a call that repeats an interrupted one. */
static int64_t rest_of(skv_rb_call *call, int64_t timeout_ms)
{
    int64_t now = monotonic_ms();

    if (timeout_ms <= 0)
        return timeout_ms;
    if (call->advances)
        call->end_ms = end_after(timeout_ms);
    if (now >= call->end_ms)
        return 0;
    return call->per_round_trip ? timeout_ms : call->end_ms - now;
}

/*
 * An interrupt ends the waiting of call->run(). Ruby's handlers then run here, outside of the core, and may raise. Most
 * interrupts are harmless: the call has changed nothing yet, and this function repeats it for the rest of its time. An
 * interrupt that comes too late to stop the call does not discard its result.
 *
 * A page, a round or the deletion of a tree has no time of its own, but each of its round trips. It is repeated until
 * it has taken the time of one without any result.
 */
static void run_until_done(skv_rb_call *call)
{
    const int64_t timeout_ms = call->timeout_ms;
    bool repeats = call->stalled;

    if (!call->again)
        skv_cancel_reset(call->cancel);
    if (!call->stalled)
        call->end_ms = end_after(timeout_ms);
    for (;; repeats = true) {
        call->timeout_ms = repeats ? rest_of(call, timeout_ms) : timeout_ms;
        call->ran = false;
        rb_nogvl(run_without_gvl, call, skv_rb_fire_cancel, call->cancel, RB_NOGVL_INTR_FAIL | RB_NOGVL_UBF_ASYNC_SAFE);
        if (call->ran && skv_reply_status(call->reply) != SKV_INTERRUPTED)
            break;
        rb_thread_check_ints();
        if (call->ran && call->in_rounds)
            break;
    }
    call->timeout_ms = timeout_ms;
}

void skv_rb_run(skv_rb_call *call)
{
    skv_reply *reply;
    int status;

    run_until_done(call);
    /* call->run() may have put another reply into its place, as run_list_next() does. */
    reply = call->reply;
    status = skv_reply_status(reply);
    if (status == SKV_OK || status == call->refusal)
        return;
    /* A failed round still returns the outcome of each record. */
    if (call->in_rounds && skv_reply_size(reply) > 0)
        return;
    call->reply = NULL;
    skv_rb_raise_about(reply, call->key);
}

/* ---- A call from its beginning to its end ---- */

static VALUE run_call(VALUE argument)
{
    skv_rb_call *call = (skv_rb_call *)argument;

    call->reply = skv_rb_reply_new();
    call->thread = rb_thread_current();
    call->cancel = skv_rb_take_cancel(call->thread);
    skv_rb_run(call);
    return call->convert(call);
}

static VALUE end_call(VALUE argument)
{
    skv_rb_call *call = (skv_rb_call *)argument;

    skv_list_close(call->list);
    skv_changes_close(call->changes);
    skv_reply_free(call->page);
    skv_reply_free(call->reply);
    skv_rb_give_back_cancel(call->cancel);
    call->native->users--;
    if (call->native->closed)
        skv_rb_release(call->native);
    return Qnil;
}

VALUE skv_rb_perform(VALUE self, skv_rb_call *call)
{
    skv_rb_store *native = skv_rb_store_of(self);
    VALUE result;

    if (call->opens && (native->store || native->users || native->closed))
        skv_rb_raise_status("invalid", rb_str_new_cstr("the store is open already"));
    if (!call->opens && (!native->store || native->closed))
        skv_rb_raise_status("invalid", rb_str_new_cstr("the store is closed"));
    call->native = native;
    native->users++;
    result = rb_ensure(run_call, (VALUE)call, end_call, (VALUE)call);
    RB_GC_GUARD(self);
    return result;
}

VALUE skv_rb_to_data(skv_rb_call *call)
{
    return skv_rb_utf8(skv_reply_data(call->reply), skv_reply_size(call->reply));
}

VALUE skv_rb_to_parsed(skv_rb_call *call)
{
    return rb_funcall(skv_rb_native, rb_intern("parse"), 1, skv_rb_to_data(call));
}
