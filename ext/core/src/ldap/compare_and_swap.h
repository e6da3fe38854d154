/* ldap/compare_and_swap.h - replacing or deleting a document if it is the expected one, on servers without the
 * assertion control. */
#ifndef SKV_LDAP_COMPARE_AND_SWAP_H
#define SKV_LDAP_COMPARE_AND_SWAP_H

#include "ldap/call.h"

/*
 * Replaces the document of an entry, `old`, by `new`. With `exact`, every byte counts. Without, the documents
 * are compared by caseExactMatch. Fills the response, which the caller frees: LDAP_NO_SUCH_ATTRIBUTE if the stored
 * document is not `old`. Returns SKV_OK; or the reply's failure SKV_UNAVAILABLE if another document, equal by
 * caseExactMatch, was replaced and could not be put back.
 */
skv_status skv_ldap_compare_and_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                     bool exact, skv_ldap_response *response);

/* The two halves, for any entry: sends the request without waiting, and returns LDAP_SUCCESS with *id set, or libldap's
 * error; takes its response, and puts back a document that was replaced by mistake. */
skv_ldap_code skv_ldap_start_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                  bool exact, int *id);
skv_status skv_ldap_finish_swap(skv_ldap_call *call, const char *dn, struct berval *old, struct berval *new,
                                skv_ldap_response *response);

/*
 * Deletes the call's entry, if the server has the pre-read control, which returns the deleted document. If that is not
 * `old`, *taken is set to it, and the caller puts it back, and frees it with skv_ldap_free_values(). Fills the
 * response, which the caller frees, and returns its code.
 */
skv_ldap_code skv_ldap_delete_and_compare(skv_ldap_call *call, const struct berval *old, struct berval ***taken,
                                          skv_ldap_response *response);

/* Returns the deadline of putting back, also in a batch: the call's, but 5 s at least, and no interrupt ends it. */
skv_deadline skv_ldap_put_back_deadline(const skv_ldap_call *call);

/* Wipes and frees the values of a response to a pre-read control; NULL is allowed. */
void skv_ldap_free_values(struct berval **values);

#endif
