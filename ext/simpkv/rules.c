/* Simpkv::Native::Rules: inspection rules that the core has read. They never change, so that any number of threads may
 * use them at once. */
#include "call.h"

#include <ruby/thread.h>
#include <stdbool.h>

/* One call: its argument and its results. Lives on the stack of the method. */
typedef struct rules_call {
    void (*run)(struct rules_call *); /* calls the core, without the GVL */
    VALUE self;
    skv_rules *rules; /* of the object; NULL while they are read */
    skv_rules *made;  /* freed with the call, unless the object takes them */
    VALUE json;       /* a frozen String */
    skv_reply *reply;
    VALUE thread;
    skv_cancel *handle;
    skv_cancel *cancel; /* the handle; NULL while interrupts wait for the end of the call */
    bool ran;
} rules_call;

/* ---- The object ---- */

static void free_rules(void *rules)
{
    skv_rules_free(rules);
}

static const rb_data_type_t rules_type = {
    .wrap_struct_name = "Simpkv::Native::Rules",
    .function = {.dfree = free_rules},
    .flags = RUBY_TYPED_FREE_IMMEDIATELY,
};

static VALUE allocate_rules(VALUE class)
{
    return TypedData_Wrap_Struct(class, &rules_type, NULL);
}

static skv_rules *rules_of(VALUE self)
{
    skv_rules *rules;

    TypedData_Get_Struct(self, skv_rules, &rules_type, rules);
    return rules;
}

/* ---- A call from its beginning to its end ---- */

static void *rules_without_gvl(void *data)
{
    rules_call *call = data;

    call->ran = true;
    call->run(call);
    return NULL;
}

/* A call that harmless interrupts have ended so often runs to its end: it begins anew each time, and its limits bound
 * its time. */
#define ENDED_MAX 3

/* An interrupt ends the call. Ruby's handlers then run here, outside of the core, and may raise. */
static void run_rules_until_done(rules_call *call)
{
    int ended = 0;

    for (;;) {
        call->ran = false;
        call->cancel = ended < ENDED_MAX ? call->handle : NULL;
        rb_nogvl(rules_without_gvl, call, call->cancel ? skv_rb_fire_cancel : NULL, call->cancel,
                 RB_NOGVL_INTR_FAIL | (call->cancel ? RB_NOGVL_UBF_ASYNC_SAFE : 0));
        if (call->ran && skv_reply_status(call->reply) != SKV_INTERRUPTED)
            break;
        ended += call->ran;
        rb_thread_check_ints();
    }
}

static VALUE run_rules(VALUE argument)
{
    rules_call *call = (rules_call *)argument;
    skv_reply *reply = call->reply = skv_rb_reply_new();

    call->thread = rb_thread_current();
    call->handle = skv_rb_take_cancel(call->thread);
    run_rules_until_done(call);
    call->reply = NULL;
    return skv_rb_take_data(reply);
}

static VALUE end_rules(VALUE argument)
{
    rules_call *call = (rules_call *)argument;

    skv_rules_free(call->made);
    skv_reply_free(call->reply);
    skv_rb_give_back_cancel(call->handle);
    return Qnil;
}

/* ---- The methods ---- */

static void read_rules(rules_call *call)
{
    call->made = skv_rules_new(SKV_RB_BYTES(call->json), call->cancel, call->reply);
}

static void refuse_rules(VALUE self)
{
    if (rules_of(self))
        skv_rb_raise_status("invalid", rb_str_new_cstr("the rules are read already"));
}

/* Runs between the call and its end, and gives the rules to the object, unless another thread did so meanwhile. */
static VALUE keep_rules(VALUE argument)
{
    rules_call *call = (rules_call *)argument;

    run_rules(argument);
    refuse_rules(call->self);
    RTYPEDDATA_DATA(call->self) = call->made;
    call->made = NULL;
    return Qnil;
}

static VALUE initialize_rules(VALUE self, VALUE json)
{
    rules_call call = {.run = read_rules, .self = self, .json = skv_rb_bytes(json)};

    refuse_rules(self);
    rb_ensure(keep_rules, (VALUE)&call, end_rules, (VALUE)&call);
    RB_GC_GUARD(call.json);
    RB_GC_GUARD(self);
    return Qnil;
}

static void apply_rules(rules_call *call)
{
    skv_rules_inspect(call->rules, SKV_RB_BYTES(call->json), call->cancel, call->reply);
}

static VALUE inspect_node(VALUE self, VALUE json)
{
    rules_call call = {.run = apply_rules, .self = self, .rules = rules_of(self), .json = skv_rb_bytes(json)};
    VALUE outcome;

    if (!call.rules)
        skv_rb_raise_status("invalid", rb_str_new_cstr("no rules are read"));
    outcome = rb_ensure(run_rules, (VALUE)&call, end_rules, (VALUE)&call);
    RB_GC_GUARD(call.json);
    RB_GC_GUARD(self);
    return outcome;
}

static VALUE is_secret_name(int argc, VALUE *argv, VALUE self)
{
    VALUE name, more;

    rb_scan_args(argc, argv, "11", &name, &more);
    StringValue(name);
    if (skv_is_secret_name(SKV_RB_BYTES(name)))
        return Qtrue;
    if (NIL_P(more))
        return Qfalse;
    StringValue(more);
    return skv_name_has_words(SKV_RB_BYTES(name), SKV_RB_BYTES(more)) ? Qtrue : Qfalse;
}

static VALUE check_parameter(VALUE self, VALUE name)
{
    skv_reply *reply;

    StringValue(name);
    reply = skv_rb_reply_new();
    if (skv_parameter_check(SKV_RB_BYTES(name), reply) != SKV_OK)
        skv_rb_raise(reply);
    skv_reply_free(reply);
    return Qnil;
}

void skv_rb_init_rules(VALUE native)
{
    VALUE class = rb_define_class_under(native, "Rules", rb_cObject);

    rb_define_alloc_func(class, allocate_rules);
    rb_define_method(class, "initialize", initialize_rules, 1);
    rb_define_method(class, "inspect_node", inspect_node, 1);
    rb_define_const(class, "MAX", INT2FIX(SKV_RULES_MAX));
    rb_define_singleton_method(native, "secret_name?", is_secret_name, -1);
    rb_define_singleton_method(native, "parameter_check", check_parameter, 1);
}
