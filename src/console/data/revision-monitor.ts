/**
 * Checks the etcd revision of each snapshot. Revisions only grow, unless etcd was restored or replaced by another
 * cluster.
 */
export class RevisionMonitor {
  #revision = 0n;

  /** @returns a message for the user if the revision is lower than the one before, otherwise undefined */
  checkRevision(revision: bigint): string | undefined {
    const before = this.#revision;
    this.#revision = revision;
    if (revision >= before) return undefined;
    return `the revision of etcd went from ${before} down to ${revision}: etcd was restored, or replaced`;
  }
}
