/** EINVAL, the exit code of zoo-locked for hosts that ZooKeeper's library refuses. */
export const INVALID = 22;
/** ENOENT, the exit code if a host's name does not resolve. */
export const UNKNOWN_HOST = 2;

/** Exit codes of cronlock and golock. Other codes are those of the command. */
export const CRONLOCK_CODES = { refused: 200, failure: 201, timeout: 202 } as const;
