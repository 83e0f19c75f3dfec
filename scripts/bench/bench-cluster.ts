/** The environment of each part of the benchmark: a temporary etcd, and the programs to compare. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EtcdMember, findEtcd, startCluster } from "../../fixtures/etcd/index.ts";
import { BUNDLE } from "../../fixtures/signalbox.ts";
import { openStore } from "../../src/core/etcd/open.ts";
import type { Store } from "../../src/core/etcd/store.ts";
import { createRealClock } from "../../src/core/process/clock.ts";
import { buildPrefixRange } from "../../src/core/protocol/txn.ts";

/** A program and its arguments. */
export type Argv = readonly [file: string, ...args: string[]];

export interface BenchCluster {
  /** The first member. */
  etcd: EtcdMember;
  /** Client URLs of all members. */
  endpoints: readonly string[];
  store: Store;
  /** Folder for lock files and timestamps. */
  folder: string;
  /** Environment with the endpoints, without other variables of signalbox or etcdctl. */
  env: NodeJS.ProcessEnv;
  quick: boolean;
  buildSignalboxArgv(...args: string[]): Argv;
  /** Builds `etcdctl lock NAME CMD…`. */
  buildEtcdctlArgv(name: string, ...command: string[]): Argv;
  /** Counts the keys with a prefix. */
  countKeys(prefix: string): Promise<number>;
}

/** One part of the benchmark. */
export type BenchmarkPart = (cluster: BenchCluster) => Promise<void>;

/** Runs a part on a temporary etcd that syncs its writes to disk, as in production, and removes it afterwards. */
export async function runOnCluster(part: BenchmarkPart, quick: boolean, size = 1): Promise<void> {
  const { etcdctl } = await findEtcd();
  const running = await startCluster(size, { electionMs: 1000, args: ["--unsafe-no-fsync=false"] });
  const [etcd] = running.members;
  if (etcd === undefined) throw new Error("a cluster has a member");
  const { endpoints } = running;
  const store = await openStore({ endpoints }, { clock: createRealClock() });
  const folder = mkdtempSync(join(tmpdir(), "signalbox-bench-"));
  process.env.XDG_STATE_HOME = folder; // this host must not remember the cluster: the next one may have its port
  try {
    await part({
      etcd,
      endpoints,
      store,
      folder,
      quick,
      env: buildEnvironment(endpoints.join(","), folder),
      buildSignalboxArgv: (...args) => [process.execPath, BUNDLE, ...args],
      buildEtcdctlArgv: (name, ...command) => [etcdctl, "lock", name, "--", ...command],
      countKeys: async (prefix) => (await store.readRange({ ...buildPrefixRange(prefix), limit: 1 })).count,
    });
  } finally {
    store.close();
    await running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param state  where the processes remember the cluster, as those of a user do */
function buildEnvironment(endpoint: string, state: string): NodeJS.ProcessEnv {
  const own = /^(SIGNALBOX|ETCDCTL|XDG)_|^NODE_OPTIONS$/;
  const kept = Object.entries(process.env).filter(([name]) => !own.test(name));
  return {
    ...Object.fromEntries(kept),
    XDG_STATE_HOME: state,
    SIGNALBOX_ENDPOINTS: endpoint,
    ETCDCTL_ENDPOINTS: endpoint,
    ETCDCTL_API: "3",
  };
}

/** Runs a program until it exits. @throws Error if it fails */
export function runProgram([file, ...args]: Argv, env: NodeJS.ProcessEnv): void {
  const { status, error } = spawnSync(file, args, { env, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${[file, ...args].join(" ")}: ${error ?? `exit code ${status}`}`);
}

/** Whether a program is installed. */
export function canStart(file: string): boolean {
  return spawnSync(file, ["--version"], { stdio: "ignore" }).error === undefined;
}
