import { UsageError } from "../../../base/errors.ts";
import { generateRunId } from "../../../base/ids.ts";
import { quoteText } from "../../../base/text.ts";
import { checkZone } from "../../../schedule/cron/zone.ts";
import { formatOncePlan, MANUAL } from "../../../schedule/plan/plan.ts";
import { getTextFlag } from "../../command-line/flags.ts";
import { INSTANT_FORM, parseInstant } from "../../command-line/instant.ts";
import type { Call } from "../../spec.ts";
import type { ActionContext } from "../../store-command.ts";

/** What the arguments of a new schedule say. */
export interface AddArguments {
  id: string;
  type?: string;
  cron: string;
  /** JSON. */
  data?: string;
  /** The first occurrence is not before this instant, ms since the epoch, unless --start is given. */
  start?: number;
}

/**
 * Parses `KEY TYPE CRON [DATA]`, or `KEY CRON` with a command. With --after, CRON may be missing.
 * @throws UsageError
 */
export function parseAddArguments(call: Call): AddArguments {
  const [id = "", first, second, data] = call.args;
  const isChained = (getTextFlag(call, "after") ?? "") !== "";
  if (second === undefined) return parseShortArguments(call, id, first, isChained);
  if (first !== undefined && /^\S+$/.test(second) && /\s/.test(first))
    throw new UsageError(`TYPE must come before CRON: KEY TYPE CRON; got ${quoteText(first)} as TYPE`);
  return {
    id,
    cron: second,
    ...(first !== "-" && first !== undefined && { type: first }),
    ...(data !== undefined && { data }),
  };
}

function parseShortArguments(
  call: Call,
  id: string,
  first: string | undefined,
  isChained: boolean,
): AddArguments {
  const hasCommand = call.command.length > 0 || getTextFlag(call, "command") !== undefined;
  if (first !== undefined && hasCommand) return { id, cron: first };
  if (isChained) return { id, cron: MANUAL, ...(first !== undefined && first !== "-" && { type: first }) };
  throw new UsageError(
    first === undefined
      ? "CRON is missing: write KEY TYPE CRON, KEY CRON -- COMMAND, or --after KEY for a schedule that follows another"
      : `CRON or COMMAND is missing: write KEY TYPE CRON, or KEY CRON -- COMMAND; got ${quoteText(first)} as TYPE`,
  );
}

/** Parses `WHEN [TYPE] [DATA]`. @throws UsageError */
export function parseOnceArguments({ call, clock, random }: ActionContext): AddArguments {
  const [when = "", type, data] = call.args;
  const zone = checkZone(getTextFlag(call, "timezone") || "UTC");
  const now = clock.getWallTime();
  const at = parseInstant(when, zone, now);
  if (at === undefined)
    throw new UsageError(`WHEN: ${quoteText(when)} is not an instant; write it as ${INSTANT_FORM}`);
  if (at < now) throw new UsageError(`WHEN: ${new Date(at).toISOString()} has passed`);
  const hasCommand = call.command.length > 0 || getTextFlag(call, "command") !== undefined;
  if (!hasCommand && type === undefined)
    throw new UsageError("COMMAND or TYPE is missing: write WHEN -- COMMAND, or WHEN TYPE [DATA]");
  const stamp = new Date(at).toISOString().slice(0, 19).replaceAll(/[-:]/g, "");
  const id = getTextFlag(call, "id") ?? `at-${stamp}-${generateRunId(random).slice(-4)}`;
  return {
    id,
    cron: formatOncePlan(at),
    start: at,
    ...(type !== undefined && type !== "-" && { type }),
    ...(data !== undefined && { data }),
  };
}
