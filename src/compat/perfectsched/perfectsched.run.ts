import { UsageError } from "../../base/errors.ts";
import { clean } from "../../base/text.ts";
import { VERSION } from "../../base/version.ts";
import { explained } from "../../commands/perform.ts";
import type { Listed } from "../../commands/schedule/list.run.ts";
import { daysNotes } from "../../commands/schedule/perfectsched/convert.ts";
import { AlreadyExistsError, NotFoundError } from "../../commands/schedule/sheets.ts";
import type { Call, Execute, Surroundings } from "../../commands/spec.ts";
import { readSetup, type Setup } from "./config.ts";
import { handlersFor } from "./handlers.ts";
import { type Add, type Line, type Order, parseLine } from "./line.ts";
import { tableLine, USAGE } from "./words.ts";

/** What the tool ends with when anything is wrong. */
const FAILED = 1;
/** And the number of the signal that ended it. */
const SIGNALLED = 128;

export const execute: Execute = async (call, world) => {
  const line = parseLine(call.args, world.env.RAILS_ENV);
  try {
    if ("shows" in line) {
      world.out(line.shows === "help" ? USAGE : `perfectsched of signalbox ${VERSION}\n`);
      return 0;
    }
    if ("usage" in line) {
      world.out(line.why === undefined ? USAGE : `${USAGE}\nerror: ${clean(line.why)}\n`);
      return FAILED;
    }
    const setup = readSetup(line.config, line.environment, world.env);
    for (const note of setup.notes) say(world, `note: ${note}`);
    const code = await done(line, setup, world);
    return code === 0 || code > SIGNALLED ? code : FAILED;
  } catch (error) {
    say(world, toldBy(error, "order" in line ? line.order : undefined));
    return FAILED;
  }
};

function done(line: Line, setup: Setup, world: Surroundings): Promise<number> {
  const { order } = line;
  switch (order.name) {
    case "list":
      return list(setup, world);
    case "add":
      return add(order, setup, world);
    case "delete":
      return remove(order.key, setup, world);
    case "init":
      return init(setup, world);
    case "run":
      return runWorker(line, order.class, setup, world);
  }
}

/** A call of one of our own commands. */
function callOf({ settings }: Setup, args: readonly string[] = [], flags: Call["flags"] = {}): Call {
  return { flags, settings, args, command: [], verbosity: 0 };
}

async function list(setup: Setup, world: Surroundings): Promise<number> {
  const { HEAD, listing } = await import("../../commands/schedule/list.run.ts");
  const lineOf = (cells: readonly string[]) => tableLine(cells.map((cell) => clean(cell)));
  const soonest = (one: Listed, other: Listed) =>
    (one.runAt ?? Number.POSITIVE_INFINITY) - (other.runAt ?? Number.POSITIVE_INFINITY) || 0;
  const text = (schedules: readonly Listed[]) =>
    [HEAD, ...[...schedules].sort(soonest).map(({ cells }) => cells)].map(lineOf).join("");
  return await listing(text)(callOf(setup), world);
}

/** Prints nothing where all is well. */
async function add(order: Add, setup: Setup, world: Surroundings): Promise<number> {
  const { key, type, cron, data, delay, start, at } = order;
  const timezone = order.timezone ?? setup.timezone ?? "UTC";
  if (delay < 0) throw new UsageError(`-d: the delay ${delay} is negative`);
  const flags = {
    ...{ timezone, data: JSON.stringify(data) },
    ...(delay > 0 && { delay: `${delay}s` }),
    ...(start !== undefined && { start: instantOf("-s", start) }),
    ...(at !== undefined && { at: instantOf("-a", at) }),
  };
  for (const note of [...daysNotes(cron), ...zoneNotes(order, setup)]) say(world, `note: ${note}`);
  const { execute: addOne } = await import("../../commands/schedule/add.run.ts");
  return await addOne(
    callOf(setup, [key, type === undefined || type === "" ? "-" : type, cron], flags),
    silent(world),
  );
}

function zoneNotes({ timezone }: Add, setup: Setup): string[] {
  if (timezone !== undefined || (setup.timezone ?? "UTC") === "UTC") return [];
  return [
    `the time zone is the configuration's, ${setup.timezone}; PerfectSched's own command line takes UTC unless -t is given`,
  ];
}

async function remove(key: string, setup: Setup, world: Surroundings): Promise<number> {
  const { execute: removeAll } = await import("../../commands/schedule/delete.run.ts");
  return await removeAll(callOf(setup, [key], { yes: true }), silent(world));
}

async function init(setup: Setup, world: Surroundings): Promise<number> {
  const { execute: check } = await import("../../commands/check/init.run.ts");
  return await check(callOf(setup), world);
}

async function runWorker(line: Line, name: string, setup: Setup, world: Surroundings): Promise<number> {
  const { settings, log, retryWait, keys } = setup;
  const { file, environment, notes } = handlersFor(line, name, setup);
  for (const note of notes) say(world, `note: ${note}`);
  const { work } = await import("../../commands/schedule/worker.run.ts");
  const call: Call = {
    ...callOf(setup, [], { handlers: file, ...(environment !== undefined && { environment }) }),
    settings: { ...settings, ...(log !== undefined && { logFile: log }) },
  };
  // PerfectSched's worker has one task at a time.
  const usual = { concurrency: 1, ...(retryWait !== undefined && { retryWait }) };
  return await work(call, world, { keysRead: keys, usual });
}

/** Seconds since the epoch, so written that nothing takes them for milliseconds. @throws UsageError */
function instantOf(option: string, seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime()) || seconds < 0)
    throw new UsageError(`${option}: ${seconds} is no time in seconds since 1970`);
  return date.toISOString();
}

function silent(world: Surroundings): Surroundings {
  return { ...world, out: () => true };
}

/** Ruby would print the error and its class; whoever looks for these words finds them. */
function toldBy(error: unknown, order: Order | undefined): string {
  const key = order !== undefined && "key" in order ? order.key : "";
  if (error instanceof AlreadyExistsError) return `schedule key=${key} already exists (AlreadyExistsError)`;
  if (error instanceof NotFoundError) return `schedule key=${key} does not exist (NotFoundError)`;
  return explained(error).message;
}

function say(world: Surroundings, line: string): void {
  for (const [at, part] of line.split("\n").entries())
    world.err(`${at === 0 ? "perfectsched: " : ""}${clean(part)}\n`);
}
