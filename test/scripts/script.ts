/** The built scripts of scripts/maintenance as real processes, in a namespace with real runs. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { onTestFinished } from "vitest";
import type { TestNamespace } from "../../fixtures/cluster/test-namespace.ts";
import { PROGRAM, type ProcessResult } from "../../fixtures/signalbox.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";

const FOLDER = resolve(import.meta.dirname, "../../dist/maintenance");

export interface RunningScript {
  readonly child: ChildProcess;
  readonly ended: Promise<ProcessResult>;
  /** Resolves when standard output or error matches. */
  printed(pattern: RegExp): Promise<unknown>;
}

/** An operator's account in a namespace. What the scripts remember is removed with the test. */
export class Account {
  readonly folder = mkdtempSync(join(tmpdir(), "signalbox-scripts-"));
  readonly #namespace: TestNamespace;

  constructor(namespace: TestNamespace) {
    this.#namespace = namespace;
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** Starts `dist/maintenance/LINE WORDS`; it ends with the test. */
  start(line: string, ...words: readonly string[]): RunningScript {
    const [name = "", ...args] = line.split(" ");
    const env = {
      ...process.env,
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      SIGNALBOX: PROGRAM,
      SIGNALBOX_ENDPOINTS: this.#namespace.etcd.clientUrl,
      SIGNALBOX_TRANSPORT: this.#namespace.transport,
      SIGNALBOX_PREFIX: this.#namespace.keys.prefix,
      XDG_STATE_HOME: this.folder,
      OUT: join(this.folder, "out"),
    };
    const child = spawn(join(FOLDER, name), [...args, ...words], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const output = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output.stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      output.stderr += text;
    });
    const ended = once(child, "close").then(([code, signal]): ProcessResult => ({ code, signal, ...output }));
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    const tell = () => JSON.stringify(output);
    const waitForOutput = (pattern: RegExp) =>
      waitUntil(`${pattern}`, () => pattern.test(output.stdout) || pattern.test(output.stderr), {
        describe: tell,
      });
    return { child, ended, printed: waitForOutput };
  }

  run(line: string, ...words: readonly string[]): Promise<ProcessResult> {
    return this.start(line, ...words).ended;
  }
}
