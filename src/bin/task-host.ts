// Runs a module for one task, in its own process under the guardian: `node task-host.mjs FILE [EXPORT]`, with the task
// as JSON on standard input. The last line of standard output is the result. Without this line the task has failed.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Millis, WallTime } from "../core/base/clock.ts";
import { receiveUsr1 } from "../core/process/native/signals.ts";
import { LARGEST_CHECKPOINT } from "../schedule/state/checkpoint.ts";
import { writeAll } from "./write-all.ts";

/** Same shape as the result that worker/handlers/handlers.ts reads. */
interface ModuleResult {
  result: "ok" | "failed" | "retry";
  /** ms. */
  wait?: Millis;
  reason?: string;
}

const LONGEST_REASON = 500;
/** Node's exit code when the event loop is empty and a top-level promise is still pending. */
const UNSETTLED_EXIT_CODE = 13;
const run = process.env.SIGNALBOX_RUN ?? "";
const checkpointFile = process.env.SIGNALBOX_CHECKPOINT_FILE;
const ending = new AbortController();
let moduleResult: ModuleResult | undefined;
let isReported = false;

function reportResult(last: ModuleResult): void {
  if (isReported) return;
  isReported = true;
  const reason = last.reason?.slice(0, LONGEST_REASON);
  try {
    writeAll(1, `\n\x1e${run} ${JSON.stringify({ ...last, ...(reason !== undefined && { reason }) })}\n`);
  } catch {
    // the worker, which would read it, has ended
  }
}

function toFailedResult(error: unknown): ModuleResult {
  const isError = error instanceof Error;
  process.stderr.write(`${isError ? (error.stack ?? error.message) : String(error)}\n`);
  return { result: "failed", reason: isError ? `${error.name}: ${error.message}` : String(error) };
}

/**
 * Builds the task object for the module. The first call of `finish` or `retry` decides the result; later calls and
 * errors do not change it.
 */
function buildTask(text: string): object {
  const fields = JSON.parse(text) as { scheduled: WallTime };
  return {
    ...fields,
    scheduledTime: new Date(fields.scheduled),
    signal: ending.signal,
    lastCheckpoint: readLastCheckpoint(),
    checkpoint: saveCheckpoint,
    finish: () => {
      moduleResult ??= { result: "ok" };
    },
    retry: (wait?: Millis) => {
      if (wait !== undefined && !(Number.isFinite(wait) && wait >= 0))
        throw new RangeError(`retry(${String(wait)}): the wait is in ms, from 0 on`);
      moduleResult ??= { result: "retry", ...(wait !== undefined && { wait: Math.round(wait) }) };
    },
  };
}

/** Reads the data that an earlier start saved with `checkpoint`; undefined if it saved none, or the file is not JSON. */
function readLastCheckpoint(): unknown {
  try {
    return JSON.parse(readFileSync(checkpointFile ?? "", "utf8"));
  } catch {
    return undefined;
  }
}

/** Writes a checkpoint for the worker, which reads whole files. */
function saveCheckpoint(data: unknown): void {
  const text: string | undefined = JSON.stringify(data);
  if (text === undefined) throw new TypeError("checkpoint(data): JSON cannot represent the data");
  const size = Buffer.byteLength(text);
  if (size > LARGEST_CHECKPOINT)
    throw new RangeError(
      `checkpoint(data): it has ${size} bytes, and at most ${LARGEST_CHECKPOINT} are kept`,
    );
  if (checkpointFile === undefined) throw new Error("checkpoint(data): this host has no space for its file");
  writeFileSync(`${checkpointFile}.new`, text, { mode: 0o600 });
  renameSync(`${checkpointFile}.new`, checkpointFile);
}

async function importHandler(file: string, name: string): Promise<(task: object) => unknown> {
  const module = (await import(pathToFileURL(resolve(file)).href).catch((error) => {
    throw explainImportError(error, file);
  })) as Record<string, unknown>;
  const found = module[name];
  if (typeof found === "function") return found as (task: object) => unknown;
  throw new TypeError(
    `${file} has no ${name === "default" ? "default export" : `export ${name}`} that is a function`,
  );
}

function explainImportError(error: unknown, file: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ERR_UNKNOWN_FILE_EXTENSION") return error;
  return new Error(
    `Node.js ${process.versions.node} does not read ${file}; TypeScript needs Node.js 22.18 or later`,
  );
}

const [, , file = "", name = "default"] = process.argv;
receiveUsr1(); // as in any other program
process.on("SIGTERM", () => ending.abort(new Error("the task must end")));
process.on("exit", (code) => {
  const why =
    code === 0 || code === UNSETTLED_EXIT_CODE
      ? "its promise was never settled, or it ended the process"
      : `it ended the process with ${code}`;
  reportResult(
    moduleResult ?? { result: "failed", reason: `the module gave no result for its task: ${why}` },
  );
});
process.on("uncaughtException", (error) => {
  const last = toFailedResult(error);
  reportResult(moduleResult ?? last);
  process.exit(1);
});

try {
  const handler = await importHandler(file, name);
  await handler(buildTask(readFileSync(0, "utf8")));
  moduleResult ??= { result: "ok" };
} catch (error) {
  const last = toFailedResult(error);
  moduleResult ??= last;
}
reportResult(moduleResult);
process.exit(moduleResult.result === "ok" ? 0 : moduleResult.result === "retry" ? 75 : 1);
