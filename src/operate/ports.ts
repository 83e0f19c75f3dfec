import type { ObserverPorts } from "../observe/ports.ts";

/** What changing etcd needs from its environment. */
export interface OperatorPorts extends ObserverPorts {
  settings: ObserverPorts["settings"] & { readOnly: boolean };
  operator: Operator;
}

/** The person who acts, as stored in the audit. */
export interface Operator {
  user: string;
  host: string;
  /** The user who became `user` with sudo. */
  sudoUser?: string;
}

/** Formats an operator as one word, for tickets and drains. */
export function formatOperator({ user, host, sudoUser }: Operator): string {
  return `${sudoUser ?? user}@${host}`;
}
