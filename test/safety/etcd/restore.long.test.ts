/** docs/when-etcd-fails.md as written, with three members: a full database, a backup, a restore. Tokens grow over the restore. */
import { type StdioOptions, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { findEtcd, type RunningEtcd, startCluster } from "../../../fixtures/etcd/index.ts";
import { readPageBlocks } from "../../../fixtures/hosts/page-blocks.ts";
import { BUNDLE, createCleanEnv } from "../../../fixtures/signalbox.ts";

const BLOCKS = readPageBlocks(
  readFileSync(new URL("../../../docs/when-etcd-fails.md", import.meta.url), "utf8"),
);
const getBlock = (place: string) => {
  const [block, ...others] = BLOCKS.filter((one) => one.place === place);
  if (block === undefined || others.length > 0) throw new Error(`the page needs one block on ${place}`);
  return block.text;
};

let etcd: RunningEtcd | undefined;
const folder = mkdtempSync(join(tmpdir(), "signalbox-restore-"));
afterEach(async () => {
  await etcd?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a text in a shell that has `etcdctl` and `signalbox`, and ends at the first command that fails. */
function runShell(text: string, env: Record<string, string> = {}) {
  const all = {
    ...createCleanEnv(),
    XDG_STATE_HOME: `${folder}/state`,
    PATH: `${folder}/bin:${process.env.PATH}`,
    ...env,
  };
  // With Node's usual input, a socket, bash believes that it was started by a remote shell, and reads ~/.bashrc.
  const stdio: StdioOptions = ["ignore", "pipe", "pipe"];
  return spawnSync("bash", ["-euo", "pipefail", "-c", text], {
    cwd: folder,
    env: all,
    encoding: "utf8",
    stdio,
  });
}

async function startMembers(quotaBytes?: number) {
  mkdirSync(join(folder, "bin"), { recursive: true });
  rmSync(join(folder, "bin/etcdctl"), { force: true });
  symlinkSync((await findEtcd()).etcdctl, join(folder, "bin/etcdctl"));
  writeFileSync(join(folder, "bin/signalbox"), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
  chmodSync(join(folder, "bin/signalbox"), 0o755);
  etcd = await startCluster(3, quotaBytes === undefined ? {} : { quotaBytes });
  return etcd;
}

/** Replaces the addresses and folders of the page by those of the test. What systemd and root do, the test does itself. */
function adapt(text: string, { endpoints }: RunningEtcd) {
  return text
    .replaceAll("http://127.0.0.1:12379", endpoints[0] ?? "")
    .replace(/http:\/\/etcd(\d):2379/g, (_, at) => endpoints[Number(at) - 1] ?? "")
    .replaceAll("/var/backups/", `${folder}/`)
    .replace(/^(?:systemctl|sleep|chown) .*$/gm, "");
}

function paste(place: string, cluster: RunningEtcd, change = (text: string) => text): string {
  const text = change(adapt(getBlock(place), cluster));
  const { status, stdout, stderr } = runShell(text);
  expect(status, `${text}\n${stdout}${stderr}`).toBe(0);
  return stdout;
}

function run(cluster: RunningEtcd, env: Record<string, string> = {}) {
  const { status, stdout, stderr } = runShell("signalbox run --lock job -- printenv SIGNALBOX_TOKEN", {
    SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","),
    ...env,
  });
  return { status, token: Number(stdout), stderr };
}

async function readClusterId({ members }: RunningEtcd) {
  const [member] = members;
  const status = (await member?.runEtcdctl("endpoint", "status", "--write-out=json")) ?? "";
  return /"cluster_id":(\d+)/.exec(status)?.[1] ?? "";
}

test("backup and restore: later tokens are larger, grants wait for undrain, the old cluster id is refused", async () => {
  const cluster = await startMembers();
  expect(run(cluster).status).toBe(0);
  expect(paste("etcd1: backup", cluster)).toMatch(/HASH.*REVISION/);
  const last = Array.from({ length: 30 }, () => run(cluster).token).at(-1) ?? 0;
  const before = await readClusterId(cluster);
  const peers = readPeers(cluster);

  await Promise.all(cluster.members.map((member) => member.terminate()));
  paste("every member: stop", cluster);
  for (const [index, { dataDir }] of cluster.members.entries()) {
    paste("every member: restore", cluster, (text) =>
      text
        .replaceAll("/var/lib/etcd/default", dataDir)
        .replaceAll("/var/lib/etcd/before-restore", `${dataDir}.before`)
        .replace("--name etcd1", `--name m${index + 1}`)
        .replace("http://etcd1:2380 ", `${peers[index]} `)
        .replace(
          /--initial-cluster \S+/,
          `--initial-cluster ${peers.map((url, at) => `m${at + 1}=${url}`).join(",")}`,
        ),
    );
  }
  await Promise.all(cluster.members.map((member) => member.start()));
  await Promise.all(cluster.members.map((member) => member.waitUntilReady()));

  expect(paste("etcd1: raise", cluster, (text) => text.replace(/want=\d+/, `want=${last + 50}`))).toMatch(
    '"Revision" : ',
  );
  expect(run(cluster), "the host remembers the cluster before").toMatchObject({
    status: 78,
    stderr: expect.stringContaining("--forget-cluster"),
  });
  const useCluster = (text: string) => `export SIGNALBOX_ENDPOINTS=${cluster.endpoints.join(",")}\n${text}`;
  paste("a host: open", cluster, useCluster);
  expect(run(cluster), "nothing is granted yet").toMatchObject({ status: 75 });
  paste("a host: look", cluster, useCluster);
  expect(run(cluster).token).toBeGreaterThan(last);
  expect(await readClusterId(cluster)).not.toBe(before);
  const old = run(cluster, { SIGNALBOX_CLUSTER_ID: BigInt(before).toString(16).padStart(16, "0") });
  expect(old).toMatchObject({ status: 78, stderr: expect.stringContaining("cluster") });
});

/** The members' peer URLs. The members must run. */
function readPeers({ members }: RunningEtcd) {
  return members.map(({ pid }) => {
    const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return words[words.indexOf("--initial-advertise-peer-urls") + 1] ?? "";
  });
}

test("a full database: NOSPACE, and the commands that end it", async () => {
  const cluster = await startMembers(2 * 1024 * 1024);
  const fill = "for i in 1 2 3 4 5 6; do head -c 900000 /dev/zero | tr '\\0' x | etcdctl put big; done";
  expect(runShell(fill, { ETCDCTL_ENDPOINTS: cluster.endpoints[0] ?? "" }).stderr).toMatch("space exceeded");
  expect(run(cluster)).toMatchObject({ status: 69, stderr: expect.stringMatching(/space|NOSPACE|full/) });
  paste("etcd1: full", cluster, (text) => `${text}\netcdctl del big`);
  expect(run(cluster).status).toBe(0);
});
