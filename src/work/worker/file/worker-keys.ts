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

function explainKeys(why: string, ...keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, why]));
}
