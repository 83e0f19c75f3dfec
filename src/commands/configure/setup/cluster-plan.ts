/** A new etcd: its members, and what a host has to know of it. */
export interface ClusterPlan {
  /** Names or addresses of the members. */
  hosts: readonly string[];
  /** A text that no other cluster has: etcd computes the cluster's id from it. */
  token: string;
  /** The prefix of signalbox's keys. */
  prefix: string;
  /** PEM texts. */
  certificates: { ca: string; cert: string; key: string };
  /** The password of the user that runs jobs. */
  runnerPassword: string;
}

/** The etcd user that runs jobs. */
export const RUNNER = "runner";

/** Returns the addresses of the members for clients. */
export function listEndpoints({ hosts }: Pick<ClusterPlan, "hosts">): string[] {
  return hosts.map((host) => `https://${host}:2379`);
}

/** Returns the address of a member for the other members. */
export function buildPeerAddress(host: string): string {
  return `https://${host}:2380`;
}
