import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { BUNDLE, createCleanEnv } from "../../fixtures/signalbox.ts";
import { openStore } from "../../src/etcd/open/open.ts";
import { createRealClock } from "../../src/process/clock.ts";
import { writeHistory, writeTroubles } from "./history.ts";
import { HOSTS, writeConfigs } from "./hosts.ts";
import { configureDemo, drainSome, OPERATOR_ENV } from "./operators.ts";
import { startWorkers } from "./schedules.ts";
import { Workload } from "./workload.ts";

export interface PlaygroundOptions {
  seed: number;
  /** Opens no console: the site is for other terminals. */
  isServed: boolean;
}

/** On a machine that is busy with something else, answers of etcd take long. Milliseconds. */
const PATIENT = { attempt: 20_000, hedge: 10_000, total: 180_000 };
/** The console opens after this time, ms, with whatever runs by then: the rest comes while one looks. */
const OPEN_AFTER = 8_000;

const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A site at work on an etcd of its own, until the console on it, or this process, is ended. @returns the exit code */
export async function runPlayground({ seed, isServed }: PlaygroundOptions): Promise<number> {
  const ending = Promise.withResolvers<NodeJS.Signals>();
  for (const name of ENDINGS) process.on(name, ending.resolve);
  const closing: (() => unknown)[] = [];
  const stop = new AbortController();
  void ending.promise.then((name) => stop.abort(new Error(`ended by ${name}`)));
  try {
    const opened = openPlayground(seed, closing, stop.signal);
    const member = await Promise.race([opened, ending.promise]);
    if (typeof member === "string") {
      await opened.catch(() => {}); // what is half open has to be closed as a whole
      return 128 + constants.signals[member];
    }
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (!isServed && hasTerminal) return await runConsole(member, ending.promise);
    if (!isServed) console.log("This is no terminal, so no console is opened here. In one, type:");
    console.log(`\n  export SIGNALBOX_ENDPOINTS=${member.clientUrl}\n  ${BUNDLE} console\n`);
    console.log("The site is at work until Ctrl+C.");
    await ending.promise;
    return 0;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/**
 * @param closing  gets what is to be done at the end, the last first
 * @param signal   aborted: the next step is not begun
 */
async function openPlayground(
  seed: number,
  closing: (() => unknown)[],
  signal: AbortSignal,
): Promise<EtcdMember> {
  const told = performance.now();
  process.stderr.write(`A site of ${HOSTS.length} hosts starts, on a real etcd …`);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-playground-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const etcd = await startEtcd();
  closing.push(() => etcd.stop());
  signal.throwIfAborted();
  const { endpoints } = etcd;
  const store = await openStore({ endpoints, timeouts: PATIENT }, { clock: createRealClock() });
  closing.push(() => store.close());
  await Promise.all([writeHistory(store, seed), configureDemo(endpoints)]);
  signal.throwIfAborted();
  closing.push(await writeTroubles(store));
  closing.push(await startWorkers(store, endpoints));
  const workload = new Workload({
    ...{ seed, folder: join(folder, "bin") },
    getConfigPath: writeConfigs(join(folder, "hosts"), endpoints),
  });
  closing.push(() => workload.stop());
  const late = pause(OPEN_AFTER, undefined, { ref: false, signal }).catch(() => {});
  await Promise.race([workload.start(), late]);
  signal.throwIfAborted();
  await drainSome(endpoints);
  const seconds = ((performance.now() - told) / 1000).toFixed(0);
  process.stderr.write(` ${workload.running} runs at work after ${seconds} s.\n`);
  return etcd;
}

/** The console on the user's terminal; a signal for us ends it first, so that it leaves the terminal as it was. */
async function runConsole(member: EtcdMember, ending: Promise<NodeJS.Signals>): Promise<number> {
  const child = spawn(process.execPath, [BUNDLE, "console"], {
    env: { ...createCleanEnv(), SIGNALBOX_ENDPOINTS: member.clientUrl, ...OPERATOR_ENV },
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  void ending.then((name) => child.kill(name));
  const [code, signal] = await ended;
  return typeof code === "number" ? code : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
