/*
 * A Node-API addon for what Node cannot do: identify the peer of a Unix socket, read the boot-time clock (os.uptime() reads a
 * file that containers may replace), keep descriptors open over an execve(), and signal a process without the risk that its
 * id has been reused. It exports
 *
 *   readPeer(descriptor) -> [pid, uid, gid, group, ...], or an errno as a number
 *   readBootTime()       -> CLOCK_BOOTTIME in milliseconds
 *   keepOpen(descriptor)    lets the next program of this process inherit it: at its start, Node marks all as close-on-exec
 *   openProcess(pid) -> a pidfd, or a negative errno
 *   signalProcess(pidfd, number) -> 0, or a negative errno
 *
 * It uses no libc, so that one file works with every libc that a Node is linked with, and needs no headers of Node: the
 * functions below keep their signatures in all versions of Node.
 */
typedef struct napi_env_ *napi_env;
typedef struct napi_value_ *napi_value;
typedef struct napi_info_ *napi_info;
typedef napi_value (*napi_callback)(napi_env, napi_info);
typedef unsigned int u32;

/* Each returns 0 when it succeeds; otherwise an exception is pending, or the arguments are of the wrong types. */
int napi_get_cb_info(napi_env, napi_info, __SIZE_TYPE__ *count, napi_value *arguments, napi_value *self, void **data);
int napi_get_value_int32(napi_env, napi_value, int *);
int napi_create_int32(napi_env, int, napi_value *);
int napi_create_double(napi_env, double, napi_value *);
int napi_create_uint32(napi_env, u32, napi_value *);
int napi_create_array(napi_env, napi_value *);
int napi_set_element(napi_env, napi_value, u32 index, napi_value);
int napi_set_named_property(napi_env, napi_value object, const char *, napi_value);
int napi_create_function(napi_env, const char *, __SIZE_TYPE__, napi_callback, void *, napi_value *);

enum { PIDFD_SEND_SIGNAL = 424, PIDFD_OPEN = 434 }; /* on every processor */
enum { BOOT_TIME = 7 };
enum { SET_DESCRIPTOR_FLAGS = 2 };
enum { LEVEL_SOCKET = 1, PEER_CREDENTIALS = 17, PEER_GROUPS = 59, CREDENTIALS = 3, GROUPS_MAX = 65536 };

/* pid, uid, gid, then the groups. Only the agent's socket thread uses it. */
static u32 peer[CREDENTIALS + GROUPS_MAX];

#if defined __x86_64__
enum { GETSOCKOPT = 55, FCNTL = 72, CLOCK_GETTIME = 228 };

static long call_kernel(long number, long a, long b, long c, void *d, void *e) {
  register void *arg4 __asm__("r10") = d;
  register void *arg5 __asm__("r8") = e;
  __asm__ volatile("syscall"
                   : "+a"(number)
                   : "D"(a), "S"(b), "d"(c), "r"(arg4), "r"(arg5)
                   : "rcx", "r11", "memory");
  return number;
}
#elif defined __aarch64__
enum { FCNTL = 25, CLOCK_GETTIME = 113, GETSOCKOPT = 209 };

static long call_kernel(long number, long a, long b, long c, void *d, void *e) {
  register long function __asm__("x8") = number;
  register long arg1 __asm__("x0") = a;
  register long arg2 __asm__("x1") = b;
  register long arg3 __asm__("x2") = c;
  register void *arg4 __asm__("x3") = d;
  register void *arg5 __asm__("x4") = e;
  __asm__ volatile("svc 0" : "+r"(arg1) : "r"(function), "r"(arg2), "r"(arg3), "r"(arg4), "r"(arg5) : "memory");
  return arg1;
}
#else
#error "no system call for this processor"
#endif

static long get_option(int fd, int option, void *value, u32 *length) {
  return call_kernel(GETSOCKOPT, fd, LEVEL_SOCKET, option, value, length);
}

/* Fills `peer`. Returns how many numbers it has, or a negative errno. */
static long read_peer(int fd) {
  u32 length = CREDENTIALS * sizeof *peer;
  long failed = get_option(fd, PEER_CREDENTIALS, peer, &length);
  if (failed) return failed;
  length = GROUPS_MAX * sizeof *peer;
  failed = get_option(fd, PEER_GROUPS, peer + CREDENTIALS, &length); /* Linux 4.13 */
  return failed ? failed : (long)(CREDENTIALS + length / sizeof *peer);
}

static napi_value create_list(napi_env env, u32 count) {
  napi_value list, number;
  if (napi_create_array(env, &list)) return 0;
  for (u32 i = 0; i < count; i++)
    if (napi_create_uint32(env, peer[i], &number) || napi_set_element(env, list, i, number)) return 0;
  return list;
}

static napi_value handle_read_peer(napi_env env, napi_info info) {
  __SIZE_TYPE__ count = 1;
  napi_value argument, result;
  int fd;
  if (napi_get_cb_info(env, info, &count, &argument, 0, 0) || count < 1) return 0;
  if (napi_get_value_int32(env, argument, &fd)) return 0;
  long found = read_peer(fd);
  if (found > 0) return create_list(env, (u32)found);
  return napi_create_int32(env, (int)-found, &result) ? 0 : result;
}

static napi_value handle_read_boot_time(napi_env env, napi_info info) {
  struct {
    long seconds, nanoseconds;
  } now = {0, 0};
  napi_value result;
  (void)info;
  call_kernel(CLOCK_GETTIME, BOOT_TIME, (long)&now, 0, 0, 0);
  double ms = (double)now.seconds * 1e3 + (double)now.nanoseconds / 1e6;
  return napi_create_double(env, ms, &result) ? 0 : result;
}

static napi_value handle_keep_open(napi_env env, napi_info info) {
  __SIZE_TYPE__ count = 1;
  napi_value argument;
  int fd;
  if (napi_get_cb_info(env, info, &count, &argument, 0, 0) || count < 1) return 0;
  if (!napi_get_value_int32(env, argument, &fd)) call_kernel(FCNTL, fd, SET_DESCRIPTOR_FLAGS, 0, 0, 0);
  return 0;
}

/* Reads numeric arguments. Returns 0 if all are present. */
static int get_numbers(napi_env env, napi_info info, int *numbers, __SIZE_TYPE__ wanted) {
  __SIZE_TYPE__ count = wanted;
  napi_value arguments[2];
  if (napi_get_cb_info(env, info, &count, arguments, 0, 0) || count < wanted) return -1;
  for (__SIZE_TYPE__ i = 0; i < wanted; i++)
    if (napi_get_value_int32(env, arguments[i], numbers + i)) return -1;
  return 0;
}

static napi_value handle_open_process(napi_env env, napi_info info) {
  int pid;
  napi_value result;
  if (get_numbers(env, info, &pid, 1)) return 0;
  return napi_create_int32(env, (int)call_kernel(PIDFD_OPEN, pid, 0, 0, 0, 0), &result) ? 0 : result;
}

static napi_value handle_signal_process(napi_env env, napi_info info) {
  int numbers[2];
  napi_value result;
  if (get_numbers(env, info, numbers, 2)) return 0;
  long failed = call_kernel(PIDFD_SEND_SIGNAL, numbers[0], numbers[1], 0, 0, 0);
  return napi_create_int32(env, (int)failed, &result) ? 0 : result;
}

static int export_function(napi_env env, napi_value exports, const char *name, napi_callback callback) {
  napi_value function;
  if (napi_create_function(env, name, (__SIZE_TYPE__)-1, callback, 0, &function)) return -1;
  return napi_set_named_property(env, exports, name, function);
}

__attribute__((visibility("default"))) int node_api_module_get_api_version_v1(void) { return 8; }

__attribute__((visibility("default"))) napi_value napi_register_module_v1(napi_env env, napi_value exports) {
  if (export_function(env, exports, "readPeer", handle_read_peer)) return 0;
  if (export_function(env, exports, "readBootTime", handle_read_boot_time)) return 0;
  if (export_function(env, exports, "keepOpen", handle_keep_open)) return 0;
  if (export_function(env, exports, "openProcess", handle_open_process)) return 0;
  if (export_function(env, exports, "signalProcess", handle_signal_process)) return 0;
  return exports;
}
