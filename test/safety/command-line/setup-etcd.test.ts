/** `signalbox setup etcd`: what it writes, and what it refuses. test/hosts runs the scripts. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { buildDeafEtcdctl, createPrograms, createUsersScript } from "../../../fixtures/etcd/users-script.ts";
import { startSignalbox } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

let cwd: string;
beforeEach(() => {
  cwd = createTestFolder();
});

function setUp(...args: string[]) {
  return startSignalbox(["setup", "etcd", ...args], { cwd }).ended;
}

function read(name: string) {
  return readFileSync(join(cwd, "signalbox-etcd", name), "utf8");
}

test("writes a folder that nobody else can read, and says what comes next", async () => {
  const { code, stdout, stderr } = await setUp("host1", "10.0.0.2", "host3.example.com");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain("sh signalbox-etcd/setup.sh does these steps:\n");
  expect(stdout).toContain("ssh 10.0.0.2 sh < signalbox-etcd/10.0.0.2.sh\n");
  const folder = join(cwd, "signalbox-etcd");
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  const secrets = readdirSync(folder).filter((name) => /\.(sh|password)$|-key\.pem$/.test(name));
  expect(secrets).toHaveLength(11);
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
  for (const name of ["host1.sh", "users.sh", "setup.sh"])
    execFileSync("sh", ["-n", name], { cwd: join(cwd, "signalbox-etcd") });
  expect(read("host1.sh")).toContain('"prefix": "/team-a/"');
  const second = read("host2.sh").split("\n");
  const own = read("host1.sh")
    .split("\n")
    .filter((line, index) => line !== second[index]);
  expect(own).toEqual([
    expect.stringMatching(/^# Makes host1 a member/),
    expect.stringContaining("host1: there is no user etcd"),
    expect.stringContaining("host1: /etc/default/etcd has"),
    "ETCD_NAME=host1",
    "ETCD_ADVERTISE_CLIENT_URLS=https://host1:2379",
    "ETCD_INITIAL_ADVERTISE_PEER_URLS=https://host1:2380",
    expect.stringContaining("host1: is a member"),
    expect.stringContaining("host1: etcd is started"),
  ]);
});

test("keeps the keys of a folder that exists: for the same hosts it goes on, for others it refuses", async () => {
  await setUp("host1");
  const before = read("ca-key.pem");
  expect(await setUp("host1")).toExit(0, { stderr: /"signalbox-etcd" is kept/ });
  expect(await setUp("host1", "host2", "host3")).toExit(74, { stderr: /was made for .*host1.*see --to/ });
  expect(await setUp("host1", "--prefix", "/b/")).toExit(74, { stderr: /see --to/ });
  expect(read("ca-key.pem")).toBe(before);
  mkdirSync(join(cwd, "other"));
  expect(await setUp("host1", "--to", "other")).toExit(74, { stderr: /it exists.*see --to/ });
});

test("a run needs what it names", async () => {
  expect(await setUp("host1", "--package", "x.deb")).toExit(64, { stderr: "--package needs --run" });
  expect(await setUp("host1", "--run", "--package", "x.deb")).toExit(64, {
    stderr: /there is no file "x.deb"/,
  });
  expect(readdirSync(cwd)).toEqual([]);
  const refused = await startSignalbox(["setup", "etcd", "host1", "--run"], {
    cwd,
    env: { PATH: `${createPrograms({ ssh: "echo no route >&2; exit 255" })}:${process.env.PATH}` },
  }).ended;
  expect(refused).toExit(1, { stderr: /no route\nhost1: is no member yet; run this again/ });
});

describe("users.sh", () => {
  test("that fails leaves an etcd that init refuses, and completes it when it is run again", async () => {
    const run = await createUsersScript();
    const failed = await run(
      (real) => `[ "$1 $2 $3" != "user add operator" ] || { echo broken >&2; exit 1; }; exec ${real}`,
    );
    expect(failed).toMatchObject({ status: 1, stderr: expect.stringContaining("user operator: broken") });
    const again = run((real) => `exec ${real}`);
    expect(again.stdout).toMatch(/^role signalbox-runner: is there\n(.*\n)*user operator: done\n/m);
    expect(again.stdout).toMatch(/^ok +authentication: etcd requires/m);
    expect(again).toMatchObject({ status: 0 });
    const third = run((real) => `exec ${real}`);
    expect(third.stdout).not.toMatch(/^(role|user) .*: done$/m);
    expect(third).toMatchObject({ status: 0 });
  });

  test("takes an answer that came too late for what it is", async () => {
    const run = await createUsersScript();
    const ended = run((real) => buildDeafEtcdctl(real, "{ echo context deadline exceeded >&2; exit 1; }"));
    expect(ended.stdout).toMatch(/^role signalbox-runner: is there$/m);
    expect(ended.stdout).toMatch(/^ok +authentication: etcd requires/m);
    expect(ended).toMatchObject({ status: 0 });
  });
});

test("without openssl, says what to install, and leaves nothing", async () => {
  const { ended } = startSignalbox(["setup", "etcd", "host1"], { cwd, env: { PATH: cwd } });
  expect(await ended).toExit(78, { stderr: "apt-get install openssl" });
  expect(readdirSync(cwd)).toEqual([]);
});

test.each([
  ["a text for the shell", ["host1", "$(reboot)"], /HOST must be a name .*got "\$\(reboot\)"/],
  ["a path", ["../x"], "HOST must be a name"],
  ["the name of another script", ["users"], /HOST must be .*not users or setup/],
  ["the same host twice", ["a", "b", "a"], '"a" is given twice'],
])("refuses %s", async (_, hosts, message) => {
  expect(await setUp(...hosts)).toExit(64, { stderr: message });
  expect(readdirSync(cwd)).toEqual([]);
});
