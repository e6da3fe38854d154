/*
 * simpkv_rules.h - inspection rules, which classify, complete and refuse nodes.
 *
 * The rules of simpkv.h hold here as well.
 */
#ifndef SKV_RULES_H
#define SKV_RULES_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SKV_RULES_MAX 10000 /* rules that skv_rules_new() reads */
typedef struct skv_rules skv_rules;

/* Reads rules, {"rules":[...],"actions":["<name of a site action>",...]}: docs/inspection-rules.md describes a rule.
 * Release with skv_rules_free(), while no call uses them. Returns NULL on failure: SKV_INVALID, and the message has the
 * place: "rule UUID: actions[1].args.path: ..." ("rule UUID: " if there is one); SKV_INTERRUPTED. Thread-safe. */
SKV_API skv_rules *skv_rules_new(const char *json, size_t json_len, skv_cancel *cancel, skv_reply *reply);
SKV_API void skv_rules_free(skv_rules *rules);

/* Applies the rules to the input, both JSON as the data: docs/inspection-engine.md describes them. Does no I/O. SKV_OK,
 * also if a rule refused the node or failed; SKV_TOO_LARGE; SKV_INTERRUPTED. Thread-safe. */
SKV_API skv_status skv_rules_inspect(const skv_rules *rules, const char *input, size_t input_len, skv_cancel *cancel,
                                     skv_reply *reply);

/* Returns 1 if rules take a member of this name for a secret, such as "db_password", else 0. Thread-safe. */
SKV_API int skv_is_secret_name(const char *name, size_t name_len);

/* Returns 1 if the words of one of the lines follow one another in the name, else 0: "snmp text" is in "snmpText2" and
 * "old_snmp_text", and not in "snmp_texts". Takes no notice of case. Thread-safe. */
SKV_API int skv_name_has_words(const char *name, size_t name_len, const char *lines, size_t lines_len);

/* Returns SKV_INVALID for the name of a parameter that Puppet sets, such as "facts", else SKV_OK. Thread-safe. */
SKV_API skv_status skv_parameter_check(const char *name, size_t name_len, skv_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
