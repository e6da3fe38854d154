/* ldap/settings.h - the options of a store in a directory. */
#ifndef SKV_LDAP_SETTINGS_H
#define SKV_LDAP_SETTINGS_H

#include "store/options.h"

#include <stdbool.h>

/* Their values; a text is "" without one. */
typedef struct skv_ldap_settings {
    const char *ldap_uri, *write_uri, *base_dn, *admin_dn, *admin_pw_file, *tls_cacert, *tls_cert, *tls_key, *id;
    bool enable_tls, strict_paths, fold_case, anonymous;
    int layout;
    int64_t retries, pool_size, page_size, connect_timeout_ms, pool_timeout_ms, idle_timeout_ms;
} skv_ldap_settings;

extern const skv_option_table skv_ldap_options;

#endif
