import { type Command, isRowCommand } from "../../commands/spec.ts";
import type { CommandPreview } from "./preview.ts";

/**
 * Finds what the user must type to confirm a command; undefined if Enter is enough.
 * @param items  the arguments of the command for each item; the last one is the name
 */
export function findConfirmationWord(
  command: Command,
  items: readonly (readonly string[])[],
  previews: readonly CommandPreview[] = [],
): string | undefined {
  const danger = isRowCommand(command) ? command.rows.danger : undefined;
  const stopsAll = danger === "stopsRuns" && items.some((args) => args.includes("all"));
  const endsRuns = danger === "endsRuns" && previews.some(({ isLive }) => isLive);
  if (!stopsAll && !endsRuns) return undefined;
  if (items.length > 1) return String(items.length);
  return stopsAll ? "all" : items[0]?.at(-1);
}
