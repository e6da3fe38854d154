/* simpkv_ext.h - what the files of the MRI extension share. They only convert, release the GVL, and raise. */
#ifndef SIMPKV_EXT_H
#define SIMPKV_EXT_H

#include "simpkv.h"

#include <ruby.h>
#include <ruby/encoding.h>

/* The module Simpkv::Native. */
extern VALUE skv_rb_native;

/* A new reply; raises NoMemoryError when there is none to be had. */
skv_reply *skv_rb_reply_new(void);

/* Raises the exception for the reply's status, and releases the reply. */
void skv_rb_raise(skv_reply *reply) __attribute__((noreturn));

/* The reply's data as a UTF-8 String; releases the reply. Raises if the reply is a failure. */
VALUE skv_rb_take_data(skv_reply *reply);

/* A String tagged UTF-8, whatever its bytes. */
VALUE skv_rb_utf8(const char *bytes, size_t len);

/* Raises a subclass of Simpkv::Error by the name of its status, as skv_status_name() spells it. */
void skv_rb_raise_status(const char *status, VALUE message) __attribute__((noreturn));

/* A frozen String with the same bytes, which another thread cannot change: what a call without the GVL reads. The
 * caller keeps it alive with RB_GC_GUARD. Raises TypeError for what is no String. */
VALUE skv_rb_bytes(VALUE string);

/* Each of these defines its file's methods on Simpkv::Native. */
void skv_rb_init_names(VALUE native);
void skv_rb_init_json(VALUE native);
void skv_rb_init_store(VALUE native);

#endif
