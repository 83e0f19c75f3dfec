import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { BUNDLE, createCleanEnv } from "../../fixtures/signalbox.ts";
import { openStore } from "../../src/core/etcd/open.ts";
import { createRealClock } from "../../src/core/process/clock.ts";
import { writeHistory, writeTroubles } from "./history.ts";
import { HOSTS, writeConfigs } from "./hosts.ts";
import { configureDemo, drainSome, OPERATOR_ENV } from "./operators.ts";
import { startWorkers } from "./schedules.ts";
import { Workload } from "./workload.ts";

export interface PlaygroundOptions {
  seed: number;
  /** Whether to open no console, because the site is used from other terminals. */
  isServed: boolean;
}

/** Timeouts for a busy machine, where etcd answers slowly, ms. */
const PATIENT = { attempt: 20_000, hedge: 10_000, total: 180_000 };
/** The console opens after this time at the latest, ms. The remaining jobs start afterwards. */
const OPEN_AFTER = 8_000;

const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs a simulated site on a temporary etcd until the console or this process ends. @returns the exit code */
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
      await opened.catch(() => {}); // wait until it can be closed completely
      return 128 + constants.signals[member];
    }
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (!isServed && hasTerminal) return await runConsole(member, closing, ending.promise);
    if (!isServed)
      console.log(
        "Standard input and output are not a terminal, so the console does not start. In a terminal, type:",
      );
    console.log(`\n  export SIGNALBOX_ENDPOINTS=${member.clientUrl}\n  ${BUNDLE} console\n`);
    console.log("The site runs until Ctrl+C.");
    await ending.promise;
    return 0;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/**
 * Starts etcd, the workers and the jobs.
 * @param closing  receives the functions to call at the end, in reverse order
 * @param signal   stops before the next step when aborted
 */
export async function openPlayground(
  seed: number,
  closing: (() => unknown)[],
  signal: AbortSignal,
): Promise<EtcdMember> {
  const told = performance.now();
  process.stderr.write(`Starting a site of ${HOSTS.length} hosts on a temporary etcd …`);
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
    seed,
    folder: join(folder, "bin"),
    getConfigPath: writeConfigs(join(folder, "hosts"), endpoints),
  });
  closing.push(() => workload.stop());
  const late = pause(OPEN_AFTER, undefined, { ref: false, signal }).catch(() => {});
  await Promise.race([workload.start(), late]);
  signal.throwIfAborted();
  await drainSome(endpoints);
  const seconds = ((performance.now() - told) / 1000).toFixed(0);
  process.stderr.write(` ${workload.running} runs after ${seconds} s.\n`);
  return etcd;
}

/** Runs the console on the user's terminal. Signals to this process end the console first, so that it restores the terminal. */
async function runConsole(
  member: EtcdMember,
  closing: (() => unknown)[],
  ending: Promise<NodeJS.Signals>,
): Promise<number> {
  const state = mkdtempSync(join(tmpdir(), "signalbox-state-"));
  closing.push(() => rmSync(state, { recursive: true, force: true }));
  const env = { ...createCleanEnv(), ...OPERATOR_ENV, XDG_STATE_HOME: state };
  const child = spawn(process.execPath, [BUNDLE, "console"], {
    env: { ...env, SIGNALBOX_ENDPOINTS: member.clientUrl },
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  void ending.then((name) => child.kill(name));
  const [code, signal] = await ended;
  return typeof code === "number" ? code : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
