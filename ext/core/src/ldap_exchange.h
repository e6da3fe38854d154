/* ldap_exchange.h - a conditional change for servers without the assertion control. */
#ifndef SKV_LDAP_EXCHANGE_H
#define SKV_LDAP_EXCHANGE_H

#include "ldap_call.h"

/* Replaces the document `old` of the call's entry by `new`: fills the answer, which the caller frees, and answers its
 * code, LDAP_NO_SUCH_ATTRIBUTE (or one that libldap has for it) when the stored one is another. *mistaken: another one
 * was replaced, and could not be put back. */
int skv_ldap_exchange(skv_ldap_call *call, struct berval *old, struct berval *new, skv_ldap_answer *answer,
                      bool *mistaken);

#endif
