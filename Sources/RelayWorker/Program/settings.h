/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RELAY_SETTINGS_H
#define RELAY_SETTINGS_H

#include "frames.h"

/* Take a table off a frame, which must outlive it. */
void settings_read_base(struct fields *fields);         /* settings, secrets, JSON: the fields of OPEN */
void settings_read_overlay(struct fields *fields);      /* rendered ones, for one delivery */
void settings_drop_overlay(void);

int32_t host_setting_text(void *context, const char *path, relay_text *value);
int32_t host_setting_integer(void *context, const char *path, int64_t *value);
int32_t host_setting_flag(void *context, const char *path, int32_t *value);
int32_t host_setting_count(void *context, const char *path, uint64_t *value);
int32_t host_setting_name(void *context, const char *path, uint64_t index, relay_text *name);
int32_t host_settings_json(void *context, relay_text *json);
int32_t host_secret(void *context, const char *path, relay_text *value);

#endif
