/* Preloaded into every process of a Taishi: a disk that fills up and a clock that jumps, as files in the folder that
 * TAISHI_FAULTS names say. `full`: writes to regular files fail with ENOSPC while it exists. `clock`: seconds, with a
 * sign, that the wall clock is off by. Both are looked at anew at each call. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char *path_of(const char *name, char *into, size_t size) {
    const char *folder = getenv("TAISHI_FAULTS");
    if (!folder) return NULL;
    snprintf(into, size, "%s/%s", folder, name);
    return into;
}

static int is_full(int fd) {
    char path[4096];
    struct stat about;
    if (!path_of("full", path, sizeof path) || access(path, F_OK) != 0) return 0;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) return 0;
    errno = ENOSPC;
    return 1;
}

#define REAL(type, name, ...) \
    static type (*real)(__VA_ARGS__); \
    if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

ssize_t write(int fd, const void *bytes, size_t count) {
    REAL(ssize_t, "write", int, const void *, size_t);
    return is_full(fd) ? -1 : real(fd, bytes, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(ssize_t, "writev", int, const struct iovec *, int);
    return is_full(fd) ? -1 : real(fd, parts, count);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
    REAL(ssize_t, "pwrite", int, const void *, size_t, off_t);
    return is_full(fd) ? -1 : real(fd, bytes, count, at);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
    REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
    return is_full(fd) ? -1 : real(fd, bytes, count, at);
}

static long offset(void) {
    char path[4096], text[32];
    if (!path_of("clock", path, sizeof path)) return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0) return 0;
    text[length] = 0;
    return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t which, struct timespec *into) {
    REAL(int, "clock_gettime", clockid_t, struct timespec *);
    int done = real(which, into);
    if (done == 0 && which == CLOCK_REALTIME) into->tv_sec += offset();
    return done;
}

int gettimeofday(struct timeval *restrict into, void *restrict zone) {
    REAL(int, "gettimeofday", struct timeval *restrict, void *restrict);
    int done = real(into, zone);
    if (done == 0) into->tv_sec += offset();
    return done;
}

time_t time(time_t *into) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (into) *into = now.tv_sec;
    return now.tv_sec;
}
