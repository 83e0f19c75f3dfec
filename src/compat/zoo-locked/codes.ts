/** EINVAL: the only code of its own that zoo-locked has, for hosts that ZooKeeper's library refuses. */
export const INVALID = 22;
