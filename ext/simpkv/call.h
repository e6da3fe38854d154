/*
 * call.h - calls of a store's methods into the core. Each converts its arguments, runs without the GVL, and converts
 * its reply. An interrupt of the thread (a signal, Thread#raise, Timeout) ends the waiting of a call.
 */
#ifndef SKV_EXT_CALL_H
#define SKV_EXT_CALL_H

#include "convert.h"

#include <stdbool.h>

/* The data of a Simpkv::Native::Store. Guarded by the GVL. */
typedef struct skv_rb_store {
    skv_store *store; /* NULL before it is opened and after it is freed */
    int users;        /* calls inside the core: the last one frees a closed store */
    bool closed;
} skv_rb_store;

/* One call: its arguments and its results. Lives on the stack of the method. */
typedef struct skv_rb_call {
    skv_rb_store *native;
    int (*run)(struct skv_rb_call *); /* calls the core, without the GVL */
    VALUE (*convert)(struct skv_rb_call *);
    VALUE key;      /* or a folder: a frozen String, which errors of the call name; Qfalse for neither */
    VALUE name;     /* the DN of an entry, or the type of a store: a frozen String */
    VALUE document; /* or what the core takes as a list of texts or records: a frozen String */
    VALUE expect;   /* a frozen String, or nil */
    int condition;
    int flags;   /* SKV_GET_*, SKV_TREE_* */
    int refusal; /* a status that is a result, too */
    int64_t timeout_ms;
    int64_t end_ms; /* when the time of the call is over, or of the page or round that it waits for */
    skv_cancel *cancel;
    skv_reply *reply;
    skv_list *list;
    skv_changes *changes;
    int64_t wait_ms; /* for the next changes */
    VALUE thread;
    skv_keyring *keyring; /* for the documents of a list; NULL for none */
    VALUE cipher;         /* the object of the keyring */
    VALUE backend, place; /* frozen Strings: the backend, and the folder in the headers of documents */
    int page_flags;       /* SKV_PAGE_* */
    skv_reply *page;      /* the page before it is decrypted */
    bool opens;           /* the call opens the store */
    bool per_round_trip;  /* timeout_ms is for each of many round trips */
    bool advances;        /* the interrupted call has done a part, so the next one gets the whole time */
    bool in_rounds;       /* after an interrupt, the block decides on the next round */
    bool again;           /* the call repeats an interrupted one */
    bool stalled;         /* the interrupted one has done nothing */
    bool had_result;      /* an interrupted call may have deleted or made the folder */
    bool ran;
} skv_rb_call;

extern const rb_data_type_t skv_rb_store_type;

skv_rb_store *skv_rb_store_of(VALUE self);

/* Frees the store of the core, unless a call is inside. */
void skv_rb_release(skv_rb_store *native);

/* Runs a call, and returns what its convert() returns. Frees the reply and the handles, even if it raises. */
VALUE skv_rb_perform(VALUE self, skv_rb_call *call);

/* Runs call->run() again, for the next page or round. Raises if it failed. */
void skv_rb_run(skv_rb_call *call);

/* The data of the reply, as a String. */
VALUE skv_rb_to_data(skv_rb_call *call);

/* The data of the reply, which are JSON, as objects of Ruby. */
VALUE skv_rb_to_parsed(skv_rb_call *call);

/* A cancel handle that the calling thread's interrupts fire, or that a watch of its flag fires: see call.c. The caller
 * gives it back, even if it raises, and keeps `thread` on its stack until then. skv_rb_fire_cancel() is the unblocking
 * function for rb_nogvl(), with RB_NOGVL_UBF_ASYNC_SAFE. */
skv_cancel *skv_rb_take_cancel(VALUE thread);
void skv_rb_give_back_cancel(skv_cancel *cancel);
void skv_rb_fire_cancel(void *cancel);

/* Makes forked children discard the spare cancel handles. */
void skv_rb_init_calls(void);

/* Each of these defines its file's methods on Simpkv::Native::Store. */
void skv_rb_init_many(VALUE store_class);
void skv_rb_init_entries(VALUE store_class);

#endif
