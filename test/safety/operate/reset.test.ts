/** `signalbox reset` and `signalbox release`: the job is dead before the command returns, and no other run is affected. */

import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { FaultProxy } from "../../../fixtures/proxy.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { parseAuditRecord } from "../../../src/protocol/audit.ts";
import { serializeTicket } from "../../../src/protocol/ticket.ts";
import { ticketWith } from "../../protocol/samples.ts";

const cluster = TestCluster.startForFile();
const LOCK = ["--lock", "x", "--wait"];
const TIMES = ["--ttl", "30s", "--termination-timeout", "400ms"];
const RESET = ["reset", "lock", "x", "--yes"];

/** Outcomes in the audit, oldest first. */
async function listOutcomes(namespace: TestNamespace): Promise<string[]> {
  const { kvs } = await namespace.store.readRange(namespace.keys.audits());
  return kvs.map(({ value }) => parseAuditRecord("", value)?.outcome ?? "unreadable");
}

/** A ticket on a session that nobody renews: its runner and its host are gone. */
async function putGhost(
  namespace: TestNamespace,
  ttl: number,
  { state = "held", session = generateSessionId() }: { state?: "held" | "grace"; session?: bigint } = {},
): Promise<string> {
  const run = "ghost00000000000";
  await namespace.store.grant(session, ttl).catch((error) => {
    if (!/lease already exists/.test(String(error))) throw error; // the answer was late, and the call was sent again
  });
  const key = namespace.keys.lock("x", run);
  const value = serializeTicket(
    ticketWith({ run, state, ...(state === "grace" && { until: Date.now() + 9e6 }) }),
  );
  await namespace.store.commitTxn({
    compare: [],
    success: [{ op: "put", key, value, session }],
    failure: [],
  });
  return key;
}

const generateSessionId = () => BigInt(Math.floor(Math.random() * 2 ** 52));

describe.concurrent.each(TRANSPORTS)("over %s, a reset", (transport) => {
  it("of a job that ignores TERM returns when it is dead, and the next may start", async (context) => {
    const namespace = await cluster.createTestNamespace(transport, context);
    const run = await namespace.jobs.startAndWait({
      name: "run",
      options: [...LOCK, ...TIMES],
      hold: ["stubborn"],
    });
    const next = namespace.jobs.start({ name: "next", options: LOCK, hold: [5] });
    await namespace.jobs.waitForTickets("next", "waiting");
    const { pid } = await namespace.jobs.journal.waitForLine("run", "start");
    const { code, stdout } = await namespace.start([...RESET, "--reason", "stuck"]).ended;
    expect({ code, alive: existsSync(`/proc/${pid}`) }).toEqual({ code: 0, alive: false });
    expect(stdout).toMatch(/has ended, after .*\nlock x is (now held by|free, (next is|nobody waits)) ?/);
    expect((await run.ended).stderr).toContain("stuck");
    expect([(await run.ended).code, (await next.ended).code]).toEqual([125, 0]);
    expect(await listOutcomes(namespace)).toEqual([expect.stringMatching(/^ended after/)]);
  });

  it("outlasts the loss of etcd while it waits, and says so", async (context) => {
    const namespace = await cluster.createTestNamespace(transport, context);
    const key = await putGhost(namespace, 600);
    const proxy = await FaultProxy.start(namespace.etcd.clientUrl);
    try {
      const endpoint = `http://${proxy.address}`;
      const reset = namespace.start(RESET, { endpoints: [endpoint] });
      await reset.waitForOutput(/asked .* to end/);
      proxy.mode = "refuse";
      proxy.reset();
      await reset.waitForOutput(/etcd is unreachable/);
      await namespace.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
      proxy.mode = "forward";
      const { code, stderr } = await reset.ended;
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining("etcd is reachable again"),
      });
    } finally {
      await proxy.close();
    }
  });
});

describe.concurrent("a reset", () => {
  it("of a frozen runner returns when its guardian has killed the job and its session is over", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const options = ["--lock", "x", "--ttl", "15s", "--termination-timeout", "100ms"];
    const run = await namespace.jobs.startAndWait({ name: "run", options, hold: ["stubborn"] });
    const { pid } = await namespace.jobs.journal.waitForLine("run", "start");
    run.child.kill("SIGSTOP");
    const { code } = await namespace.start(RESET).ended;
    expect({ code, alive: existsSync(`/proc/${pid}`) }, namespace.jobs.journal.formatTimeline()).toEqual({
      code: 0,
      alive: false,
    });
    run.child.kill("SIGCONT");
    expect((await run.ended).code).toBe(125);
  });

  it("of one whose host is gone waits for its session, or with --force for nothing", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const session = generateSessionId();
    await putGhost(namespace, 600, { session });
    const reset = namespace.start(RESET);
    await reset.waitForOutput(/asked .* to end/);
    await namespace.store.revoke(session); // as when it lapses: etcd deletes its keys
    expect(await reset.ended).toMatchObject({ code: 0 });
    const key = await putGhost(namespace, 600);
    const late = await namespace.start([...RESET, "--timeout", "300ms"]).ended;
    expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining("--force") });
    expect((await namespace.store.readRange({ key })).count).toBe(1);
    expect(await namespace.start([...RESET, "--force"]).ended).toMatchObject({ code: 0 });
    expect((await namespace.store.readRange({ key })).count).toBe(0);
  });

  it("hits nobody but whom it saw, however close to a hand-over", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const rounds = 12;
    for (let round = 0; round < rounds; round += 1) {
      const first = `first${round}`;
      await namespace.jobs.startAndWait({ name: first, options: LOCK, hold: [1 + (round % 5)] });
      const next = namespace.jobs.start({ name: `next${round}`, options: LOCK, hold: [2] });
      const reset = await namespace.start(RESET).ended;
      const { code } = await next.ended;
      const hit = reset.stdout.includes(`:${next.pid} has ended`);
      expect([0, 75], reset.stderr).toContain(reset.code);
      // One that was asked may just have ended by itself.
      expect(hit ? [0, 125] : [0], `${reset.stdout}${reset.stderr}`).toContain(code);
    }
  });

  it("of what another operator resets at the same time is refused, and told by whom", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    await putGhost(namespace, 600);
    const both = await Promise.all([1, 2, 3, 4].map(() => namespace.start([...RESET, "--no-wait"]).ended));
    const requests = (await listOutcomes(namespace)).length;
    const refused = both.filter(({ code }) => code === 75);
    expect(both.every(({ code }) => code === 0 || code === 75)).toBe(true);
    expect(requests).toBe(1);
    for (const { stderr } of refused) expect(stderr).toMatch(/something has changed:\n.*was asked to end by/);
  });

  it("refuses when what it ends has changed since --expect-revision, and shows what", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const key = await putGhost(namespace, 600);
    const { stdout } = await namespace.start(["reset", "lock", "x", "--dry-run", "--json"]).ended;
    const { revision } = JSON.parse(stdout);
    await namespace.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
    await namespace.jobs.startAndWait({ name: "other", options: LOCK, hold: ["until", "/nonexistent"] });
    const refused = await namespace.start([...RESET, "--expect-revision", revision]).ended;
    expect(refused).toMatchObject({ code: 75, stderr: expect.stringMatching(/has joined \(held\)/) });
    expect(await listOutcomes(namespace)).toEqual([]);
    const ahead = await namespace.start([...RESET, "--expect-revision", "999999999"]).ended;
    expect(ahead).toMatchObject({ code: 64, stderr: expect.stringContaining("must not be in the future") });
  });

  it("changes nothing in a dry run, without consent, or with a read-only configuration", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    await putGhost(namespace, 600);
    const dry = await namespace.start(["reset", "lock", "x", "--dry-run"]).ended;
    expect(dry.stdout).toMatch(
      /^ends +web1.example.com:4711 .*\n(.*\n)*do it with: signalbox reset lock x --expect-/,
    );
    expect((await namespace.start(["reset", "lock", "x"]).ended).code).toBe(64);
    const env = { SIGNALBOX_READ_ONLY: "true" };
    expect(await namespace.start(RESET, { env }).ended).toMatchObject({
      code: 77,
      stderr: expect.stringContaining("readOnly"),
    });
    expect(await listOutcomes(namespace)).toEqual([]);
    expect((await namespace.listTickets())[0]?.ticket?.reset).toBeUndefined();
  });

  it("asks at a terminal, and takes nothing but yes for a yes", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    await putGhost(namespace, 600);
    for (const [answer, code] of [
      ["n", 1],
      ["", 1],
      ["maybe", 1],
      ["\x04", 1],
      ["y", 0],
    ] as const) {
      const asked = namespace.start(["reset", "lock", "x", "--no-wait"], {
        terminal: { columns: 80, rows: 24 },
      });
      await asked.waitForOutput(/Reset lock x\? \[y\/N\]/);
      asked.child.stdin?.write(`${answer}\r`);
      expect({ answer, code: (await asked.ended).code }).toEqual({ answer, code });
      expect(await listOutcomes(namespace)).toHaveLength(code === 0 ? 1 : 0);
    }
  });

  it("that is no longer waited for stands all the same", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const key = await putGhost(namespace, 600);
    const reset = namespace.start(RESET, { terminal: { columns: 80, rows: 24 } });
    await reset.waitForOutput(/asked web1.example.com:4711 to end/);
    reset.child.stdin?.write("\x03");
    expect(await reset.ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("stays in effect"),
    });
    expect((await namespace.store.readRange({ key })).kvs[0]?.value).toContain('"reset"');
  });

  it("of nobody is no error, unless it is to be strict", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    expect(await namespace.start(RESET).ended).toMatchObject({
      code: 0,
      stdout: 'nobody holds lock "x" or waits for it\n',
    });
    expect((await namespace.start([...RESET, "--strict"]).ended).code).toBe(1);
  });

  it("deletes a ticket in grace at once, and one that cannot be read only by force", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    await putGhost(namespace, 600, { state: "grace" });
    expect((await namespace.start(RESET).ended).code).toBe(0);
    const key = namespace.keys.lock("x", "ghost00000000000");
    await namespace.store.commitTxn({ compare: [], success: [{ op: "put", key, value: "{" }], failure: [] });
    expect(await namespace.start(RESET).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--force"),
    });
    expect((await namespace.start([...RESET, "--force"]).ended).code).toBe(0);
    expect(await namespace.listTickets()).toEqual([]);
  });

  it("of a resource ends all its holders, or the one that is named; the others go on", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const options = ["--no-lock", "--lease", "db=1:3", ...TIMES];
    const runs = await Promise.all(
      ["a", "b", "c"].map((name) => namespace.jobs.startAndWait({ name, options, hold: ["stubborn"] })),
    );
    const [first] = await namespace.jobs.waitForTickets("a", "held");
    const one = ["reset", "resource", "db", "--run", first?.run.slice(0, 8) ?? "", "--yes"];
    expect(await namespace.start(one).ended).toMatchObject({ code: 0 });
    expect((await runs[0]?.ended)?.code).toBe(125);
    expect((await namespace.listTickets()).map(({ ticket }) => ticket?.label).sort()).toEqual(["b", "c"]);
    expect(await namespace.start(["reset", "resource", "db", "--yes"]).ended).toMatchObject({ code: 0 });
    expect(await namespace.listTickets()).toEqual([]);
    expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([
      125, 125, 125,
    ]);
  });
});

describe.concurrent("a release", () => {
  it("throws a waiter out of its queue with 75, and the queue goes on", async (context) => {
    const namespace = await cluster.createTestNamespace("http", context);
    const file = `${namespace.jobs.journal.folder}/over`;
    const holder = await namespace.jobs.startAndWait({
      name: "holder",
      options: LOCK,
      hold: ["until", file],
    });
    const waiter = namespace.jobs.start({ name: "waiter", options: LOCK });
    const [entry] = await namespace.jobs.waitForTickets("waiter", "waiting");
    const last = namespace.jobs.start({ name: "last", options: LOCK, hold: [1] });
    await namespace.jobs.waitForTickets("last", "waiting");
    const run = entry?.run ?? "";
    expect(await namespace.start(["release", run.slice(0, 6), "--yes"]).ended).toMatchObject({ code: 0 });
    expect((await waiter.ended).code).toBe(75);
    const held = (await namespace.jobs.waitForTickets("holder", "held"))[0]?.run ?? "";
    expect(await namespace.start(["release", held, "--yes"]).ended).toMatchObject({
      code: 75,
      stderr: expect.stringContaining(`signalbox reset lock x --run ${held}`),
    });
    holder.child.kill("SIGTERM");
    await waitUntil("the last one ran", async () => (await last.ended).code === 0);
    expect(await namespace.start(["release", run, "--yes"]).ended).toMatchObject({
      code: 1,
      stderr: `signalbox: no run "${run}" is waiting\n`,
    });
    expect((await namespace.start(["release", run, "--yes", "--json"]).ended).code).toBe(1);
  });
});
