/** Where etcd is, from picture to picture: revisions only grow, unless it is no longer the etcd that was there. */
export class Course {
  #revision = 0n;

  /** @returns what is wrong with a revision after those before, for people; undefined where nothing is */
  see(revision: bigint): string | undefined {
    const before = this.#revision;
    this.#revision = revision;
    if (revision >= before) return undefined;
    return `etcd is at revision ${revision}, it was at ${before}: restored, or another one`;
  }
}
