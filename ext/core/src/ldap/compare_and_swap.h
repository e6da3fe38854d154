/* ldap/compare_and_swap.h - replacing a document if it is the expected one, on servers without the assertion control.
 */
#ifndef SKV_LDAP_COMPARE_AND_SWAP_H
#define SKV_LDAP_COMPARE_AND_SWAP_H

#include "ldap/call.h"

/*
 * Replaces the document of the call's entry, `old`, by `new`. Fills the response, which the caller frees, and returns
 * its code: LDAP_NO_SUCH_ATTRIBUTE if the stored document is not `old`.
 *
 * With `exact`, every byte counts. Without, the documents are compared by caseExactMatch. With `exact`,
 * *restore_failed is set if another document, equal by caseExactMatch, was replaced and could not be put back.
 */
skv_ldap_code skv_ldap_compare_and_swap(skv_ldap_call *call, struct berval *old, struct berval *new, bool exact,
                                        skv_ldap_response *response, bool *restore_failed);

#endif
