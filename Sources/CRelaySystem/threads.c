/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "relay_system.h"

struct start {
  char name[16];
  void (*body)(void *);
  void *context;
};

static void *run(void *raw) {
  struct start start = *(struct start *)raw;
  free(raw);
  pthread_setname_np(pthread_self(), start.name);
  start.body(start.context);
  return NULL;
}

int relay_start_thread(const char *name, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (!start) return ENOMEM;
  snprintf(start->name, sizeof start->name, "%s", name);
  start->body = body;
  start->context = context;
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_attr_setstacksize(&attributes, 512 * 1024);
  int code = pthread_create(&thread, &attributes, run, start);
  pthread_attr_destroy(&attributes);
  if (code != 0) free(start);
  return code;
}
