/** scripts/maintenance, end to end, with real runs. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { listDrains } from "../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../fixtures/cluster/test-namespace.ts";
import type { ProcessResult } from "../../fixtures/signalbox.ts";
import { Account } from "./script.ts";

const cluster = TestCluster.startForFile();
const HOSTS = ["web1.example.com", "web2.example.com", "web3.example.com"];

async function createAccount() {
  const namespace = await cluster.createTestNamespace("http");
  await namespace.put(namespace.keys.group("web"), JSON.stringify(HOSTS));
  return { namespace, account: new Account(namespace) };
}

const listNames = async (namespace: TestNamespace) => (await listDrains(namespace)).map(({ name }) => name);

/** What the commands of a script wrote into $OUT, a line each. */
function readOutputLines({ folder }: Account) {
  const path = join(folder, "out");
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

const listRememberedFiles = ({ folder }: Account) => {
  const path = join(folder, "signalbox/maintenance");
  return existsSync(path) ? readdirSync(path) : [];
};

/** Expects how a process ends: with a code, and with this in its standard error. */
async function expectEnd(ended: Promise<ProcessResult>, code: number, says: string | RegExp = "") {
  const { code: found, stderr } = await ended;
  expect(found, stderr).toBe(code);
  expect(stderr).toMatch(says);
}

describe("rolling.mjs", () => {
  const TELL = 'echo "$HOST" >>"$OUT"';

  it("works on one drained and empty host after the other, and lets each in again", async () => {
    const { namespace, account } = await createAccount();
    const over = `${namespace.jobs.journal.folder}/over`;
    const on = (host: string) => ["--lock", host, "--host", host];
    await namespace.jobs.startAndWait("busy", on(HOSTS[1] ?? ""), { hold: ["until", over] });
    const script = account.start("rolling.mjs web --", TELL);
    await script.printed(/waiting for web2/);
    expect(readOutputLines(account)).toEqual([HOSTS[0]]);
    expect(await listNames(namespace)).toEqual([HOSTS[1]]);
    await expectEnd(namespace.jobs.start("late", on(HOSTS[1] ?? "")).ended, 75);
    writeFileSync(over, "");
    const { code, stderr } = await script.ended;
    expect({ code, told: readOutputLines(account) }, stderr).toEqual({ code: 0, told: HOSTS });
    expect(stderr).toContain("all 3 hosts of web are done");
    expect(await listDrains(namespace)).toEqual([]);
    expect(listRememberedFiles(account)).toEqual([]);
  });

  it("stops at the first failure with that host drained, and goes on with it", async () => {
    const { namespace, account } = await createAccount();
    const repaired = join(account.folder, "repaired");
    const words = ["sh", "-c", `${TELL}; case $HOST in web2*) test -e "$0" || exit 7 ;; esac`, repaired];
    await expectEnd(
      account.run("rolling.mjs web --reason kernel --", ...words),
      7,
      "failed on web2.example.com (exit 7)",
    );
    expect(readOutputLines(account)).toEqual(HOSTS.slice(0, 2));
    expect(await listDrains(namespace)).toMatchObject([
      { name: HOSTS[1], why: expect.stringMatching(/^kernel \(since /) },
    ]);
    await expectEnd(account.run("rolling.mjs web -- true"), 64, "--restart");
    writeFileSync(repaired, "");
    await expectEnd(account.run("rolling.mjs web --", ...words), 0);
    expect(readOutputLines(account)).toEqual([...HOSTS.slice(0, 2), ...HOSTS.slice(1)]);
    expect(await listDrains(namespace)).toEqual([]);
  });

  it("killed at any point goes on where it was, and leaves no drain behind", async () => {
    const { namespace, account } = await createAccount();
    for (let round = 0; round < 6; round += 1) {
      const script = account.start("rolling.mjs web --", `${TELL}; sleep 0.05`);
      await new Promise((resolve) => setTimeout(resolve, 150 + 170 * round)); // wherever that is
      script.child.kill("SIGKILL");
      await script.ended;
    }
    const runAgain = () => account.run("rolling.mjs web --", `${TELL}; sleep 0.05`);
    let last = await runAgain();
    // What the killed ones had started may still be at it.
    for (let tries = 1; last.code === 75 && tries < 20; tries += 1) last = await runAgain();
    expect(last, last.stderr).toMatchObject({ code: 0 });
    expect([...new Set(readOutputLines(account))]).toEqual(HOSTS);
    expect(await listDrains(namespace)).toEqual([]);
  });

  it("leaves out a host that somebody else has drained, and does it the next time", async () => {
    const { namespace, account } = await createAccount();
    const foreign = namespace.keys.drain("host", HOSTS[0] ?? "");
    await namespace.put(foreign, '{"by":"ann","at":1,"why":"broken disk"}');
    await expectEnd(account.run("rolling.mjs web --", TELL), 75, "drained by ann: broken disk");
    expect(readOutputLines(account)).toEqual(HOSTS.slice(1));
    expect(await listDrains(namespace)).toMatchObject([{ by: "ann" }]);
    await namespace.store.commitTxn({ compare: [], success: [{ op: "delete", key: foreign }], failure: [] });
    await expectEnd(account.run("rolling.mjs web --", TELL), 0);
    expect(readOutputLines(account)).toEqual([...HOSTS.slice(1), HOSTS[0]]);
  });

  it("stops when a host does not become empty in time, or with --reset ends what runs there", async () => {
    const { namespace, account } = await createAccount();
    const options = `--lock x --host ${HOSTS[0]} --ttl 9s --termination-timeout 400ms`.split(" ");
    const run = await namespace.jobs.startAndWait("busy", options, { hold: ["stubborn"] });
    await expectEnd(
      account.run("rolling.mjs web --timeout 200ms --", TELL),
      124,
      "web1.example.com stays drained",
    );
    expect(readOutputLines(account)).toEqual([]);
    await expectEnd(account.run("rolling.mjs web --timeout 200ms --reset --", TELL), 0);
    await expectEnd(run.ended, 125);
    expect(readOutputLines(account)).toEqual(HOSTS);
  });

  it("is one at a time, can be interrupted, and goes on", async () => {
    const { namespace, account } = await createAccount();
    const over = `${namespace.jobs.journal.folder}/over`;
    const options = `--lock x --host ${HOSTS[0]}`.split(" ");
    await namespace.jobs.startAndWait("busy", options, { hold: ["until", over] });
    const script = account.start("rolling.mjs web --", TELL);
    await script.printed(/waiting for web1/);
    await expectEnd(account.run("rolling.mjs web --", TELL), 75);
    script.child.kill("SIGTERM");
    await expectEnd(script.ended, 143, "stays drained");
    writeFileSync(over, "");
    await expectEnd(account.run("rolling.mjs web --", TELL), 0);
    expect(await listDrains(namespace)).toEqual([]);
  });

  it.each([
    ["web", 64, "no command"],
    ["-- true", 64, "rolling.mjs GROUP"],
    ["web --frobnicate -- true", 64, "--frobnicate"],
    ["wep -- true", 78, 'did you mean "web"?'],
  ])("%s ends with %i: %s", async (line, code, says) => {
    const { account } = await createAccount();
    await expectEnd(account.run(`rolling.mjs ${line}`), code, says);
  });
});

describe("freeze.mjs and thaw.mjs", () => {
  it("stop everything once nothing runs, and lift exactly that", async () => {
    const { namespace, account } = await createAccount();
    const over = `${namespace.jobs.journal.folder}/over`;
    await namespace.jobs.startAndWait("busy", "--lock x", { hold: ["until", over] });
    const freeze = account.start("freeze.mjs --reason", "etcd upgrade");
    await freeze.printed(/waiting for /);
    await expectEnd(namespace.jobs.start("late", "--lock y").ended, 75);
    writeFileSync(over, "");
    await expectEnd(freeze.ended, 0, "frozen: nothing runs");
    await namespace.put(namespace.keys.drain("lock", "y"), '{"by":"ann","at":1}');
    await expectEnd(account.run("freeze.mjs"), 0); // it is frozen still
    expect(await listDrains(namespace)).toHaveLength(2);
    await expectEnd(account.run("thaw.mjs"), 0, "thawed");
    expect(await listNames(namespace)).toEqual(["y"]);
    await expectEnd(account.run("thaw.mjs"), 1);
    expect(listRememberedFiles(account)).toEqual([]);
  });

  it("leave alone what somebody else has stopped, also where that took the freeze's place", async () => {
    const { namespace, account } = await createAccount();
    await namespace.put(namespace.keys.drain("all", "all"), '{"by":"ann","at":1,"why":"fire"}');
    await expectEnd(account.run("freeze.mjs"), 75, "by ann: fire");
    await expectEnd(account.run("thaw.mjs"), 1);
    await expectEnd(namespace.start("undrain all --yes").ended, 0);
    await expectEnd(account.run("freeze.mjs"), 0);
    await namespace.put(namespace.keys.drain("all", "all"), '{"by":"ann","at":2,"why":"smoke"}');
    await expectEnd(account.run("thaw.mjs"), 0, /was already lifted\n.*still drained by ann: smoke/);
    expect(await listDrains(namespace)).toMatchObject([{ why: "smoke" }]);
  });
});

describe("evacuate.mjs", () => {
  const LEASE = "--no-lock --lease db=1:3 --ttl 30s --termination-timeout 400ms".split(" ");

  it("ends the stubborn after a time, works on the empty resource, and opens it again", async () => {
    const { namespace, account } = await createAccount();
    const busy = await namespace.jobs.startAndWait("busy", LEASE, { hold: ["stubborn"] });
    const beside = await namespace.jobs.startAndWait("beside", "--lock x", { hold: ["until", "/never"] });
    await expectEnd(account.run("evacuate.mjs db --after 300ms --", 'echo "$RESOURCE" >>"$OUT"'), 0);
    await expectEnd(busy.ended, 125);
    expect(beside.child.exitCode).toBeNull();
    expect({ told: readOutputLines(account), drains: await listDrains(namespace) }).toEqual({
      told: ["db"],
      drains: [],
    });
    await expectEnd(namespace.jobs.start("next", LEASE).ended, 0);
  });

  it("leaves it drained where the command fails, or --stay says so, or nobody may be ended", async () => {
    const { namespace, account } = await createAccount();
    await expectEnd(account.run("evacuate.mjs db --", "exit 9"), 9);
    expect(await listNames(namespace)).toEqual(["db"]);
    await expectEnd(account.run("evacuate.mjs db -- true"), 0);
    expect(await listNames(namespace)).toEqual([]);
    await expectEnd(account.run("evacuate.mjs db --stay"), 0);
    expect(await listNames(namespace)).toEqual(["db"]);
    await expectEnd(namespace.start("undrain resource db --yes").ended, 0);
    await namespace.jobs.startAndWait("busy", LEASE, { hold: ["stubborn"] });
    await expectEnd(account.run("evacuate.mjs db --after 200ms --never-reset -- true"), 124, "stays drained");
    expect(await listNames(namespace)).toEqual(["db"]);
  });
});

it.each(["rolling.mjs", "freeze.mjs", "thaw.mjs", "evacuate.mjs"])("%s --help says how", async (name) => {
  const { account } = await createAccount();
  expect(await account.run(`${name} --help`)).toMatchObject({
    code: 0,
    stdout: expect.stringContaining(`  ${name}`),
  });
});
