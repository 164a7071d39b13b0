/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_SYSTEM_H
#define RELAY_SYSTEM_H
#endif
