import { type ChildProcess, fork } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import type { WorkerMessage } from "./start-report.ts";

export type JoinedMessage = Extract<WorkerMessage, { kind: "joined" }>;

/**
 * Bundles a worker, as in a release. Node's TypeScript support would need twice the memory of the worker.
 * @param name  of the script: the engine of `signalbox worker`, or a program with the library
 */
export async function bundleWorker(
  folder: string,
  name: "schedule-worker" | "library-worker" = "schedule-worker",
): Promise<string> {
  const outfile = join(folder, `${name}.cjs`);
  const modules = join(folder, "node_modules"); // for etcd3
  if (!existsSync(modules)) symlinkSync(resolve(import.meta.dirname, "../../node_modules"), modules);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    target: "node22",
    logLevel: "error",
    external: ["etcd3", "@grpc/grpc-js", "cockatiel", "protobufjs"],
  });
  return outfile;
}

/** A worker process and its reports. */
export class WatchedWorker {
  readonly joined: Promise<JoinedMessage>;
  readonly late: number[] = [];
  /** The most, and the last one, MiB. */
  rss = 0;
  lastRss = 0;
  readonly #child: ChildProcess;

  /** @param words  endpoint, prefix, and a stepped clock as JSON */
  constructor(script: string, words: readonly string[]) {
    this.#child = fork(script, words, {
      execArgv: ["--max-semi-space-size=8", "--heap-growing-percent=60"],
    }); // as src/bin/start.ts
    this.joined = new Promise((resolve, reject) => {
      this.#child.on("message", (word: WorkerMessage) => {
        this.rss = Math.max(this.rss, word.rss);
        this.lastRss = word.rss;
        if (word.kind === "joined") resolve(word);
        else this.late.push(...word.late);
      });
      this.#child.once("exit", (code) => reject(new Error(`a worker ended with ${code}`)));
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.disconnect();
    await ended;
  }
}
