/* SPDX-License-Identifier: Apache-2.0
 *
 * confinement.h - what a worker gives up before it loads the target, for good.
 */
#ifndef RELAY_WORKER_CONFINEMENT_H
#define RELAY_WORKER_CONFINEMENT_H

#include <sys/types.h>

#include "relay_confinement.h"
#include "worker.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER                   /* terabytes of address space, hardly any of it used; reports in files */
#endif
#endif

/* load.c: whether an error says something of the name or of the kernel. Any other, of a disk that fails or a machine that has run out of
 * something, may pass by itself. */
bool error_lasts(int error);

/* files.c: a path that may be opened; one that isn't there is passed over. The first takes the descriptor. */
void files_allow_opened(int path, uint32_t access);
void files_allow(const char *path, uint32_t access);
/* Denies all other paths; if it can't, which call failed and how. */
bool files_confine(const char **call, int *error);
/* The kernel's level of Landlock, 0 for none; known after the first rule. */
int files_level(void);

/* filter.c: denies system calls that no target needs. `landlock` is the level in force, 0 for none; `handed` is what calls_print
 * printed for it, without the names, or empty. On `listener` denied calls can be heard of; -1 where they can't. */
bool calls_confine(pid_t self, int landlock, relay_text handed, int *listener, const char **call, int *error);
/* Prints the filters, for the host to hand to its workers, and the names of calls that it may hear of; an exit status. */
int calls_print(int landlock);

/* enforce.c: puts such programs into force; three times a u32 count and so many instructions, in which CALL_NOBODY is `self`. */
#define CALL_PROGRAMS 3
#define CALL_MOST_INSTRUCTIONS 4096u
#define CALL_NOBODY 0x7E1A7E1A
bool calls_enforce(pid_t self, const uint8_t *bytes, size_t length, int *listener, int *error);

/* identity.c: becomes this user, or stays who it is and keeps of root's powers only those over files. */
bool identity_drop(uid_t user, gid_t group, const gid_t *groups, size_t count);
bool identity_shed_powers(void);

#endif
