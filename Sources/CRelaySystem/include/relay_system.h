/* SPDX-License-Identifier: Apache-2.0
 *
 * The few kernel calls that Swift's Glibc module does not show, or shows with arguments it cannot pass. No policy here: each
 * function returns what the kernel returned, -1 with errno set on failure. */
#ifndef RELAY_SYSTEM_H
#define RELAY_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

int relay_open_at(int folder, const char *name, int flags, unsigned mode);
/* RENAME_NOREPLACE where exclusive is not 0. */
int relay_rename_at(int from_folder, const char *from, int to_folder, const char *to, int exclusive);
int relay_syncfs(int fd);
int relay_unnamed_file(int folder, unsigned mode);
/* 0 = a read lease is held, so nobody has the file open for writing. Release drops it. */
int relay_take_read_lease(int fd);
int relay_holds_lease(int fd);
int relay_release_lease(int fd);
/* FICLONE: shares the blocks where the file system can, else -1. */
int relay_clone_file(int to, int from);
/* Asks the file system to put the folders made in this one far apart from each other; without effect where it can't. */
int relay_spread_subfolders(int fd);
/* 1 = the file system may have writers on other machines or in user space, whom a lease of this kernel doesn't see. */
int relay_is_shared_file_system(int fd);

int relay_epoll_create(void);
int relay_epoll_set(int epoll, int fd, uint32_t events, uint64_t token, int is_new);
int relay_epoll_remove(int epoll, int fd);
/* Fills tokens and events, both of the given capacity. */
int relay_epoll_wait(int epoll, uint64_t *tokens, uint32_t *events, int capacity, int timeout_ms);
int relay_eventfd(void);
/* Blocks the given signals for the process and returns a descriptor that reads them. */
int relay_signalfd(const int *signals, size_t count);
/* The number of the next waiting signal, 0 when none waits. */
int relay_next_signal(int fd);
int relay_ignore_signal(int signal);

/* Only names what a path leads to: nothing can be read or written through it. */
int relay_open_path(const char *path);
/* The kernel's level of Landlock (landlock_create_ruleset(2)), below 1 for none. */
int relay_landlock_level(void);
int relay_has_seccomp_filter(void);
/* A system call that waits at a listener (seccomp_unotify(2)). */
struct relay_call {
  uint64_t id;
  int32_t number;
  uint32_t process;                     /* its number as this process sees it */
  uint64_t arguments[6];
};

/* Lets whoever calls and whoever answers take turns on one processor, where the kernel can. */
void relay_listen_in_turns(int listener);
/* Waits for the next call: 1, or 0 when nobody is left who could make one, or -1. */
int relay_next_call(int listener, struct relay_call *call);
/* Answers a call with an error, or with 0 has the kernel carry it out. Whoever called may be gone by now. */
void relay_answer_call(int listener, uint64_t id, int error);
/* Waits until nobody is left who could make a call, at most so long. */
void relay_wait_for_callers(int listener, int milliseconds);
/* Reads a text that ends with NUL from another process's memory; its length, or -1 where none lies there. */
ssize_t relay_read_text(int memory, uint64_t address, char *text, size_t most);

/* What loses its parent becomes a child of this process, not of the first one. */
int relay_adopt_orphans(void);
/* A child that has ended and wasn't waited for yet, which it still isn't then; 0 when there is none. */
pid_t relay_ended_child(void);

int relay_pidfd_open(pid_t pid);

typedef struct relay_spawn_request {
  const char *program;      /* absolute */
  char *const *arguments;   /* NULL-terminated, [0] is the name */
  char *const *environment; /* NULL-terminated */
  const char *folder;       /* working folder, or NULL */
  const int *descriptors;   /* descriptor i of the child is a copy of descriptors[i]; all others are closed */
  size_t descriptor_count;
} relay_spawn_request;
/* 0 and *pid, else an errno value. The child leads a process group of its own, with default signal handling. */
int relay_spawn(const relay_spawn_request *request, pid_t *pid);

/* One sendmsg or recvmsg on a stream socket with up to 64 descriptors. *count holds room and then number for receive. */
ssize_t relay_send(int socket, const void *bytes, size_t length, const int *descriptors, size_t count);
ssize_t relay_receive(int socket, void *bytes, size_t length, int *descriptors, size_t *count);
int relay_socket_pair(int pair[2]);
int relay_pipe(int pair[2]);
int relay_listen_unix(const char *path, unsigned mode, int backlog);
int relay_connect_unix(const char *path);
int relay_accept(int socket);
int relay_peer(int socket, pid_t *pid, uid_t *uid, gid_t *gid);

/* One datagram to a service manager's socket (a path, or @name for an abstract one). */
int relay_notify(const char *address, const char *text);

int64_t relay_clock(int clock_id); /* nanoseconds; 0 realtime, 1 monotonic, 7 boottime */
int relay_random(void *bytes, size_t length);
/* Seconds east of UTC that the machine's zone has at that instant. */
int32_t relay_local_offset(int64_t unix_seconds);

/* A detached thread with a stack of 512 KiB; 0 or an errno value. The name is cut to the kernel's 15 characters. */
int relay_start_thread(const char *name, void (*body)(void *), void *context);

int relay_inotify_create(void);
int relay_inotify_add(int fd, const char *path, uint32_t mask);
#endif
