/** `signalbox drain` and `undrain`: stopped runs, awaited runs, and output. */

import { existsSync, writeFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { listAudits, listDrains } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { JOB_SCRIPT } from "../../../fixtures/cluster/test-jobs.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import {
  buildWaitingScript,
  putDueSchedule,
  runShell,
  waitForFile,
} from "../../../fixtures/schedule/due-schedules.ts";
import { createRunningKey } from "../../../fixtures/schedule/schedule-keys.ts";
import { pickCount } from "../../../fixtures/test-effort.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { silentLog } from "../../../src/core/base/log.ts";
import { createRealClock } from "../../../src/core/process/clock.ts";
import { createGuardianHost } from "../../../src/core/process/host.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";
import type { RunPorts, RunRequest } from "../../../src/core/run/request.ts";
import { run } from "../../../src/core/run/run.ts";
import { type Definition, formatDefinition } from "../../../src/schedule/definition.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const LOCK = ["--lock", "x", "--wait"];
/** How often two operators do something at once. */
const ROUNDS = pickCount(2, 5);
const DRAIN = ["drain", "lock", "x", "--yes"];

/** A holder whose runner is not there. */
async function putGhost(namespace: TestNamespace, name = "x", state: "held" | "grace" = "held") {
  const run = `ghost${name}0000000000`;
  const key = namespace.keys.lock(name, run);
  await namespace.put(
    key,
    serializeTicket(createTicket({ run, state, ...(state === "grace" && { until: Date.now() + 9e6 }) })),
  );
  return key;
}

/** A run in this process, whose guardian is there only when the test lets it start. */
function runThatStartsLate(namespace: TestNamespace, name: string, over: string) {
  const clock = createRealClock();
  const host = createGuardianHost(clock);
  const held = Promise.withResolvers<void>();
  const ports: RunPorts = {
    store: namespace.store,
    keys: namespace.keys,
    clock,
    random: realRandom,
    log: silentLog,
    evaluateTotal: () => undefined,
    describeHost: () => "{}",
    onSignal: () => () => {},
    commands: {
      prepare: async (spec) => {
        await held.promise;
        return await host.prepare(spec);
      },
    },
  };
  const env = { PATH: process.env.PATH, JOURNAL: namespace.jobs.journal.path, NAME: name, UNITS: "1" };
  const request: RunRequest = {
    locks: ["x"],
    leases: [],
    waitLimits: { queues: false },
    history: true,
    ttl: 60,
    identity: { host: "web2.example.com", pid: process.pid, user: "u", command: "job", label: name },
    terminationTimeout: 500,
    connectTimeout: 10_000,
    killLeftovers: false,
    busyExitCode: 75,
    command: { file: "bash", args: [JOB_SCRIPT, "until", over], env },
    logReopens: false,
  };
  return { start: () => held.resolve(), ended: run(ports, request) };
}

describe.concurrent.each(TRANSPORTS)("over %s, a drain that waits", (transport) => {
  test("returns when nobody holds, and only then; nobody is started, and the queue goes on in its order", async ({
    onTestFinished,
  }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    const { jobs } = namespace;
    const held = await jobs.startHolder("holder", LOCK);
    const waiters = ["first", "second", "third"];
    for (const name of waiters) {
      await jobs.startWaiter(name, LOCK);
    }
    const drain = namespace.start([...DRAIN, "--wait", "--reason", "disks"]);
    await drain.waitForOutput(/waiting for .*:\d+/);
    expect(drain.child.exitCode).toBeNull();
    held.finish();
    const { code, stdout, stderr } = await drain.ended;
    expect({ code, stdout }, stderr).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^lock x is drained, and nobody holds anything there, after /),
    });
    const places = (await namespace.listTickets()).map(({ ticket }) => `${ticket?.label} ${ticket?.state}`);
    expect(places).toEqual(waiters.map((name) => `${name} waiting`)); // they kept their places
    expect(jobs.journal.listStarts()).toHaveLength(1);
    const lifted = await namespace.execute("undrain lock x --yes");
    expect(lifted).toExit(0, { stdout: "its queues continue: " });
    await namespace.waitForProcesses();
    expect(jobs.journal.listNames()).toEqual(["holder", ...waiters]);
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toEqual([
      expect.stringMatching(/^drain \| lock x \| empty after/),
      "undrain | lock x | lifted",
    ]);
  });

  test("outlasts the loss of etcd, and says so once", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    const key = await putGhost(namespace);
    const proxy = await namespace.startProxy();
    const drain = namespace.start([...DRAIN, "--wait"], { endpoints: [proxy.url] });
    await drain.waitForOutput("waiting for ");
    proxy.mode = "refuse";
    proxy.reset();
    await drain.waitForOutput("etcd is unreachable");
    await namespace.delete(key);
    proxy.mode = "forward";
    const end = await drain.ended;
    expect(end).toExit(0);
    expect(end.stderr.match(/etcd is unreachable/g)).toHaveLength(1);
    expect(end.stderr.match(/etcd is reachable again/g)).toHaveLength(1);
  });
});

describe("a run that was granted before the drain, and has not started its command yet", () => {
  test("starts it; drain names the run, and drain --wait returns only when it has ended", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    const over = `${jobs.journal.folder}/over`;
    const held = runThatStartsLate(namespace, "held", over);
    const [entry] = await jobs.waitForTickets("held", "held");
    const who = `${entry?.ticket?.host}:${entry?.ticket?.pid}`;
    await jobs.startWaiter("waiter", LOCK);
    const drain = await namespace.execute(DRAIN);
    expect(drain, drain.stderr).toExit(0, { stdout: `held there by ${who}` });
    const waits = namespace.start([...DRAIN, "--wait"]);
    await waits.waitForOutput("waiting for ");
    expect(jobs.journal.listStarts()).toEqual([]);
    held.start();
    await jobs.journal.waitForLine("held", "start");
    expect(waits.child.exitCode).toBeNull();
    writeFileSync(over, "");
    expect(await waits.ended).toExit(0);
    await held.ended;
    expect(jobs.journal.listNames()).toEqual(["held"]);
    await namespace.expectDone("undrain lock x --yes");
    await namespace.waitForProcesses();
  });

  test("is named too when it was granted between the preview and the drain", async ({ namespace }) => {
    const drain = namespace.start("drain lock x", { terminal: { columns: 160, rows: 30 } });
    await drain.waitForOutput("Drain lock x?");
    expect(drain.output.stdout).not.toContain("web1.example.com");
    await putGhost(namespace);
    drain.child.stdin?.write("y\n");
    expect(await drain.ended).toExit(0, { stdout: "still held there by web1.example.com:4711" });
  });
});

describe.concurrent("a drain that waits", () => {
  test("says at its timeout who remains, and stands", async ({ namespace }) => {
    await putGhost(namespace);
    const late = await namespace.execute([...DRAIN, "--wait", "--timeout", "200ms"]);
    expect(late).toExit(124, { stderr: /not empty after .*: held by web1.example.com:4711/ });
    const again = await namespace.execute([...DRAIN, "--wait", "--timeout", "1ms", "--json"]);
    expect(again).toExit(124);
    expect(JSON.parse(again.stdout)).toMatchObject({
      version: 1,
      action: "drain",
      target: "lock x",
      outcome: "timeout",
      drain: { scope: "lock", name: "x", revision: expect.stringMatching(/^\d+$/) },
      holders: [{ host: "web1.example.com", pid: 4711, tickets: [{ kind: "lock", state: "held" }] }],
    });
    expect(await listDrains(namespace)).toHaveLength(1);
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toEqual([
      expect.stringMatching(/^drain \| lock x \| 1 still held after/),
    ]);
  });

  test("with --reset ends those who remain, also one that ignores TERM, and waits until they are dead", async ({
    namespace,
  }) => {
    const times = ["--ttl", "30s", "--termination-timeout", "400ms"];
    const run = await namespace.jobs.startAndWait("run", [...LOCK, ...times], { hold: ["stubborn"] });
    const { pid } = await namespace.jobs.journal.waitForLine("run", "start");
    const options = ["--wait", "--timeout", "100ms", "--reset", "--reason", "disks"];
    const { code, stdout, stderr } = await namespace.execute([...DRAIN, ...options]);
    expect({ code, alive: existsSync(`/proc/${pid}`) }, stderr).toEqual({ code: 0, alive: false });
    expect(stdout).toMatch(/nobody holds anything there, after .*, 1 ended by a reset/);
    expect(await run.ended).toExit(125, { stderr: "disks" });
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toEqual([
      expect.stringMatching(/^drain \| lock x \| empty after .*, 1 ended by a reset$/),
      "drain | lock x | asked to end",
    ]);
  });

  test("waits for the task of a worker on the host, and names it", async ({ namespace }) => {
    const [there, gate] = [cluster.createPath(), cluster.createPath()];
    namespace.start("worker --host web7.example.com");
    await putDueSchedule(namespace, "report", { command: runShell(buildWaitingScript(there, gate)) });
    await waitForFile(there);
    const host = ["drain", "host", "web7.example.com", "--yes"];
    expect(await namespace.execute([...host, "--dry-run"])).toExit(0, {
      stdout: /holds schedule report on web7.example.com:\d+; goes on/,
    });
    expect(await namespace.execute("show host web7.example.com")).toExit(0, {
      stdout: /^host web7.example.com: busy$.*alive: it has a worker$.*^ +tasks +report$/ms,
    });
    const misspelt = await namespace.execute("drain host web7 --yes --dry-run");
    expect(misspelt).toExit(0, {
      stderr: 'no host "web7" is known so far; did you mean "web7.example.com"?',
    });
    const late = await namespace.execute([...host, "--wait", "--timeout", "100ms", "--json"]);
    expect(late).toExit(124);
    expect(JSON.parse(late.stdout)).toMatchObject({
      outcome: "timeout",
      holders: [{ host: "web7.example.com", schedule: "report", tickets: [] }],
    });
    expect(await namespace.execute("drain host other.example.com --yes --wait")).toExit(0);
    const drain = namespace.start([...host, "--wait"]);
    await drain.waitForOutput("waiting for schedule report on web7.example.com");
    writeFileSync(gate, "");
    expect(await drain.ended).toExit(0);
    const { kvs } = await namespace.store.readRange(namespace.keys.runnings());
    expect(kvs, "the drain is over before the task").toEqual([]);
  });

  test("with --reset waits for a task that was not shown, as for one that was: it cannot end it", async ({
    namespace,
  }) => {
    await putGhost(namespace);
    const { revision } = await namespace.store.readRange(namespace.keys.runnings());
    await namespace.put(namespace.keys.running("report"), createRunningKey("report").value);
    const options = ["--wait", "--timeout", "1ms", "--reset", `--expect-revision=${revision}`];
    const drain = namespace.start(["drain", "host", "web1.example.com", "--yes", ...options]);
    await drain.waitForOutput("was asked to end");
    await namespace.delete(namespace.keys.lock("x", "ghostx0000000000"));
    await namespace.delete(namespace.keys.running("report"));
    expect(await drain.ended).toExit(0, { stderr: /^(?!.*run the command again)/s });
  });

  test("waits for the time to live of a task whose session etcd has ended, unless it was on another host", async ({
    namespace,
  }) => {
    const open = {
      scheduled: 1,
      runAt: 1,
      attempt: 1,
      failures: 0,
      kind: "due",
      session: { run: "r", ttl: 1 },
    };
    const due = JSON.stringify({ v: 1, next: 9e12, runAt: 9e12, open: [open] });
    const definition: Definition = { cron: "@yearly", timezone: "UTC" };
    const everywhere = formatDefinition({ ...definition, on: "every-host" });
    await namespace.put(namespace.keys.schedule("mounts"), everywhere);
    await namespace.put(namespace.keys.due("mounts", "other.example.com"), due);
    const drain = ["drain", "host", "web7.example.com", "--yes", "--wait"];
    const elsewhere = await namespace.execute(drain);
    expect(elsewhere).toExit(0);
    expect(elsewhere.stderr).not.toContain("waiting for");
    await namespace.put(namespace.keys.schedule("report"), formatDefinition(definition));
    await namespace.put(namespace.keys.due("report"), due);
    expect(await namespace.execute(drain)).toExit(0, {
      stderr: "waiting for schedule report, whose worker's session has ended",
    });
    const later = JSON.stringify({
      v: 1,
      next: 9e12,
      runAt: 9e12,
      open: [{ ...open, session: { run: "r", ttl: 600 } }],
    });
    await namespace.put(namespace.keys.due("report"), later);
    const early = await namespace.execute([...drain, "--timeout", "5s", "--json"]); // time for the first look
    expect(early).toExit(124);
    expect(JSON.parse(early.stdout)).toMatchObject({ holders: [{ run: "r", schedule: "report" }] });
  });

  test("does not count a place in grace, nor one that becomes so", async ({ namespace }) => {
    const key = await putGhost(namespace, "x", "grace");
    await namespace.expectDone(...DRAIN, "--wait");
    await putGhost(namespace, "y");
    const drain = namespace.start("drain lock y --yes --wait");
    await drain.waitForOutput("waiting for ");
    await putGhost(namespace, "y", "grace");
    expect(await drain.ended).toExit(0);
    await namespace.delete(key);
  });

  test("counts one whose host is taken into the group meanwhile", async ({ namespace }) => {
    const first = await putGhost(namespace);
    const late = namespace.keys.lock("y", "late000000000000");
    await namespace.put(
      late,
      serializeTicket(createTicket({ run: "late000000000000", host: "web2.example.com", state: "held" })),
    );
    const group = namespace.keys.group("web");
    await namespace.put(group, '["web1.example.com"]');
    const drain = namespace.start("drain group web --yes --wait");
    await drain.waitForOutput("waiting for web1");
    await namespace.put(group, '["web1.example.com","web2.example.com"]');
    await drain.waitForOutput("waiting for 2: ");
    await namespace.delete(first);
    await drain.waitForOutput("waiting for web2");
    await namespace.delete(late);
    expect(await drain.ended).toExit(0);
  });

  test("gives up when the drain is lifted, or ends by itself", async ({ namespace }) => {
    await putGhost(namespace);
    const drain = namespace.start([...DRAIN, "--wait"]);
    await drain.waitForOutput("waiting for ");
    await namespace.expectDone("undrain lock x --yes");
    expect(await drain.ended).toExit(75, { stderr: "was lifted" });
    const short = await namespace.execute([...DRAIN, "--wait", "--for", "300ms"]);
    expect(short).toExit(75, { stderr: "has ended" });
  });

  test("that is interrupted says that the drain stands, and exits 130", async ({ namespace }) => {
    await putGhost(namespace);
    const drain = namespace.start([...DRAIN, "--wait"]);
    await drain.waitForOutput("waiting for ");
    expect(await drain.end("SIGINT")).toExit(130, { stderr: "lock x stays drained" });
    expect(await listDrains(namespace)).toHaveLength(1);
  });

  test("waits for a ticket that cannot be read, since it may be a holder's", async ({ namespace }) => {
    const key = namespace.keys.lock("x", "junk000000000000");
    await namespace.put(key, "{");
    const late = await namespace.execute([...DRAIN, "--wait", "--timeout", "100ms"]);
    expect(late).toExit(124, { stderr: "malformed ticket junk" });
  });
});

describe.concurrent("a drain", () => {
  test("twice changes nothing the second time; another end or reason replaces it; an end never goes unsaid", async ({
    namespace,
  }) => {
    const drain = async (...more: string[]) => await namespace.execute([...DRAIN, ...more]);
    expect(await drain("--reason", "disks")).toExit(0, { stdout: ": disks" });
    const [first] = await listDrains(namespace);
    expect(await drain()).toExit(0, { stdout: "nothing to change" });
    expect(await drain("--reason", "disks")).toExit(0);
    expect(await drain("--strict")).toExit(1);
    expect(await listDrains(namespace)).toEqual([first]);
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toHaveLength(1);
    expect(await drain("--reason", "fans")).toExit(0, { stdout: /: fans\nreplaces: .*: disks\n/ });
    expect(await drain("--for", "1h")).toExit(0, { stdout: "(until 2" });
    expect(await listDrains(namespace)).toMatchObject([{ why: "fans", until: expect.any(Number) }]);
    expect(await drain("--keep")).toExit(0, { stdout: "(until 2" });
    expect(await drain()).toExit(0, { stdout: "replaces: " });
    const [last] = await listDrains(namespace);
    expect(last).toMatchObject({ why: "fans" });
    expect(last?.until).toBeUndefined();
  });

  test("with --for ends by itself, and who waited goes on", async ({ namespace }) => {
    await namespace.expectDone(...DRAIN, "--for", "1s500ms");
    const run = namespace.jobs.start("run", LOCK);
    expect(await run.ended).toExit(0);
    expect(Date.now()).toBeGreaterThanOrEqual((await listDrains(namespace))[0]?.until ?? 0);
    const again = await namespace.execute(DRAIN);
    expect(again).toMatchObject({ code: 0, stdout: expect.not.stringContaining("replaces") });
  });

  test("shows in a dry run who holds, who waits, and who would leave its place; and changes nothing", async ({
    namespace,
  }) => {
    const held = await namespace.jobs.startHolder("holder", [...LOCK, "--host", "web1.example.com"]);
    const options = [...LOCK, "--host", "web2.example.com", "--ttl", "60s", "--agent", "never"];
    const waiter = await namespace.jobs.startWaiter("waiter", options);
    waiter.kill("SIGSTOP"); // it, or its agent, would leave when it hears of the drain of its host
    await namespace.put(namespace.keys.group("all"), '["web","db1.example.com"]');
    await namespace.put(namespace.keys.group("web"), '["web1.example.com","WEB2.example.com."]');
    const runDry = async (...scope: string[]) =>
      (await namespace.execute(["drain", ...scope, "--dry-run"])).stdout;
    expect(await runDry("lock", "x")).toMatch(
      /^holds +web1.*; goes on\nwaits +web2.*waits for lock x.*; keeps its place\n/,
    );
    expect(await runDry("lock", "x", "--wait", "--reason", "new disks")).toMatch(
      /\ndo it with --expect-revision \d+ --yes instead of --dry-run\n$/,
    );
    expect(await runDry("host", "Web2.Example.com")).toMatch(/^holds none\nwaits +web2.*; leaves its queues/);
    expect(await runDry("group", "all")).toMatch(/^hosts db1.*, web1.*\nholds +web1.*\nwaits +web2.*leaves/);
    await namespace.put(namespace.keys.drain("host", "web2.example.com"), "{}");
    expect(await runDry("group", "web")).toMatch(/\nalso +host web2.example.com is drained by unknown/);
    expect(await namespace.executeJson("drain all --dry-run")).toMatchObject({
      outcome: "dry-run",
      revision: expect.any(String),
      holders: [{ label: "holder" }],
      waiters: [{ label: "waiter", fate: "leaves" }], // for its host is drained too
    });
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toEqual([]);
    held.finish();
  });

  test("asks at a terminal, after it has shown whom it hits", async ({ namespace }) => {
    await putGhost(namespace);
    for (const [answer, code, count] of [
      ["n", 1, 0],
      ["y", 0, 1],
    ] as const) {
      const drain = namespace.start("drain lock x", { terminal: { columns: 80, rows: 24 } });
      await drain.waitForOutput(/holds web1.example.com:4711 .*Drain lock x\? \[y\/N\]/s);
      drain.child.stdin?.write(`${answer}\r`);
      expect({ answer, code: (await drain.ended).code }).toEqual({ answer, code });
      expect(await listDrains(namespace)).toHaveLength(count);
    }
  });

  test("asks, and does nothing without a terminal", async ({ namespace }) => {
    expect(await namespace.execute("drain lock x")).toExit(64, { stderr: "--yes" });
    expect(await listDrains(namespace)).toEqual([]);
  });

  test.for([
    { args: ["drain", "lok", "x"], says: 'did you mean "lock"?' },
    { args: ["drain", "lock"], says: "NAME is missing: the name of the lock" },
    { args: ["drain", "all", "x"], says: 'SCOPE all takes no NAME; got "x"' },
    { args: ["drain", "lock", "x", "--timeout", "1s"], says: "add --wait" },
    { args: ["drain", "lock", "x", "--wait", "--reset"], says: "add --wait --timeout" },
    { args: ["drain", "lock", "x", "--for", "0"], says: "--for must be greater than 0" },
    { args: ["drain", "lock", "x", "--for", "1h", "--keep"], says: "one of them" },
    { args: ["undrain", "host"], says: "NAME is missing" },
  ])("is refused as $args", async ({ args, says }, { onTestFinished }) => {
    const namespace = await cluster.createTestNamespace("http", { onTestFinished });
    expect(await namespace.execute([...args, "--yes"])).toExit(64, { stderr: says });
  });

  test("of a name that nobody knows is put, with a word of warning; of a group that is not there, refused", async ({
    namespace,
  }) => {
    await namespace.put(namespace.keys.history("invoices"), '{"v":1,"runs":[]}');
    await namespace.put(namespace.keys.group("web"), '["web1.example.com"]');
    const drain = async (...scope: string[]) => await namespace.execute(["drain", ...scope, "--yes"]);
    expect(await drain("lock", "invoice")).toExit(0, {
      stderr: 'no lock "invoice" is known so far; did you mean "invoices"?',
    });
    expect(await drain("host", "web2.example.com")).toExit(0, { stderr: 'did you mean "web1.example.com"?' });
    expect((await drain("lock", "invoices")).stderr).toBe("");
    expect(await drain("group", "wep")).toExit(78, {
      stderr: 'there is no group "wep"; did you mean "web"?',
    });
  });

  test("is refused when its drain or its groups have changed since --expect-revision; runs may come and go", async ({
    namespace,
  }) => {
    await putGhost(namespace);
    await namespace.execute("group set web web1.example.com --yes");
    const readRevision = async (...scope: string[]) =>
      (await namespace.executeJson(["drain", ...scope, "--dry-run"])).revision;
    const expected = [...DRAIN, "--expect-revision", await readRevision("lock", "x")];
    const group = ["drain", "group", "web", "--yes", "--expect-revision", await readRevision("group", "web")];
    await putGhost(namespace, "y");
    await namespace.jobs.startWaiter("waiter", LOCK);
    await namespace.execute("group add web web2.example.com --yes");
    expect(await namespace.execute(group)).toExit(75, { stderr: "group web has changed" });
    expect(await listDrains(namespace)).toEqual([]);
    await namespace.expectDone(...expected);
    expect(await namespace.execute(expected)).toExit(75, { stderr: "new: lock x is drained by " });
  });
});

describe.concurrent("an undrain", () => {
  const UNDRAIN = ["undrain", "lock", "x", "--yes"];

  test("of what is not drained is no error, unless it is to be strict; and says what else stops it", async ({
    namespace,
  }) => {
    await namespace.put(namespace.keys.drain("all", "all"), '{"by":"ann","at":1,"why":"upgrade"}');
    await namespace.put(namespace.keys.drain("lock", "xx"), "{}");
    expect(await namespace.execute(UNDRAIN)).toMatchObject({
      code: 0,
      stdout: 'lock x is not drained; did you mean "xx"?\nbut everything is drained by ann: upgrade\n',
    });
    expect(await namespace.execute([...UNDRAIN, "--strict"])).toExit(1);
    expect(await listAudits(namespace, ["action", "target", "outcome"])).toEqual([]);
  });

  test("lifts every key that means the same, however it was put", async ({ namespace }) => {
    await namespace.put(namespace.keys.drain("all", "all"), "{}");
    await namespace.put(`${namespace.keys.drains().key}all/by-hand`, "{}");
    await namespace.put(namespace.keys.drain("host", "WEB1.Example.com"), "{}");
    await namespace.expectDone("undrain all --yes");
    expect((await listDrains(namespace)).map(({ scope }) => scope)).toEqual(["host"]);
    await namespace.expectDone("undrain host web1.example.com. --yes");
    expect(await listDrains(namespace)).toEqual([]);
  });

  test("does not lift a drain that was put or changed after --expect-revision", async ({ namespace }) => {
    const own = (await namespace.executeJson(DRAIN)).drain.revision;
    await namespace.expectDone(...DRAIN, "--reason", "mine now");
    expect(await namespace.execute([...UNDRAIN, "--expect-revision", own])).toExit(75, {
      stderr: "mine now",
    });
    const [{ modRevision } = { modRevision: 0n }] = await listDrains(namespace);
    const lift = [...UNDRAIN, "--expect-revision", String(modRevision)];
    await namespace.expectDone(...lift);
    await namespace.expectDone(...lift);
  });

  test("shows in a dry run whom it lets go on", async ({ namespace }) => {
    await namespace.put(namespace.keys.drain("lock", "x"), "{}");
    const run = namespace.jobs.start("run", LOCK);
    await namespace.put(
      namespace.keys.lock("x", "waiter0000000000"),
      serializeTicket(createTicket({ run: "waiter0000000000" })),
    );
    const { stdout } = await namespace.execute("undrain lock x --dry-run");
    expect(stdout).toMatch(
      /^lifts: lock x is drained by unknown\nits queues continue: web1.example.com:4711\ndo it with --expect-revision \d+ --yes instead of --dry-run\n$/,
    );
    run.kill("SIGTERM");
  });
});

describe.concurrent("two operators", () => {
  test("who drain at once: one does, the others are told by whom", async ({ namespace }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const name = `lock${round}`;
      const reasons = ["a", "b", "c"];
      const all = await Promise.all(
        reasons.map((reason) => namespace.execute(["drain", "lock", name, "--yes", "--reason", reason])),
      );
      const told = all.filter(({ code }) => code === 75);
      for (const { stderr } of told)
        expect(stderr).toMatch(/something has changed meanwhile:\n.*(new|changed): lock .* is drained by/);
      const done = (await listAudits(namespace, ["action", "target", "outcome"])).filter((line) =>
        line.startsWith(`drain | lock ${name} |`),
      );
      expect(done).toHaveLength(3 - told.length);
    }
  });

  test("of whom one renews what the other lifts: whoever comes second is told", async ({ namespace }) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await namespace.put(namespace.keys.drain("lock", "x"), '{"by":"ann","at":1}');
      const [renewed, lifted] = await Promise.all([
        namespace.execute([...DRAIN, "--reason", "renewed"]),
        namespace.execute("undrain lock x --yes"),
      ]);
      const isThere = (await listDrains(namespace)).length > 0;
      const codes = `${renewed.code} ${lifted.code}`;
      // One after the other, or at once: what stands is what the last one who was not refused wanted.
      expect(["0 0", "75 0", "0 75"], `${renewed.stderr}${lifted.stderr}`).toContain(codes);
      if (codes === "75 0") expect(isThere).toBe(false);
      if (codes === "0 75") expect(isThere).toBe(true);
      if (renewed.code === 75) expect(renewed.stderr).toContain("lifted: lock x is drained by ann");
      if (lifted.code === 75) expect(lifted.stderr).toContain("renewed");
    }
  });
});

describe.concurrent("a waiter that meets a drain", () => {
  test("of its host leaves its place for the others, and comes back after the undrain", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    const on = (host: string) => [...LOCK, "--host", host];
    const held = await jobs.startHolder("holder", on("web1.example.com"));
    await jobs.startWaiter("drained", on("web2.example.com"));
    await jobs.startWaiter("behind", on("web3.example.com"));
    const host = ["host", "web2.example.com", "--yes"];
    await namespace.expectDone("drain", ...host);
    await waitUntil("it left", async () =>
      (await namespace.listTickets()).every(({ ticket }) => ticket?.label !== "drained"),
    );
    held.finish();
    await jobs.journal.waitForLine("behind", "end");
    expect(jobs.journal.findLine("drained", "start")).toBeUndefined();
    await namespace.expectDone("undrain", ...host);
    await jobs.journal.waitForLine("drained", "end");
  });
});
