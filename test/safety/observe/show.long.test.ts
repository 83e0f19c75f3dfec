/** `signalbox show` and `signalbox why`, on real runs. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { createTicket } from "../../../fixtures/protocol/samples.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { realRandom } from "../../../src/core/process/random.ts";
import { generateAuditId } from "../../../src/core/protocol/audit.ts";
import { serializeTicket } from "../../../src/core/protocol/ticket.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const readOutput = async (namespace: TestNamespace, ...args: string[]) =>
  (await namespace.execute(args)).stdout;

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  test("a lock: its holder, whether that is alive, who waits and why", async ({ onTestFinished }) => {
    const namespace = await cluster.createTestNamespace(transport, { onTestFinished });
    const { jobs } = namespace;
    const options = ["--lock", "x", "--ttl", "20s", "--termination-timeout", "500ms"];
    const one = await jobs.startHolder("one", options);
    jobs.start("two", "--lock x --wait");
    const [two] = await jobs.waitForTickets("two", "waiting");
    await jobs.startWaiter("three", "--lock x --wait");
    const shown = await readOutput(namespace, "show", "lock", "x");
    expect(shown).toMatch(
      /^lock x: held\n +holder +\S+ \(bash\), user .*\n +label +one\n +run +\S+\n +token +\d+\n/,
    );
    expect(shown).toMatch(/runner +alive: its session was renewed \d+s ago, \d+s left\n +host +\S+ is alive/);
    expect(shown).toMatch(
      /queue\n +PLACE.*\n +2 +\S+ +waiting .* alive .* two\n +3 +\S+ +waiting .* three\n/,
    );
    expect(await readOutput(namespace, "why", "x")).toMatch(
      /^\S+ \(bash, two\) has waited \S+ for lock x: \S+ has held it for \S+\n/,
    );
    expect(await readOutput(namespace, "why", two?.run ?? "")).toContain("lock x: place 2");
    const { version, explanations } = await namespace.executeJson("why x");
    expect({ version, explanations }).toMatchObject({
      version: 1,
      explanations: [
        {
          label: "two",
          verdict: "waits",
          obstacles: [{ missing: 1, position: 2, ahead: [{ runner: "alive" }] }],
        },
        { label: "three", verdict: "waits", obstacles: [{ missing: 2, position: 3 }] },
      ],
    });
    one.kill("SIGSTOP");
    const quiet = await waitUntil("the holder is quiet", async () => {
      const text = await readOutput(namespace, "why", "x");
      return /^.* has held it for \S+; its session was not renewed for \d+s, and ends in/.test(text) && text;
    });
    expect(quiet).toContain("(bash, two) has waited");
    // It is the runner and not the host: others of it renew.
    expect(await readOutput(namespace, "show", "lock", "x")).toMatch(
      /runner +quiet: .*\n +host +\S+ is alive: 2 of 2 other/,
    );
    expect(await namespace.executeJson("show lock x")).toMatchObject({
      version: 1,
      kind: "lock",
      row: { name: "x", state: "held" },
      host: { verdict: "alive" },
      runners: [{ verdict: "quiet", ttl: 20 }, { verdict: "alive" }, { verdict: "alive" }],
    });
    one.kill("SIGCONT");
  });
});

describe.concurrent("show and why", () => {
  test("a resource whose first waiter is too large for now, and one that waits in two queues", async ({
    namespace,
  }) => {
    const { jobs } = namespace;
    await jobs.startHolder("one", "--no-lock --lease db=2:10");
    await jobs.startWaiter("large", "--no-lock --lease db=9:10");
    jobs.start("both", "--lock y --lease db=1:10");
    await waitUntil("both stands in two queues", async () => {
      const own = (await namespace.listTickets()).filter(({ ticket }) => ticket?.label === "both");
      return own.length === 2 && own[0]?.ticket?.state === "admitted";
    });
    await jobs.startWaiter("behind", "--lock y --wait");
    expect(await readOutput(namespace, "show", "resource", "db")).toMatch(
      /^resource db: held, 2 of 10 units held\n/,
    );
    const why = await readOutput(namespace, "why", "db");
    expect(why).toMatch(/large\) .*: it asks for 9, 8 of 10 are free: 1 missing\n/);
    expect(why).toMatch(
      /both\) .* for 1 of db: it asks for 1, 8 of 10 are free, and 1 before it asks for 9: 2 /,
    );
    expect(why).toContain("lock y: place 1, where its turn has come");
    expect(await readOutput(namespace, "why", "y")).toMatch(
      /behind\) .*: \S+ is first, and waits for 1 of db\n/,
    );
    const { explanations } = await namespace.executeJson("why y");
    expect(explanations.map(({ label, first }: Record<string, unknown>) => [label, first])).toMatchObject([
      ["both", undefined],
      ["behind", { verdict: "waits" }],
    ]);
  });

  test("a history that tells how long it may take", async ({ namespace }) => {
    for (let count = 0; count < 3; count += 1) await namespace.execute("run --lock x -- true");
    await namespace.jobs.startHolder("one", "--lock x");
    await namespace.jobs.startWaiter("two", "--lock x --wait");
    const overdue = await waitUntil("it takes longer than any run before", async () => {
      const text = await readOutput(namespace, "why", "x");
      return text.includes("no estimate") && text;
    });
    expect(overdue).toMatch(/the holder has held it longer than any of the last 3 runs \(at most \S+\)/);
    expect(await namespace.executeJson("why x")).toMatchObject({
      explanations: [{ estimate: { kind: "overdue" } }],
    });
  });

  test("what is drained, by whom and why; what was asked of a run; what operators did", async ({
    namespace,
  }) => {
    await namespace.jobs.startHolder("one", "--lock x");
    namespace.jobs.start("two", "--lock x --wait");
    const [entry] = await namespace.jobs.waitForTickets("two", "waiting");
    const host = entry?.ticket?.host ?? "";
    await namespace.execute(["group", "set", "web", host]);
    await namespace.execute("drain lock x --yes --reason 'new disks' --for 2h");
    expect(await readOutput(namespace, "why", "x")).toMatch(
      /it may not start: lock x was drained by \S+ \S+ ago: new disks; that ends in 1h59m/,
    );
    expect(await readOutput(namespace, "show", "lock", "x")).toMatch(
      /^lock x: held, drained\n[\s\S]*drain +lock x is drained by .*\n[\s\S]*operators\n.*\n.* drain /,
    );
    await namespace.execute("drain group web --yes");
    expect(await readOutput(namespace, "show", "host", host)).toMatch(
      /^host \S+: busy, drained\n[\s\S]*groups +web\n/,
    );
    expect(await readOutput(namespace, "show", "group", "web")).toMatch(/^group web: 1 host, drained\n/);
    expect(await namespace.executeJson(["show", "host", host])).toMatchObject({
      version: 1,
      kind: "host",
      alive: { verdict: "alive" },
      row: { host, holds: 1 },
      runners: expect.arrayContaining([expect.objectContaining({ verdict: "alive" })]),
    });
    expect(await namespace.executeJson("show group web")).toMatchObject({
      version: 1,
      kind: "group",
      row: { group: "web" },
      drains: [{ scope: "group" }],
      hosts: [{ host, verdict: "alive" }],
    });
  });

  test("an unknown lock is unknown, not free; another unknown object is an error that names similar ones", async ({
    namespace,
  }) => {
    expect(await namespace.execute("show lock free")).toMatchObject({
      code: 0,
      stdout: "lock free: unknown\n",
      stderr: 'signalbox: note: no lock "free" is known so far\n',
    });
    expect(await namespace.execute("show resource free")).toExit(0, {
      stdout: /^resource free: unknown$/m,
      stderr: 'note: no resource "free" is known so far',
    });
    await namespace.execute("run --lock invoices --lease db=1:2 -- true");
    for (const known of ["lock invoices", "resource db"])
      expect(await namespace.execute(`show ${known}`)).toExit(0, {
        stdout: new RegExp(`^${known}: free`),
        stderr: "",
      });
    expect(await namespace.execute("show lock invoicse")).toExit(0, { stderr: 'did you mean "invoices"?' });
    await namespace.execute("group set web w1.example.com");
    expect(await namespace.execute("show group wep")).toFail(1, 'did you mean "web"?');
    expect(await namespace.execute("show run nobody")).toExit(1);
    expect(await namespace.execute("show host w2")).toExit(1);
    expect(await readOutput(namespace, "show", "host", "W1.example.com")).toContain("never");
    expect(await namespace.execute("show thing x")).toExit(64);
  });

  test("why of what nobody waits for: held, free, or unknown", async ({ namespace }) => {
    expect(await namespace.execute("why nothing")).toExit(1);
    await namespace.execute("run --lock x -- true");
    expect(await namespace.execute("why x")).toMatchObject({
      code: 0,
      stdout: 'nobody waits for lock "x", and nobody holds it\n',
    });
    await namespace.jobs.startHolder("one", "--lock x");
    expect(await readOutput(namespace, "why", "x")).toMatch(
      /^nobody waits for lock "x"; it is held by \S+:\d+\n$/,
    );
    const [entry] = await namespace.listTickets();
    expect(await readOutput(namespace, "why", `${entry?.ticket?.host}:${entry?.ticket?.pid}`)).toMatch(
      /^\S+ \(bash, one\) has held lock x for \S+: it waits for nothing\n$/,
    );
    await namespace.execute("drain resource db --yes");
    expect(await readOutput(namespace, "why", "db")).toMatch(
      'resource "db", and nobody holds it; it is drained by ',
    );
  });

  test("fits a terminal of 80 columns, also with long names", async ({ namespace }) => {
    const long = { host: `${"w".repeat(40)}.example.com`, command: "c".repeat(60), label: "l ".repeat(60) };
    await namespace.store.grant(31n, 600);
    for (const [run, state] of [
      ["1".repeat(16), "held"],
      ["2".repeat(16), "waiting"],
    ] as const) {
      const value = serializeTicket(createTicket({ run, state, ...long }));
      const put = { op: "put" as const, key: namespace.keys.lock("x", run), value, session: 31n };
      await namespace.write(put);
    }
    const why = "the great move to another data centre, which takes all of the weekend and some of Monday";
    await namespace.execute(["drain", "lock", "x", "--yes", "--reason", why]);
    for (const args of [
      ["show", "lock", "x"],
      ["why", "x"],
      ["show", "run", "2".repeat(16)],
      ["show", "host", long.host],
    ]) {
      const { code, stdout } = await namespace.execute(args, { terminal: { columns: 80, rows: 24 } });
      const lines = stdout.replace(/\x1b\[[0-9;]*m/g, "").split(/\r?\n/);
      expect({ args, code, long: lines.filter((line) => line.length > 80) }).toEqual({
        args,
        code: 0,
        long: [],
      });
      expect(lines.length).toBeGreaterThan(3);
    }
  });

  test("lets nothing in etcd act on the terminal", async ({ namespace }) => {
    const evil = "a\x1b]52;c;eA==\x07\x9b2J\u202e\nb";
    const put = async (key: string, value: object) => {
      const op = { op: "put" as const, key, value: JSON.stringify({ v: 1, ...value }) };
      await namespace.write(op);
    };
    const { keys } = namespace;
    const words = { command: evil, label: evil, user: evil };
    const reset = { by: evil, at: 1, why: evil };
    for (const [run, state, host] of [
      ["1".repeat(16), "held", evil],
      ["2".repeat(16), "waiting", "w1.example.com"],
      ["3".repeat(16), "waiting", evil],
    ] as const) {
      await put(keys.lock("x", run), createTicket({ run, state, host, ...words, reset }));
      await put(keys.resource("db", run), createTicket({ run, state, host, ...words, count: 2, total: 3 }));
    }
    const times = { enqueuedAt: 0, grantedAt: 0, endedAt: 0, waited: 0, held: 1 };
    const past = {
      run: evil,
      host: evil,
      pid: 1,
      command: evil,
      token: evil,
      reason: evil,
      exit: 0,
      ...times,
    };
    await put(keys.history("x"), { runs: [past, past, past] });
    await put(keys.resourceConfig("db"), { total: evil, note: evil });
    await put(keys.host("w1.example.com"), { macros: { RACK: evil }, version: evil, seenAt: Date.now() });
    await put(keys.group("web"), { members: ["w1.example.com", "\u202eevil"] });
    await put(keys.drain("group", "web"), { by: evil, at: 1, why: evil });
    const record = {
      at: 1,
      user: evil,
      host: evil,
      sudoUser: evil,
      action: "reset",
      seen: "1",
      outcome: evil,
    };
    for (const target of ["lock x", "resource db", "host w1.example.com", "group web"])
      await put(keys.audit(generateAuditId(Date.now(), realRandom)), { ...record, target, reason: evil });
    for (const args of [
      ["show", "lock", "x"],
      ["show", "resource", "db"],
      ["show", "run", "2".repeat(16)],
      ["show", "host", "w1.example.com"],
      ["show", "group", "web"],
      ["why", "x"],
      ["why", "db"],
      ["reset", "lock", "x", "--dry-run"],
    ])
      for (const more of [[], ["--json"]]) {
        const { code, stdout, stderr } = await namespace.execute([...args, ...more]);
        const acts = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/.test(stdout + stderr);
        expect({ args, code, acts }).toEqual({ args, code: 0, acts: false });
      }
  });
});
