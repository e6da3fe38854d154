#include "directory.h"

#include <stdio.h>

static const char base_tree[] = "dn: dc=simp\nobjectClass: dcObject\nobjectClass: organization\ndc: simp\no: simp\n\n"
                                "dn: " DIRECTORY_USER_DN "\nobjectClass: organizationalRole\n"
                                "objectClass: simpleSecurityObject\ncn: simpkv\nuserPassword: " SLAPD_PASSWORD "\n\n"
                                "dn: o=puppet,dc=simp\nobjectClass: organization\no: puppet\n\n"
                                "dn: " DIRECTORY_BASE_DN "\nobjectClass: organizationalUnit\nou: simpkv\n";

static const char access_rules[] =
    "access to attrs=userPassword by anonymous auth\n"
    "access to dn.subtree=\"" DIRECTORY_BASE_DN "\" by dn.exact=\"" DIRECTORY_USER_DN "\" write by * none\n"
    "access to * by dn.exact=\"" DIRECTORY_USER_DN "\" read by * none\n"
    "dbnosync\nmaxsize 1073741824\n";

bool directory_modify(slapd *s, const char *ldif)
{
    char command[512];
    FILE *pipe;

    snprintf(command, sizeof command, "ldapmodify -a -Q -Y EXTERNAL -H %s >>%s/ldapmodify.log 2>&1", s->ldapi,
             s->folder);
    pipe = popen(command, "w");
    if (!pipe)
        return false;
    fputs(ldif, pipe);
    return pclose(pipe) == 0;
}

bool directory_begin(slapd *s, const char *schema, const char *database)
{
    char include[512] = "", lines[2048];

    if (schema)
        snprintf(include, sizeof include, "include %s", schema);
    snprintf(lines, sizeof lines, "%s\n%s", database, access_rules);
    return slapd_begin_with(s, SLAPD_NO_TLS, include, lines) && directory_modify(s, base_tree);
}
