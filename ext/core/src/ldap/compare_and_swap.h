/* ldap/compare_and_swap.h - a conditional change for servers without the assertion control. */
#ifndef SKV_LDAP_COMPARE_AND_SWAP_H
#define SKV_LDAP_COMPARE_AND_SWAP_H

#include "ldap/call.h"

/* Replaces the document `old` of the call's entry by `new`, unless the stored one is another to caseExactMatch: fills
 * the answer, which the caller frees, and answers its code, then LDAP_NO_SUCH_ATTRIBUTE. */
int skv_ldap_compare_and_swap_similar(skv_ldap_call *call, struct berval *old, struct berval *new,
                                      skv_ldap_answer *answer);

/* The same unless the stored document differs in any byte, for which LDAP_NO_SUCH_ATTRIBUTE may be one of libldap's own
 * codes. *restore_failed: another one was replaced, and could not be put back. */
int skv_ldap_compare_and_swap(skv_ldap_call *call, struct berval *old, struct berval *new, skv_ldap_answer *answer,
                              bool *restore_failed);

#endif
