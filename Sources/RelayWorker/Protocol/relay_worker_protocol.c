/* SPDX-License-Identifier: Apache-2.0 */
#include "relay_worker_protocol.h"
