import { scheduleAdd } from "../../cli/commands/schedule/change.ts";
import { listCronNotes } from "../../cli/commands/schedule/perfectsched.ts";
import { AlreadyExistsError, NotFoundError } from "../../cli/commands/schedule/sheets.ts";
import type { Call, CommandExecutor, CommandIo } from "../../cli/frame/command.ts";
import { explainError } from "../../cli/frame/command-line/execute-command.ts";
import { parseCall } from "../../cli/frame/command-line/parse-call.ts";
import { UsageError } from "../../core/base/errors.ts";
import { clean, collectTexts } from "../../core/base/text.ts";
import { VERSION } from "../../core/base/version.ts";
import {
  type AddCommand,
  findHandlerFile,
  type PerfectschedCommand,
  type PerfectschedConfig,
  type PerfectschedLine,
  parsePerfectschedLine,
  readPerfectschedConfig,
} from "./options.ts";

const FAILED_EXIT_CODE = 1;
/** Exit codes above this are those of signals. */
const SIGNAL_EXIT_BASE = 128;

export const execute: CommandExecutor = async (call, io) => {
  const line = parsePerfectschedLine(call.args, io.env.RAILS_ENV);
  try {
    if ("shows" in line) {
      io.writeOutput(line.shows === "help" ? USAGE : `perfectsched of signalbox ${VERSION}\n`);
      return 0;
    }
    if ("usage" in line) {
      io.writeOutput(line.why === undefined ? USAGE : `${USAGE}\nerror: ${clean(line.why)}\n`);
      return FAILED_EXIT_CODE;
    }
    const setup = readPerfectschedConfig(line.config, line.environment, io.env);
    for (const note of setup.notes) writeMessage(io, `note: ${note}`);
    const code = await runPerfectsched({ line, setup, io });
    return code === 0 || code > SIGNAL_EXIT_BASE ? code : FAILED_EXIT_CODE;
  } catch (error) {
    writeMessage(io, formatError(error, "command" in line ? line.command : undefined));
    return FAILED_EXIT_CODE;
  }
};

/** A line to run, and its configuration. */
interface PerfectschedRun {
  line: PerfectschedLine;
  setup: PerfectschedConfig;
  io: CommandIo;
}

async function runPerfectsched(job: PerfectschedRun): Promise<number> {
  const { line, setup, io } = job;
  const { command } = line;
  switch (command.name) {
    case "list": {
      const { listSchedules } = await import("../../cli/commands/schedule/perfectsched-list.ts");
      return await listSchedules(buildCall(setup, [], {}), io);
    }
    case "add":
      return await addSchedule(command, job);
    case "delete": {
      const { deleteSchedules } = await import("../../cli/commands/schedule/change.impl.ts");
      const call = buildCall(setup, [command.key], { yes: true } as const);
      return await deleteSchedules.execute(call, silenceOutput(io));
    }
    case "init": {
      const { initHost } = await import("../../cli/commands/check/doctor.impl.ts");
      return await initHost(buildCall(setup, [], {}), io);
    }
    case "run":
      return await runWorker(command.class, job);
  }
}

/** Builds a call of a signalbox command. @typeParam F  its flags */
function buildCall<F extends object>(
  { settings }: PerfectschedConfig,
  args: readonly string[],
  flags: F,
): Call<F> {
  return { flags, settings, args, command: [], verbosity: 0 };
}

/** Adds a schedule. Prints nothing on success. */
async function addSchedule(command: AddCommand, { setup, io }: PerfectschedRun): Promise<number> {
  const { key, type, cron, data, delay, start, at } = command;
  const timezone = command.timezone ?? setup.timezone ?? "UTC";
  if (delay < 0) throw new UsageError(`-d: the delay ${delay} is negative`);
  const options = collectTexts([
    `--timezone=${timezone}`,
    "--catchup=all", // PerfectSched makes up missed runs one by one
    `--data=${JSON.stringify(data)}`,
    delay > 0 && `--delay=${delay}s`,
    start !== undefined && `--start=${formatInstant("-s", start)}`,
    at !== undefined && `--at=${formatInstant("-a", at)}`,
  ]);
  const { flags } = parseCall(scheduleAdd, ["KEY", ...options]);
  for (const note of [...listCronNotes({ cron, timezone }, Date.now()), ...buildZoneNotes(command, setup)])
    writeMessage(io, `note: ${note}`);
  const { addRecurring } = await import("../../cli/commands/schedule/change.impl.ts");
  return await addRecurring.execute(
    buildCall(setup, [key, type === undefined || type === "" ? "-" : type, cron], flags),
    silenceOutput(io),
  );
}

function buildZoneNotes({ timezone }: AddCommand, setup: PerfectschedConfig): string[] {
  if (timezone !== undefined || (setup.timezone ?? "UTC") === "UTC") return [];
  return [
    `the time zone is ${setup.timezone}, from the configuration; PerfectSched's own command line uses UTC unless -t is given`,
  ];
}

async function runWorker(name: string, { line, setup, io }: PerfectschedRun): Promise<number> {
  const { settings, log, retryWait, keys } = setup;
  const { file, environment, notes } = findHandlerFile(line, name, setup);
  for (const note of notes) writeMessage(io, `note: ${note}`);
  const { runWorker: work } = await import("../../cli/commands/schedule/worker.impl.ts");
  const call = {
    ...buildCall(setup, [], { handlers: file, ...(environment !== undefined && { environment }) }),
    settings: { ...settings, ...(log !== undefined && { logFile: log }) },
  };
  // PerfectSched's worker runs one task at a time.
  const usual = { concurrency: 1, ...(retryWait !== undefined && { retryWait }) };
  return await work(call, io, { keysRead: keys, usual });
}

/** Formats seconds since the epoch as ISO 8601, so that they are not taken for milliseconds. @throws UsageError */
function formatInstant(option: string, seconds: number): string {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime()) || seconds < 0)
    throw new UsageError(`${option}: ${seconds} is not a time in seconds since 1970`);
  return date.toISOString();
}

function silenceOutput(io: CommandIo): CommandIo {
  return { ...io, writeOutput: () => true };
}

/** Formats an error. Ruby prints the error with its class; scripts may search for these words. */
function formatError(error: unknown, command: PerfectschedCommand | undefined): string {
  const key = command !== undefined && "key" in command ? command.key : "";
  if (error instanceof AlreadyExistsError) return `schedule key=${key} already exists (AlreadyExistsError)`;
  if (error instanceof NotFoundError) return `schedule key=${key} does not exist (NotFoundError)`;
  return explainError(error).message;
}

function writeMessage(io: CommandIo, line: string): void {
  for (const [at, part] of line.split("\n").entries())
    io.writeError(`${at === 0 ? "perfectsched: " : ""}${clean(part)}\n`);
}

/** The usage text, printed for invalid lines. */
const USAGE = `Usage: perfectsched [options] <command>

commands:
    list                             Show the schedules there are
    add <key> <type> <cron> <data>   Add a schedule
    delete <key>                     Delete a schedule
    run <class>                      Run a worker: <class> is a file of handlers
    init                             Check that etcd can be used

options:
    -e, --environment ENV            Part of the configuration file (default: RAILS_ENV, or development)
    -c, --config PATH.yml            Configuration file (default: config/perfectsched.yml)

options for add:
    -d, --delay SEC                  Time between a scheduled time and its run (default: 0)
    -t, --timezone NAME              Time zone (default: the configuration's, or UTC)
    -s, --start UNIXTIME             First scheduled time (default: now)
    -a, --at UNIXTIME                Time of the first run (default: start+delay)

options for run:
    -I, --include PATH               Look for files there, too
    -r, --require PATH               File of handlers; Ruby files are passed over
`;
