/** Keys of a handler. */
export const HANDLER_KEYS = ["type", "command", "module", "export", "env", "timeout", "retryWait"] as const;
const OWN_KEYS = ["handlers", "commands", "concurrency", "tags", "retryWait", "metrics", "hooks"] as const;
/** Keys of PerfectSched's files that have no effect here, and why. */
export const IGNORED_KEYS: Readonly<Record<string, string>> = {
  poll_interval: "workers do not poll, they watch",
  alive_time: "workers keep their tasks by themselves; see the setting ttl",
  timezone: "every schedule has its own",
  log: "see the setting logFile",
  ...explainKeys("schedules are in etcd", "type", "url", "table", "sslca", "max_acquire"),
  ...explainKeys("see the setting", "endpoints", "prefix", "transport", "connectTimeout"),
  ...explainKeys("see the setting", "user", "passwordFile", "allowPlaintextPassword"),
  ...explainKeys(
    "see the setting",
    "cacert",
    "cert",
    "key",
    "serverName",
    "insecureSkipTlsVerify",
    "clusterId",
  ),
};

/** All keys that a worker's file may contain. */
export const WORKER_FILE_KEYS = [...OWN_KEYS, "retry_wait", ...Object.keys(IGNORED_KEYS)];

function explainKeys(why: string, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}
