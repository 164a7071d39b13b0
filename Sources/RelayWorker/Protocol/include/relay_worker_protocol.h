/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_WORKER_PROTOCOL_H
#define RELAY_WORKER_PROTOCOL_H
#include <stdint.h>
#endif
