import { holdLock } from "../../../fixtures/cluster/sample-queues.ts";
/** A console during faults: it never shows outdated data as live, and it restores the terminal. */

import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, type TestContext } from "vitest";
import { openConsole, openConsoleInShell, pressUntil } from "../../../fixtures/cluster/open-console.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { openTerminal, type Terminal } from "../../../fixtures/console.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { TABS } from "../../../src/console/state/console-state.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

/** An etcd of its own, which may be hurt. */
async function ownEtcd(
  { onTestFinished: onFinished }: Pick<TestContext, "onTestFinished">,
  options?: Parameters<typeof startEtcd>[0],
): Promise<EtcdMember> {
  const etcd = await startEtcd(options);
  onFinished(() => etcd.stop());
  return etcd;
}

async function openConsoleOn(
  { onTestFinished: onFinished }: Pick<TestContext, "onTestFinished">,
  etcd: EtcdMember,
  env: Record<string, string> = {},
): Promise<Terminal> {
  const console = openTerminal({
    args: ["console", "--view", "locks"],
    columns: 120,
    rows: 40,
    endpoints: [etcd.clientUrl],
    env,
  });
  onFinished(() => console.close());
  await console.waitFor(/live rev \d+/);
  return console;
}

describe.concurrent("while etcd is away", () => {
  test("--plain tells what is read late, and is not live before", async ({ onTestFinished }) => {
    const etcd = await ownEtcd({ onTestFinished });
    etcd.freeze();
    const console = openTerminal({
      args: ["console", "--plain"],
      columns: 120,
      rows: 40,
      endpoints: [etcd.clientUrl],
    });
    onTestFinished(() => console.close());
    await console.waitFor("No data yet");
    expect(console.getText()).not.toContain("live, revision");
    etcd.unfreeze();
    await console.waitFor(/live, revision [1-9].*\n.*Overview, .* row 0 of 0/s);
  });

  test("the last picture stays, pale, with its age; nothing can be changed; and it comes back by itself", async ({
    onTestFinished,
  }) => {
    const etcd = await ownEtcd({ onTestFinished });
    await etcd.runEtcdctl("put", "/signalbox/locks/before/0000000000000001", "x");
    const console = await openConsoleOn({ onTestFinished }, etcd);
    await console.waitFor("before");
    await etcd.kill();
    await console.waitFor(/etcd unreachable .*last known: rev \d+/);
    expect(console.getText()).toContain("before");
    await console.pressAndWait("D", "etcd is unreachable: changes are not possible now");
    await etcd.restart();
    await console.waitFor(/live rev \d+/);
    await etcd.runEtcdctl("put", "/signalbox/locks/after/0000000000000001", "x");
    await console.waitFor("after");
  });

  test("a dialog says why Enter does nothing, no longer than it is so", async ({ onTestFinished }) => {
    const etcd = await ownEtcd({ onTestFinished }); // another test compacts the shared one
    const value = serializeTicket(createTicket({ run: "0000000000000001", state: "held" }));
    await etcd.runEtcdctl("put", "/signalbox/locks/invoices/0000000000000001", value);
    const console = await openConsoleOn({ onTestFinished }, etcd);
    await console.waitFor(/invoices .*held/);
    await console.pressAndWait("D", "Enter drain");
    etcd.freeze();
    await console.waitFor("etcd unreachable ");
    await console.pressAndWait("enter", "etcd is unreachable: changes are not possible now");
    etcd.unfreeze();
    await console.waitFor(/live rev \d+/);
    await console.waitFor((it) => !it.getText().includes("etcd unreachable"));
    await console.waitFor("nothing was changed: press Enter again");
    expect(console.getText()).toContain("Enter drain");
    await pressUntil(console, "enter", /invoices .*drained/);
  });

  test("and does not say so, for it is frozen, the console notices by itself", async ({ onTestFinished }) => {
    const etcd = await ownEtcd({ onTestFinished });
    const console = await openConsoleOn({ onTestFinished }, etcd);
    etcd.freeze();
    await console.waitFor("etcd unreachable ");
    etcd.unfreeze();
    await console.waitFor(/live rev \d+/);
  });

  test("and forgets what has happened meanwhile, it reads everything again", async ({ namespace }) => {
    const proxy = await namespace.startProxy();
    await holdLock(namespace, "gone");
    const console = await openConsole(namespace, { endpoints: [proxy.url], shows: "gone" });
    proxy.mode = "refuse";
    proxy.reset();
    await console.waitFor("etcd unreachable");
    const { rangeEnd } = namespace.keys.locks();
    const removal = { op: "delete", key: namespace.keys.locks().key, rangeEnd } as const;
    await namespace.write(removal);
    await holdLock(namespace, "fresh");
    const { revision } = await namespace.store.readRange(namespace.keys.locks());
    await namespace.etcd.runEtcdctl("compact", String(revision));
    proxy.mode = "forward";
    await console.waitFor(/live rev \d+/);
    await console.waitFor((it) => {
      const rows = it.getScreen().filter((row) => /● held/.test(row)); // the events tell of what is gone
      return rows.some((row) => row.includes("fresh")) && !rows.some((row) => row.includes("gone"));
    });
  });

  test("or swallows every byte in silence, it is not taken for live", async ({ namespace }) => {
    const proxy = await namespace.startProxy();
    const console = await openConsole(namespace, { endpoints: [proxy.url] });
    proxy.mode = "drop";
    await console.waitFor("etcd unreachable");
    proxy.mode = "forward";
    proxy.reset();
    await console.waitFor(/live rev \d+/);
  });
});

describe.concurrent("a role that is taken away", () => {
  test("is told, the picture stays, and it goes on when it is given back", async ({ onTestFinished }) => {
    const etcd = await ownEtcd({ onTestFinished });
    const runAsRoot = (...args: string[]) => etcd.runEtcdctl("--user=root:pw", ...args);
    for (const words of [
      "user add root:pw",
      "user grant-role root root",
      "user add op:pw",
      "role add reader",
    ])
      await etcd.runEtcdctl(...words.split(" "));
    await etcd.runEtcdctl("role", "grant-permission", "--prefix=true", "reader", "read", "/signalbox/");
    await etcd.runEtcdctl("user", "grant-role", "op", "reader");
    await etcd.runEtcdctl("put", "/signalbox/locks/seen/0000000000000001", "x");
    await etcd.runEtcdctl("auth", "enable");
    const login = { SIGNALBOX_USER: "op:pw", SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "true" };
    const console = await openConsoleOn({ onTestFinished }, etcd, login);
    await console.waitFor("seen");
    await runAsRoot("user", "revoke-role", "op", "reader");
    await console.pressAndWait("R", "access refused ");
    expect(console.getText()).toContain("seen");
    await runAsRoot("user", "grant-role", "op", "reader");
    await console.waitFor(/live rev \d+/);
  });
});

describe.concurrent("authentication that is turned on under a running console", () => {
  const LOGIN = { SIGNALBOX_USER: "op:pw", SIGNALBOX_ALLOW_PLAINTEXT_PASSWORD: "true" };

  /** An etcd with users, whose passwords take long to check, as on a busy machine. */
  async function withUsers(context: Pick<TestContext, "onTestFinished">): Promise<EtcdMember> {
    const etcd = await ownEtcd(context, { args: ["--bcrypt-cost=13"] });
    const words = ["user add root:pw", "user grant-role root root", "user add op:pw", "role add reader"];
    for (const line of words) await etcd.runEtcdctl(...line.split(" "));
    await etcd.runEtcdctl("role", "grant-permission", "--prefix=true", "reader", "readwrite", "/signalbox/");
    await etcd.runEtcdctl("user", "grant-role", "op", "reader");
    await etcd.runEtcdctl("put", "/signalbox/locks/seen/0000000000000001", "x");
    return etcd;
  }

  test.for(["http", "grpc"])(
    "over %s: with a login it is live again; without, it says that etcd refuses, and why",
    async (transport, { onTestFinished }) => {
      const etcd = await withUsers({ onTestFinished });
      const env = { SIGNALBOX_TRANSPORT: transport };
      const consoles = await Promise.all([
        openConsoleOn({ onTestFinished }, etcd, { ...env, ...LOGIN }),
        openConsoleOn({ onTestFinished }, etcd, { ...env, ...LOGIN }),
      ]);
      const stranger = await openConsoleOn({ onTestFinished }, etcd, env);
      await etcd.runEtcdctl("auth", "enable");
      await stranger.waitFor(/access refused .*user name is empty/);
      expect(stranger.getText()).toContain("seen");
      // What is written from now on can only be seen by who is logged in.
      const patient = ["--dial-timeout=60s", "--command-timeout=60s", "--user=op:pw"];
      await etcd.runEtcdctl(...patient, "put", "/signalbox/locks/later/0000000000000002", "x");
      for (const console of consoles) {
        await console.waitFor("later");
        await console.waitFor(/live rev \d+/);
      }
      expect(stranger.getText()).not.toContain("later");
    },
  );
});

describe("the terminal", () => {
  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("is given back on %s", async (signal, code) => {
    const namespace = await cluster.createTestNamespace();
    const console = await openConsole(namespace);
    expect(console.isAlternate).toBe(true);
    expect(await console.end(signal)).toEqual({ code, signal: undefined });
    expect(console.leftBehind).toEqual([]);
  });

  test("is given back on a defect, which is then told on it", async ({ namespace }) => {
    const script = join(tmpdir(), `signalbox-defect-${process.pid}.cjs`);
    writeFileSync(script, 'process.on("SIGUSR2", () => { throw new Error("a defect for a test"); });');
    const console = await openConsole(namespace, { env: { NODE_OPTIONS: `--require ${script}` } });
    expect(await console.end("SIGUSR2")).toEqual({ code: 70, signal: undefined });
    expect(console.leftBehind).toEqual([]);
    expect(console.getText()).toContain("a defect for a test");
  });

  test("is given to the shell by Ctrl+Z, and taken again by fg, with what was typed", async ({
    namespace,
  }) => {
    const shell = await openConsoleInShell(namespace);
    await shell.waitFor(/live rev \d+/);
    await shell.typeAndWait(":resource set", /▎. resource set/);
    await shell.pressAndWait("enter", "> resource ");
    await shell.typeAndWait("db", "signalbox resource set db");
    await shell.pressAndWait("ctrl+z", "Stopped");
    expect([shell.isAlternate, shell.modes.has(1000), shell.modes.has(25)]).toEqual([false, false, true]);
    shell.resize(100, 35);
    await shell.typeAndWait("fg\r", /live rev \d+/);
    expect([shell.isAlternate, shell.getScreen().length]).toEqual([true, 35]);
    expect(shell.getText()).toContain("signalbox resource set db"); // what was typed is not lost
    await shell.pressAndWait("escape", (it) => !it.getText().includes("Esc cancel"));
    await shell.pressAndWait("q", /ready\$\s*$/); // the console has ended, and no longer reads what is typed
    await shell.typeAndWait("echo code $?\r", "code 0");
    expect(shell.leftBehind.filter((what) => !/bracketed|2004/.test(what))).toEqual([]);
  });

  test("is redrawn cleanly at any size", async ({ namespace }) => {
    await holdLock(namespace, "invoices");
    const console = await openConsole(namespace);
    for (let turn = 0; turn < 50; turn += 1) console.resize(20 + ((turn * 37) % 180), 5 + ((turn * 13) % 55));
    console.resize(38, 9);
    await console.waitFor("too small: 38x9; 40x10 at least");
    console.resize(100, 30);
    await console.waitFor(/invoices .*held/);
    expect(console.getScreen().length).toBe(30);
    expect(console.getScreen()[0]).toMatch(/^ signalbox /);
    expect(console.getScreen()[29]).toMatch(/live rev \d+/);
  });
});

describe("what comes from etcd", () => {
  test("never reaches the terminal as control sequences", async ({ namespace }) => {
    await holdLock(namespace, "nasty", { host: "web\x1b]52;c;aGFja2Vk\x07.example.com" });
    const console = await openConsole(namespace, { shows: /nasty .*held/ });
    await console.pressAndWait("enter 3 Y", "copied");
    expect(console.clipboard.length).toBe(1);
    expect(console.clipboard[0]).not.toContain("\x1b");
  });

  test("is folded as fast as it comes, and keys are answered meanwhile", async ({ namespace }) => {
    const console = await openConsole(namespace);
    const flood = Array.from({ length: 40 }, async (_, worker) => {
      for (let round = 0; round < 10; round += 1) await putBurst(namespace, worker, round);
    });
    for (const _ of TABS) {
      await console.pressAndWait("]", /live rev \d+/);
    }
    await Promise.all(flood);
    const { revision, kvs } = await namespace.store.readRange(namespace.keys.locks());
    await console.pressAndWait(
      "[ ]",
      new RegExp(`Locks ${kvs.length}\\b`),
      (it) => Number(/live rev (\d+)/.exec(it.getScreen().at(-1) ?? "")?.[1]) >= Number(revision) - 1,
    );
  });
});

/** Ten tickets, each changed at once. */
async function putBurst(namespace: TestNamespace, worker: number, round: number): Promise<void> {
  const ops = Array.from({ length: 10 }, (_, at) => {
    const run = `${worker}x${at}`.padEnd(16, "0");
    const value = serializeTicket(createTicket({ run, state: "held", pid: round }));
    return { op: "put" as const, key: namespace.keys.lock(`lock-${worker}-${at}`, run), value };
  });
  await namespace.write(...ops);
}
