/* SPDX-License-Identifier: Apache-2.0
 *
 * call_names.h - the system calls by name: what targets may call, and what nobody's delivery needs. A call in neither list
 * doesn't exist for a target (ENOSYS), as on an older kernel: libraries have another way then. A name that the machine or
 * libseccomp doesn't know is passed over.
 */
#ifndef RELAY_CALL_NAMES_H
#define RELAY_CALL_NAMES_H

static const char *const allowed_calls[] = {
    /* Files. Which ones is Landlock's business; what it doesn't cover goes by descriptor only. */
    "access", "close", "close_range", "copy_file_range", "creat", "dup", "dup2", "dup3", "faccessat", "faccessat2",
    "fadvise64", "fallocate", "fchmod", "fchown", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock", "fremovexattr",
    "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "getcwd", "getdents", "getdents64", "ioctl", "link", "linkat",
    "lseek", "lstat", "mkdir", "mkdirat", "mknod", "mknodat", "newfstatat", "open", "openat", "openat2", "pread64", "preadv",
    "preadv2", "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat", "readv", "rename", "renameat",
    "renameat2", "rmdir", "sendfile", "splice", "stat", "statfs", "statx", "symlink", "symlinkat", "sync_file_range", "syncfs",
    "tee", "umask", "unlink", "unlinkat", "vmsplice", "write", "writev", "chdir", "fchdir", "utimensat", "truncate",
    "cachestat", "memfd_create", "io_setup", "io_destroy", "io_submit", "io_cancel", "io_getevents", "io_pgetevents",
    /* Memory. */
    "brk", "madvise", "map_shadow_stack", "mbind", "membarrier", "memfd_secret", "mincore", "mlock", "mlock2", "mlockall",
    "mmap", "mprotect", "mremap", "mseal", "msync", "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free",
    "pkey_mprotect", "remap_file_pages", "get_mempolicy", "set_mempolicy", "set_mempolicy_home_node",
    /* Itself: threads, time, signals. */
    "alarm", "arch_prctl", "clock_getres", "clock_gettime", "clock_nanosleep", "clone", "exit", "exit_group", "futex",
    "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area", "getcpu", "getegid",
    "geteuid", "getgid", "getgroups", "getitimer", "getpgid", "getpgrp", "getpid", "getppid", "getpriority", "getrandom",
    "getresgid", "getresuid", "getrlimit", "getrusage", "getsid", "gettid", "gettimeofday", "getuid", "ioprio_get", "kill",
    "capget", "nanosleep", "pause", "prctl", "prlimit64", "restart_syscall", "riscv_flush_icache",
    "riscv_hwprobe", "rseq", "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn",
    "rt_sigsuspend", "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max", "sched_get_priority_min",
    "sched_getaffinity", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_setaffinity", "sched_setattr", "sched_setparam", "sched_setscheduler", "sched_yield", "set_robust_list",
    "set_thread_area", "set_tid_address", "setitimer", "setpriority", "setrlimit", "sigaltstack", "sysinfo", "tgkill", "time",
    "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime", "timer_settime", "times", "uname", "wait4", "waitid",
    "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
    /* Waiting. */
    "epoll_create", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd", "eventfd2", "pipe",
    "pipe2", "poll", "ppoll", "pselect6", "select", "signalfd", "signalfd4", "timerfd_create", "timerfd_gettime",
    "timerfd_settime",
    /* The network, outwards. */
    "bind", "connect", "getpeername", "getsockname", "getsockopt", "recvfrom", "recvmmsg", "recvmsg", "sendmmsg", "sendmsg",
    "sendto", "setsockopt", "shutdown", "socket", "socketpair",
};

/* Answered with EPERM, and the host is told where the kernel can: nothing that a delivery needs comes near them. */
static const char *const told_calls[] = {
    /* Other programs: starting, steering, reading, waking them. */
    "execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "process_madvise",
    "process_mrelease", "kcmp", "pidfd_open", "pidfd_getfd", "pidfd_send_signal", "tkill", "setpgid", "setsid", "migrate_pages",
    "shmget", "shmat", "shmctl", "shmdt", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
    "mq_open", "mq_unlink", "mq_timedsend", "mq_timedreceive", "mq_notify", "mq_getsetattr",
    /* Files by path where Landlock has no say. */
    "chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "setxattr", "lsetxattr", "setxattrat", "removexattr",
    "lremovexattr", "removexattrat", "utime", "utimes", "futimesat", "open_by_handle_at", "fanotify_init", "fanotify_mark",
    "file_setattr",
    /* Who it is. */
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setfsuid", "setfsgid", "setgroups", "capset",
    /* Namespaces and mounts. */
    "unshare", "setns", "mount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "open_tree_attr", "fsopen",
    "fsconfig", "fsmount", "fspick", "mount_setattr",
    /* The kernel. */
    "bpf", "init_module", "finit_module", "delete_module", "perf_event_open", "userfaultfd", "kexec_load", "kexec_file_load",
    "reboot", "swapon", "swapoff", "quotactl", "quotactl_fd", "acct", "syslog", "iopl", "ioperm", "modify_ldt", "settimeofday",
    "clock_settime", "clock_adjtime", "stime", "sethostname", "setdomainname", "vhangup", "lookup_dcookie", "nfsservctl",
    "uselib", "lsm_set_self_attr",
    /* The network, inwards. */
    "listen", "accept", "accept4",
};

/* Answered with EPERM, and nobody is told: libraries try these in passing, and go on without. */
static const char *const denied_calls[] = {
    "getxattr", "lgetxattr", "getxattrat", "listxattr", "llistxattr", "listxattrat", "file_getattr", "name_to_handle_at",
    "inotify_init", "inotify_init1", "inotify_add_watch", "inotify_rm_watch", "sync", "statmount", "listmount", "ioprio_set",
    "move_pages", "personality", "keyctl", "add_key", "request_key", "io_uring_setup", "io_uring_enter", "io_uring_register",
    "seccomp", "lsm_get_self_attr", "lsm_list_modules", "adjtimex",
};

/* Allowed where Landlock allows it, and the host may be asked beforehand, so that it can tell of what Landlock denies without a word.
 * By a path that begins at a folder's descriptor they aren't heard of: who delivers into a folder shouldn't wait for that. */
static const char *const watched_calls[] = {
    "open", "creat", "mkdir", "rmdir", "unlink", "rename", "link", "symlink", "mknod", "truncate",
};

static const struct {
  const char *name;
  unsigned folder;                      /* which argument holds the descriptor */
} watched_calls_at[] = {
    {"openat", 0}, {"mkdirat", 0}, {"mknodat", 0}, {"unlinkat", 0}, {"renameat", 0}, {"renameat", 2}, {"renameat2", 0},
    {"renameat2", 2}, {"linkat", 2}, {"symlinkat", 1},
};

/* Allowed with most arguments, and what they must not do is told too. */
static const char *const told_by_argument[] = {
    "clone", "fchmod", "fcntl", "ioctl", "kill", "prctl", "prlimit64", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "socket",
    "socketpair", "tgkill", "utimensat",
};

#endif
