/* Preloaded into the server: an AOF fsync takes a second and a half, as on a disk that is busy. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>

int fdatasync(int fd) {
    static int (*real)(int);
    if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
    usleep(1500 * 1000);
    return real(fd);
}
