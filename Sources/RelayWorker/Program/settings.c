/* SPDX-License-Identifier: Apache-2.0
 *
 * Settings by path. Tables are short (a person typed them), so looking is a walk from the front.
 */
#include "settings.h"

#include <stdlib.h>

struct setting {
  relay_text path;
  uint8_t kind;
  relay_text text;
  uint64_t number;                      /* integer, flag, count */
};

struct table {
  struct setting *entries;
  uint32_t count;
};

static struct table base, overlay, secrets;
static relay_text json;

static struct table new_table(uint32_t count) {
  struct table table = {calloc(count + 1u, sizeof(struct setting)), count};
  if (table.entries == NULL) protocol_broken("no memory for the settings");
  return table;
}

static void read_value(struct fields *fields, struct setting *setting) {
  switch (setting->kind) {
    case RELAY_SETTING_TEXT: setting->text = field_present_text(fields); break;
    case RELAY_SETTING_FLAG: setting->number = field_u8(fields); break;
    case RELAY_SETTING_INTEGER:
    case RELAY_SETTING_REAL:
    case RELAY_SETTING_LIST:
    case RELAY_SETTING_OBJECT: setting->number = field_u64(fields); break;
    case RELAY_SETTING_NULL:
    case RELAY_SETTING_SECRET:
    case RELAY_SETTING_TEMPLATE: break;
    default: protocol_broken("a setting of unknown kind");
  }
}

static struct table read_settings(struct fields *fields) {
  struct table table = new_table(field_count(fields, 5));
  for (uint32_t index = 0; index < table.count; index++) {
    struct setting *setting = &table.entries[index];
    setting->path = field_present_text(fields);
    setting->kind = field_u8(fields);
    read_value(fields, setting);
  }
  return table;
}

void settings_read_base(struct fields *fields) {
  base = read_settings(fields);
  secrets = new_table(field_count(fields, 8));
  for (uint32_t index = 0; index < secrets.count; index++) {
    secrets.entries[index].path = field_present_text(fields);
    secrets.entries[index].kind = RELAY_SETTING_SECRET;
    secrets.entries[index].text = field_present_text(fields);
  }
  json = field_text(fields);
}

void settings_read_overlay(struct fields *fields) { overlay = read_settings(fields); }

void settings_drop_overlay(void) {
  free(overlay.entries);
  overlay = (struct table){NULL, 0};
}

static const struct setting *find(const struct table *table, const char *path, uint64_t length) {
  for (uint32_t index = 0; index < table->count; index++) {
    const struct setting *setting = &table->entries[index];
    if (setting->path.length == length && memcmp(setting->path.bytes, path, length) == 0) return setting;
  }
  return NULL;
}

/* The setting of this kind, or NULL with the code to return. */
static const struct setting *look(const char *function, const char *path, uint8_t kind, int32_t *code) {
  *code = RELAY_DENIED;
  if (!allowed(function, DURING_WORK)) return NULL;
  size_t length = strlen(path);
  if (find(&secrets, path, length) != NULL) return NULL;
  const struct setting *setting = find(&overlay, path, length);
  if (setting == NULL) setting = find(&base, path, length);
  if (setting != NULL && setting->kind == RELAY_SETTING_SECRET) return NULL;
  *code = RELAY_ABSENT;
  if (setting == NULL || setting->kind == RELAY_SETTING_NULL || setting->kind == RELAY_SETTING_TEMPLATE) return NULL;
  *code = setting->kind == kind ? RELAY_OK : RELAY_FAILED;
  return setting->kind == kind ? setting : NULL;
}

int32_t host_setting_text(void *context, const char *path, relay_text *value) {
  (void)context;
  int32_t code;
  const struct setting *setting = look("setting_text", path, RELAY_SETTING_TEXT, &code);
  if (setting != NULL) *value = setting->text;
  return code;
}

int32_t host_setting_integer(void *context, const char *path, int64_t *value) {
  (void)context;
  int32_t code;
  const struct setting *setting = look("setting_integer", path, RELAY_SETTING_INTEGER, &code);
  if (setting != NULL) *value = (int64_t)setting->number;
  return code;
}

int32_t host_setting_flag(void *context, const char *path, int32_t *value) {
  (void)context;
  int32_t code;
  const struct setting *setting = look("setting_flag", path, RELAY_SETTING_FLAG, &code);
  if (setting != NULL) *value = setting->number != 0;
  return code;
}

/* --- Lists and objects -------------------------------------------------------------------------------------------- */

/* The last step of a path that lies directly below `parent`, else {NULL, 0}. */
static relay_text member_of(relay_text path, const char *parent, uint64_t length) {
  uint64_t skip = length == 0 ? 0 : length + 1;
  relay_text none = {NULL, 0};
  if (path.length < skip || (length == 0 && path.length == 0)) return none;
  if (length > 0 && (memcmp(path.bytes, parent, length) != 0 || path.bytes[length] != '/')) return none;
  relay_text name = {path.bytes + skip, path.length - skip};
  return memchr(name.bytes, '/', name.length) == NULL ? name : none;
}

/* Member `index` in the file's order: places in the base, then what only a delivery or only the secrets have. index -1
 * counts. */
static relay_text member_at(const char *parent, uint64_t length, uint64_t index, uint64_t *counted) {
  const struct table *tables[3] = {&base, &overlay, &secrets};
  uint64_t seen = 0;
  for (int which = 0; which < 3; which++) {
    for (uint32_t at = 0; at < tables[which]->count; at++) {
      relay_text path = tables[which]->entries[at].path;
      relay_text name = member_of(path, parent, length);
      bool earlier = false;
      for (int other = 0; name.bytes != NULL && other < which; other++) {
        earlier = earlier || find(tables[other], path.bytes, path.length) != NULL;
      }
      if (name.bytes == NULL || earlier) continue;
      if (seen++ == index) return name;
    }
  }
  *counted = seen;
  return (relay_text){NULL, 0};
}

int32_t host_setting_count(void *context, const char *path, uint64_t *value) {
  (void)context;
  int32_t code;
  const struct setting *setting = look("setting_count", path, RELAY_SETTING_LIST, &code);
  if (setting == NULL && code == RELAY_FAILED) {
    setting = look("setting_count", path, RELAY_SETTING_OBJECT, &code);
  }
  if (setting != NULL) {
    *value = setting->number;
  } else if (code == RELAY_ABSENT && path[0] == 0) {
    member_at("", 0, UINT64_MAX, value);
    code = RELAY_OK;
  }
  return code;
}

/* ~1 is a slash, ~0 a tilde (RFC 6901, section 4). */
static uint64_t unescape(char *text, uint64_t length) {
  uint64_t to = 0;
  for (uint64_t from = 0; from < length; from++) {
    char byte = text[from];
    if (byte == '~' && from + 1 < length && (text[from + 1] == '0' || text[from + 1] == '1')) {
      byte = text[++from] == '0' ? '~' : '/';
    }
    text[to++] = byte;
  }
  return to;
}

int32_t host_setting_name(void *context, const char *path, uint64_t index, relay_text *name) {
  (void)context;
  int32_t code;
  const struct setting *object = look("setting_name", path, RELAY_SETTING_OBJECT, &code);
  if (object == NULL && !(code == RELAY_ABSENT && path[0] == 0)) return code;
  uint64_t count;
  relay_text found = index == UINT64_MAX ? (relay_text){NULL, 0} : member_at(path, strlen(path), index, &count);
  if (found.bytes == NULL) return RELAY_ABSENT;
  char *copy = keep(found.bytes, found.length);
  if (copy == NULL) return RELAY_FAILED;
  *name = (relay_text){copy, unescape(copy, found.length)};
  return RELAY_OK;
}

/* --- The whole, and secrets --------------------------------------------------------------------------------------- */

int32_t host_settings_json(void *context, relay_text *value) {
  (void)context;
  if (!allowed("settings_json", DURING_WORK)) return RELAY_DENIED;
  if (json.bytes == NULL) return RELAY_ABSENT;
  *value = json;
  return RELAY_OK;
}

int32_t host_secret(void *context, const char *path, relay_text *value) {
  (void)context;
  if (!allowed("secret", DURING_WORK)) return RELAY_DENIED;
  const struct setting *secret = find(&secrets, path, strlen(path));
  if (secret == NULL) return RELAY_ABSENT;
  *value = secret->text;
  return RELAY_OK;
}
