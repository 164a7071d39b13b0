/* SPDX-License-Identifier: Apache-2.0
 *
 * calls.h - what the worker's sources get instead of the kernel and the loader. It comes before them, after the headers that
 * declare the real ones.
 */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

void fuzz_exit(int status) __attribute__((noreturn));
ssize_t fuzz_recvmsg(int socket, struct msghdr *message, int flags);
ssize_t fuzz_sendmsg(int socket, const struct msghdr *message, int flags);
void *fuzz_malloc(size_t size);
void *fuzz_calloc(size_t count, size_t size);
void fuzz_free(void *memory);
void *fuzz_dlopen(const char *path, int flags);
void *fuzz_dlsym(void *library, const char *name);
int fuzz_close(int descriptor);
int fuzz_fcntl(int descriptor, int command, int argument);

#define _exit fuzz_exit
#define recvmsg fuzz_recvmsg
#define sendmsg fuzz_sendmsg
#define malloc fuzz_malloc
#define calloc fuzz_calloc
#define free fuzz_free
#define dlopen fuzz_dlopen
#define dlsym fuzz_dlsym
#define close fuzz_close
#define fcntl(descriptor, command, argument) fuzz_fcntl(descriptor, command, argument)
/* Nothing of this process may change, and nothing is printed. */
#define setrlimit(resource, limit) ((void)(limit), 0)
void fuzz_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
#define dprintf(descriptor, ...) fuzz_print(__VA_ARGS__)

#endif
