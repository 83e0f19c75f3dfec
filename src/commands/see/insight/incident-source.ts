import type { CommandContext } from "../../store-command.ts";

/** Names the cluster that a report is about. */
export function describeCluster({ settings: { endpoints, prefix } }: CommandContext): string {
  return `${endpoints.join(",")} ${prefix}`;
}

/** Names the operator who writes a report: `USER@HOST`. */
export function describeAuthor({ operator, facts }: CommandContext): string {
  return `${operator.user}@${facts.host}`;
}
