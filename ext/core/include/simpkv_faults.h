/*
 * simpkv_faults.h - what the failure of a call is about, to choose advice by: messages may change.
 *
 * The rules of simpkv.h hold here as well.
 */
#ifndef SKV_FAULTS_H
#define SKV_FAULTS_H

#include "simpkv.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns what the failure of the whole call is about; "" for anything else. A record of a list or a batch that fails
 * has a status and a message, but no fault. The text is static.
 *
 *   "base_missing"         there is no entry of base_dn, though the one above it can be seen
 *   "hidden"               the server shows no such entry to this identity: it is missing, or may not be read
 *   "referral"             the server refers to another one, which the core does not follow
 *   "read_only"            the server, its database or the file system may be read-only
 *   "tls"                  the server does not do TLS on that port, or requires it, or may require a client
 *                          certificate; or a file of tls_* cannot be used
 *   "certificate"          the server's certificate is not signed by a CA in tls_cacert
 *   "certificate_name"     it is for another host name
 *   "certificate_expired"  it has expired
 *   "certificate_early"    it is not valid yet
 *   "password_file"        the file of admin_pw_file cannot be read
 *   "credentials"          the server does not accept admin_dn or its password, or the file holds no usable password
 *   "bind_refused"         the server refuses the bind for another reason: the account may be locked, or TLS required
 *   "encryption_keys"      the file of encryption_keys is not set, cannot be used, or lacks a key
 */
SKV_API const char *skv_reply_fault(const skv_reply *reply);

#ifdef __cplusplus
}
#endif

#endif
