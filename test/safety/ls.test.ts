/** `signalbox ls`, as a user and a program meet it. */
import { describe, expect, it } from "vitest";
import { FaultProxy } from "../../fixtures/proxy.ts";
import { LISTINGS } from "../../src/commands/ls.ts";
import { ticketText } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { type Stage, Theatre, TRANSPORTS } from "./support/theatre.ts";

const theatre = new Theatre();
const TERMINAL = { terminal: { columns: 80, rows: 24 } };

/** A lock that is held and waited for, units of a resource that are waited for. */
async function busy(stage: Stage): Promise<void> {
  const stay = ["until", `${stage.journal.folder}/over`];
  await stage.started({ name: "one", options: ["--lock", "x", "--lease", "db=2:3"], hold: stay });
  stage.run({ name: "two", options: ["--lock", "x", "--wait"], hold: stay });
  stage.run({ name: "three", options: ["--no-lock", "--lease", "db=2:3"], hold: stay });
  await Promise.all([stage.placed("two", "waiting"), stage.placed("three", "waiting")]);
}

/** Tickets of many runs, written by hand. */
async function crowd(stage: Stage, locks: number, waiters: number): Promise<void> {
  const puts = Array.from({ length: locks * (1 + waiters) }, (_, index) => {
    const run = index.toString(36).padStart(16, "0");
    const state = index % (1 + waiters) === 0 ? "held" : "waiting";
    const key = stage.keys.lock(`lock ${Math.floor(index / (1 + waiters))}`, run);
    return { op: "put" as const, key, value: ticketText(ticketWith({ run, state })) };
  });
  for (let start = 0; start < puts.length; start += 120)
    await stage.store.txn({ compare: [], success: puts.slice(start, start + 120), failure: [] });
}

describe.each(TRANSPORTS)("over %s, ls", (transport) => {
  it("lists every view, for people and for programs, at a revision", async () => {
    const stage = await theatre.stage(transport);
    await busy(stage);
    expect((await stage.command(["ls"]).ended).stdout).toMatch(
      /^KIND .*\nlock +x +held +\S+:\d+ .*\nresource +db +held +\S+:\d+ +\S+ +2\/3 +1 .*\n$/,
    );
    for (const view of LISTINGS) {
      const { code, stdout } = await stage.command(["ls", view, "--json", "--all"]).ended;
      const document = JSON.parse(stdout);
      expect({ view, code, document }).toMatchObject({
        ...{ view, code: 0 },
        document: { version: 1, view, prefix: stage.keys.prefix, rows: expect.any(Array) },
      });
      expect(BigInt(document.revision)).toBeGreaterThan(0n);
      expect((await stage.command(["ls", view]).ended).code).toBe(0);
    }
  });

  it("lists many, whole queues over any page", async () => {
    const stage = await theatre.stage(transport);
    await crowd(stage, 300, 20);
    const { stdout } = await stage.command(["ls", "locks", "--json"]).ended;
    const { rows } = JSON.parse(stdout) as { rows: { holders: object[]; waiters: object[] }[] };
    expect(rows).toHaveLength(300);
    expect(rows.every(({ holders, waiters }) => holders.length === 1 && waiters.length === 20)).toBe(true);
    const limited = await stage.command(["ls", "queues", "--json", "--limit", "7"]).ended;
    expect(JSON.parse(limited.stdout).rows).toHaveLength(7);
  });
});

describe("ls", () => {
  it("filters, sorts, chooses columns", async () => {
    const stage = await theatre.stage("http");
    await crowd(stage, 3, 2);
    const names = async (...args: string[]) =>
      (await stage.command(["ls", "locks", "--columns", "name", ...args]).ended).stdout
        .trimEnd()
        .split("\n")
        .slice(1);
    expect(await names("--sort", "-name")).toEqual(["lock 2", "lock 1", "lock 0"]);
    expect(await names("lock", "2")).toEqual(["lock 2"]);
    expect(await names("--state", "held", "--host", "web1", "--limit", "2")).toEqual(["lock 0", "lock 1"]);
    expect(await names("state:free")).toEqual([]);
    expect(await stage.command(["ls", "locks", "--columns", "nam"]).ended).toMatchObject({
      code: 64,
      stderr: expect.stringMatching(/"nam" is no column of locks.*did you mean "name"/),
    });
  });

  it("shows drained locks, and with --all the free ones that are known", async () => {
    const stage = await theatre.stage("http");
    await stage.command(["run", "--lock", "known", "--", "true"]).ended;
    await stage.command(["resource", "set", "db", "5"]).ended;
    const put = {
      op: "put" as const,
      key: stage.keys.drain("lock", "quiet"),
      value: '{"v":1,"by":"ann","at":1}',
    };
    await stage.store.txn({ compare: [], success: [put], failure: [] });
    expect((await stage.command(["ls"]).ended).stdout).toMatch(/^KIND.*\nlock +quiet +drained .*ann\n$/);
    expect((await stage.command(["ls", "--all"]).ended).stdout).toMatch(
      /\nlock +known +free.*\nlock +quiet +drained.*\nresource +db +free .*0\/5/,
    );
  });

  it("says what to type where there is nothing", async () => {
    const stage = await theatre.stage("http");
    expect(await stage.command(["ls"]).ended).toMatchObject({
      ...{ code: 0, stdout: "" },
      stderr: expect.stringContaining("signalbox run --lock"),
    });
  });

  it("paints on a terminal, not where NO_COLOR is set, and leaves out what has no room", async () => {
    const stage = await theatre.stage("http");
    await busy(stage);
    const colourful = await stage.command(["ls"], TERMINAL).ended;
    expect(colourful.stdout).toContain("\x1b[32m● held");
    const plain = await stage.command(["ls"], { ...TERMINAL, env: { NO_COLOR: "1", LC_ALL: "C" } }).ended;
    expect(plain.stdout).not.toContain("\x1b");
    expect(plain.stdout).toContain("* held");
    for (const line of plain.stdout.split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(80);
  });

  it("lets no ticket act on the terminal", async () => {
    const stage = await theatre.stage("http");
    const evil = "a\x1b]52;c;eA==\x07\x9b2J\u202e\nb";
    const ticket = ticketWith({ state: "held", host: evil, command: evil, label: evil, user: evil });
    const key = stage.keys.lock("x", ticket.run);
    await stage.store.txn({
      compare: [],
      success: [{ op: "put", key, value: ticketText(ticket) }],
      failure: [],
    });
    for (const view of ["overview", "queues", "runs", "hosts", "problems"])
      for (const more of [[], ["--json"]]) {
        const { code, stdout } = await stage.command(["ls", view, ...more]).ended;
        expect({ view, code, acts: /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(stdout) }).toEqual({
          view,
          code: 0,
          acts: false,
        });
      }
  });
});

describe("ls --watch", () => {
  it("tells a pipe every row, then what changes, and that etcd was away", async () => {
    const stage = await theatre.stage("http");
    await crowd(stage, 2, 1);
    const proxy = await FaultProxy.start(stage.etcd.clientUrl);
    try {
      const watch = stage.command(["ls", "locks", "--watch"], { endpoint: `http://${proxy.address}` });
      await watch.printed(/"event":"ready"/);
      const key = stage.keys.lock("lock 0", "0".repeat(16));
      await stage.store.txn({ compare: [], success: [{ op: "delete", key }], failure: [] });
      await watch.printed(/"name":"lock 0","state":"waiting"/);
      proxy.mode = "refuse";
      proxy.reset();
      await watch.printed(/"event":"away"/);
      const gone = { op: "delete" as const, ...stage.keys.queue("lock", "lock 1") };
      await stage.store.txn({ compare: [], success: [gone], failure: [] });
      proxy.mode = "forward";
      await watch.printed(/"event":"back"/);
      await watch.printed(/"event":"gone".*"key":"lock\/lock 1"/);
      watch.child.kill("SIGTERM");
      expect((await watch.ended).code).toBe(143);
      for (const line of watch.output.stdout.trimEnd().split("\n")) expect(JSON.parse(line).version).toBe(1);
    } finally {
      await proxy.close();
    }
  });

  it("repaints a terminal in place, and leaves it as it was", async () => {
    const stage = await theatre.stage("http");
    const watch = stage.command(["ls", "locks", "--watch"], TERMINAL);
    await watch.printed(/\x1b\[\?1049h[\s\S]*No lock is held/);
    await crowd(stage, 40, 0);
    await watch.printed(/locks 40, 19 more/);
    watch.child.stdin?.write("\x03");
    const { code, stdout } = await watch.ended;
    expect(code).toBe(130);
    expect(stdout).toMatch(/\x1b\[\?25h\x1b\[\?1049l\s*$/);
    expect(stdout).not.toContain("\x1b[2J");
  });

  it("ends when nobody reads any more", async () => {
    const stage = await theatre.stage("http");
    const watch = stage.command(["ls", "--watch"]);
    await watch.printed(/"event":"ready"/);
    watch.child.stdout?.destroy();
    await crowd(stage, 1, 0);
    expect((await watch.ended).code).toBe(0);
  });
});
