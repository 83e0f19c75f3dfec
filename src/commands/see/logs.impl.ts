import { parseDuration } from "../../base/duration.ts";
import { UsageError } from "../../base/errors.ts";
import { clean, quoteText } from "../../base/text.ts";
import { StoreError } from "../../etcd/store.ts";
import { readWithRetries } from "../../observe/ports.ts";
import { listSegments } from "../../output/output-directory.ts";
import { findOutputStart, readRecords } from "../../output/output-reader.ts";
import { cutFirst, getLostBytes, type OutputRecord } from "../../output/output-record.ts";
import { viewOutput } from "../../output/output-viewer.ts";
import { getTextFlag, parseCountFlag } from "../command-line/flags.ts";
import { parseInstantFlag } from "../command-line/instant.ts";
import { findOutputDirectory } from "../output-storage.ts";
import type { Call, CommandIo } from "../spec.ts";
import { type CommandContext, createStoreCommand } from "../store-command.ts";
import { findOutputRun, type OutputRun } from "./logs/find-output.ts";

/** Prints records: as they are, or one line after the other, without what a terminal would interpret. */
class OutputPrinter {
  readonly #io: CommandIo;
  readonly #isRaw: boolean;
  readonly #note: (line: string) => void;
  readonly #decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  readonly #rest = { 1: "", 2: "" };

  /** @param note  prints a line of ours */
  constructor(io: CommandIo, isRaw: boolean, note: (line: string) => void) {
    this.#io = io;
    this.#isRaw = isRaw;
    this.#note = note;
  }

  /** @returns false once the reader has closed standard output */
  print(records: readonly OutputRecord[], skipped = 0): boolean {
    if (skipped > 0) this.#note(`about ${skipped} bytes are left out here`);
    let isOpen = true;
    for (const record of records) {
      if (record.kind === 1 || record.kind === 2)
        isOpen = this.#printData(record.data, record.kind) && isOpen;
      const lost = getLostBytes(record);
      if (lost > 0) this.#note(`${lost} bytes were not kept here`);
    }
    return isOpen;
  }

  /** Prints the last line, if it is not complete. */
  end(): void {
    for (const kind of [1, 2] as const) if (this.#rest[kind] !== "") this.#printLine(this.#rest[kind]);
  }

  #printData(data: Buffer, kind: 1 | 2): boolean {
    if (this.#isRaw) return this.#io.writeBytes?.(data, kind) ?? this.#io.writeOutput(data.toString());
    const lines = (this.#rest[kind] + this.#decoders[kind].decode(data, { stream: true })).split("\n");
    this.#rest[kind] = lines.pop() ?? "";
    return lines.every((line) => this.#printLine(line));
  }

  #printLine(line: string): boolean {
    return this.#io.writeOutput(`${clean(line.replace(/\r+$/, "")).trimEnd()}\n`);
  }
}

/** Bytes to read at once from the files of this host. */
const STEP = 1024 * 1024;

/** What is wanted of the output. */
interface WantedOutput {
  tail?: number;
  since?: number;
  follow: boolean;
}

export const execute = createStoreCommand(async (call, io, context) => {
  const [word = ""] = call.args;
  const wanted = parseWanted(call, context.clock.getWallTime());
  const found = await findOutputRun(context, word);
  const isRaw = call.flags.raw !== undefined || !io.terminal.isOutput();
  const printer = new OutputPrinter(io, isRaw, context.printMessage);
  const isShown =
    (await printLocal(context, io, found, { wanted, printer })) ||
    (await printRemote(context, found, wanted, printer));
  printer.end();
  if (!isShown) printTail(context, io, found, wanted);
  return undefined;
});

/** @throws UsageError */
function parseWanted(call: Call, now: number): WantedOutput {
  const tail = parseCountFlag(call, "tail");
  const since = parseSince(call, now);
  return {
    follow: call.flags.follow !== undefined,
    ...(tail !== undefined && { tail }),
    ...(since !== undefined && { since: Math.max(0, Math.floor(since)) }),
  };
}

/** A duration counts back from now. @throws UsageError */
function parseSince(call: Call, now: number): number | undefined {
  const text = getTextFlag(call, "since");
  if (text === undefined) return undefined;
  if (text === "") throw new UsageError("--since must not be empty; write 10m, or 2026-11-22T05:00Z");
  const span = parseDuration(text);
  return "value" in span ? now - span.value : parseInstantFlag(call, "since", "UTC", now);
}

/** Prints the output of an ended run of this host and user. @returns false if this host does not have it */
async function printLocal(
  { facts, settings }: CommandContext,
  { env }: CommandIo,
  { run, host, key }: OutputRun,
  { wanted, printer }: { wanted: WantedOutput; printer: OutputPrinter },
): Promise<boolean> {
  const directory = findOutputDirectory(settings.outputDirectory, env);
  if (host !== facts.fqdn || directory === undefined || (wanted.follow && key !== undefined)) return false;
  if ((await listSegments(directory, run)).length === 0) return false;
  let { position, cut } = await findOutputStart(directory, run, wanted);
  for (;;) {
    const { records, next, skipped } = await readRecords(directory, run, position, STEP);
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

/** Prints the end of the output that is stored in etcd. */
function printTail(
  context: CommandContext,
  io: CommandIo,
  { run, host, tail, key }: OutputRun,
  wanted: WantedOutput,
): void {
  const why = `${host} does not answer for run ${quoteText(run)}`;
  if (tail === undefined) {
    const end =
      key === undefined
        ? "no end of its output is stored"
        : "it runs, but keeps no output, or its host cannot answer";
    context.printMessage(`${why}, and ${end}`);
    return;
  }
  context.printMessage(`${why}; this is the end of its output, from etcd:`);
  const lines = tail.split("\n");
  io.writeOutput(
    `${lines.slice(wanted.tail === undefined ? 0 : Math.max(0, lines.length - wanted.tail)).join("\n")}\n`,
  );
}
