import type { Millis } from "../base/clock.ts";
/** The status that a member of etcd reports. */
export interface AnsweringStatus {
  endpoint: string;
  ok: true;
  version: string;
  memberId: bigint;
  leaderId: bigint;
  revision: bigint;
  raftTerm: bigint;
  raftIndex: bigint;
  /** Size of the database file, bytes. */
  dbSize: number;
  /**
   * Bytes of the database in use; a defragmentation frees the rest. Not available on every transport and version.
   */
  dbInUse?: number;
  clusterId?: bigint;
  errors: readonly string[];
  /** Round-trip time of the request. */
  millis: Millis;
}

/** A member of the cluster. It need not be a configured endpoint. */
export interface ClusterMember {
  id: bigint;
  /** Empty until the member has joined. */
  name: string;
  clientUrls: readonly string[];
  /** The member is a learner and does not count for a majority. */
  isLearner: boolean;
}

/**
 * Finds the status to compare the others with: that of the leader, or else the most advanced one. A member that is cut off
 * keeps naming its last leader, so only the highest term counts. Or it names no leader and raises its term forever, so
 * members that name a leader come first.
 */
export function findTopStatus(answers: readonly AnsweringStatus[]): AnsweringStatus | undefined {
  const isAhead = (one: AnsweringStatus, other: AnsweringStatus) =>
    one.raftTerm === other.raftTerm ? one.raftIndex > other.raftIndex : one.raftTerm > other.raftTerm;
  const led = answers.filter(({ leaderId }) => leaderId !== 0n);
  const first = (led.length > 0 ? led : answers).reduce<AnsweringStatus | undefined>(
    (best, answer) => (best === undefined || isAhead(answer, best) ? answer : best),
    undefined,
  );
  return answers.find((answer) => isLeader(answer) && answer.raftTerm === first?.raftTerm) ?? first;
}

export function isLeader({ memberId, leaderId }: AnsweringStatus): boolean {
  return memberId === leaderId;
}
