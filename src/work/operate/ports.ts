import type { ObserverPorts } from "../observe/ports.ts";

/** What acting on etcd needs of the world. */
export interface OperatorPorts extends ObserverPorts {
  settings: ObserverPorts["settings"] & { readOnly: boolean };
  operator: Operator;
}

/** Who acts, as the audit keeps it. */
export interface Operator {
  user: string;
  host: string;
  /** Who became `user` by sudo. */
  sudoUser?: string;
}

/** A person in a word, for tickets and drains. */
export function signature({ user, host, sudoUser }: Operator): string {
  return `${sudoUser ?? user}@${host}`;
}
