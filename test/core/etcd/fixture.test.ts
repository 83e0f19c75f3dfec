/** The temporary etcd: it leaves nothing behind, however the process that uses it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type EtcdMember, findEtcd, startEtcd } from "../../../fixtures/etcd/index.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

function isAlive(pid: number) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "latin1") : "";
  return !/\) Z /.test(state); // a zombie waits for a reaper that is not ours
}

const getPid = (member: EtcdMember) => {
  if (member.pid === undefined) throw new Error("it was not started");
  return member.pid;
};

describe("the throw-away etcd", () => {
  let etcd: EtcdMember | undefined;
  let cli: ChildProcess | undefined;
  afterEach(async () => {
    cli?.kill("SIGKILL");
    await etcd?.stop();
  });

  it("serves, keeps its data over a restart, and leaves nothing when it is stopped", async () => {
    etcd = await startEtcd();
    const pid = getPid(etcd);
    await etcd.runEtcdctl("put", "a", "kept");
    await etcd.restart();
    expect(getPid(etcd)).not.toBe(pid);
    expect(await etcd.runEtcdctl("get", "a", "--print-value-only")).toBe("kept\n");
    const last = getPid(etcd);
    await etcd.stop();
    expect([isAlive(pid), isAlive(last), existsSync(etcd.dataDir)]).toEqual([false, false, false]);
  });

  it("says what a version must look like", async () => {
    await expect(findEtcd("newest")).rejects.toThrow('ETCD_VERSION must be like 3.5.30 or 3.5; got "newest"');
  });

  it("can be frozen and stopped in that state", async () => {
    etcd = await startEtcd();
    etcd.freeze();
    expect(await etcd.isHealthy()).toBe(false);
    etcd.unfreeze();
    await etcd.waitUntilReady();
    etcd.freeze();
    await etcd.stop();
    expect(isAlive(getPid(etcd))).toBe(false);
  });

  it("says what etcd said when it does not start", async () => {
    await expect(startEtcd({ args: ["--no-such-flag"] })).rejects.toThrow("no-such-flag");
  });

  it.each(["SIGINT", "SIGKILL"] as const)(
    "runs from the command line until %s, and is gone then",
    async (signal) => {
      cli = spawn(process.execPath, [path.resolve("scripts/etcd.ts"), "start"], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      let output = "";
      cli.stdout?.on("data", (chunk) => {
        output += chunk;
      });
      const endpoint = await waitUntil("its start", () => /SIGNALBOX_ENDPOINTS=(\S+)/.exec(output)?.[1]);
      expect(await (await fetch(`${endpoint}/health`)).json()).toMatchObject({ health: "true" });
      cli.kill(signal);
      await once(cli, "exit");
      await waitUntil("its end", () =>
        fetch(`${endpoint}/health`).then(
          () => false,
          () => true,
        ),
      );
    },
  );
});
