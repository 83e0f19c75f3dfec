import { UsageError } from "../../base/errors.ts";
import { clean, quoted } from "../../base/text.ts";
import { parseCron } from "../../schedule/cron.ts";
import type { Definition } from "../../schedule/definition.ts";
import { firstDue } from "../../schedule/plan.ts";
import { secondReading } from "../../schedule/second-reading.ts";
import { signature } from "../../work/operate/ports.ts";
import { adding } from "../../work/schedule/deeds.ts";
import { reasonFlag, textFlag } from "../flags.ts";
import type { Call } from "../spec.ts";
import { type Desk, withStore } from "../with-store.ts";
import { Amending } from "./amending.ts";
import { givenIn, json, withGiven } from "./definition-input.ts";
import { instantFlag } from "./instant.ts";
import { nextLines } from "./next-lines.ts";

export const execute = withStore(async (call, world, desk) => {
  const { id, type, cron, data } = argumentsOf(call);
  const second = await secondReading(parseCron(cron));
  if (second !== undefined && call.verbosity >= 0) world.err(`signalbox: note: ${clean(second.detail)}\n`);
  const now = desk.clock.wall();
  if (data !== undefined && textFlag(call, "data") !== undefined)
    throw new UsageError("data was given twice: as an argument, and with --data");
  const given = givenIn(call, "UTC", now);
  const base = { cron, timezone: "UTC", ...(type !== undefined && { type }) };
  const definition = {
    ...withGiven(base, { ...given, ...(data !== undefined && { data: json(data) }) }, call),
    ...pauseIn(call, desk, now),
  };
  const start = instantFlag(call, "start", definition.timezone, now);
  const at = instantFlag(call, "at", definition.timezone, now);
  const first = { ...(start !== undefined && { start }), ...(at !== undefined && { at }) };
  if (firstDue(id, definition, now, first).next === undefined)
    throw new UsageError(`schedule ${quoted(id)} would never fire: ${neverBecause(definition)}`);
  const { code } = await new Amending(call, world, desk, {
    amendment: adding(id, definition, first),
    nothing: `schedule ${quoted(id)} is so already`,
    question: () => `Add schedule ${id}?`,
    after: ([change]) => (change?.due === undefined ? [] : nextLines(id, definition, change.due, 3)),
  }).run();
  return code;
});

function neverBecause({ cron, timezone, end }: Definition): string {
  if (end !== undefined)
    return `nothing of ${quoted(cron)} comes before its --end, ${new Date(end).toISOString()}`;
  return `the clocks of ${timezone} skip ${quoted(cron)} every year; another hour, or --timezone UTC`;
}

function pauseIn(call: Call, desk: Desk, at: number) {
  if (!call.flags.paused) return {};
  const why = reasonFlag(call);
  return { pause: { by: signature(desk.operator), at, ...(why !== undefined && { why }) } };
}

interface Arguments {
  id: string;
  type?: string;
  cron: string;
  data?: string;
}

/** `KEY TYPE CRON [DATA]`, or with a command `KEY CRON`. @throws UsageError */
function argumentsOf(call: Call): Arguments {
  const [id = "", first = "", second, data] = call.args;
  const hasCommand = call.command.length > 0 || textFlag(call, "command") !== undefined;
  if (second === undefined && hasCommand) return { id, cron: first };
  if (second === undefined)
    throw new UsageError(
      `CRON is missing, or a command: write KEY TYPE CRON, or KEY CRON -- COMMAND; ${quoted(first)} was taken for the type`,
    );
  if (/^\S+$/.test(second) && /\s/.test(first))
    throw new UsageError(
      `${quoted(first)} looks like a cron text, but stands where the type is wanted: KEY TYPE CRON`,
    );
  return { id, cron: second, ...(first !== "-" && { type: first }), ...(data !== undefined && { data }) };
}
