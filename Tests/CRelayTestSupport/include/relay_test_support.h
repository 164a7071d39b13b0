/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_TEST_SUPPORT_H
#define RELAY_TEST_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/* System calls that Swift's Glibc module doesn't show. All return -1 with errno; descriptors are close-on-exec. */
int relay_test_pipe(int ends[2]);
int relay_test_socket_pair(int ends[2]);
int relay_test_memory_file(void);

/* Sends all bytes, the descriptors with the first of them; waits while the socket is full. */
int relay_test_send(int socket, const void *bytes, size_t count, const int *descriptors, size_t descriptor_count);

#endif
