/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells the thread sanitizer about Swift's Mutex. Its quick ways are inlined into our code, so the sanitizer sees them; its slow
 * ways, for a lock that another thread holds, are in the standard library, which wasn't built with it. Without this, every
 * mutex that two threads ever wanted at the same time would be reported.
 *
 * These functions take the place of the library's and call them; the names are Synchronization._MutexHandle's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void __tsan_acquire(void *address);
void __tsan_release(void *address);

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SWIFT __attribute__((swiftcall, visibility("default"), used))
#define SELF __attribute__((swift_context)) void *self

typedef __attribute__((swiftcall)) void lock_function(uint32_t thread, SELF);
typedef __attribute__((swiftcall)) bool try_lock_function(SELF);
typedef __attribute__((swiftcall)) void unlock_function(SELF);

static void find(const char *name, void *function) {
  void *address = dlsym(RTLD_NEXT, name);
  memcpy(function, &address, sizeof address);
}

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT void lock_slow(uint32_t thread, SELF) {
  lock_function *real;
  find(LOCK, &real);
  real(thread, self);
  __tsan_acquire(self);
}

SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT bool try_lock_slow(SELF) {
  try_lock_function *real;
  find(TRY_LOCK, &real);
  bool locked = real(self);
  if (locked) __tsan_acquire(self);
  return locked;
}

SWIFT void unlock_slow(SELF) __asm__(UNLOCK);
SWIFT void unlock_slow(SELF) {
  unlock_function *real;
  find(UNLOCK, &real);
  __tsan_release(self);
  real(self);
}
