#include "net/password.h"

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Reads the start of the file. Returns the number of bytes, or -1 with errno set. */
static ssize_t read_password_file(const char *path, char *bytes, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error_number;
    ssize_t got = fd < 0 ? -1 : skv_read_bytes(fd, bytes, size);

    error_number = errno;
    if (fd >= 0)
        close(fd);
    errno = error_number;
    return got;
}

skv_status skv_password_read(const char *path, const char *server, skv_password *p, skv_reply *reply)
{
    ssize_t got = read_password_file(path, p->bytes, sizeof p->bytes);

    p->len = got > 0 ? (size_t)got : 0;
    if (p->len && p->bytes[p->len - 1] == '\n')
        p->len -= p->len > 1 && p->bytes[p->len - 2] == '\r' ? 2 : 1;
    if (got < 0 && errno == ENOENT)
        skv_fail(reply, SKV_INVALID, "Configured 'admin_pw_file' %s does not exist", path);
    else if (got < 0)
        skv_fail_errno(reply, errno, "%s: cannot read '%s', the file of 'admin_pw_file'", server, path);
    else if (!p->len)
        skv_fail(reply, SKV_INVALID, "%s: '%s', the file of 'admin_pw_file', holds no password", server, path);
    else if (p->len > SKV_PASSWORD_MAX)
        skv_fail(reply, SKV_INVALID, "%s: '%s', the file of 'admin_pw_file', is longer than %d bytes", server, path,
                 SKV_PASSWORD_MAX);
    return skv_reply_set_fault(reply, got < 0 ? SKV_FAULT_PASSWORD_FILE : SKV_FAULT_CREDENTIALS);
}

bool skv_password_equals(const skv_password *a, const skv_password *b)
{
    return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}
