/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl for Swift: curl_easy_setopt and curl_easy_getinfo are variadic, which Swift can't call, so each kind of argument has a
 * function of its own. They return libcurl's own code. */
#ifndef RELAY_CCURL_SHIM_H
#define RELAY_CCURL_SHIM_H

#include <curl/curl.h>

typedef size_t (*relay_curl_transfer)(char *bytes, size_t size, size_t count, void *context);
typedef int (*relay_curl_seek)(void *context, curl_off_t offset, int origin);
typedef int (*relay_curl_debug)(CURL *curl, curl_infotype kind, char *bytes, size_t count, void *context);
typedef int (*relay_curl_progress)(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up);

static inline CURLcode relay_curl_set_long(CURL *curl, CURLoption option, long value) {
  return (curl_easy_setopt)(curl, option, value);
}

/* libcurl copies the text; NULL puts the default back. */
static inline CURLcode relay_curl_set_text(CURL *curl, CURLoption option, const char *value) {
  return (curl_easy_setopt)(curl, option, value);
}

static inline CURLcode relay_curl_set_offset(CURL *curl, CURLoption option, curl_off_t value) {
  return (curl_easy_setopt)(curl, option, value);
}

/* The list, buffer or context must outlive the transfer. */
static inline CURLcode relay_curl_set_pointer(CURL *curl, CURLoption option, void *value) {
  return (curl_easy_setopt)(curl, option, value);
}

/* For CURLOPT_READFUNCTION, CURLOPT_WRITEFUNCTION and CURLOPT_HEADERFUNCTION. */
static inline CURLcode relay_curl_set_transfer(CURL *curl, CURLoption option, relay_curl_transfer function) {
  return (curl_easy_setopt)(curl, option, function);
}

static inline CURLcode relay_curl_set_seek(CURL *curl, relay_curl_seek function) {
  return (curl_easy_setopt)(curl, CURLOPT_SEEKFUNCTION, function);
}

static inline CURLcode relay_curl_set_progress(CURL *curl, relay_curl_progress function) {
  return (curl_easy_setopt)(curl, CURLOPT_XFERINFOFUNCTION, function);
}

/* Called with CURLOPT_VERBOSE only; told the lines that a protocol of lines sends (CURLINFO_HEADER_OUT). */
static inline CURLcode relay_curl_set_debug(CURL *curl, relay_curl_debug function) {
  return (curl_easy_setopt)(curl, CURLOPT_DEBUGFUNCTION, function);
}

static inline CURLcode relay_curl_get_long(CURL *curl, CURLINFO info, long *value) {
  return (curl_easy_getinfo)(curl, info, value);
}

/* CURLINFO_ACTIVESOCKET: the connection that the last transfer left open, or CURL_SOCKET_BAD. */
static inline CURLcode relay_curl_get_socket(CURL *curl, curl_socket_t *value) {
  return (curl_easy_getinfo)(curl, CURLINFO_ACTIVESOCKET, value);
}

static inline CURLcode relay_curl_get_offset(CURL *curl, CURLINFO info, curl_off_t *value) {
  return (curl_easy_getinfo)(curl, info, value);
}

#endif
