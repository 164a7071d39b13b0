/* SPDX-License-Identifier: Apache-2.0 */
/* libmosquitto for Swift, and what its TLS needs asked of OpenSSL: the library tells neither why a certificate was turned down nor
 * whether the handshake waits for the other side. */
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

/* X509_V_OK, or why the chain of the other side's certificate was turned down. */
static inline long relay_tls_verify_result(struct mosquitto *client) {
  SSL *tls = relay_mosquitto_tls(client);
  return tls == NULL ? X509_V_OK : SSL_get_verify_result(tls);
}

/* "TLSv1.3"; an empty text without TLS. */
static inline const char *relay_tls_version(struct mosquitto *client) {
  SSL *tls = relay_mosquitto_tls(client);
  return tls == NULL ? "" : SSL_get_version(tls);
}

/* 1 if the other side's certificate is for this name or address by OpenSSL's rules. The library compares names by itself, as C
 * texts and with wildcards for whole top-level domains, so this is asked besides. */
static inline int relay_tls_is_for(struct mosquitto *client, const char *host) {
  SSL *tls = relay_mosquitto_tls(client);
  X509 *certificate = tls == NULL ? NULL : SSL_get1_peer_certificate(tls);
  if (certificate == NULL) return 0;
  int fits = X509_check_ip_asc(certificate, host, 0);
  /* -2: the text is no address. */
  if (fits == -2) fits = X509_check_host(certificate, host, 0, 0, NULL);
  X509_free(certificate);
  return fits == 1;
}

#endif
