/** Guards on a busy cluster: runs that come and go stop nobody; nothing is ended that was not shown. */
import { describe, expect, it, onTestFinished } from "vitest";
import { parseDrain } from "../../src/protocol/drain.ts";
import { serializeTicket, type Ticket } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { type Stage, Theatre } from "./support/theatre.ts";
import { until } from "./support/until.ts";

const theatre = new Theatre();
/** Pause between two arrivals, ms: five waiters a second. */
const EVERY = 200;

let count = 0;

/** A ticket without a runner. @returns its run */
async function queueUp(stage: Stage, name: string, change: Partial<Ticket> = {}): Promise<string> {
  count += 1;
  const run = `r${String(count).padStart(15, "0")}`;
  const value = serializeTicket(ticketWith({ run, pid: 10_000 + count, ...change }));
  const key = stage.keys.lock(name, run);
  await stage.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });
  return run;
}

const hold = (stage: Stage, name: string) => queueUp(stage, name, { state: "held", grantedAt: Date.now() });

async function leave(stage: Stage, name: string, run: string): Promise<void> {
  const key = stage.keys.lock(name, run);
  await stage.store.commitTxn({ compare: [], success: [{ op: "delete", key }], failure: [] });
}

/** A queue grows by five waiters a second until the test ends. */
function grow(stage: Stage, name: string): void {
  const timer = setInterval(() => void queueUp(stage, name).catch(() => {}), EVERY);
  onTestFinished(() => clearInterval(timer));
}

/** What a preview states, once more waiters have come since. */
async function shownAt(stage: Stage, ...args: string[]): Promise<string> {
  const { stdout } = await stage.command([...args, "--dry-run", "--json"]).ended;
  const before = (await stage.tickets()).length;
  await until("more waiters came", async () => (await stage.tickets()).length > before + 2);
  return JSON.parse(stdout).revision;
}

async function asked(stage: Stage): Promise<string[]> {
  return (await stage.tickets()).flatMap(({ run, ticket }) => (ticket?.reset === undefined ? [] : [run]));
}

async function drains(stage: Stage): Promise<string[]> {
  const { kvs } = await stage.store.readRange(stage.keys.drains());
  return kvs.flatMap((kv) => parseDrain(stage.keys, kv)?.name ?? []);
}

describe("while a queue grows by 5 waiters a second", () => {
  it.each([["lock x"], ["host web1.example.com"], ["group web"], ["all"]])(
    "a drain of %s that was previewed is put",
    async (words) => {
      const stage = await theatre.stage("http");
      await stage.command(["group", "set", "web", "web1.example.com", "--yes"]).ended;
      await hold(stage, "x");
      grow(stage, "x");
      const scope = words.split(" ");
      const revision = await shownAt(stage, "drain", ...scope);
      const drain = await stage.command(["drain", ...scope, "--yes", "--expect-revision", revision]).ended;
      expect(drain).toMatchObject({ code: 0 });
      expect(await drains(stage)).toHaveLength(1);
    },
  );

  it("a reset that was previewed ends the holder, and tells how many came meanwhile", async () => {
    const stage = await theatre.stage("http");
    const holder = await hold(stage, "x");
    grow(stage, "x");
    const revision = await shownAt(stage, "reset", "lock", "x");
    const words = ["reset", "lock", "x", "--yes", "--no-wait", "--expect-revision", revision];
    const reset = await stage.command(words).ended;
    expect(reset).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/: \d+ runs came, 0 left; the runs to end/),
    });
    expect(await asked(stage)).toEqual([holder]);
  });

  it("a waiter that was previewed is released, and nobody else", async () => {
    const stage = await theatre.stage("http");
    await hold(stage, "x");
    const waiter = await queueUp(stage, "x");
    grow(stage, "x");
    const revision = await shownAt(stage, "release", waiter);
    const words = ["release", waiter, "--yes", "--no-wait", "--expect-revision", revision];
    expect(await stage.command(words).ended).toMatchObject({ code: 0 });
    expect(await asked(stage)).toEqual([waiter]);
  });
});

describe("what was not shown is not ended", () => {
  it("a reset refuses once another run holds the lock", async () => {
    const stage = await theatre.stage("http");
    const first = await hold(stage, "x");
    const { stdout } = await stage.command(["reset", "lock", "x", "--dry-run", "--json"]).ended;
    await leave(stage, "x", first);
    await hold(stage, "x");
    const words = ["reset", "lock", "x", "--yes", "--expect-revision", JSON.parse(stdout).revision];
    const reset = await stage.command(words).ended;
    expect(reset).toMatchObject({
      code: 75,
      stderr: expect.stringMatching(/has left .*\n.*has joined \(held\)/),
    });
    expect(await asked(stage)).toEqual([]);
  });

  it("a reset refuses when the run that was shown as next is next no more", async () => {
    const stage = await theatre.stage("http");
    await hold(stage, "x");
    const [next] = [await queueUp(stage, "x"), await queueUp(stage, "x")];
    const { stdout } = await stage.command(["reset", "lock", "x", "--dry-run", "--json"]).ended;
    await leave(stage, "x", next);
    const words = ["reset", "lock", "x", "--yes", "--expect-revision", JSON.parse(stdout).revision];
    const reset = await stage.command(words).ended;
    expect(reset).toMatchObject({
      code: 75,
      stderr: expect.stringMatching(/is no longer next: web1/),
    });
    expect(await asked(stage)).toEqual([]);
  });

  it("a drain that resets spares a run that was granted after the preview, and says so", async () => {
    const stage = await theatre.stage("http");
    const shown = await hold(stage, "x");
    const { stdout } = await stage.command(["drain", "all", "--dry-run", "--json"]).ended;
    const later = await hold(stage, "y");
    const { revision } = JSON.parse(stdout);
    const waits = ["--wait", "--timeout", "200ms", "--reset", "--yes", "--expect-revision", revision];
    const drain = stage.command(["drain", "all", ...waits]);
    await until("the shown run was asked", async () => (await asked(stage)).includes(shown));
    await leave(stage, "x", shown);
    const { code, stderr } = await drain.ended;
    expect({ code, stderr }).toEqual({
      code: 124,
      stderr: expect.stringMatching(/not ended, because not shown/),
    });
    expect(await asked(stage)).toEqual([]);
    expect((await stage.tickets()).map(({ run }) => run)).toEqual([later]);
  });
});
