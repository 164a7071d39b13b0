/* SPDX-License-Identifier: Apache-2.0 */
/* libmosquitto for Swift. */
#ifndef RELAY_CMOSQUITTO_SHIM_H
#define RELAY_CMOSQUITTO_SHIM_H

#include <mosquitto.h>
#include <mqtt_protocol.h>

#endif
