/** Ends of runs: exit codes and messages. */

import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const FOR_EVER = ["sh", "-c", "echo up; exec sleep 1000"];

/** A run that holds the lock `job` until it is told to end. */
async function startHolder(namespace: TestNamespace, options: string[] = []) {
  const run = await namespace.startHolder(["--lock", "job", ...options]);
  return { run, end: () => run.kill("SIGTERM") };
}

describe.concurrent.each(TRANSPORTS)("over %s", (transport) => {
  const enter = () => cluster.createNamespace({ transport });

  test("busy: 75 at once and in silence, or what -E says", async () => {
    const namespace = enter();
    const { run, end } = await startHolder(namespace);
    expect(await namespace.run("--lock job", "echo ran")).toExitSilently(75);
    expect(await namespace.run("--lock job -E 0", "echo ran")).toExitSilently(0);
    expect(await namespace.run("--lock job --wait=300ms", "echo ran")).toExitSilently(75);
    expect((await namespace.readQueue("job")).length, "those who gave up left the queue").toBe(1);
    end();
    expect(await run.ended).toExit(143, { stderr: "" });
  });

  test("-v says in plain words why nothing was run, and what a run waits for", async () => {
    const namespace = enter();
    const { end } = await startHolder(namespace);
    const why = 'lock "job" is held by "[^"]+" pid \\d+ \\(run \\w+\\)';
    const { code, stderr } = await namespace.run("-v --lock job", "true");
    const lines = stderr.split("\n").filter((line) => !line.includes("etcd has not answered yet")); // on a slow machine
    expect({ code, lines }).toEqual({
      code: 75,
      lines: [expect.stringMatching(new RegExp(`^signalbox: nothing was run: ${why}$`)), ""],
    });
    end();
    await namespace.execute("drain lock job --yes");
    const waiter = namespace.startRun("-v --lock job --wait", "echo ran");
    await waiter.waitForOutput(/waiting why=".*drained by/);
    await namespace.execute("undrain lock job --yes");
    expect(await waiter.ended).toExit(0);
  });

  test("a run waits in silence, and runs when the lock is free", async () => {
    const namespace = enter();
    const { run, end } = await startHolder(namespace);
    const next = namespace.startRun("--lock job --wait", "echo ran");
    await namespace.waitForTicket(next, "waiting", "job");
    end();
    await run.ended;
    expect(await next.ended).toPrint("ran\n");
  });

  test("leases that are not granted in time: 75, in silence", async () => {
    const namespace = enter();
    const all = await namespace.startHolder("--no-lock --lease db=2:2");
    const late = ["--no-lock", "--lease", "db=1:2", "--lease-timeout", "300ms"];
    expect(await namespace.run(late, "echo ran")).toExitSilently(75);
    expect((await namespace.readQueue("db", "resource")).length).toBe(1);
    await all.end();
  });

  test("--grace: busy on after the runner is gone, a waiter starts when it has passed", async () => {
    const namespace = enter();
    const since = Date.now();
    const run = namespace.startRun("--lock job --grace 8s", "date +%s%3N");
    // Long enough for a slow machine to see it before it has passed.
    const ticket = await waitUntil("a ticket in grace", async () => {
      const found = (await namespace.readQueue("job"))[0]?.ticket;
      return found?.state === "grace" && found;
    });
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stderr, pid: ticket.pid }).toEqual({ code: 0, stderr: "", pid: run.pid });
    const until = ticket.until ?? 0;
    expect(until - since, "ms from before the grant").toBeGreaterThanOrEqual(8_000);
    expect(
      until - Number(stdout),
      "ms from the command's start: it counts from the grant",
    ).toBeLessThanOrEqual(8_000);
    const busy = await namespace.run("--lock job", "echo ran");
    if (Date.now() < until) expect(busy).toExitSilently(75);
    const waiter = await namespace.run("--lock job --wait", "date +%s%3N");
    expect(waiter).toExit(0, { stderr: "" });
    expect(Number(waiter.stdout), "when the waiter's command ran").toBeGreaterThanOrEqual(until);
  });

  test("the host is not in the group: 75 in silence; taken out of it while running: 125", async () => {
    const namespace = enter();
    const group = namespace.keys.group("web");
    const options = ["--lock", "job", "-g", "web", "--host", "web1.example.com"];
    expect(await namespace.run(options, "echo ran")).toFail(78, 'there is no group "web"');
    await namespace.put(group, JSON.stringify(["web2.example.com"]));
    expect(await namespace.run(options, "echo ran"), "others in it").toExitSilently(75);
    await namespace.execute("group set web web1.example.com web2.example.com");
    const run = await namespace.startHolder(options);
    await namespace.execute("group set web web2.example.com --yes");
    expect(await run.ended).toMatchObject({ code: 125, stdout: "up\n" });
    expect(run.output.stderr).toMatch(/the claim was lost.*the host is no longer in group .*web/);
    expect(await namespace.readQueue("job"), "the lock is free").toEqual([]);
  });

  test.each([
    ["--timeout", "its timeout has passed"],
    ["--max-hold", "it has held its claim too long"],
  ])("%s: the command is terminated, 124", async (flag, why) => {
    const namespace = enter();
    const run = namespace.startRun(["--lock", "job", flag, "3s"], FOR_EVER);
    expect(await run.ended).toMatchObject({ code: 124, stdout: "up\n" });
    expect(run.output.stderr).toContain(why);
    expect(await namespace.readQueue("job"), "the lock is free").toEqual([]);
  });
});

describe.concurrent("a timeout as timeout(1) has it", () => {
  const DEAF = ["sh", "-c", "trap '' INT TERM; echo up; while :; do sleep 0.1; done"];
  const POLITE = ["sh", "-c", "trap 'exit 7' INT; echo up; while :; do sleep 0.1; done"];
  test.each([
    ["a signal of its own is sent", ["--signal", "int"], POLITE, 124],
    ["the code of the command counts", ["--signal", "SIGINT", "--preserve-status"], POLITE, 7],
    ["the signal that ended the command counts", ["--preserve-status"], FOR_EVER, 143],
    ["KILL follows", ["--signal", "2", "--termination-timeout", "0.3s", "--preserve-status"], DEAF, 137],
    ["KILL at once", ["--signal", "KILL", "--preserve-status"], FOR_EVER, 137],
    ["KILL follows TERM", ["--termination-timeout", "0.3s", "--preserve-status"], DEAF, 137],
  ])("%s", async (_, options, command, code) => {
    const run = cluster.createNamespace().startRun(["--lock", "job", "--timeout", "3s", ...options], command);
    expect(await run.ended).toMatchObject({ code, stdout: "up\n" });
  });

  test.each([
    [
      ["--signal", "INTT", "--timeout", "1s"],
      '--signal must be a signal such as INT, HUP or KILL; got "INTT"',
    ],
    [["--signal", "INT"], "--signal has an effect only with --timeout or --max-hold"],
    [["--preserve-status"], "--preserve-status has an effect only with --timeout or --max-hold"],
  ])("%j is refused", async (options, message) => {
    const run = cluster.createNamespace().startRun(["--lock", "job", ...options]);
    expect(await run.ended).toExit(64, { stderr: message });
  });
});

/** A drain, put by hand; and the name under which a run on `web1.example.com` meets it. */
const DRAINS = [
  ["lock", "job"],
  ["resource", "db"],
  ["host", "web1.example.com"],
  ["group", "web"],
  ["all", "all"],
] as const;

describe.concurrent("drained", () => {
  const OPTIONS = ["--lock", "job", "--lease", "db=1:2", "--host", "web1.example.com"];
  const buildValue = (more: object = {}) => JSON.stringify({ v: 1, by: "ops", at: Date.now(), ...more });

  test.each(DRAINS)(
    "%s: 75 in silence; with --wait it starts once the drain is lifted",
    async (scope, name) => {
      const namespace = cluster.createNamespace();
      await namespace.put(namespace.keys.group("web"), JSON.stringify(["web1.example.com"]));
      await namespace.put(namespace.keys.drain(scope, name), buildValue());
      expect(await namespace.run(OPTIONS, "echo ran")).toExitSilently(75);
      expect(await namespace.run([...OPTIONS, "--wait=300ms"], "echo ran")).toExitSilently(75);
      const waiter = namespace.startRun([...OPTIONS, "--wait", "-v"], "echo ran");
      await waiter.waitForOutput("drained");
      expect(waiter.output.stdout).toBe("");
      await namespace.delete(namespace.keys.drain(scope, name));
      expect(await waiter.ended).toMatchObject({ code: 0, stdout: "ran\n" });
    },
  );

  test.each(DRAINS)(
    "%s: a drain whose time has passed does not count, one of others neither",
    async (scope, name) => {
      const namespace = cluster.createNamespace();
      await namespace.put(namespace.keys.group("web"), JSON.stringify(["web1.example.com"]));
      await namespace.put(namespace.keys.drain(scope, name), buildValue({ until: Date.now() - 1 }));
      if (scope !== "all") await namespace.put(namespace.keys.drain(scope, "other"), buildValue());
      expect(await namespace.run(OPTIONS, "echo ran")).toPrint("ran\n");
    },
  );

  test("a drain that says when it ends lets a waiter start then", async ({ namespace }) => {
    await namespace.put(namespace.keys.drain("all", "all"), buildValue({ until: Date.now() + 1_000 }));
    expect(await namespace.run([...OPTIONS, "--wait"], "echo ran")).toPrint("ran\n");
  });
});

describe.concurrent("commands that do not run, or end by themselves", () => {
  const UNREACHABLE = ["--endpoints", "http://127.0.0.1:9", "--connect-timeout", "300ms"];
  const cases: [
    what: string,
    options: string[],
    command: string[],
    code: number,
    stderr: string | RegExp | "",
  ][] = [
    ["its own code", [], ["sh", "-c", "exit 7"], 7, ""],
    ["the largest code", [], ["sh", "-c", "exit 255"], 255, ""],
    ["killed by a signal", [], ["sh", "-c", "kill -KILL $$"], 137, ""],
    ["ended by SIGTERM of its own", [], ["sh", "-c", "kill -TERM $$"], 143, ""],
    ["missing", [], ["/no/such/file"], 127, /^signalbox: "\/no\/such\/file" was not found/],
    [
      "options after --",
      [],
      ["--lock", "x"],
      127,
      /was not found.*; options of signalbox are written before --$/m,
    ],
    ["one word with blanks", [], ["sleep 1"], 127, /was not found.*; it is one word: leave out the quotes/],
    ["a variable", [], ["LANG=C", "date"], 127, /was not found.*; no shell sets .*: env LANG=C COMMAND/],
    ["a command of the shell", [], ["cd", "/"], 127, /was not found.*; it is a command of the shell/],
    ["a directory", [], ["/tmp"], 126, /"\/tmp" cannot be executed: it is a directory$/m],
    ["not on the PATH", [], ["no-such-command"], 127, "was not found"],
    ["a folder", ["--lock", "x"], ["/"], 126, "cannot be executed"],
    ["not executable", [], ["/etc/passwd"], 126, '"/etc/passwd" cannot be executed'],
    ["usage", ["--lock", ""], ["true"], 64, 'lock name "" cannot be used'],
    ["configuration", ["-c", "/no/such/file"], ["true"], 78, "/no/such/file does not exist"],
    [
      "etcd is out of reach",
      UNREACHABLE,
      ["true"],
      69,
      /^signalbox: lock "true": the command was not started: cannot reach etcd: /,
    ],
    [
      "etcd is out of reach, leases only",
      ["--no-lock", "--lease", "db=1:2", ...UNREACHABLE],
      ["true"],
      69,
      /^signalbox: command "true": the command was not started: cannot reach etcd: /,
    ],
    ["quiet", ["-q", ...UNREACHABLE], ["true"], 69, ""],
    [
      "more than there is",
      ["--lease", "db=3:2"],
      ["true"],
      64,
      '3 units of resource "db", but its total is 2',
    ],
    ["no total", ["--lease", "db=3"], ["true"], 78, 'resource "db" has no total'],
  ];
  test("a script whose lines end with CR LF", async ({ namespace }) => {
    const script = cluster.createPath("#!/bin/sh\r\ntrue\r\n", 0o755);
    expect(await namespace.run([], [script])).toFail(127, "lines must end with LF, not CR LF");
  });

  test.each(TRANSPORTS)(
    "etcd is out of reach over %s: that takes no longer than --connect-timeout",
    async (transport) => {
      const namespace = cluster.createNamespace({ transport });
      const runWithoutEtcd = (timeout: string) =>
        namespace.startRun(["--endpoints", "http://127.0.0.1:9", "--connect-timeout", timeout]);
      const patient = runWithoutEtcd("10m");
      // On a slow machine a second may pass before the first refusal is there to be named.
      expect(await runWithoutEtcd("1s").ended).toFail(69, "127.0.0.1:9: ");
      expect(await runWithoutEtcd("8s").ended).toFail(
        69,
        /127\.0\.0\.1:9: connection refused: nothing listens there\n$/,
      );
      const unknown = ["--endpoints", "http://etcd.invalid:2379", "--connect-timeout", "8s"];
      expect(await namespace.startRun(unknown, ["true"]).ended).toFail(69, /etcd\.invalid:2379: .*name/);
      expect(patient.child.exitCode, "one that may take longer still tries").toBeNull();
    },
  );

  test.each(cases)("%s", async (_, options, command, code, stderr) => {
    const namespace = cluster.createNamespace();
    expect(await namespace.run(options, command)).toFail(code, stderr);
    const left = (await namespace.listKeys()).filter(
      ({ key }) => !key.startsWith(`${namespace.prefix}history/`),
    );
    expect(left, "the lock is free at once").toEqual([]);
  });
});

describe.concurrent("what a run says", () => {
  test("lines in JSON carry the lock, the run and the host", async () => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_HOST: "web7.example.com" } });
    const run = namespace.startRun("-v --log-format json --lock x", "sh -c 'echo $SIGNALBOX_RUN'");
    const { stdout, stderr } = await run.ended;
    const lines = stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ message }) => message)).toEqual(["started", "finished"]);
    for (const line of lines)
      expect(line).toMatchObject({ host: "web7.example.com", lock: "x", run: stdout.trim() });
  });

  test("a misspelled variable is told, once, and the command runs", async () => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_TLL: "5s", SIGNALBOX_OF_MY_OWN: "1" } });
    const ended = await namespace.run();
    expect(ended).toExit(0);
    expect(ended.stderr).toBe(
      'signalbox: warn: unknown variable "SIGNALBOX_TLL"; did you mean SIGNALBOX_TTL?\n',
    );
  });
});
