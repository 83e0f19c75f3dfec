import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { type EtcdMember, startEtcd } from "../../fixtures/etcd/index.ts";
import { BUNDLE, cleanEnv } from "../../fixtures/signalbox.ts";
import { openStore } from "../../src/etcd/open.ts";
import { realClock } from "../../src/process/clock.ts";
import { HOSTS, writeConfigs } from "./hosts.ts";
import { closeSome, configure, OPERATOR_ENV } from "./operators.ts";
import { writePast, writeTroubles } from "./past.ts";
import { Rota } from "./rota.ts";
import { startWorkers } from "./schedules.ts";

export interface PlaygroundOptions {
  seed: number;
  /** Opens no console: the site is for other terminals. */
  isServed: boolean;
}

const ENDINGS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** A site at work on an etcd of its own, until the console on it, or this process, is ended. @returns the exit code */
export async function playground({ seed, isServed }: PlaygroundOptions): Promise<number> {
  const ending = Promise.withResolvers<NodeJS.Signals>();
  for (const name of ENDINGS) process.on(name, ending.resolve);
  const closing: (() => unknown)[] = [];
  try {
    const opened = open(seed, closing);
    const site = await Promise.race([opened, ending.promise]);
    if (typeof site === "string") {
      await opened.catch(() => {}); // what is half open has to be closed as a whole
      return 128 + constants.signals[site];
    }
    const hasTerminal = process.stdin.isTTY && process.stdout.isTTY;
    if (!isServed && hasTerminal) return await onConsole(site, ending.promise);
    if (!isServed) console.log("This is no terminal, so no console is opened here. In one, type:");
    console.log(`\n  export SIGNALBOX_ENDPOINTS=${site.clientUrl}\n  ${BUNDLE} console\n`);
    console.log("The site is at work until Ctrl+C.");
    await ending.promise;
    return 0;
  } finally {
    for (const close of closing.reverse()) await close();
  }
}

/** @param closing  gets what is to be done at the end, the last first */
async function open(seed: number, closing: (() => unknown)[]): Promise<EtcdMember> {
  const told = performance.now();
  process.stderr.write(`A site of ${HOSTS.length} hosts starts, on a real etcd …`);
  const folder = mkdtempSync(join(tmpdir(), "signalbox-playground-"));
  closing.push(() => rmSync(folder, { recursive: true, force: true }));
  const etcd = await startEtcd();
  closing.push(() => etcd.stop());
  const { endpoints } = etcd;
  const store = await openStore({ endpoints }, { clock: realClock() });
  closing.push(() => store.close());
  await Promise.all([writePast(store, seed), configure(endpoints)]);
  closing.push(await writeTroubles(store));
  closing.push(await startWorkers(store, endpoints));
  const rota = new Rota({
    ...{ seed, folder: join(folder, "bin") },
    config: writeConfigs(join(folder, "hosts"), endpoints),
  });
  closing.push(() => rota.stop());
  await rota.start();
  await closeSome(endpoints);
  const seconds = ((performance.now() - told) / 1000).toFixed(0);
  process.stderr.write(` ${rota.running} runs at work after ${seconds} s.\n`);
  return etcd;
}

/** The console on the user's terminal; a signal for us ends it first, so that it leaves the terminal as it was. */
async function onConsole(site: EtcdMember, ending: Promise<NodeJS.Signals>): Promise<number> {
  const child = spawn(process.execPath, [BUNDLE, "console"], {
    env: { ...cleanEnv(), SIGNALBOX_ENDPOINTS: site.clientUrl, ...OPERATOR_ENV },
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  void ending.then((name) => child.kill(name));
  const [code, signal] = await ended;
  return typeof code === "number" ? code : 128 + (constants.signals[signal as NodeJS.Signals] ?? 0);
}
