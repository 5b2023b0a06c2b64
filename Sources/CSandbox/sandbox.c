#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CLONE_THREAD 0x00010000

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// The system calls that are refused. A call that an architecture lacks is left out there.
static const unsigned refused[] = {
  __NR_socket, __NR_socketpair, __NR_connect, __NR_bind, __NR_listen, __NR_accept, __NR_accept4,
  __NR_sendto, __NR_sendmsg, __NR_sendmmsg, __NR_ptrace,
  __NR_process_vm_readv, __NR_process_vm_writev, __NR_pidfd_open,
  __NR_pidfd_getfd, __NR_pidfd_send_signal, __NR_unlinkat, __NR_renameat2, __NR_linkat,
  __NR_symlinkat, __NR_mkdirat, __NR_mknodat, __NR_fchmodat, __NR_fchownat, __NR_truncate,
  __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, __NR_bpf,
  __NR_perf_event_open, __NR_keyctl, __NR_add_key, __NR_request_key, __NR_io_uring_setup,
  __NR_userfaultfd, __NR_memfd_create, __NR_open_by_handle_at, __NR_shmget, __NR_msgget,
  __NR_mq_open, __NR_personality, __NR_openat2, __NR_ftruncate, __NR_fallocate,
#ifdef __NR_unlink
  __NR_unlink, __NR_rename, __NR_link, __NR_symlink, __NR_mkdir, __NR_rmdir, __NR_mknod,
  __NR_chmod, __NR_chown, __NR_creat,
#endif
#ifdef __NR_renameat
  __NR_renameat,
#endif
  // The calls that start programs and end them.
  __NR_execve, __NR_execveat, __NR_kill, __NR_tkill, __NR_prlimit64,
#ifdef __NR_fork
  __NR_fork, __NR_vfork,
#endif
};

enum {
  all = sizeof refused / sizeof *refused,
#ifdef __NR_fork
  for_programs = 7,
#else
  for_programs = 5,
#endif
};

#ifdef ARCHITECTURE
static int install(struct sock_filter *filter, unsigned count) {
  struct sock_fprog program = {.len = (unsigned short)count, .filter = filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) return errno;
  return 0;
}

// A system call that is refused where the test of one argument has the result `refused_if`.
struct rule {
  unsigned call;
  unsigned argument;
  unsigned short test;  // BPF_JSET or BPF_JEQ, applied to the argument and `value`
  unsigned value;
  _Bool refused_if;
};

// Installs a second filter beside the one in `bowser_confine`; of the two, the kernel applies the
// stricter result. Only the low half of each argument is compared, which contains all the values
// here.
static int confine_arguments(_Bool starts_programs) {
  enum { writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND, name_spaces = 0x7E020000 };
  const struct rule rules[] = {
    {__NR_openat, 2, BPF_JSET, writes, 1},
#ifdef __NR_open
    {__NR_open, 1, BPF_JSET, writes, 1},
#endif
    // Signals only to the process itself.
    {__NR_tgkill, 0, BPF_JEQ, (unsigned)getpid(), 0},
    {__NR_clone, 0, BPF_JSET, name_spaces, 1},
    // Threads, but no other processes. This rule comes last because it does not apply where
    // `starts_programs` is set.
    {__NR_clone, 0, BPF_JSET, CLONE_THREAD, 0},
  };
  const unsigned most = sizeof rules / sizeof *rules - (starts_programs ? 1 : 0);
  struct sock_filter filter[5 * sizeof rules / sizeof *rules + 4];
  unsigned count = 0;
  for (const struct rule *rule = rules; rule < rules + most; rule++) {
    filter[count++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, rule->call, 0, 3);
    filter[count++] = (struct sock_filter)BPF_STMT(
        BPF_LD | BPF_W | BPF_ABS,
        (unsigned)(offsetof(struct seccomp_data, args) + 8 * rule->argument));
    filter[count++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | rule->test | BPF_K, rule->value, rule->refused_if ? 0 : 1,
        rule->refused_if ? 1 : 0);
    filter[count++] = (struct sock_filter)BPF_STMT(
        BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA));
  }
  // The flags of clone3 lie in memory, which a filter cannot read. With ENOSYS the caller falls
  // back to clone.
  filter[count++] = (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1);
  filter[count++] = (struct sock_filter)BPF_STMT(
      BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (ENOSYS & SECCOMP_RET_DATA));
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  return install(filter, count);
}
#endif

int bowser_confine(_Bool starts_programs) {
#ifndef ARCHITECTURE
  return ENOSYS;
#else
  // One comparison for each call. All of them jump to the same end, which returns EPERM.
  const unsigned most = starts_programs ? all - for_programs : all;
  struct sock_filter filter[all + 8];
  unsigned count = 0;
  filter[count++] = (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  filter[count++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  filter[count++] = (struct sock_filter)BPF_STMT(
      BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  // Numbers from 0x40000000 on are the same calls in their 32-bit variant (x32).
  filter[count++] = (struct sock_filter)BPF_JUMP(
      BPF_JMP | BPF_JGE | BPF_K, 0x40000000, (unsigned char)(most + 1), 0);
  for (unsigned call = 0; call < most; call++) {
    filter[count++] = (struct sock_filter)BPF_JUMP(
        BPF_JMP | BPF_JEQ | BPF_K, refused[call], (unsigned char)(most - call), 0);
  }
  filter[count++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  filter[count++] = (struct sock_filter)BPF_STMT(
      BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (EPERM & SECCOMP_RET_DATA));
  int failed = install(filter, count);
  return failed != 0 ? failed : confine_arguments(starts_programs);
#endif
}
