import { EXIT, UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { realClock } from "../../process/clock.ts";
import { type Definition, isPaused } from "../../schedule/definition.ts";
import { countFlag } from "../flags.ts";
import type { Call, Execute, Surroundings } from "../spec.ts";
import { json, table } from "../table.ts";
import { withStore } from "../with-store.ts";
import { pauseText } from "./change-lines.ts";
import { instantFlag, shownInstant } from "./instant.ts";
import { markText, type Next, nextFrom, nextOf } from "./next-lines.ts";
import { cronGiven, readOne } from "./one.ts";

/** More are not shown. */
const MOST = 1_000;

export const execute: Execute = async (call, world) => {
  const given = cronGiven(call);
  if (given === undefined && call.args.length === 0) throw new UsageError("a KEY or a CRON is missing");
  if (given === undefined) return await ofSchedule(call, world);
  const from = instantFlag(call, "from", given.timezone, realClock().wall()) ?? realClock().wall();
  return show(call, world, { definition: given, runs: nextFrom("", given, from, count(call)) });
};

const ofSchedule = withStore(async (call, world, desk) => {
  const { id, definition, due } = await readOne(desk, call.args[0] ?? "");
  const now = desk.clock.wall();
  const from = instantFlag(call, "from", definition.timezone, now);
  const runs =
    from === undefined && due !== undefined
      ? nextOf(id, definition, due, count(call))
      : nextFrom(id, definition, from ?? now, count(call));
  const note = isPaused(definition, now) ? `it is paused${pauseText(definition.pause)}` : undefined;
  return show(call, world, { id, definition, runs, note });
});

interface Shown {
  id?: string;
  definition: Definition;
  runs: readonly Next[];
  note?: string | undefined;
}

function show(call: Call, world: Surroundings, { id, definition, runs, note }: Shown): number {
  const { cron, timezone } = definition;
  if (call.flags.json) {
    world.out(json({ ...(id !== undefined && { id }), cron, timezone, rows: runs, note: note ?? null }));
    return EXIT.ok;
  }
  if (runs.length === 0) world.out("it never fires again\n");
  else world.out(table(["local", "scheduled", "run", "clock"], runs.map(rowOf)));
  if (note !== undefined && call.verbosity >= 0) world.err(`signalbox: note: ${clean(note)}\n`);
  return EXIT.ok;
}

function rowOf(run: Next): string[] {
  const mark = markText(run)
    .trim()
    .replace(/^\[|\]$/g, "");
  return [run.local, shownInstant(run.at), run.runAt === run.at ? "" : shownInstant(run.runAt), mark];
}

function count(call: Call): number {
  const wanted = countFlag(call, "count", 1) ?? 10;
  if (wanted > MOST) throw new UsageError(`--count: ${wanted} is more than ${MOST}`);
  return wanted;
}
