import { ConfigError, UsageError } from "../../base/errors.ts";
import { quoted } from "../../base/text.ts";
import { checkedName } from "../../protocol/names.ts";
import { parseCron } from "../../schedule/cron.ts";
import type { Definition } from "../../schedule/definition.ts";
import { NotFoundError } from "../../schedule/errors.ts";
import { checkZone } from "../../schedule/zone.ts";
import { readSeen, type Seen } from "../../work/schedule/seen.ts";
import { textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";
import type { Desk } from "../with-store.ts";

/** A schedule that is there and can be read. */
export interface Readable extends Seen {
  definition: Definition;
}

/** @throws NotFoundError; ConfigError where it cannot be read */
export async function readOne(desk: Desk, given: string): Promise<Readable> {
  const id = checkedName("schedule", given);
  const seen = (await readSeen(desk, [id], desk.signal)).schedules.get(id);
  if (seen === undefined || seen.definitionMod === 0n)
    throw new NotFoundError(`there is no schedule ${quoted(id)}; see: signalbox schedule list`);
  if (seen.definition === undefined)
    throw new ConfigError(
      `schedule ${quoted(id)} cannot be read: ${seen.fault}; see: signalbox schedule edit`,
    );
  return { ...seen, definition: seen.definition };
}

/**
 * What --cron, or a cron text where a KEY could stand, and --timezone say; undefined where a schedule is meant. A text with a
 * space, or a macro, is no id that anybody would choose.
 * @throws UsageError, CronError
 */
export function cronGiven(call: Call): { cron: string; timezone: string } | undefined {
  const [key] = call.args;
  const flag = textFlag(call, "cron");
  const zone = textFlag(call, "timezone");
  if (flag !== undefined && key !== undefined)
    throw new UsageError("--cron was given beside a KEY; one of them is enough");
  const cron = flag ?? (key !== undefined && /^@|\s/.test(key.trim()) ? key : undefined);
  if (cron === undefined && zone !== undefined)
    throw new UsageError("--timezone goes with a cron text: a schedule has its own");
  if (cron === undefined) return undefined;
  parseCron(cron);
  return { cron, timezone: checkZone(zone ?? "UTC") };
}
