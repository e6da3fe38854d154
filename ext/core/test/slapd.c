#include "slapd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define SLAPD "/usr/sbin/slapd"

/* libldap leaks memory with each TLS context (which is why a pool shares one). AddressSanitizer calls this. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libgnutls.so\nleak:libtasn1.so\nleak:libgmp.so\n";
}

bool slapd_is_installed(void)
{
    return access(SLAPD, X_OK) == 0;
}

bool slapd_write(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");
    bool written = file && fputs(content, file) >= 0;

    return file && fclose(file) == 0 && written;
}

/* Returns a free port. */
static int free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM, 0), port = 0;

    if (bind(fd, (struct sockaddr *)&address, len) == 0 && getsockname(fd, (struct sockaddr *)&address, &len) == 0)
        port = ntohs(address.sin_port);
    close(fd);
    return port;
}

/* Runs a command line in the folder, without output. */
static bool run(const slapd *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool run(const slapd *s, const char *format, ...)
{
    char command[1024], line[1200];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    snprintf(line, sizeof line, "cd %s && { %s; } >> openssl.log 2>&1", s->folder, command);
    return system(line) == 0;
}

#define EC "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

static bool make_certificates(slapd *s, slapd_tls tls)
{
    const char *name = tls == SLAPD_TLS_OTHER_HOST ? "DNS:elsewhere.example.com" : "IP:127.0.0.1";
    const char *times = tls == SLAPD_TLS_EXPIRED ? "-startdate 20200101000000Z -enddate 20200201000000Z"
                        : tls == SLAPD_TLS_EARLY ? "-startdate 20980101000000Z -enddate 20990101000000Z"
                                                 : "-days 7";
    char extension[96];

    snprintf(s->cacert, sizeof s->cacert, "%s/ca.pem", s->folder);
    snprintf(s->other_cacert, sizeof s->other_cacert, "%s/other.pem", s->folder);
    snprintf(s->cert, sizeof s->cert, "%s/server.pem", s->folder);
    snprintf(s->key, sizeof s->key, "%s/server.key", s->folder);
    snprintf(s->other_key, sizeof s->other_key, "%s/other.key", s->folder);
    snprintf(extension, sizeof extension, "%s/extension", s->folder);
    return run(s, "openssl req -x509 %s -days 7 -subj /CN=ca -keyout ca.key -out ca.pem", EC) &&
           run(s, "openssl req -x509 %s -days 7 -subj /CN=other -keyout other.key -out other.pem", EC) &&
           run(s, "openssl req %s -subj /CN=server -keyout server.key -out server.csr", EC) &&
           run(s, "echo subjectAltName=%s > extension", name) &&
           run(s, "printf '[ca]\\ndefault_ca = x\\n[x]\\ndatabase = index\\nrand_serial = yes\\npolicy = y\\n[y]\\n"
                  "commonName = supplied\\n' > ca.conf && touch index") &&
           run(s,
               "openssl ca -batch -config ca.conf -cert ca.pem -keyfile ca.key -md sha256 -notext "
               "-outdir . -extfile extension %s -in server.csr -out server.pem",
               times);
}

static bool write_configuration(slapd *s, slapd_tls tls, const char *more, const char *database)
{
    char path[96], text[4096], certificates[512] = "";

    if (tls != SLAPD_NO_TLS)
        snprintf(certificates, sizeof certificates,
                 "TLSCACertificateFile %s\nTLSCertificateFile %s\nTLSCertificateKeyFile %s\n", s->cacert, s->cert,
                 s->key);
    snprintf(text, sizeof text,
             "loglevel 0\ninclude /etc/ldap/schema/core.schema\nmodulepath /usr/lib/ldap\nmoduleload back_mdb\n%s%s\n"
             "authz-regexp gidNumber=.*uidNumber=.*,cn=peercred,cn=external,cn=auth " SLAPD_ADMIN "\n"
             "database mdb\nsuffix dc=simp\nrootdn " SLAPD_ADMIN "\nrootpw \"" SLAPD_PASSWORD
             "\"\ndirectory %s/db\n%s\n",
             certificates, more, s->folder, database);
    snprintf(path, sizeof path, "%s/db", s->folder);
    if (mkdir(path, 0700) < 0)
        return false;
    snprintf(path, sizeof path, "%s/slapd.conf", s->folder);
    return slapd_write(path, text) && slapd_write(s->password_file, SLAPD_PASSWORD "\n") &&
           slapd_write(s->wrong_password_file, "another\n");
}

static void choose_ports(slapd *s)
{
    s->port = free_port();
    s->tls_port = free_port();
    snprintf(s->ldap, sizeof s->ldap, "ldap://127.0.0.1:%d", s->port);
    snprintf(s->ldaps, sizeof s->ldaps, "ldaps://127.0.0.1:%d", s->tls_port);
}

bool slapd_begin(slapd *s, slapd_tls tls, const char *more)
{
    return slapd_begin_with(s, tls, more, "");
}

bool slapd_begin_with(slapd *s, slapd_tls tls, const char *more, const char *database)
{
    const char *name;

    memset(s, 0, sizeof *s);
    strcpy(s->folder, "/tmp/simpkv-slapd-XXXXXX");
    if (!mkdtemp(s->folder))
        return false;
    name = s->folder + strlen("/tmp/");
    snprintf(s->ldapi, sizeof s->ldapi, "ldapi://%%2Ftmp%%2F%s%%2Fldapi", name);
    snprintf(s->password_file, sizeof s->password_file, "%s/password", s->folder);
    snprintf(s->wrong_password_file, sizeof s->wrong_password_file, "%s/wrong", s->folder);
    if ((tls != SLAPD_NO_TLS && !make_certificates(s, tls)) || !write_configuration(s, tls, more, database))
        return false;
    /* Another process may take the port first. */
    for (int tries = 5; tries > 0; tries--) {
        choose_ports(s);
        if (slapd_start(s))
            return true;
    }
    return false;
}

static bool responds(const slapd *s)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    bool connected;

    snprintf(address.sun_path, sizeof address.sun_path, "%s/ldapi", s->folder);
    connected = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return connected;
}

/* Runs in the child, which ends with the test. */
static void become_slapd(const slapd *s)
{
    char conf[96], log[96], urls[400];
    int fd;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(conf, sizeof conf, "%s/slapd.conf", s->folder);
    snprintf(log, sizeof log, "%s/log", s->folder);
    /* slapd listens in this order: if the last one responds, it has got all of them. */
    snprintf(urls, sizeof urls, "%s %s%s%s", s->ldap, s->cacert[0] ? s->ldaps : "", s->cacert[0] ? " " : "", s->ldapi);
    fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    close_range(3, ~0u, 0);
    execl(SLAPD, "slapd", "-d", "0", "-f", conf, "-h", urls, (char *)NULL);
    _exit(127);
}

bool slapd_start(slapd *s)
{
    char line[128];

    s->pid = fork();
    if (s->pid == 0)
        become_slapd(s);
    for (int i = 0; i < 2000 && s->pid > 0; i++) {
        if (responds(s))
            return true;
        if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
            break;
        poll(NULL, 0, 5);
    }
    printf("slapd did not start; its log:\n");
    fflush(stdout);
    snprintf(line, sizeof line, "cat %s/log", s->folder);
    if (system(line) != 0)
        printf("there is none\n");
    s->pid = 0;
    return false;
}

static void end_with(slapd *s, int signal)
{
    if (s->pid <= 0)
        return;
    kill(s->pid, signal);
    while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    s->pid = 0;
}

void slapd_stop(slapd *s)
{
    end_with(s, SIGTERM);
}

void slapd_kill(slapd *s)
{
    end_with(s, SIGKILL);
}

void slapd_freeze(const slapd *s)
{
    int status;

    kill(s->pid, SIGSTOP);
    waitpid(s->pid, &status, WUNTRACED);
}

void slapd_thaw(const slapd *s)
{
    kill(s->pid, SIGCONT);
}

void slapd_end(slapd *s)
{
    char line[128];

    end_with(s, SIGKILL);
    snprintf(line, sizeof line, "rm -rf %s", s->folder);
    if (strncmp(s->folder, "/tmp/simpkv-slapd-", 18) == 0 && system(line) != 0)
        printf("%s could not be removed\n", s->folder);
}
