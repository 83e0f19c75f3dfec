/** The shell blocks of docs/etcd.md, run in order: from an empty etcd to a host that runs jobs and an operator who drains. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { type EtcdMember, findEtcd, startEtcd } from "../../../fixtures/etcd/index.ts";
import { BUNDLE, createCleanEnv, startSignalbox } from "../../../fixtures/signalbox.ts";

const PAGE = readFileSync(new URL("../../../docs/etcd.md", import.meta.url), "utf8");
const JOB_TTL_MS = 10_000;
const SAMPLE_LINKS = ["etcd1", "etcd2", "etcd3"].map((name) => `https://${name}:2379`);

/** The shell blocks below a heading, in their order. */
function listBlocks(heading: string) {
  const section = PAGE.split(/^#{2,3} /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`docs/etcd.md has no heading "${heading}"`);
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
}

let etcd: EtcdMember | undefined;
const folders: string[] = [];
afterEach(async () => {
  await etcd?.stop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A reader's machine: a folder, with `etcdctl` and `signalbox` on the PATH. */
class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), "signalbox-page-"));
  endpoint = "";

  async prepare() {
    folders.push(this.folder);
    const bin = join(this.folder, "bin");
    mkdirSync(bin);
    symlinkSync((await findEtcd()).etcdctl, join(bin, "etcdctl"));
    writeFileSync(join(bin, "signalbox"), `#!/bin/sh\nexec "${process.execPath}" "${BUNDLE}" "$@"\n`);
    chmodSync(join(bin, "signalbox"), 0o755);
  }

  /** Pastes blocks into one new shell, which ends at the first command that fails. @returns what they print */
  paste(...blocks: string[]) {
    const env = {
      ...createCleanEnv(),
      PATH: `${this.folder}/bin:${process.env.PATH}`,
      XDG_CONFIG_HOME: this.folder,
    };
    const script = blocks.map((block) => this.#adapt(block)).join("\n");
    const { status, stdout, stderr } = spawnSync("bash", ["-euc", script], {
      cwd: this.folder,
      env,
      encoding: "utf8",
    });
    expect(status, `${script}\n${stdout}${stderr}`).toBe(0);
    return stdout;
  }

  get #settings(): Record<string, string> {
    return {
      SIGNALBOX_CACERT: join(this.folder, "ca.pem"),
      XDG_STATE_HOME: this.folder,
      XDG_CONFIG_HOME: this.folder,
    };
  }

  /** Starts a job that holds a lock. It ends with the test. */
  startJob() {
    const options = ["--lock", "a", "--ttl", `${JOB_TTL_MS}ms`, "--termination-timeout", "1s"];
    const job = startSignalbox(["run", ...options, "--", "sh", "-c", "echo up; exec sleep 1000"], {
      endpoints: [this.endpoint],
      env: this.#settings,
    });
    onTestFinished(() => void job.kill("SIGKILL"));
    return job;
  }

  /** Builds the line of a run with the reader's authority. */
  buildRun(command: string) {
    const settings = Object.entries({ ...this.#settings, SIGNALBOX_ENDPOINTS: this.endpoint });
    return `${settings.map(([name, value]) => `${name}=${value}`).join(" ")} signalbox run --lock b -- ${command}`;
  }

  /** The page's addresses and folders are the reader's to replace. */
  #adapt(block: string) {
    return block
      .replace("DNS:etcd1,", "IP:127.0.0.1,DNS:etcd1,")
      .replaceAll(SAMPLE_LINKS.join(","), this.endpoint)
      .replaceAll(SAMPLE_LINKS.map((link) => `"${link}"`).join(", "), `"${this.endpoint}"`)
      .replaceAll("/etc/signalbox", `${this.folder}/signalbox`);
  }

  /** Starts etcd with the certificates that the page makes. */
  async startEtcd(user: string, clientCertAuth: boolean) {
    const buildIdentity = (name: string) => ({
      cert: join(this.folder, `${name}.pem`),
      key: join(this.folder, `${name}-key.pem`),
    });
    const certificates = {
      ca: join(this.folder, "ca.pem"),
      server: buildIdentity("etcd"),
      issueClient: async () => buildIdentity(user),
    };
    etcd = await startEtcd({ tls: { clientCertAuth, certificates } });
    this.endpoint = etcd.clientUrl;
  }
}

/** What a host and an operator then see. */
function expectWorking(host: string, operator: string) {
  expect(host).toMatch(/^ok {6}permissions: runs: /m);
  expect(host).toMatch(/^ok {6}authentication: etcd requires authentication/m);
  expect(host).toMatch(/^it works$/m);
  expect(operator).toMatch("drain");
}

describe("a reader of docs/etcd.md, on an empty cluster", () => {
  test("with passwords", async () => {
    const reader = new Reader();
    await reader.prepare();
    reader.paste(...listBlocks("Make certificates"));
    await reader.startEtcd("root", false);
    const [connect = "", users = "", host = "", operator = "", ...more] = listBlocks("Log in with passwords");
    expect(more).toEqual([]);
    reader.paste(connect, ...listBlocks("Make roles"), users);
    expectWorking(reader.paste(host), reader.paste(operator));
  });

  test("who rotates certificates while a job runs", async () => {
    const reader = new Reader();
    await reader.prepare();
    reader.paste(...listBlocks("Make certificates"));
    await reader.startEtcd("root", false);
    const job = reader.startJob();
    await job.waitForOutput("up");
    const [authority = "", certificates = "", last = "", ...more] = listBlocks("Rotate certificates");
    expect(more).toEqual([]);
    for (const [step, isRestart] of [
      [[authority], true],
      [
        ["umask 077", authority.split("\n").find((line) => line.startsWith("new=")) ?? "", certificates],
        false,
      ],
      [[last], true],
    ] as const) {
      reader.paste(...step);
      if (isRestart) await etcd?.kill().then(() => etcd?.start());
      await etcd?.waitUntilReady();
      expect(reader.paste(reader.buildRun("echo it works"))).toMatch("it works");
    }
    await pause(JOB_TTL_MS + 2_000); // a session that is not renewed has expired
    job.kill("SIGTERM");
    expect(await job.ended).toExit(143);
  }, 60_000);

  test("with client certificates", async () => {
    const reader = new Reader();
    await reader.prepare();
    const [clients = "", connect = "", users = "", host = "", operator = "", ...more] = listBlocks(
      "Log in with client certificates",
    );
    expect(more).toEqual([]);
    reader.paste(...listBlocks("Make certificates"), clients);
    await reader.startEtcd("root", true);
    reader.paste(connect, ...listBlocks("Make roles"), users);
    expectWorking(reader.paste(host), reader.paste(operator));
  });
});
