// Runs a module for one task, in a process of its own under the guardian: `node task-host.mjs FILE [EXPORT]`, the task as JSON
// on standard input. Its last line of standard output says how it came out; without that line it was not well.
import { readFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** As `Word` in work/worker/module-handler.ts. */
interface Word {
  result: "ok" | "failed" | "retry";
  /** ms. */
  wait?: number;
  reason?: string;
}

const LONGEST_REASON = 500;
/** Node's exit code when nothing is left that could settle what is waited for. */
const UNSETTLED = 13;
const run = process.env.SIGNALBOX_RUN ?? "";
const ending = new AbortController();
let word: Word | undefined;
let isSaid = false;

function say(last: Word): void {
  if (isSaid) return;
  isSaid = true;
  const reason = last.reason?.slice(0, LONGEST_REASON);
  writeAll(`\n\x1e${run} ${JSON.stringify({ ...last, ...(reason !== undefined && { reason }) })}\n`);
}

/** Also to a pipe that is full: its reader is the worker. */
function writeAll(text: string): void {
  let rest = Buffer.from(text);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  }
}

function failed(error: unknown): Word {
  const isError = error instanceof Error;
  process.stderr.write(`${isError ? (error.stack ?? error.message) : String(error)}\n`);
  return { result: "failed", reason: isError ? `${error.name}: ${error.message}` : String(error) };
}

/** The task as a module gets it. What it says by `finish` or `retry` counts from then on, whatever follows. */
function taskOf(text: string): object {
  const fields = JSON.parse(text) as { scheduled: number };
  return {
    ...fields,
    scheduledTime: new Date(fields.scheduled),
    signal: ending.signal,
    finish: () => {
      word ??= { result: "ok" };
    },
    retry: (wait?: number) => {
      if (wait !== undefined && !(Number.isFinite(wait) && wait >= 0))
        throw new RangeError(`retry(${String(wait)}): the wait is in ms, from 0 on`);
      word ??= { result: "retry", ...(wait !== undefined && { wait: Math.round(wait) }) };
    },
  };
}

async function handlerOf(file: string, name: string): Promise<(task: object) => unknown> {
  const module = (await import(pathToFileURL(resolve(file)).href).catch((error) => {
    throw explained(error, file);
  })) as Record<string, unknown>;
  const found = module[name];
  if (typeof found === "function") return found as (task: object) => unknown;
  throw new TypeError(
    `${file} has no ${name === "default" ? "default export" : `export ${name}`} that is a function`,
  );
}

function explained(error: unknown, file: string): unknown {
  if ((error as NodeJS.ErrnoException).code !== "ERR_UNKNOWN_FILE_EXTENSION") return error;
  return new Error(
    `Node.js ${process.versions.node} does not read ${file}; TypeScript needs Node.js 22.18 or later`,
  );
}

const [, , file = "", name = "default"] = process.argv;
process.on("SIGTERM", () => ending.abort(new Error("the task must end")));
process.on("exit", (code) => {
  const why =
    code === 0 || code === UNSETTLED
      ? "its promise was never settled, or it ended the process"
      : `it ended the process with ${code}`;
  say(word ?? { result: "failed", reason: `the module said nothing about its task: ${why}` });
});
process.on("uncaughtException", (error) => {
  const last = failed(error);
  say(word ?? last);
  process.exit(1);
});

try {
  const handler = await handlerOf(file, name);
  await handler(taskOf(readFileSync(0, "utf8")));
  word ??= { result: "ok" };
} catch (error) {
  const last = failed(error);
  word ??= last;
}
say(word);
process.exit(word.result === "ok" ? 0 : word.result === "retry" ? 75 : 1);
