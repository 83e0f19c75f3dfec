// Covers src/commands/act/reset/evict-changes.ts,
// src/commands/act/reset/evict-guards.ts, src/commands/act/reset/release.impl.ts,
// src/commands/act/reset/reset.impl.ts, src/commands/store-command.ts, src/work/observe/session-liveness.ts,
// src/work/operate/reset.ts
/** `signalbox reset` and `signalbox release`: the job is dead before the command returns, and nobody else is hit. */
import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { FaultProxy } from "../../fixtures/proxy.ts";
import { parseAuditRecord } from "../../src/protocol/audit.ts";
import { serializeTicket } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { type Stage, Theatre, TRANSPORTS } from "./support/theatre.ts";
import { until } from "./support/until.ts";

const theatre = new Theatre();
const LOCK = ["--lock", "x", "--wait"];
const TIMES = ["--ttl", "30s", "--termination-timeout", "400ms"];
const RESET = ["reset", "lock", "x", "--yes"];

/** Outcomes in the audit, oldest first. */
async function outcomes(stage: Stage): Promise<string[]> {
  const { kvs } = await stage.store.readRange(stage.keys.audits());
  return kvs.map(({ value }) => parseAuditRecord("", value)?.outcome ?? "unreadable");
}

/** A ticket on a session that nobody renews: its runner and its host are gone. */
async function ghost(
  stage: Stage,
  ttl: number,
  { state = "held", session = newSession() }: { state?: "held" | "grace"; session?: bigint } = {},
): Promise<string> {
  const run = "ghost00000000000";
  await stage.store.grant(session, ttl).catch((error) => {
    if (!/lease already exists/.test(String(error))) throw error; // the answer was late, and the call was sent again
  });
  const key = stage.keys.lock("x", run);
  const value = serializeTicket(
    ticketWith({ run, state, ...(state === "grace" && { until: Date.now() + 9e6 }) }),
  );
  await stage.store.commitTxn({ compare: [], success: [{ op: "put", key, value, session }], failure: [] });
  return key;
}

const newSession = () => BigInt(Math.floor(Math.random() * 2 ** 52));

describe.concurrent.each(TRANSPORTS)("over %s, a reset", (transport) => {
  it("of a job that ignores TERM returns when it is dead, and the next may start", async (context) => {
    const stage = await theatre.stage(transport, context);
    const run = await stage.started({ name: "run", options: [...LOCK, ...TIMES], hold: ["stubborn"] });
    const next = stage.run({ name: "next", options: LOCK, hold: [5] });
    await stage.placed("next", "waiting");
    const { pid } = await stage.journal.seen("run", "start");
    const { code, stdout } = await stage.command([...RESET, "--reason", "stuck"]).ended;
    expect({ code, alive: existsSync(`/proc/${pid}`) }).toEqual({ code: 0, alive: false });
    expect(stdout).toMatch(/has ended, after .*\nlock x is (now held by|free, (next is|nobody waits)) ?/);
    expect((await run.ended).stderr).toContain("stuck");
    expect([(await run.ended).code, (await next.ended).code]).toEqual([125, 0]);
    expect(await outcomes(stage)).toEqual([expect.stringMatching(/^ended after/)]);
  });

  it("outlasts the loss of etcd while it waits, and says so", async (context) => {
    const stage = await theatre.stage(transport, context);
    const key = await ghost(stage, 600);
    const proxy = await FaultProxy.start(stage.etcd.clientUrl);
    try {
      const endpoint = `http://${proxy.address}`;
      const reset = stage.command(RESET, { endpoint });
      await reset.waitForOutput(/asked .* to end/);
      proxy.mode = "refuse";
      proxy.reset();
      await reset.waitForOutput(/etcd is unreachable/);
      await stage.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
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
    const stage = await theatre.stage("http", context);
    const options = ["--lock", "x", "--ttl", "15s", "--termination-timeout", "100ms"];
    const run = await stage.started({ name: "run", options, hold: ["stubborn"] });
    const { pid } = await stage.journal.seen("run", "start");
    run.child.kill("SIGSTOP");
    const { code } = await stage.command(RESET).ended;
    expect({ code, alive: existsSync(`/proc/${pid}`) }, stage.journal.timeline()).toEqual({
      code: 0,
      alive: false,
    });
    run.child.kill("SIGCONT");
    expect((await run.ended).code).toBe(125);
  });

  it("of one whose host is gone waits for its session, or with --force for nothing", async (context) => {
    const stage = await theatre.stage("http", context);
    const session = newSession();
    await ghost(stage, 600, { session });
    const reset = stage.command(RESET);
    await reset.waitForOutput(/asked .* to end/);
    await stage.store.revoke(session); // as when it lapses: etcd deletes its keys
    expect(await reset.ended).toMatchObject({ code: 0 });
    const key = await ghost(stage, 600);
    const late = await stage.command([...RESET, "--timeout", "300ms"]).ended;
    expect(late).toMatchObject({ code: 124, stderr: expect.stringContaining("--force") });
    expect((await stage.store.readRange({ key })).count).toBe(1);
    expect(await stage.command([...RESET, "--force"]).ended).toMatchObject({ code: 0 });
    expect((await stage.store.readRange({ key })).count).toBe(0);
  });

  it("hits nobody but whom it saw, however close to a hand-over", async (context) => {
    const stage = await theatre.stage("http", context);
    const rounds = 12;
    for (let round = 0; round < rounds; round += 1) {
      const first = `first${round}`;
      await stage.started({ name: first, options: LOCK, hold: [1 + (round % 5)] });
      const next = stage.run({ name: `next${round}`, options: LOCK, hold: [2] });
      const reset = await stage.command(RESET).ended;
      const { code } = await next.ended;
      const hit = reset.stdout.includes(`:${next.pid} has ended`);
      expect([0, 75], reset.stderr).toContain(reset.code);
      // One that was asked may just have ended by itself.
      expect(hit ? [0, 125] : [0], `${reset.stdout}${reset.stderr}`).toContain(code);
    }
  });

  it("of what another operator resets at the same time is refused, and told by whom", async (context) => {
    const stage = await theatre.stage("http", context);
    await ghost(stage, 600);
    const both = await Promise.all([1, 2, 3, 4].map(() => stage.command([...RESET, "--no-wait"]).ended));
    const requests = (await outcomes(stage)).length;
    const refused = both.filter(({ code }) => code === 75);
    expect(both.every(({ code }) => code === 0 || code === 75)).toBe(true);
    expect(requests).toBe(1);
    for (const { stderr } of refused) expect(stderr).toMatch(/something has changed:\n.*was asked to end by/);
  });

  it("refuses when what it ends has changed since --expect-revision, and shows what", async (context) => {
    const stage = await theatre.stage("http", context);
    const key = await ghost(stage, 600);
    const { stdout } = await stage.command(["reset", "lock", "x", "--dry-run", "--json"]).ended;
    const { revision } = JSON.parse(stdout);
    await stage.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
    await stage.started({ name: "other", options: LOCK, hold: ["until", "/nonexistent"] });
    const refused = await stage.command([...RESET, "--expect-revision", revision]).ended;
    expect(refused).toMatchObject({ code: 75, stderr: expect.stringMatching(/has joined \(held\)/) });
    expect(await outcomes(stage)).toEqual([]);
    const ahead = await stage.command([...RESET, "--expect-revision", "999999999"]).ended;
    expect(ahead).toMatchObject({ code: 64, stderr: expect.stringContaining("must not be in the future") });
  });

  it("changes nothing in a dry run, without consent, or with a read-only configuration", async (context) => {
    const stage = await theatre.stage("http", context);
    await ghost(stage, 600);
    const dry = await stage.command(["reset", "lock", "x", "--dry-run"]).ended;
    expect(dry.stdout).toMatch(
      /^ends +web1.example.com:4711 .*\n(.*\n)*do it with: signalbox reset lock x --expect-/,
    );
    expect((await stage.command(["reset", "lock", "x"]).ended).code).toBe(64);
    const env = { SIGNALBOX_READ_ONLY: "true" };
    expect(await stage.command(RESET, { env }).ended).toMatchObject({
      code: 77,
      stderr: expect.stringContaining("readOnly"),
    });
    expect(await outcomes(stage)).toEqual([]);
    expect((await stage.tickets())[0]?.ticket?.reset).toBeUndefined();
  });

  it("asks at a terminal, and takes nothing but yes for a yes", async (context) => {
    const stage = await theatre.stage("http", context);
    await ghost(stage, 600);
    for (const [answer, code] of [
      ["n", 1],
      ["", 1],
      ["maybe", 1],
      ["\x04", 1],
      ["y", 0],
    ] as const) {
      const asked = stage.command(["reset", "lock", "x", "--no-wait"], {
        terminal: { columns: 80, rows: 24 },
      });
      await asked.waitForOutput(/Reset lock x\? \[y\/N\]/);
      asked.child.stdin?.write(`${answer}\r`);
      expect({ answer, code: (await asked.ended).code }).toEqual({ answer, code });
      expect(await outcomes(stage)).toHaveLength(code === 0 ? 1 : 0);
    }
  });

  it("that is no longer waited for stands all the same", async (context) => {
    const stage = await theatre.stage("http", context);
    const key = await ghost(stage, 600);
    const reset = stage.command(RESET, { terminal: { columns: 80, rows: 24 } });
    await reset.waitForOutput(/asked web1.example.com:4711 to end/);
    reset.child.stdin?.write("\x03");
    expect(await reset.ended).toMatchObject({
      code: 130,
      stdout: expect.stringContaining("stays in effect"),
    });
    expect((await stage.store.readRange({ key })).kvs[0]?.value).toContain('"reset"');
  });

  it("of nobody is no error, unless it is to be strict", async (context) => {
    const stage = await theatre.stage("http", context);
    expect(await stage.command(RESET).ended).toMatchObject({
      code: 0,
      stdout: 'nobody holds lock "x" or waits for it\n',
    });
    expect((await stage.command([...RESET, "--strict"]).ended).code).toBe(1);
  });

  it("deletes a ticket in grace at once, and one that cannot be read only by force", async (context) => {
    const stage = await theatre.stage("http", context);
    await ghost(stage, 600, { state: "grace" });
    expect((await stage.command(RESET).ended).code).toBe(0);
    const key = stage.keys.lock("x", "ghost00000000000");
    await stage.store.commitTxn({ compare: [], success: [{ op: "put", key, value: "{" }], failure: [] });
    expect(await stage.command(RESET).ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("--force"),
    });
    expect((await stage.command([...RESET, "--force"]).ended).code).toBe(0);
    expect(await stage.tickets()).toEqual([]);
  });

  it("of a resource ends all its holders, or the one that is named; the others go on", async (context) => {
    const stage = await theatre.stage("http", context);
    const options = ["--no-lock", "--lease", "db=1:3", ...TIMES];
    const runs = await Promise.all(
      ["a", "b", "c"].map((name) => stage.started({ name, options, hold: ["stubborn"] })),
    );
    const [first] = await stage.placed("a", "held");
    const one = ["reset", "resource", "db", "--run", first?.run.slice(0, 8) ?? "", "--yes"];
    expect(await stage.command(one).ended).toMatchObject({ code: 0 });
    expect((await runs[0]?.ended)?.code).toBe(125);
    expect((await stage.tickets()).map(({ ticket }) => ticket?.label).sort()).toEqual(["b", "c"]);
    expect(await stage.command(["reset", "resource", "db", "--yes"]).ended).toMatchObject({ code: 0 });
    expect(await stage.tickets()).toEqual([]);
    expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([
      125, 125, 125,
    ]);
  });
});

describe.concurrent("a release", () => {
  it("throws a waiter out of its queue with 75, and the queue goes on", async (context) => {
    const stage = await theatre.stage("http", context);
    const file = `${stage.journal.folder}/over`;
    const holder = await stage.started({ name: "holder", options: LOCK, hold: ["until", file] });
    const waiter = stage.run({ name: "waiter", options: LOCK });
    const [place] = await stage.placed("waiter", "waiting");
    const last = stage.run({ name: "last", options: LOCK, hold: [1] });
    await stage.placed("last", "waiting");
    const run = place?.run ?? "";
    expect(await stage.command(["release", run.slice(0, 6), "--yes"]).ended).toMatchObject({ code: 0 });
    expect((await waiter.ended).code).toBe(75);
    const held = (await stage.placed("holder", "held"))[0]?.run ?? "";
    expect(await stage.command(["release", held, "--yes"]).ended).toMatchObject({
      code: 75,
      stderr: expect.stringContaining(`signalbox reset lock x --run ${held}`),
    });
    holder.child.kill("SIGTERM");
    await until("the last one ran", async () => (await last.ended).code === 0);
    expect((await stage.command(["release", run, "--yes"]).ended).code).toBe(0);
    expect((await stage.command(["release", run, "--yes", "--strict"]).ended).code).toBe(1);
  });
});
