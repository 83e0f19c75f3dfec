/** Keys of a handler. */
export const HANDLER_KEYS = ["type", "command", "module", "export", "env", "timeout", "retryWait"] as const;
const OWN_KEYS = ["handlers", "commands", "concurrency", "tags", "retryWait", "metrics", "hooks"] as const;
/** Keys of PerfectSched's files that mean nothing here, and why. */
export const OTHER_KEYS: Readonly<Record<string, string>> = {
  poll_interval: "workers do not poll, they watch",
  alive_time: "workers keep their tasks by themselves; see the setting ttl",
  timezone: "every schedule has its own",
  log: "see the setting logFile",
  ...told("schedules are in etcd", "type", "url", "table", "sslca", "max_acquire"),
  ...told("see the setting", "endpoints", "prefix", "transport", "connectTimeout"),
  ...told("see the setting", "user", "passwordFile", "allowPlaintextPassword"),
  ...told("see the setting", "cacert", "cert", "key", "serverName", "insecureSkipTlsVerify"),
};

/** All that may stand in a worker's file. */
export const KEYS = [...OWN_KEYS, "retry_wait", ...Object.keys(OTHER_KEYS)];

function told(why: string, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}
