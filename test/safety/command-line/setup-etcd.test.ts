/** `signalbox setup etcd`: what it writes, and what it refuses. test/hosts runs the scripts. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { findEtcd, startEtcd } from "../../../fixtures/etcd/index.ts";
import { BUNDLE, createCleanEnv, type ProcessResult, startSignalbox } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

let cwd: string;
beforeEach(() => {
  cwd = createTestFolder();
});

function setUp(...args: string[]): Promise<ProcessResult> {
  return startSignalbox(["setup", "etcd", ...args], { cwd }).ended;
}

function read(name: string): string {
  return readFileSync(join(cwd, "signalbox-etcd", name), "utf8");
}

test("writes a folder that nobody else can read, and says what comes next", async () => {
  const { code, stdout, stderr } = await setUp("host1", "10.0.0.2", "host3.example.com");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("ssh 10.0.0.2 sh < signalbox-etcd/10.0.0.2.sh\n");
  const folder = join(cwd, "signalbox-etcd");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const secrets = readdirSync(folder).filter((name) => /\.(sh|password)$|-key\.pem$/.test(name));
  expect(secrets).toHaveLength(9);
  for (const name of secrets) expect(statSync(join(folder, name)).mode & 0o077, name).toBe(0);
});

test("the certificate is for all members, by name or address, and has no common name", async () => {
  await setUp("host1", "10.0.0.2");
  const text = execFileSync("openssl", ["x509", "-noout", "-text", "-in", "signalbox-etcd/etcd.pem"], {
    cwd,
    encoding: "utf8",
  });
  expect(text).toContain("DNS:host1, IP Address:10.0.0.2");
  expect(text).toMatch(/Subject: O *= *etcd$/m);
});

test("the scripts are shell, and differ only in the name of their host", async () => {
  const { stderr } = await setUp("host1", "host2", "--prefix", "/team-a/");
  expect(stderr).toMatch("note: 2 members survive no more losses than 1 do");
  for (const name of ["host1.sh", "users.sh"])
    execFileSync("sh", ["-n", name], { cwd: join(cwd, "signalbox-etcd") });
  expect(read("host1.sh")).toContain('"prefix": "/team-a/"');
  const second = read("host2.sh").split("\n");
  const own = read("host1.sh")
    .split("\n")
    .filter((line, index) => line !== second[index]);
  expect(own).toEqual([
    expect.stringMatching(/^# Makes host1 a member/),
    "ETCD_NAME=host1",
    "ETCD_ADVERTISE_CLIENT_URLS=https://host1:2379",
    "ETCD_INITIAL_ADVERTISE_PEER_URLS=https://host1:2380",
  ]);
});

test("keeps the keys of a folder that exists", async () => {
  await setUp("host1");
  const before = read("ca-key.pem");
  expect(await setUp("host1")).toExit(74, { stderr: /it exists.*see --to/ });
  expect(read("ca-key.pem")).toBe(before);
});

test("users.sh that fails leaves an etcd that init refuses, and completes it when it is run again", async () => {
  await setUp("host1");
  const etcd = await startEtcd();
  onTestFinished(() => etcd.stop());
  const folder = join(cwd, "signalbox-etcd");
  const { etcdctl } = await findEtcd();
  const bin = join(cwd, "bin");
  const put = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  mkdirSync(bin);
  put("signalbox", `unset SIGNALBOX_CACERT; exec "${process.execPath}" "${BUNDLE}" "$@"`);
  const script = read("users.sh")
    .replace("https://host1:2379", etcd.clientUrl)
    .replace(" ETCDCTL_CACERT=ca.pem", "");
  writeFileSync(join(folder, "users.sh"), script);
  const env = {
    ...createCleanEnv(),
    PATH: `${bin}:${process.env.PATH}`,
    SIGNALBOX_ENDPOINTS: etcd.clientUrl,
    SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "true",
  };
  const call = (...words: string[]) => spawnSync("sh", words, { cwd: folder, env, encoding: "utf8" });
  const login = "--user runner --password-file runner.password";

  put(
    "etcdctl",
    `[ "$1 $2 $3" != "user add operator" ] || { echo broken >&2; exit 1; }; exec "${etcdctl}" "$@"`,
  );
  expect(call("users.sh")).toMatchObject({ status: 1, stderr: expect.stringContaining("broken") });
  const refused = call("-c", `signalbox init ${login}`);
  expect(refused.stdout).toMatch(
    /^FAILURE authentication: this host has the user "runner", but etcd has no auth/m,
  );
  expect(refused.status).toBe(78);

  put("etcdctl", `exec "${etcdctl}" "$@"`);
  const again = call("users.sh");
  expect(again.stdout).toContain("Authentication Enabled");
  expect(again).toMatchObject({ status: 0 });
});

test("without openssl, says what to install, and leaves nothing", async () => {
  const { ended } = startSignalbox(["setup", "etcd", "host1"], { cwd, env: { PATH: cwd } });
  expect(await ended).toExit(78, { stderr: "apt-get install openssl" });
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([
  ["a text for the shell", ["host1", "$(reboot)"], /HOST must be a name .*got "\$\(reboot\)"/],
  ["a path", ["../x"], "HOST must be a name"],
  ["the name of the other script", ["users"], /HOST must be .*not users/],
  ["the same host twice", ["a", "b", "a"], '"a" is given twice'],
])("refuses %s", async (_, hosts, message) => {
  expect(await setUp(...hosts)).toExit(64, { stderr: message });
  expect(readdirSync(cwd)).toEqual([]);
});
