/** `signalbox reset`: the job is dead before the command returns, and no other run is affected. */

import { existsSync } from "node:fs";
import { describe, expect } from "vitest";
import { listAudits } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { pickCount } from "../../../fixtures/test-effort.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { grantOnce } from "../../../src/core/etcd/session/session.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const LOCK = ["--lock", "x", "--wait"];
const TIMES = ["--ttl", "30s", "--termination-timeout", "400ms"];
const RESET = ["reset", "lock", "x", "--yes"];

/** A ticket on a session that nobody renews: its runner and its host are gone. */
async function putGhost(
  namespace: TestNamespace,
  ttl: number,
  { state = "held", session = generateSessionId() }: { state?: "held" | "grace"; session?: bigint } = {},
) {
  const run = "ghost00000000000";
  await grantOnce(namespace.store, session, ttl);
  const key = namespace.keys.lock("x", run);
  const value = serializeTicket(
    createTicket({ run, state, ...(state === "grace" && { until: Date.now() + 9e6 }) }),
  );
  await namespace.write({ op: "put", key, value, session });
  return key;
}

const generateSessionId = () => BigInt(Math.floor(Math.random() * 2 ** 52));

describe.concurrent.each(TRANSPORTS)("over %s, a reset", (transport) => {
  test("of a job that ignores TERM returns when it is dead, and the next may start", async ({
    onTestFinished,
  }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    const run = await namespace.jobs.startAndWait("run", [...LOCK, ...TIMES], { hold: ["stubborn"] });
    const next = await namespace.jobs.startWaiter("next", LOCK, { hold: [5] });
    const { pid } = await namespace.jobs.journal.waitForLine("run", "start");
    const { code, stdout } = await namespace.execute([...RESET, "--reason", "stuck"]);
    expect({ code, alive: existsSync(`/proc/${pid}`) }).toEqual({ code: 0, alive: false });
    expect(stdout).toMatch(/has ended, after .*\nlock x is (now held by|free, (next is|nobody waits)) ?/);
    expect((await run.ended).stderr).toContain("stuck");
    expect([(await run.ended).code, (await next.ended).code]).toEqual([125, 0]);
    expect(await listAudits(namespace, ["outcome"])).toEqual([expect.stringMatching(/^ended after/)]);
  });

  test("outlasts the loss of etcd while it waits, and says so", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    const key = await putGhost(namespace, 600);
    const proxy = await namespace.startProxy();
    const endpoint = proxy.url;
    const reset = namespace.start(RESET, { endpoints: [endpoint] });
    await reset.waitForOutput(/asked .* to end/);
    proxy.mode = "refuse";
    proxy.reset();
    await reset.waitForOutput("etcd is unreachable");
    await namespace.delete(key);
    proxy.mode = "forward";
    expect(await reset.ended).toExit(0, { stderr: "etcd is reachable again" });
  });
});

describe.concurrent("a reset", () => {
  test("of a frozen runner returns when its guardian has killed the job and its session is over", async ({
    namespace,
  }) => {
    const options = ["--lock", "x", "--ttl", "15s", "--termination-timeout", "100ms"];
    const run = await namespace.jobs.startAndWait("run", options, { hold: ["stubborn"] });
    const { pid } = await namespace.jobs.journal.waitForLine("run", "start");
    run.kill("SIGSTOP");
    const { code } = await namespace.execute(RESET);
    expect({ code, alive: existsSync(`/proc/${pid}`) }, namespace.jobs.journal.formatTimeline()).toEqual({
      code: 0,
      alive: false,
    });
    run.kill("SIGCONT");
    expect(await run.ended).toExit(125);
  });

  test("of one whose host is gone waits for its session, or with --force for nothing", async ({
    namespace,
  }) => {
    const session = generateSessionId();
    await putGhost(namespace, 600, { session });
    const reset = namespace.start(RESET);
    await reset.waitForOutput(/asked .* to end/);
    await namespace.store.revoke(session); // as when it lapses: etcd deletes its keys
    expect(await reset.ended).toExit(0);
    const key = await putGhost(namespace, 600);
    const late = await namespace.execute([...RESET, "--timeout", "300ms"]);
    expect(late).toExit(124, { stderr: "--force" });
    expect((await namespace.store.readRange({ key })).count).toBe(1);
    await namespace.expectDone(...RESET, "--force");
    expect((await namespace.store.readRange({ key })).count).toBe(0);
  });

  test("resets only the runs that it has seen, also during a hand-over", async ({ namespace }) => {
    const rounds = pickCount(4, 12);
    for (let round = 0; round < rounds; round += 1) {
      const first = `first${round}`;
      await namespace.jobs.startAndWait(first, LOCK, { hold: [1 + (round % 5)] });
      const next = namespace.jobs.start(`next${round}`, LOCK, { hold: [2] });
      const reset = await namespace.execute(RESET);
      const { code } = await next.ended;
      const hit = reset.stdout.includes(`:${next.pid} has ended`);
      expect([0, 75], reset.stderr).toContain(reset.code);
      // One that was asked may just have ended by itself.
      expect(hit ? [0, 125] : [0], `${reset.stdout}${reset.stderr}`).toContain(code);
    }
  });

  test("of what another operator resets at the same time is refused, and told by whom", async ({
    namespace,
  }) => {
    await putGhost(namespace, 600);
    const both = await Promise.all([1, 2, 3, 4].map(() => namespace.execute([...RESET, "--no-wait"])));
    const requests = (await listAudits(namespace, ["outcome"])).length;
    const refused = both.filter(({ code }) => code === 75);
    expect(both.every(({ code }) => code === 0 || code === 75)).toBe(true);
    expect(requests).toBe(1);
    for (const { stderr } of refused)
      expect(stderr).toMatch(/something has changed meanwhile:\n.*was asked to end by/);
  });

  test("refuses when what it ends has changed since --expect-revision, and shows what", async ({
    namespace,
  }) => {
    const key = await putGhost(namespace, 600);
    const { revision } = await namespace.executeJson("reset lock x --dry-run");
    await namespace.delete(key);
    await namespace.jobs.startHolder("other", LOCK);
    const refused = await namespace.execute([...RESET, "--expect-revision", revision]);
    expect(refused).toExit(75, { stderr: "has joined (held)" });
    expect(await listAudits(namespace, ["outcome"])).toEqual([]);
    const ahead = await namespace.execute([...RESET, "--expect-revision", "999999999"]);
    expect(ahead).toExit(64, { stderr: "must not be in the future" });
  });

  test("changes nothing in a dry run, without consent, or with a read-only configuration", async ({
    namespace,
  }) => {
    await putGhost(namespace, 600);
    expect((await namespace.execute("reset lock x --dry-run")).stdout).toMatch(
      /^ends +web1.example.com:4711 .*\n(.*\n)*do it with --expect-revision \d+ --yes instead of --dry-run\n/,
    );
    expect(await namespace.execute("reset lock x")).toExit(64);
    const env = { SIGNALBOX_READ_ONLY: "true" };
    expect(await namespace.execute(RESET, { env })).toExit(77, { stderr: "readOnly" });
    expect(await listAudits(namespace, ["outcome"])).toEqual([]);
    expect((await namespace.listTickets())[0]?.ticket?.reset).toBeUndefined();
  });

  test("asks at a terminal, and takes nothing but yes for a yes", async ({ namespace }) => {
    await putGhost(namespace, 600);
    for (const [answer, code] of [
      ["n", 1],
      ["", 1],
      ["maybe", 1],
      ["\x04", 1],
      ["y", 0],
    ] as const) {
      const asked = namespace.start("reset lock x --no-wait", {
        terminal: { columns: 80, rows: 24 },
      });
      await asked.waitForOutput("Reset lock x? [y/N]");
      asked.child.stdin?.write(`${answer}\r`);
      expect({ answer, code: (await asked.ended).code }).toEqual({ answer, code });
      expect(await listAudits(namespace, ["outcome"])).toHaveLength(code === 0 ? 1 : 0);
    }
  });

  test("a question that gets no answer ends its line", async ({ namespace }) => {
    await putGhost(namespace, 600);
    for (const key of ["\x03", "\x04"]) {
      const asked = namespace.start("reset lock x --no-wait", { terminal: { columns: 80, rows: 24 } });
      await asked.waitForOutput("Reset lock x? [y/N]");
      asked.child.stdin?.write(key);
      expect(await asked.ended).toExit(1, { stdout: /\nnothing was changed\r?\n$/ });
    }
  });

  test("that is no longer waited for stands all the same", async ({ namespace }) => {
    const key = await putGhost(namespace, 600);
    const reset = namespace.start(RESET, { terminal: { columns: 80, rows: 24 } });
    await reset.waitForOutput(/asked web1.example.com:4711 to end/);
    reset.child.stdin?.write("\x03");
    expect(await reset.ended).toExit(130, { stdout: "stays in effect" });
    expect((await namespace.store.readRange({ key })).kvs[0]?.value).toContain('"reset"');
  });

  test("of nobody is no error, unless it is to be strict", async ({ namespace }) => {
    expect(await namespace.execute(RESET)).toMatchObject({
      code: 0,
      stdout: 'nobody holds lock "x" or waits for it\n',
    });
    expect(await namespace.execute([...RESET, "--strict"])).toExit(1);
  });

  test("deletes a ticket in grace at once, and one that cannot be read only by force", async ({
    namespace,
  }) => {
    await putGhost(namespace, 600, { state: "grace" });
    await namespace.expectDone(...RESET);
    const key = namespace.keys.lock("x", "ghost00000000000");
    await namespace.put(key, "{");
    expect(await namespace.execute(RESET)).toExit(1, { stderr: "--force" });
    await namespace.expectDone(...RESET, "--force");
    expect(await namespace.listTickets()).toEqual([]);
  });

  test("of a resource ends all its holders, or the one that is named; the others go on", async ({
    namespace,
  }) => {
    const options = ["--no-lock", "--lease", "db=1:3", ...TIMES];
    const runs = await Promise.all(
      ["a", "b", "c"].map((name) => namespace.jobs.startAndWait(name, options, { hold: ["stubborn"] })),
    );
    const [first] = await namespace.jobs.waitForTickets("a", "held");
    const one = ["reset", "run", first?.run.slice(0, 8) ?? "", "--yes"];
    await namespace.expectDone(...one);
    expect((await runs[0]?.ended)?.code).toBe(125);
    expect((await namespace.listTickets()).map(({ ticket }) => ticket?.label).sort()).toEqual(["b", "c"]);
    await namespace.expectDone("reset resource db --yes");
    expect(await namespace.listTickets()).toEqual([]);
    expect((await Promise.all(runs.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([
      125, 125, 125,
    ]);
  });
});

describe.concurrent("the reset of a run", () => {
  test("that waited when it was seen, and holds by now: only without --expect-revision", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    const holder = await jobs.startHolder("holder", LOCK);
    const next = await jobs.startWaiter("next", [...LOCK, ...TIMES], { hold: ["stubborn"] });
    const { revision, rows } = await namespace.executeJson("ls runs");
    const { run = "" } = rows.find(({ label }: { label: string }) => label === "next") ?? {};
    holder.finish();
    await jobs.journal.waitForLine("next", "start");
    const reset = ["reset", "run", run, "--yes"];
    expect(await namespace.execute([...reset, "--expect-revision", revision])).toExit(75, {
      stderr: "nothing was changed, because something has changed meanwhile:\n",
    });
    expect(next.child.exitCode).toBeNull();
    await namespace.expectDone(...reset);
    expect(await next.ended).toExit(125);
  });

  test("by force can leave its other tickets: --run takes away one, and ends nothing", async ({
    namespace,
  }) => {
    await putGhost(namespace, 600);
    const run = "ghost00000000000";
    await namespace.put(namespace.keys.lock("y", run), "{");
    expect(await namespace.execute(["reset", "lock", "y", "--run", run, "--yes"])).toExit(64, {
      stderr: `to end a run: signalbox reset run ${run}`,
    });
    const forced = await namespace.execute(["reset", "lock", "y", "--run", run, "--force", "--yes"]);
    expect(forced).toExit(0, { stdout: /^the tickets of .* are gone\nlock y is free/ });
    expect((await namespace.listTickets()).map(({ key }) => key)).toEqual([namespace.keys.lock("x", run)]);
    const { evicted } = await namespace.executeJson(["reset", "run", run, "--dry-run"]);
    expect(evicted).toMatchObject([{ run, tickets: [{ name: "x" }] }]);
  });

  test("throws a waiter out of its queue with 75, ends a holder, and the queue goes on", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    const file = `${jobs.journal.folder}/over`;
    const holder = await jobs.startAndWait("holder", LOCK, { hold: ["until", file] });
    const waiter = jobs.start("waiter", LOCK);
    const [entry] = await jobs.waitForTickets("waiter", "waiting");
    const last = await jobs.startWaiter("last", LOCK);
    const run = entry?.run ?? "";
    await namespace.expectDone("reset run", run.slice(0, 6), "--waiting", "--yes");
    expect(await waiter.ended).toExit(75);
    const held = (await jobs.waitForTickets("holder", "held"))[0]?.run ?? "";
    expect(await namespace.execute(["reset", "run", held, "--waiting", "--yes"])).toFail(
      75,
      "no longer waits",
    );
    await namespace.expectDone("reset run", held, "--yes");
    expect((await holder.ended).code).not.toBe(0);
    await waitUntil("the last one ran", async () => (await last.ended).code === 0);
    expect(await namespace.execute(["reset", "run", run, "--yes"])).toMatchObject({
      code: 1,
      stderr: `signalbox: no run "${run}" holds or waits for anything\n`,
    });
    expect(await namespace.execute(["reset", "run", run, "--yes", "--json"])).toExit(1);
  });
});
