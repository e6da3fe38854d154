/* convert.h - conversions and exceptions of the MRI extension, and what simpkv_ext.c calls to load it. */
#ifndef SKV_RB_CONVERT_H
#define SKV_RB_CONVERT_H

#include "simpkv.h"
#include "simpkv_audit.h"
#include "simpkv_changes.h"
#include "simpkv_faults.h"
#include "simpkv_keyring.h"
#include "simpkv_rules.h"
#include "simpkv_secret.h"

#include <ruby.h>
#include <ruby/encoding.h>
#include <stdbool.h>

/* The module Simpkv::Native. */
extern VALUE skv_rb_native;

/* Returns a new reply. Raises NoMemoryError. */
skv_reply *skv_rb_reply_new(void);

/* Raises the exception for the reply's status, and releases the reply. */
void skv_rb_raise(skv_reply *reply) __attribute__((noreturn));

/* Like skv_rb_raise(). The exception names `key`, a String, unless that is Qfalse or nil. */
void skv_rb_raise_about(skv_reply *reply, VALUE key) __attribute__((noreturn));

/* Returns the reply's data as a UTF-8 String, and releases the reply. Raises if the call failed. */
VALUE skv_rb_take_data(skv_reply *reply);

/* Returns a String tagged UTF-8, whatever its bytes. `bytes` may be NULL: the String then has room for `len` bytes. */
VALUE skv_rb_utf8(const char *bytes, size_t len);

/* Raises a subclass of Simpkv::Error by the name of its status, as skv_status_name() spells it. */
void skv_rb_raise_status(const char *status, VALUE message) __attribute__((noreturn));

/* Returns a frozen String with the same bytes, for a call without the GVL: no other thread can change it. The caller
 * keeps it alive. Raises TypeError. */
VALUE skv_rb_bytes(VALUE string);

/* Appends a text and a NUL, as the core takes lists of texts. Raises Simpkv::InvalidError with the message if the text
 * holds a NUL. */
void skv_rb_pack(VALUE packed, VALUE text, const char *message);

/* Runs the function once. It runs without the GVL, unless an interrupt is pending: interrupts wait for its end, and
 * nothing is raised. */
void skv_rb_without_gvl(void (*run)(void *), void *data);

/* Calls a method of a Ruby module, which the feature defines. */
VALUE skv_rb_call_module(const char *feature, const char *module, const char *method, VALUE argument);

/* Returns the keys of a Simpkv::Native::Keyring, which live as long as the object. Raises TypeError. */
skv_keyring *skv_rb_keyring_of(VALUE keyring);

/* Returns the path of a key below a folder, a frozen String; nil for the folder itself, and for a key that
 * skv_key_check() refuses or that is too long. Raises TypeError. */
VALUE skv_rb_path_below(VALUE folder, VALUE key, bool upper);

/* Returns what Native.plain_document returns for these bytes, which are UTF-8 or refused. */
VALUE skv_rb_plain_document(const char *bytes, size_t len);

/* The pointer and the length that stand for a String in calls of the core. */
#define SKV_RB_BYTES(string) RSTRING_PTR(string), (size_t)RSTRING_LEN(string)

/* Each of these defines its file's methods on Simpkv::Native. */
void skv_rb_init_names(VALUE native);
void skv_rb_init_json_generate(VALUE native);
void skv_rb_init_json_parse(VALUE native);
void skv_rb_init_store(VALUE native);
void skv_rb_init_rules(VALUE native);
void skv_rb_init_secret(VALUE native);
void skv_rb_init_keyring(VALUE native);
void skv_rb_init_audit_log(VALUE native);

#endif
