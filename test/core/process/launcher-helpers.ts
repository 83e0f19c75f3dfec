import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  type AgentConnection,
  FakeAgent,
  FROM_LAUNCHER,
  TO_LAUNCHER,
} from "../../../fixtures/process/fake-agent.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import {
  encodeWords,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
} from "../../../src/core/process/guarded-command/wire.ts";
import { createFolder } from "./agent-socket/helpers.ts";
import { createMark, getNativePath } from "./helpers.ts";

/** Copies the launcher to an installation without a Node of its own: it takes the one of the PATH. */
export function installLauncher(): string {
  const installation = createFolder();
  const launcher = join(installation, "native", process.arch, "launcher");
  cpSync(getNativePath("launcher"), launcher);
  writeFileSync(join(installation, "signalbox.cjs"), "");
  return launcher;
}

/** A program that prints why and with what it was started. */
const NODE = `#!/bin/sh
echo "fallback=\${SIGNALBOX_FALLBACK-none}"
echo "call=\${SIGNALBOX_CALL-none}"
[ "$1" = --disable-sigusr1 ] && shift || echo "USR1 opens a debugger"
threads=
[ "$1" = --v8-pool-size=1 ] && shift && threads=1
limits=
while [ "\${1#--}" != "$1" ]; do limits="$limits $1"; shift; done
shift
echo "words=$*"
case $1 in run | cronlock | golock | switchman | zoo-locked) wanted=1 ;; *) wanted= ;; esac
[ "$threads" = "$wanted" ] || echo "threads of V8: \${threads:-4}"
[ -z "$limits" ] || echo "limits=$limits"
`;

/** A folder for PATH with a `node`: by default one that tells how it was started. */
export function createNodeFolder(node = NODE): string {
  const folder = createFolder();
  writeFileSync(join(folder, "node"), node, { mode: 0o755 });
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

/** Starts the launcher with a `node` that only tells how it was started. `waitForOutput`: on its standard output */
export function launch(
  words: string[],
  { env = {}, cwd, before = [], name, input = "" }: LaunchOptions = {},
) {
  const mark = createMark();
  const [file = "", ...args] = [...before, installLauncher(), ...words];
  const child = spawn(file, args, {
    env: { ...process.env, PATH: `${createNodeFolder()}:${process.env.PATH}`, TEST_MARK: mark, ...env },
    stdio: "pipe",
    ...(cwd !== undefined && { cwd }),
    ...(name !== undefined && { argv0: name }),
  });
  child.stdin.on("error", () => {}).end(input);
  const texts = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    texts.out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    texts.err += text;
  });
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...texts }));
  const waitForOutput = () => waitUntil("output", () => texts.out !== "");
  return { process: child, pid: child.pid ?? 0, mark, waitForOutput, ended };
}

/** An agent that ends with the test. */
export async function startAgent(path?: string): Promise<FakeAgent> {
  const agent = new FakeAgent(path);
  onTestFinished(() => agent.remove());
  return agent.start();
}

/** Starts a run that this agent is to serve. */
export function launchRun(agent: FakeAgent, words: string[] = ["true"], options: LaunchOptions = {}) {
  const env = { SIGNALBOX_AGENT_SOCKET: agent.path, ...options.env };
  return launch(["run", "--lock", "x", "--", ...words], { ...options, env });
}

/** Starts a run, and waits until its call is complete. */
export async function startCall(words?: string[], options?: LaunchOptions) {
  const agent = await startAgent();
  const run = launchRun(agent, words, options);
  const connection = await agent.accept();
  return { agent, run, connection, call: await connection.waitForCall() };
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
export async function startServed(command: string[], deadlines?: Deadlines, options?: LaunchOptions) {
  const { agent, run, connection } = await startCall(command, options);
  return { agent, run, connection, ...(await serveStart(connection, command, deadlines)) };
}

/** Serves a run to its end. */
export async function serveRun(connection: AgentConnection, script: string): Promise<void> {
  await serveStart(connection, ["sh", "-c", script]);
  await serveEnd(connection);
}
