/* SPDX-License-Identifier: Apache-2.0
 *
 * How the sanitizers of `make sanitize` behave, linked into every program of such a build. Environment variables would not
 * do: daemon and workers are started with clean environments, by the tests and by the daemon. REPORTS is a folder.
 */
#define OPTION __attribute__((used, visibility("default"))) const char *

/* Everything goes to files, so that no report is lost in a daemon's log, and none is in the way of what tests read. */
#define COMMON "log_path=" REPORTS "/report:exitcode=86:"

/* No search for leaks: it takes all that hangs on a Swift enum for lost, because such pointers carry the case in spare bits. */
OPTION __asan_default_options(void) { return COMMON "strict_string_checks=1:check_initialization_order=1:handle_sigill=1:detect_leaks=0"; }
/* Threads that nobody joined are no fault here: the worker ends amid those that a target left behind, and must. */
OPTION __tsan_default_options(void) {
  return COMMON "second_deadlock_stack=1:history_size=4:report_thread_leaks=0";
}
OPTION __ubsan_default_options(void) { return COMMON "print_stacktrace=1"; }

/* A confined worker is let into this folder, or its reports would be lost. */
OPTION relay_sanitizer_reports(void) { return REPORTS; }
