/**
 * The launcher and both guardians, each interrupted at each of its system calls in turn: killed, stopped, or refused for
 * want of memory, descriptors or processes. Whatever comes of the run, its command is dead when the agent is told so, and
 * soon after its deadline at the latest; and only a command that has ended by itself succeeds.
 */
import { existsSync, readFileSync } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { compileProgram } from "../../../fixtures/process/compile-program.ts";
import { type AgentConnection, FROM_LAUNCHER, TO_LAUNCHER } from "../../../fixtures/process/fake-agent.ts";
import { listRemains, waitUntilDead } from "../../../fixtures/process/guarded-processes.ts";
import { launchRun, sendDeadlines, startAgent } from "../../../fixtures/process/launcher.ts";
import { killProcess, listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  EXITED_BITS,
  encodeWords,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
} from "../../../src/core/process/guarded-command/wire.ts";

const PROCESSES = ["launcher", "outer guardian", "inner guardian"];
/** Of the command, ms after the request to start it. */
const DEADLINES = { termIn: 1_000, killIn: 1_500 };
/** Its second process leaves it, and outlives it unless it is killed. */
const COMMAND = ["sh", "-c", "setsid sleep 1000 & echo started; sleep 0.05; echo ended"];
/** Every which call is tried, from a random one. All of them take minutes: SIGNALBOX_TEST_STEP=1. */
const STEP = Number(process.env.SIGNALBOX_TEST_STEP ?? 4);
const OWN_NAMES = ["launcher", "interrupt-call"];

const folder = createTestFolder(afterAll);

/** An agent's side of a run whose processes may vanish at any point. */
class Serving {
  readonly #connection: AgentConnection;
  readonly #mark: string;
  #hasEnded = false;
  /** Processes of the command that lived when the agent was told that there are none. */
  survivors: string[] = [];

  constructor(connection: AgentConnection, mark: string) {
    this.#connection = connection;
    this.#mark = mark;
    void connection.ended.then(() => {
      this.#hasEnded = true;
    });
  }

  async serve() {
    const connection = this.#connection;
    await this.#waitFor(FROM_LAUNCHER.end);
    connection.send(TO_LAUNCHER.accepted, 1n);
    connection.send(TO_LAUNCHER.note, 5_000n, 0n, "note 1");
    connection.send(TO_LAUNCHER.guard);
    await this.#waitFor(GUARDIAN_EVENT.place);
    if (this.#find(GUARDIAN_EVENT.hello) !== undefined) {
      for (const frame of encodeWords(COMMAND)) connection.sendBytes(frame);
      sendDeadlines(connection, BigInt(Math.round(uptime() * 1e9)), DEADLINES);
      connection.send(GUARDIAN_REQUEST.start);
      await this.#waitFor(GUARDIAN_EVENT.gone, GUARDIAN_EVENT.refused);
      connection.send(GUARDIAN_REQUEST.release);
      await this.#waitFor(FROM_LAUNCHER.guardiansEnded);
    }
    connection.send(TO_LAUNCHER.end, this.#readCode());
  }

  /** Whether the deadline passed before the command was started, or before it ended. */
  get isLate(): boolean {
    const exited = this.#find(GUARDIAN_EVENT.exited);
    const isTerminated = exited !== undefined && (exited.b & EXITED_BITS.terminated) !== 0n;
    return isTerminated || this.#find(GUARDIAN_EVENT.refused) !== undefined;
  }

  /** The code of the command, as an agent gives it to the launcher; 125: it is not known. */
  #readCode() {
    const exited = this.#find(GUARDIAN_EVENT.exited);
    return exited !== undefined && (exited.a & 0x7fn) === 0n ? exited.a >> 8n : 125n;
  }

  /** Waits for a frame of one of these kinds, or for the end of the guardians or of the connection. */
  async #waitFor(...kinds: readonly number[]) {
    const isEnd = () => this.#hasEnded || this.#find(FROM_LAUNCHER.guardiansEnded) !== undefined;
    const isThere = () => isEnd() || kinds.some((kind) => this.#find(kind) !== undefined);
    const describe = () => `frames so far: ${this.#connection.frames.map(({ kind }) => kind)}`;
    await waitUntil(`frame ${kinds.join(" or ")}`, isThere, { every: 2, describe });
    const isTold = this.#find(GUARDIAN_EVENT.gone) ?? this.#find(FROM_LAUNCHER.guardiansEnded);
    if (isTold && this.survivors.length === 0) this.survivors = listCommand(this.#mark);
  }

  #find(kind: number) {
    return this.#connection.frames.find((frame) => frame.kind === kind);
  }
}

const listCommand = (mark: string) => listRemains(mark).filter((name) => !OWN_NAMES.includes(name));

interface Interruption {
  /** Of PROCESSES. */
  process: number;
  /** The number of its call. */
  call: number;
  action: string;
}

/** Runs the command with an interruption. @returns what is wrong; undefined: the process makes fewer calls */
async function interrupt({ process, call, action }: Interruption): Promise<string[] | undefined> {
  const agent = await startAgent();
  const log = join(folder, `${process}-${action}-${call}`);
  const run = launchRun(agent, COMMAND, { before: [program, log, String(process), String(call), action] });
  const readLog = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
  const isFrozen = () => action === "stop" && process === 0 && readLog() !== "";
  const listOwn = () => listMarkedProcesses(run.mark).filter(({ name }) => OWN_NAMES.includes(name));
  const faults: string[] = [];
  let isOver = false;
  let isLate = false;
  const ended = run.ended.finally(() => {
    isOver = true;
  });
  const served = agent.accept().then(async (connection) => {
    const serving = new Serving(connection, run.mark);
    await serving.serve();
    isLate = serving.isLate;
    faults.push(...serving.survivors.map((name) => `${name} lives when the agent is told that nothing does`));
  });
  await Promise.race([served, waitUntil("the end of the launcher", () => isOver || isFrozen())]);
  const own = listOwn().map(({ pid }) => pid);
  await waitUntilDead(run.mark, 10_000, own).catch((error) => faults.push(error.message));
  await waitUntil("the end of the launcher", () => isOver || isFrozen());
  for (const { pid } of isFrozen() ? listOwn() : []) killProcess(pid, "SIGKILL");
  const { code, out } = await ended;
  if (code === 0 && !out.endsWith("ended\n") && !out.includes("fallback="))
    faults.push(`exit code 0 after "${out}"`);
  agent.remove();
  if (readLog() !== "") return faults;
  return isLate ? interrupt({ process, call, action }) : undefined; // on a busy machine, a deadline can pass before the call
}

/** Interrupts a process at its calls, one by one. @returns what is wrong, by call */
async function interruptEach(process: number, action: string): Promise<Record<string, string[]>> {
  const first = Math.floor(createTestRandom(`${process} ${action}`).drawUnit() * STEP);
  const found: Record<string, string[]> = {};
  for (let call = first; ; call += STEP) {
    const faults = await interrupt({ process, call, action });
    if (faults === undefined) return found;
    if (faults.length > 0) found[`call ${call}`] = faults;
  }
}

const program = compileProgram("interrupt-call", folder);

describe.skipIf(process.arch !== "x64")("at each of its calls", () => {
  test.each(["kill", "stop", "fail"])("%s", async (action) => {
    const found = await Promise.all(PROCESSES.map((_, process) => interruptEach(process, action)));
    expect(found).toEqual(PROCESSES.map(() => ({})));
  });
});
