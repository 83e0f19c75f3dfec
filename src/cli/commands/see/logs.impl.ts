import type { WallTime } from "../../../core/base/clock.ts";
import { EXIT, SignalboxError } from "../../../core/base/errors.ts";
import { pickDefined } from "../../../core/base/pick-defined.ts";
import { clean, quoteText } from "../../../core/base/text.ts";
import { StoreError } from "../../../core/etcd/store.ts";
import { parsePastRuns } from "../../../core/protocol/history.ts";
import { RUN_ID } from "../../../core/protocol/keys.ts";
import { validateName } from "../../../core/protocol/names.ts";
import { toQueue } from "../../../core/protocol/ticket.ts";
import type { KeyRange, KeyValue } from "../../../core/protocol/txn.ts";
import { parseOutcomes } from "../../../schedule/state/outcome.ts";
import { parseRunning } from "../../../schedule/state/running-record.ts";
import { readWithRetries } from "../../../site/observe/ports.ts";
import { readPages } from "../../../site/observe/read.ts";
import { listSegments } from "../../../site/output/output-directory.ts";
import { findOutputStart, readRecords } from "../../../site/output/output-reader.ts";
import { cutFirst, getLostBytes, type OutputRecord } from "../../../site/output/output-record.ts";
import { viewOutput } from "../../../site/output/output-viewer.ts";
import { type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import { findOutputDirectory } from "../run/run-archive.ts";
import type { LogsFlags } from "./logs.ts";

/** Prints records: as they are, or one line after the other, without what a terminal would interpret. */
class OutputPrinter {
  readonly #context: CommandContext;
  readonly #isRaw: boolean;
  readonly #decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  readonly #rest = { 1: "", 2: "" };
  #isDone = false;

  constructor(context: CommandContext, isRaw: boolean) {
    this.#context = context;
    this.#isRaw = isRaw;
  }

  /** Whether the end of the run was printed, or the reader has closed standard output. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** @returns false once the reader has closed standard output */
  print(records: readonly OutputRecord[], skipped = 0): boolean {
    const { printMessage } = this.#context;
    if (skipped > 0) printMessage(`about ${skipped} bytes are left out here`);
    let isOpen = true;
    for (const record of records) {
      if (record.kind === 1 || record.kind === 2)
        isOpen = this.#printData(record.data, record.kind) && isOpen;
      const lost = getLostBytes(record);
      if (lost > 0) printMessage(`${lost} bytes were not kept here`);
      if (record.kind === 4) this.#isDone = true;
    }
    if (!isOpen) this.#isDone = true;
    return isOpen;
  }

  /** Prints the last line, if it is not complete. */
  end(): void {
    for (const kind of [1, 2] as const) if (this.#rest[kind] !== "") this.#printLine(this.#rest[kind]);
  }

  #printData(data: Buffer, kind: 1 | 2): boolean {
    const { io } = this.#context;
    if (this.#isRaw) return io.writeBytes?.(data, kind) ?? io.writeOutput(data.toString());
    const lines = (this.#rest[kind] + this.#decoders[kind].decode(data, { stream: true })).split("\n");
    this.#rest[kind] = lines.pop() ?? "";
    return lines.every((line) => this.#printLine(line));
  }

  #printLine(line: string): boolean {
    return this.#context.io.writeOutput(`${clean(line.replace(/\r+$/, "")).trimEnd()}\n`);
  }
}

/** Bytes to read at once from the files of this host. */
const READ_BYTES = 1024 * 1024;

/** What is wanted of the output. */
interface WantedOutput {
  tail?: number;
  since?: WallTime;
  follow: boolean;
}

export const execute = createStoreCommand<LogsFlags>(async (context) => {
  const [word = ""] = context.args;
  const { raw, follow, tail, since } = context.flags;
  const from = since?.(context.clock.getWallTime());
  const wanted = {
    follow: follow !== undefined,
    ...pickDefined({ tail, since: from && Math.floor(from) }),
  };
  const found = await findOutputRun(context, word);
  const printer = new OutputPrinter(context, raw || !context.io.terminal.isOutput());
  const isShown =
    (await printLocal(context, found, wanted, printer)) ||
    (await printRemote(context, found, wanted, printer));
  printer.end();
  // On a full disk, or if the runner was killed. What is newer than an instant may be nothing.
  const isCut = !printer.isDone && found.key === undefined && tail !== 0 && since === undefined;
  if (!isShown || isCut) printTail(context, found, wanted, isShown);
  return undefined;
});

/** Prints the output of an ended run of this host and user. @returns false if this host does not have it */
async function printLocal(
  { facts, settings, io }: CommandContext,
  { run, host, key }: OutputRun,
  wanted: WantedOutput,
  printer: OutputPrinter,
): Promise<boolean> {
  const directory = findOutputDirectory(settings.outputDirectory, io.env);
  if (host !== facts.fqdn || directory === undefined || (wanted.follow && key !== undefined)) return false;
  if ((await listSegments(directory, run)).length === 0) return false;
  let { position, cut } = await findOutputStart(directory, run, wanted);
  for (;;) {
    const { records, next, skipped } = await readRecords(directory, run, position, READ_BYTES);
    if (records.length === 0 || !printer.print(cutFirst(records, cut), skipped)) return true;
    [position, cut] = [next, 0];
  }
}

/** Prints what the host of the run answers. @returns false if it does not answer */
async function printRemote(
  context: CommandContext,
  { run, host, key }: OutputRun,
  wanted: WantedOutput,
  printer: OutputPrinter,
): Promise<boolean> {
  const isRunning = async () =>
    key !== undefined && (await readWithRetries(context, { key, limit: 1 }, context.signal)).kvs.length > 0;
  let hasAnswered = false;
  try {
    for await (const piece of viewOutput(context, { ...wanted, host, run, isRunning }, context.signal)) {
      if (piece.isSilent && hasAnswered) context.printMessage(`${host} does not answer any more`);
      if (piece.isSilent) return hasAnswered;
      hasAnswered = true;
      if (!printer.print(piece.records, piece.skipped)) return true;
    }
    return true;
  } catch (error) {
    if (hasAnswered || !(error instanceof StoreError) || error.kind === "unavailable") throw error;
    context.printMessage(`cannot ask ${host}: ${error.message}`);
    return false;
  }
}

/** Prints the end of the output that is stored in etcd. @param isShown  the output was printed, but its end is missing */
function printTail(
  { io, printMessage }: CommandContext,
  { run, host, tail, key }: OutputRun,
  wanted: WantedOutput,
  isShown: boolean,
): void {
  const why = isShown
    ? "the end of its output is missing"
    : `${host} gave no output of run ${quoteText(run)}`;
  if (tail !== undefined) {
    printMessage(`${why}; etcd has this end of it:`);
    const lines = tail.split("\n").map((line) => `${line}\n`);
    io.writeOutput(lines.slice(Math.max(0, lines.length - (wanted.tail ?? lines.length))).join(""));
  } else if (isShown) printMessage(`${why}, and etcd has none of it`);
  else if (key !== undefined) printMessage(`${why}: it runs, but keeps no output, or its host cannot answer`);
  else
    printMessage(
      `no output of run ${quoteText(run)} is found: it wrote nothing, or kept none (signalbox run does with --capture), or ${host} does not answer`,
    );
}

/** A run whose output may be kept. */
interface OutputRun {
  run: string;
  host: string;
  /** The key that exists as long as it runs; undefined if it has ended. */
  key: string | undefined;
  /** When it began or ended. */
  at: WallTime;
  /** The stored end of its output. */
  tail?: string | undefined;
}

/** Finds the run that a word names. @throws SignalboxError 1 if there is none; StoreError */
async function findOutputRun(context: CommandContext, word: string): Promise<OutputRun> {
  const name = validateName("lock", word);
  const { keys } = context;
  const runs = [
    ...(await readRuns(context, [
      keys.getQueueRange("lock", name),
      { key: keys.history(name) },
      ...keys.listScheduleRanges(name),
    ])),
    ...(RUN_ID.test(word) ? await readNamedRun(context, word) : []),
  ];
  const found = pickNewest(runs);
  if (found !== undefined) return found;
  const message = `no run of ${quoteText(word)} is known: it names no lock or schedule with a run, and no run`;
  throw new SignalboxError(EXIT.undone, message);
}

/** Prefers runs that have not ended. */
function pickNewest(runs: readonly OutputRun[]): OutputRun | undefined {
  const running = runs.filter(({ key }) => key !== undefined);
  return [...(running.length > 0 ? running : runs)].sort((a, b) => b.at - a.at)[0];
}

async function readRuns(context: CommandContext, ranges: readonly KeyRange[]): Promise<OutputRun[]> {
  const answers = await Promise.all(ranges.map((range) => readWithRetries(context, range, context.signal)));
  return answers.flatMap(({ kvs }) => kvs.flatMap((kv) => toOutputRuns(context, kv)));
}

/** Looks for a run by its id. Reads everything that may mention it. */
async function readNamedRun(context: CommandContext, run: string): Promise<OutputRun[]> {
  const { keys, signal } = context;
  const found: OutputRun[] = [];
  const ranges = [keys.locks(), keys.resources(), keys.runnings(), keys.histories(), keys.outcomeHistories()];
  for (const range of ranges) {
    for await (const { kvs } of readPages(context, range, { signal }))
      found.push(...kvs.flatMap((kv) => toOutputRuns(context, kv)).filter((one) => one.run === run));
    if (found.length > 0) break;
  }
  return found;
}

function toOutputRuns({ keys }: CommandContext, kv: KeyValue): OutputRun[] {
  const { kind } = keys.parse(kv.key);
  if (kind === "lock" || kind === "resource") return readTicket(kv);
  if (kind === "running") return readRunning(kv);
  if (kind === "history")
    return parsePastRuns(kv.value).map(({ run, host, endedAt: at, tail }) => {
      return { run, host, at, tail, key: undefined };
    });
  if (kind !== "outcomes") return [];
  const { runs, dead } = parseOutcomes(kv.value);
  return [...runs, ...dead].flatMap(({ run, host, endedAt: at, tail }) =>
    run === undefined || host === undefined ? [] : [{ run, host, at, tail, key: undefined }],
  );
}

function readTicket(kv: KeyValue): OutputRun[] {
  const [{ ticket } = {}] = toQueue([kv]);
  if (ticket?.state !== "held") return [];
  const { run, host, grantedAt: at = 0 } = ticket;
  return [{ run, host, at, key: kv.key }];
}

function readRunning(kv: KeyValue): OutputRun[] {
  const parsed = parseRunning(kv.value);
  if ("fault" in parsed) return [];
  const { run, host, since: at } = parsed.value;
  return [{ run, host, at, key: kv.key }];
}
