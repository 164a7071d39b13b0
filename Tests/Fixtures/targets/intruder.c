/* SPDX-License-Identifier: Apache-2.0
 *
 * A target that tries everything that a target must not be able to do, then everything that it must. Each delivery logs one
 * line an attempt, "denied NAME" or "REACHED NAME (why)", and one a need, "works NAME" or "FAILS NAME (why)"; what was reached
 * or failed is its message too. Settings: paths and numbers of what it goes for; "folder" and "file" are typed for it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "relay_target.h"

uint32_t relay_target_abi(void) { return RELAY_TARGET_ABI; }

int32_t relay_target_describe(const relay_host *host) {
  static const char manifest[] =
      "{\"id\": \"org.example.intruder\", \"name\": \"Intruder\", \"version\": \"1\", \"license\": \"Apache-2.0\","
      " \"unit\": \"part\", \"settings\": {\"type\": \"object\", \"properties\": {"
      " \"state\": {\"type\": \"string\"}, \"home\": {\"type\": \"string\"}, \"port\": {\"type\": \"integer\"},"
      " \"mode\": {\"type\": \"string\"}, \"unconfined\": {\"type\": \"string\"}, \"key\": {\"x-relay-secret\": \"required\"},"
      " \"folder\": {\"type\": \"string\", \"x-relay-access\": \"write\"},"
      " \"note\": {\"type\": \"string\", \"x-relay-access\": \"read\"},"
      " \"default\": {\"type\": \"string\", \"x-relay-access\": \"read\", \"default\": \"/etc/passwd\"}}}}";
  return host->emit_manifest(host->context, manifest, sizeof manifest - 1);
}

static char state[512], home[512], folder[512], note[512], mode[64], found[3072];
static int64_t port;
static const relay_host *out;

static void setting(const relay_host *host, const char *name, char *to, size_t room) {
  relay_text text;
  if (host->setting_text(host->context, name, &text) != RELAY_OK || text.length >= room) return;
  memcpy(to, text.bytes, text.length);
  to[text.length] = 0;
}

int32_t relay_target_open(const relay_host *host, void **instance, relay_verdict *verdict) {
  (void)verdict;
  *instance = state;
  setting(host, "state", state, sizeof state);
  setting(host, "home", home, sizeof home);
  setting(host, "folder", folder, sizeof folder);
  setting(host, "note", note, sizeof note);
  setting(host, "mode", mode, sizeof mode);
  host->setting_integer(host->context, "port", &port);
  return 0;
}

/* --- Telling ------------------------------------------------------------------------------------------------------ */

static void tell(const char *how, const char *name, const char *why, int bad) {
  char line[256];
  snprintf(line, sizeof line, "%s %s%s%s%s", how, name, bad ? " (" : "", bad ? why : "", bad ? ")" : "");
  out->log(out->context, RELAY_LOG_INFO, line, strlen(line));
  if (bad && strlen(found) + strlen(line) + 3 < sizeof found) {
    if (found[0] != 0) strcat(found, "; ");
    strcat(found, line);
  }
}

/* An attempt: denied is what the confinement answers, and nothing else. */
static void must_not(const char *name, long result) {
  int error = errno;
  int denied = result < 0 && (error == EPERM || error == EACCES || error == ENOSYS || error == EXDEV);
  tell(denied ? "denied" : "REACHED", name, result >= 0 ? "it worked" : strerror(error), !denied);
  errno = 0;
}

static void must(const char *name, int works) {
  int error = errno;
  tell(works ? "works" : "FAILS", name, strerror(error), !works);
  errno = 0;
}

static const char *in(const char *place, const char *name) {
  static char paths[4][1200];
  static int next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", place, name);
  return path;
}

static long opens_as(const char *path, int flags, mode_t mode) {
  int fd = open(path, flags | O_CLOEXEC, mode);
  if (fd >= 0) close(fd);
  return fd;
}

static long opens(const char *path, int flags) { return opens_as(path, flags, 0600); }

/* Whether an open file can be given its owner's rights. */
static long grants(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
  if (fd < 0) return 0;                                       /* which must work, so that is no denial */
  long granted = fchmod(fd, 04755);
  close(fd);
  return granted;
}

/* --- Files -------------------------------------------------------------------------------------------------------- */

static void files(pid_t host_pid) {
  char proc[64];
  must_not("state folder", opens(state, O_RDONLY | O_DIRECTORY));
  must_not("own queue", opens(in(state, "pipelines/intruder/queue"), O_RDONLY | O_DIRECTORY));
  must_not("another pipeline's queue", opens(in(state, "pipelines/other/queue"), O_RDONLY | O_DIRECTORY));
  must_not("secrets", opens(in(state, "secrets"), O_RDONLY | O_DIRECTORY));
  must_not("a secret", opens(in(state, "secrets/key"), O_RDONLY));
  must_not("configuration", opens(in(home, "pipelines.json"), O_RDONLY));
  must_not("configuration to write", opens(in(home, "pipelines.json"), O_WRONLY));
  must_not("home", opens(home, O_RDONLY | O_DIRECTORY));
  must_not("/etc/passwd", opens("/etc/passwd", O_RDONLY));
  must_not("/etc/shadow", opens("/etc/shadow", O_RDONLY));
  must_not("/", opens("/", O_RDONLY | O_DIRECTORY));
  must_not("/tmp", opens("/tmp", O_RDONLY | O_DIRECTORY));
  must_not("/etc/ssl/private", opens("/etc/ssl", O_RDONLY | O_DIRECTORY));
  must_not("new file outside", opens(in(home, "evil"), O_WRONLY | O_CREAT));
  must_not("new file in /tmp", opens("/tmp/relay-intruder-was-here", O_WRONLY | O_CREAT));
  must_not("unnamed file outside", opens(home, O_TMPFILE | O_RDWR));
  must_not("new folder outside", mkdir(in(home, "evil"), 0700));
  must_not("library to write", opens("/usr/lib/relay-intruder", O_WRONLY | O_CREAT));
  must_not("typed read path to write", opens(note, O_WRONLY));
  must_not("unlink outside", unlink(in(home, "victim")));
  must_not("rename outside", rename(in(home, "victim"), in(home, "victim2")));
  must_not("rename out of the typed folder", rename(in(folder, "inside"), in(home, "evil")));
  must_not("link from outside", link(in(home, "victim"), in(folder, "victim")));
  must_not("symbolic link", symlink("/etc/passwd", in(folder, "link")));
  must_not("named pipe", mkfifo(in(folder, "pipe"), 0600));
  must_not("device", mknod(in(folder, "device"), S_IFCHR | 0600, 0x0103));
  must_not("truncate outside", truncate(in(home, "victim"), 0));
  must_not("cut by opening", opens(note, O_RDONLY | O_TRUNC));
  must_not("chmod outside", chmod(in(home, "victim"), 0777));
  must_not("chmod inside by path", chmod(in(folder, "inside"), 0777));
  must_not("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, in(home, "victim"), 0777));
  must_not("fchmodat2", syscall(452, AT_FDCWD, in(home, "victim"), 0777, 0));
  must_not("file with its owner's rights", opens_as(in(folder, "suid"), O_WRONLY | O_CREAT, 04755));
  must_not("file with its group's rights", opens_as(in(folder, "sgid"), O_WRONLY | O_CREAT, 02755));
  must_not("file without a name and with rights", opens_as(folder, O_WRONLY | O_TMPFILE, 06755));
  must_not("rights for an open file", grants(in(folder, "granted")));
  must_not("node with rights", mknod(in(folder, "node"), S_IFREG | 04755, 0));
  must_not("chown outside", chown(in(home, "victim"), getuid(), getgid()));
  must_not("fchownat by descriptor", fchownat(3, "", getuid(), getgid(), AT_EMPTY_PATH));
  must_not("times outside", utimensat(AT_FDCWD, in(home, "victim"), NULL, 0));
  must_not("attribute outside", setxattr(in(home, "victim"), "user.evil", "1", 1, 0));
  must_not("attribute read outside", getxattr(in(home, "victim"), "user.evil", NULL, 0));
  must_not("watch a folder", inotify_add_watch(inotify_init1(IN_CLOEXEC), state, IN_CREATE));
  must_not("handle", syscall(SYS_open_by_handle_at, AT_FDCWD, "\0\0\0\0\0\0\0\0", O_RDONLY));
  const char *names[] = {"mem", "environ", "maps", "fd", "root", "cwd"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    snprintf(proc, sizeof proc, "/proc/%d/%s", (int)host_pid, names[i]);
    must_not(proc + 6, opens(proc, O_RDONLY));
  }
  must_not("own root", opens("/proc/self/root", O_RDONLY));
  must_not("/proc", opens("/proc", O_RDONLY | O_DIRECTORY));
  must_not("/sys", opens("/sys", O_RDONLY | O_DIRECTORY));
  must_not("terminal", opens("/dev/tty", O_RDWR));
  must_not("schema default", opens("/etc/passwd", O_RDONLY));
}

/* --- Processes ---------------------------------------------------------------------------------------------------- */

static void processes(pid_t host_pid) {
  char *arguments[] = {"sh", "-c", "exit 0", NULL};
  pid_t child = fork();
  if (child == 0) _exit(0);
  must_not("fork", child);
  must_not("vfork", syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL));
  child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(0);
  must_not("clone", child);
  uint64_t request[8] = {0, 0, 0, 0, SIGCHLD, 0, 0, 0};
  child = (pid_t)syscall(435, request, sizeof request);
  if (child == 0) _exit(0);
  must_not("clone3", child);
  errno = posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
  must_not("posix_spawn", errno == 0 ? 0 : -1);
  must_not("exec", execve("/bin/sh", arguments, environ));
  int program = memfd_create("program", 0);
  must_not("exec of memory", syscall(SYS_execveat, program, "", arguments, environ, AT_EMPTY_PATH));
  close(program);
  must_not("kill the host", kill(host_pid, 0));
  must_not("wake the host", kill(host_pid, SIGCONT));
  must_not("kill everybody", kill(-1, 0));
  must_not("kill a group", kill(0, 0));
  must_not("tgkill", syscall(SYS_tgkill, host_pid, host_pid, 0));
  must_not("tkill", syscall(SYS_tkill, host_pid, 0));
  siginfo_t info = {.si_signo = SIGCONT, .si_code = SI_QUEUE};
  must_not("sigqueue", syscall(SYS_rt_sigqueueinfo, host_pid, SIGCONT, &info));
  must_not("pidfd", syscall(434, host_pid, 0));
  must_not("pidfd_getfd", syscall(438, 3, 0, 0));
  int line[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, line) == 0) {
    must_not("signals by a descriptor", fcntl(line[0], F_SETOWN, host_pid));
    must_not("signals by ioctl", ioctl(line[0], 0x8901, &host_pid));
    struct sockaddr_un control = {.sun_family = AF_UNIX};
    snprintf(control.sun_path, sizeof control.sun_path, "%s", in(state, "control.sock"));
    if (connect(line[0], (struct sockaddr *)&control, sizeof control) == 0) must_not("control socket by a pair", 0);
    close(line[0]);
    close(line[1]);
  }
  must_not("ptrace", ptrace(PTRACE_ATTACH, host_pid, 0, 0));
  must_not("ptrace seize", ptrace(PTRACE_SEIZE, host_pid, 0, 0));
  char byte;
  struct iovec mine = {&byte, 1}, theirs = {(void *)&byte, 1};
  must_not("read memory", process_vm_readv(host_pid, &mine, 1, &theirs, 1, 0));
  must_not("write memory", process_vm_writev(host_pid, &mine, 1, &theirs, 1, 0));
  must_not("limits of the host", prlimit(host_pid, RLIMIT_NOFILE, NULL, &(struct rlimit){0}));
  must_not("priority of the host", setpriority(PRIO_PROCESS, (id_t)host_pid, 10));
  must_not("scheduling of the host", sched_setscheduler(host_pid, SCHED_IDLE, &(struct sched_param){0}));
  must_not("processors of the host", sched_setaffinity(host_pid, sizeof(cpu_set_t), &(cpu_set_t){{1}}));
  must_not("leave the group", setpgid(0, host_pid));
  must_not("leave the session", setsid());
  must_not("outlive the host", prctl(PR_SET_PDEATHSIG, 0));
  must_not("be dumped", prctl(PR_SET_DUMPABLE, 1));
  must_not("be traced", prctl(0x59616d61, host_pid));
  must_not("setuid", setuid(0));
  must_not("setgroups", syscall(SYS_setgroups, 0, NULL));
  must_not("capset", syscall(SYS_capset, NULL, NULL));
  must_not("shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
  must_not("message queue", syscall(SYS_mq_open, "evil", O_RDWR | O_CREAT, 0600, NULL));
}

/* --- The kernel --------------------------------------------------------------------------------------------------- */

static void kernel(void) {
  must_not("user namespace", unshare(CLONE_NEWUSER));
  must_not("mount namespace", unshare(CLONE_NEWNS));
  pid_t child = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
  if (child == 0) _exit(0);
  must_not("clone into a namespace", child);
  must_not("setns", setns(3, 0));
  must_not("mount", mount("none", folder, "tmpfs", 0, NULL));
  must_not("unmount", umount2("/proc", MNT_DETACH));
  must_not("fsopen", syscall(430, "tmpfs", 0));
  must_not("open_tree", syscall(428, AT_FDCWD, "/", 1));
  must_not("chroot", chroot(folder));
  must_not("pivot_root", syscall(SYS_pivot_root, folder, folder));
  must_not("bpf", syscall(SYS_bpf, 0, NULL, 0));
  must_not("keyctl", syscall(SYS_keyctl, 0, -3, 0));
  must_not("add_key", syscall(SYS_add_key, "user", "evil", "1", 1, -3));
  must_not("io_uring", syscall(425, 1, NULL));
  must_not("module", syscall(SYS_init_module, NULL, 0, ""));
  must_not("module from a file", syscall(SYS_finit_module, 3, "", 0));
  must_not("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
  must_not("userfaultfd", syscall(SYS_userfaultfd, 0));
  must_not("kexec", syscall(SYS_kexec_load, 0, 0, NULL, 0));
  must_not("reboot", syscall(SYS_reboot, 0, 0, 0, NULL));
  must_not("swap", swapon("/nonexistent", 0));
  must_not("clock", syscall(SYS_clock_settime, CLOCK_REALTIME, NULL));
  must_not("host name", sethostname("", 0));
  must_not("log of the kernel", syscall(SYS_syslog, 10, NULL, 0));
  must_not("another filter", syscall(SYS_seccomp, 1, 0, NULL));
  must_not("personality", syscall(SYS_personality, 0));
  must_not("sync of everything", syscall(SYS_sync));
  must_not("a call that doesn't exist yet", syscall(1000));
}

/* --- Sockets ------------------------------------------------------------------------------------------------------ */

static void sockets(void) {
  int pair[2];
  must_not("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
  must_not("unix datagrams", socket(AF_UNIX, SOCK_DGRAM, 0));
  must_not("unix socket, by the upper half", syscall(SYS_socket, 0x100000001L, SOCK_STREAM, 0));
  must_not("pair of datagram sockets", socketpair(AF_UNIX, SOCK_DGRAM, 0, pair));
  must_not("packets", socket(AF_PACKET, SOCK_RAW, 0));
  must_not("raw", socket(AF_INET, SOCK_RAW, IPPROTO_TCP));
  must_not("vsock", socket(40, SOCK_STREAM, 0));
  must_not("kernel's ciphers", socket(38, SOCK_SEQPACKET, 0));
  must_not("netlink audit", socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT));
  must_not("netlink uevents", socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT));
  int server = socket(AF_INET, SOCK_STREAM, 0);
  must_not("listen", listen(server, 1));
  must_not("accept", accept(server, NULL, NULL));
  close(server);
}

/* What does no harm where nothing denies it. */
static void gently(void) {
  must_not("state folder", opens(state, O_RDONLY | O_DIRECTORY));
  must_not("/etc/passwd", opens("/etc/passwd", O_RDONLY));
  must_not("cut by opening", opens(note, O_RDONLY | O_TRUNC));
  must_not("times outside", utimensat(AT_FDCWD, in(home, "victim"), NULL, 0));
  int unix_socket = socket(AF_UNIX, SOCK_STREAM, 0);
  must_not("unix socket", unix_socket);
  struct sockaddr_un control = {.sun_family = AF_UNIX};
  snprintf(control.sun_path, sizeof control.sun_path, "%s", in(state, "control.sock"));
  char byte, request[] = "{\"op\":\"status\"}\n";
  int asked = connect(unix_socket, (struct sockaddr *)&control, sizeof control) == 0 &&
              send(unix_socket, request, sizeof request - 1, MSG_NOSIGNAL) > 0 && recv(unix_socket, &byte, 1, 0) == 1;
  errno = asked ? 0 : EPERM;
  must_not("answer of the control socket", asked ? 0 : -1);
  pid_t child = fork();
  if (child == 0) _exit(0);
  must_not("fork", child);
}

/* More often than anybody is told, or answered at once. */
static void flood(void) {
  for (int i = 0; i < 260; i++)
    if (setsid() >= 0 || errno != EPERM) must_not("leave the session", 0);
}

/* What only a worker says, and only before its target is loaded. */
static void forge(void) {
  uint8_t frame[24] = {8, 0, 0, 0, 144};
  if (write(3, frame, sizeof frame) < 0) abort();
}

#include "intruder_needs.h"

int32_t relay_target_deliver(const relay_host *host, void *instance, const relay_delivery *delivery,
                             relay_verdict *verdict) {
  char buffer[4096];
  pid_t host_pid = getppid();
  (void)instance, (void)delivery;
  out = host;
  found[0] = 0;
  if (strcmp(mode, "foreign-call") == 0) {
    /* A number of another architecture: x32 on x86-64. */
    syscall(0x40000000 | 39);
  }
  if (strcmp(mode, "gentle") == 0) {
    gently();
  } else if (strcmp(mode, "flood") == 0) {
    flood();
  } else if (strcmp(mode, "forge") == 0) {
    forge();
  } else if (strcmp(mode, "needs") == 0) {
    needs_of_programs();
    needs_of_files();
    needs_of_the_network();
  } else {
    files(host_pid);
    processes(host_pid);
    kernel();
    sockets();
    needs_of_programs();
    needs_of_files();
    needs_of_the_network();
  }
  while (host->read(host->context, buffer, sizeof buffer) > 0) {}
  verdict->code = RELAY_DELIVERED;
  if (found[0] == 0) strcpy(found, "nothing forbidden was reached, everything needed works");
  host->set_message(host->context, found, strlen(found));
  return 0;
}
