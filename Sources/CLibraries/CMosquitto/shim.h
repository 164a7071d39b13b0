/* SPDX-License-Identifier: Apache-2.0 */
/* libmosquitto for Swift, and what its TLS needs asked of OpenSSL: the library doesn't tell whether the handshake waits for the
 * other side. */
#ifndef RELAY_CMOSQUITTO_SHIM_H
#define RELAY_CMOSQUITTO_SHIM_H

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

/* The TLS connection of a client; NULL without TLS or before the first step of the connection. */
static inline SSL *relay_mosquitto_tls(struct mosquitto *client) { return (SSL *)mosquitto_ssl_get(client); }

/* 1 while the handshake is under way. */
static inline int relay_tls_in_handshake(struct mosquitto *client) {
  SSL *tls = relay_mosquitto_tls(client);
  return tls != NULL && SSL_in_init(tls);
}

/* 1 if the handshake waits until more can be written, 0 if it waits for the other side. */
static inline int relay_tls_wants_to_write(struct mosquitto *client) {
  SSL *tls = relay_mosquitto_tls(client);
  return tls != NULL && SSL_want(tls) == SSL_WRITING;
}

/* "TLSv1.3"; an empty text without TLS. */
static inline const char *relay_tls_version(struct mosquitto *client) {
  SSL *tls = relay_mosquitto_tls(client);
  return tls == NULL ? "" : SSL_get_version(tls);
}

#endif
