import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AgentConnection,
  FakeAgent,
  FROM_LAUNCHER,
  TO_LAUNCHER,
} from "../../fixtures/process/fake-agent.ts";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { waitUntil } from "../../fixtures/wait-until.ts";
import { encodeWords, GUARDIAN_EVENT, GUARDIAN_REQUEST } from "../../src/process/guarded-command/wire.ts";
import { createMark, getNativePath } from "./helpers.ts";

/** Copies the launcher to an installation without a Node of its own: it takes the one of the PATH. */
export function installLauncher(): string {
  const installation = createFolder();
  const launcher = join(installation, "native", process.arch, "launcher");
  cpSync(getNativePath("launcher"), launcher);
  writeFileSync(join(installation, "signalbox.cjs"), "");
  return launcher;
}

/** A program named `node` that prints why and with what it was started, in a folder for PATH. */
const NODE = `#!/bin/sh
echo "fallback=\${SIGNALBOX_FALLBACK-none}"
echo "call=\${SIGNALBOX_CALL-none}"
limits=
while [ "\${1#--}" != "$1" ]; do limits="$limits $1"; shift; done
shift
echo "words=$*"
[ -z "$limits" ] || echo "limits=$limits"
`;

/** A launcher that a test has started. */
export interface Launched {
  process: ChildProcess;
  pid: number;
  mark: string;
  /** Resolves when something was written to standard output. */
  waitForOutput(): Promise<unknown>;
  ended: Promise<{ code: number | null; signal: string | null; out: string; err: string }>;
}

/** A folder that ends with the test. */
export function createFolder(): string {
  const folder = createTestFolder();
  chmodSync(folder, 0o755);
  return folder;
}

/** A folder with a `node` that tells how it was started. */
export function createNodeFolder(): string {
  const folder = createFolder();
  writeFileSync(join(folder, "node"), NODE);
  chmodSync(join(folder, "node"), 0o755);
  return folder;
}

export interface LaunchOptions {
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Words before the launcher's, of a program that becomes it. */
  before?: string[];
  /** The name by which it is called. */
  name?: string;
  /** For its standard input. */
  input?: string;
}

/** Starts the launcher with a `node` that only tells how it was started. */
export function launch(
  words: string[],
  { env = {}, cwd, before = [], name, input = "" }: LaunchOptions = {},
): Launched {
  const mark = createMark();
  const [file = "", ...args] = [...before, installLauncher(), ...words];
  const child = spawn(file, args, {
    env: { ...process.env, PATH: `${createNodeFolder()}:${process.env.PATH}`, TEST_MARK: mark, ...env },
    stdio: "pipe",
    ...(cwd !== undefined && { cwd }),
    ...(name !== undefined && { argv0: name }),
  });
  child.stdin?.on("error", () => {}).end(input);
  const read = (stream: NodeJS.ReadableStream | null) => {
    const chunks: Buffer[] = [];
    stream?.on("data", (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString();
  };
  const [out, err] = [read(child.stdout), read(child.stderr)];
  const ended = new Promise<Awaited<Launched["ended"]>>((resolve) => {
    child.once("close", (code, signal) => resolve({ code, signal, out: out(), err: err() }));
  });
  const waitForOutput = () => waitUntil("output", () => out() !== "");
  return { process: child, pid: child.pid ?? 0, mark, waitForOutput, ended };
}

/** An agent that ends with the test. */
export async function startAgent(path?: string): Promise<FakeAgent> {
  const agent = new FakeAgent(path);
  onTestFinished(() => agent.remove());
  return agent.start();
}

/** Starts a run that this agent is to serve. */
export function launchRun(
  agent: FakeAgent,
  words: string[] = ["true"],
  options: LaunchOptions = {},
): Launched {
  const env = { SIGNALBOX_AGENT_SOCKET: agent.path, ...options.env };
  return launch(["run", "--lock", "x", "--", ...words], { ...options, env });
}

/** The boot clock, ns. */
export const readBootTime = () => process.hrtime.bigint();

export interface Deadlines {
  termIn: number;
  killIn: number;
}

/** Accepts a call, and lets its guardian start a command. @returns the connection, and the frames HELLO and PLACE */
export async function serveStart(
  connection: AgentConnection,
  command: string[],
  { termIn, killIn }: Deadlines = { termIn: 20_000, killIn: 21_000 },
  { environment = "", extra = "" } = {},
) {
  await connection.waitForCall();
  connection.send(TO_LAUNCHER.accepted, 1n);
  connection.send(TO_LAUNCHER.note, 5_000n, 0n, "note 1");
  connection.send(TO_LAUNCHER.guard);
  const hello = await connection.waitFor(GUARDIAN_EVENT.hello);
  const place = await connection.waitFor(GUARDIAN_EVENT.place);
  sendDeadlines(connection, hello.a, { termIn, killIn });
  if (environment !== "") connection.send(GUARDIAN_REQUEST.environment, 0n, 0n, environment);
  for (const frame of encodeWords(command)) connection.sendBytes(frame);
  connection.send(GUARDIAN_REQUEST.start, 0n, 0n, extra);
  const started = await connection.waitFor(GUARDIAN_EVENT.started);
  return { boot: hello.a, inner: Number(place.a), outer: Number(place.b), first: Number(started.a) };
}

/** Arms deadlines that are counted from an instant of the boot clock, ms. */
export function sendDeadlines(
  connection: AgentConnection,
  boot: bigint,
  { termIn, killIn }: Deadlines,
): void {
  const at = (ms: number) => boot + BigInt(Math.round(ms * 1e6));
  connection.send(GUARDIAN_REQUEST.arm, at(termIn), at(killIn));
}

/** Releases the guardian of a command that has ended, and ends the call. @returns the frames EXITED and GUARDIANS_ENDED */
export async function serveEnd(connection: AgentConnection, code?: number) {
  const exited = await connection.waitFor(GUARDIAN_EVENT.exited);
  await connection.waitFor(GUARDIAN_EVENT.gone);
  connection.send(GUARDIAN_REQUEST.release);
  const guardians = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  const status = Number(exited.a);
  connection.send(
    TO_LAUNCHER.end,
    BigInt(code ?? ((status & 0x7f) === 0 ? status >> 8 : 128 + (status & 0x7f))),
  );
  return { status, bits: Number(exited.b), guardians: Number(guardians.a) };
}

/** Starts a run and serves it until its command runs. */
export async function startServed(command: string[], deadlines?: Deadlines, options: LaunchOptions = {}) {
  const agent = await startAgent();
  const run = launchRun(agent, command, options);
  const connection = await agent.accept();
  return { agent, run, connection, ...(await serveStart(connection, command, deadlines)) };
}
