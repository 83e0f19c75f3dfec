/** `signalbox switchman` against a real etcd: commands, output and exit codes; and `signalbox import switchman`. */

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { splitFirst, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const LEAST = { prefix: "/myproject/switchman", zkhosts: "zk1:2181,zk2:2181" };
const W1 = "web1.example.com";
const W2 = "web2.example.com";
const FOR_EVER = ["sh", "-c", "echo up; exec sleep 1000"];

/** A line of the log on standard error. */
const matchLogLine = (message: string) =>
  new RegExp(`^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\t\\[\\d+\\]\\t${message}\n$`);

/** A namespace, and a file that says where its etcd is. */
function enter(more: object = {}) {
  const namespace = cluster.createNamespace();
  const conf = cluster.createPath(JSON.stringify({ ...LEAST, etcdhosts: cluster.endpoints, ...more }));
  const start = (words: readonly string[], env: Record<string, string> = {}) =>
    namespace.start(["switchman", "-c", conf, ...words], { env: { SIGNALBOX_ENDPOINTS: "", ...env } });
  return { namespace, conf, start, ended: (...words: string[]) => start(splitFirst(words)).ended };
}

const group = (namespace: TestNamespace, name: string, members: string[]) =>
  namespace.put(namespace.keys.group(name), JSON.stringify(members));
const putResource = (namespace: TestNamespace, name: string) =>
  namespace.put(namespace.keys.resourceConfig(name), '{"v":1,"order":1}');

describe.concurrent("the command", () => {
  test("runs with the lock of its base name, which is free again at its end", async () => {
    const { namespace, start, ended } = enter();
    const run = start(["--", ...FOR_EVER]);
    await run.waitForOutput("up");
    expect((await namespace.readQueue("sh"))[0]?.ticket).toMatchObject({ state: "held", pid: run.pid });
    await run.end();
    expect(await namespace.readQueue("sh")).toEqual([]);
    expect(await ended("-- echo ran")).toPrint("ran\n");
  });

  test.each([
    ["ends with 0", ["true"], 0, "", ""],
    ["ends with 3", ["sh", "-c", "exit 3"], 3, "", matchLogLine("Child \\d+ exited with 3")],
    ["is killed: 0", ["sh", "-c", "kill -KILL $$"], 0, "", ""],
    [
      "was not found: 2",
      ["/no/such"],
      2,
      "",
      matchLogLine('Failed to exec </no/such>: "/no/such" was not found.*'),
    ],
    ["of one word is split at its blanks", [" echo  ran "], 0, "ran\n", ""],
    [
      "of one word is the shell's where it needs one",
      ["echo ran; exit 4"],
      4,
      "ran\n",
      matchLogLine("Child \\d+ exited with 4"),
    ],
    ["cannot be executed: 13", ["/etc/passwd"], 13, "", matchLogLine("Failed to exec </etc/passwd>: .*")],
  ])("%s", async (_, command, code, stdout, stderr) => {
    const end = await enter().ended("--", ...command);
    expect(end).toExit(code, { stderr });
    expect(end.stdout).toBe(stdout);
  });

  test("is sent TERM, and given its time", async () => {
    const { start } = enter({ termination_timeout: 5 });
    const run = start([
      "--",
      "sh",
      "-c",
      "trap 'echo bye; exit 4' TERM; echo up; while :; do sleep 0.1; done",
    ]);
    await run.waitForOutput("up");
    expect(await run.end()).toMatchObject({ code: 4, stdout: "up\nbye\n" });
    const own = run.output.stderr.replace(/^Terminated\n/gm, ""); // the shell may say so of its sleep
    expect(own).toMatch(/^Parent received SIGTERM, terminating child \d+\nSent SIGTERM to \d+\n/);
  });

  test("is terminated when its lock is gone, though it would not end", async () => {
    const { namespace, start } = enter({ termination_timeout: 0 });
    const run = start([
      "--lockname",
      "l",
      "--",
      "sh",
      "-c",
      "trap '' TERM; echo up; while :; do sleep 0.1; done",
    ]);
    await run.waitForOutput("up");
    await namespace.delete((await namespace.readQueue("l"))[0]?.key ?? "");
    expect(await run.ended).toExit(0, { stderr: /\tIt's not secure to proceed, .*\n$/ });
  });
});

describe.concurrent("the lock", () => {
  test("is taken: 0 in silence; it is the lock of signalbox run too", async () => {
    const { namespace, start, ended } = enter();
    const run = start(["--lockname", "job", "--", ...FOR_EVER]);
    await run.waitForOutput("up");
    expect(await ended("--lockname job -- echo ran")).toExitSilently(0);
    expect(await namespace.run("--lock job", "echo ran")).toExitSilently(75);
    const busy = await start(["--lockname", "job", "--", "echo", "ran"], { DEBUG: "1" }).ended;
    expect(busy).toExit(0, { stdout: "" });
    expect(busy.stderr).toMatch(
      /\]\tnothing was run: lock "job" is held by .*\n.*\]\tLock job already exists\n$/,
    );
    expect(await ended("--lockname job --no-lock -- echo ran"), "without it").toPrint("ran\n");
    expect(await ended("-- echo ran"), "another one").toPrint("ran\n");
  });

  test("etcdprefix keeps two projects apart", async ({ namespace }) => {
    const writeConfig = (etcdprefix: string) =>
      cluster.createPath(JSON.stringify({ ...LEAST, etcdhosts: cluster.endpoints, etcdprefix }));
    const [one, other] = [writeConfig(`${namespace.prefix}one/`), writeConfig(`${namespace.prefix}other`)];
    const run = namespace.start(["switchman", "-c", one, "--lockname", "job", "--", ...FOR_EVER]);
    await run.waitForOutput("up");
    const runWith = (file: string) => namespace.execute(`switchman -c ${file} --lockname job -- echo ran`);
    expect(await runWith(one)).toExitSilently(0);
    expect(await runWith(other)).toPrint("ran\n");
  });

  test("a drain: 0 in silence", async () => {
    const { namespace, ended, start } = enter();
    await namespace.put(
      namespace.keys.drain("all", "all"),
      JSON.stringify({ v: 1, by: "ops", at: Date.now() }),
    );
    expect(await ended("-- echo ran")).toExitSilently(0);
    const told = await start(["--", "echo", "ran"], { DEBUG: "1" }).ended;
    expect(told.stderr).toMatch(/\]\tDrained by ops\n$/);
  });
});

describe.concurrent("the group", () => {
  test("holds the host or not, and counts while the command runs", async () => {
    const { namespace, start } = enter();
    await group(namespace, "web", ["inner", W2]);
    await group(namespace, "inner", [W1]);
    const on = (host: string, ...words: string[]) => start(["-g", "web", ...words], { SIGNALBOX_HOST: host });
    expect(await on(W1, "--", "echo", "ran").ended).toPrint("ran\n");
    expect(await on("web3.example.com", "--", "echo", "ran").ended).toExitSilently(0);
    expect(await on(W1, "--no-lock", "--", "echo", "ran").ended, "the group alone").toPrint("ran\n");
    expect(await on("web3.example.com", "--no-lock", "--", "echo", "ran").ended).toExitSilently(0);
    const run = on(W1, "--no-lock", "--", ...FOR_EVER);
    await run.waitForOutput("up");
    await group(namespace, "inner", []);
    expect(await run.ended).toMatchObject({ code: 0, stdout: "up\n" });
    expect(run.output.stderr).toMatch("It's not secure to proceed, the host is no longer in group");
  });

  test("it is unknown: 255", async () => {
    const end = await enter().ended("-g web -- echo ran");
    expect(end).toFail(255, matchLogLine('there is no group "web".*'));
  });
});

describe.concurrent("leases", () => {
  test("of a resource that is not configured: 255", async () => {
    const { namespace, ended } = enter();
    const lease = ["--lease", "db=1:2", "--lockname", "a"];
    expect(await ended(...lease, "--", "echo", "ran")).toFail(
      255,
      matchLogLine('resource "db" is not configured.*'),
    );
    await putResource(namespace, "db");
    expect(await ended(...lease, "--", "echo", "ran")).toPrint("ran\n");
  });

  test("with macros, of a resource that is configured with them; and more than there is", async () => {
    const { namespace, start, ended } = enter();
    await putResource(namespace, "FQDN_mem");
    expect(await ended("--lease FQDN_mem=1:int(MEMMB/2)+CPU -- echo ran")).toPrint("ran\n");
    const literal = start(["--lease", `${W1}_mem=1:int(MEMMB/2)+CPU`, "--", "echo", "ran"], {
      SIGNALBOX_HOST: W1,
    });
    expect(await literal.ended, "as $(hostname -f)_mem in a crontab").toPrint("ran\n");
    expect(await ended("--lease FQDN_mem=3:2 -- x")).toFail(255, /3 units of resource ".*_mem"/);
    expect(await ended("--lease FQDN_mem=2**3:9 -- x")).toFail(255, "2**3");
  });

  test("of 0 units are no lease: the command runs, with or without a lock", async () => {
    const { namespace, ended } = enter();
    await putResource(namespace, "FQDN_cpu");
    await putResource(namespace, "db");
    const zero = ["--lease", "FQDN_cpu=int(CPU/100000):CPU"];
    expect(await ended(...zero, "--", "echo", "ran")).toPrint("ran\n");
    expect(await ended(...zero, "--no-lock", "--", "echo", "ran")).toPrint("ran\n");
    expect(await ended("--lease db=0:2 -- echo ran")).toPrint("ran\n");
    expect(await ended(...zero, "--lease", "db=3:2", "--", "x")).toFail(255, '3 units of resource "db"');
  });

  test("are waited for once a lock: a second run of the same name ends with 0 meanwhile", async () => {
    const { namespace, start, ended } = enter();
    await putResource(namespace, "db");
    const holder = start(["--lease", "db=2:2", "--lockname", "a", "--", ...FOR_EVER]);
    await holder.waitForOutput("up");
    const waiter = start(["--lease", "db=1:2", "--lockname", "b", "--", "echo", "ran"]);
    await namespace.waitForTicket(waiter, "waiting", "db", "resource");
    expect(await ended("--lease db=1:2 --lockname b -- echo no")).toExitSilently(0);
    holder.kill("SIGTERM");
    expect(await waiter.ended).toPrint("ran\n");
  });

  test("without a lock too: one of a name waits, others end with 0", async () => {
    const { namespace, start } = enter();
    await putResource(namespace, "db");
    const lease = ["--no-lock", "--lease", "db=1:1", "--lockname", "b", "--"];
    const holder = start([...lease, ...FOR_EVER]);
    await holder.waitForOutput("up");
    const waiter = start([...lease, "echo", "ran"]);
    await namespace.waitForTicket(waiter, "waiting", "db", "resource");
    const next = await start([...lease, "echo", "no"], { DEBUG: "1" }).ended;
    expect(next).toExit(0, { stdout: "" });
    expect(next.stderr).toMatch(/Task <b> is already queued up for one of <db=1:1>\n$/);
    holder.kill("SIGTERM");
    expect(await waiter.ended).toPrint("ran\n");
  });

  test("that are not granted in time: 255", async () => {
    const { namespace, start, ended } = enter({ resources_wait_timeout: 1 });
    await putResource(namespace, "db");
    const holder = start(["--lease", "db=2:2", "--lockname", "a", "--", ...FOR_EVER]);
    await holder.waitForOutput("up");
    const end = await ended("--lease db=1:2 --lockname b -- echo ran");
    expect(end).toFail(255, matchLogLine("Reached timeout while waiting for resources"));
  });

  test("a signal ends the waiting", async () => {
    const { namespace, start } = enter();
    await putResource(namespace, "db");
    const holder = start(["--lease", "db=2:2", "--lockname", "a", "--", ...FOR_EVER]);
    await holder.waitForOutput("up");
    const waiter = start(["--lease", "db=1:2", "--lockname", "b", "--", "echo", "ran"]);
    await namespace.waitForTicket(waiter, "waiting", "db", "resource");
    expect(await waiter.end()).toExitSilently(143);
  });
});

describe.concurrent("the log", () => {
  test("goes to the file from loglevel on, in one form; warnings to standard error as well", async () => {
    const logfile = cluster.createPath();
    const { ended } = enter({ logfile });
    expect(await ended("--lockname l -- sh -c", "exit 3")).toExit(3);
    const lines = readFileSync(logfile, "utf8").split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\t\[\d+\]\tExecuting <sh -c exit 3>$/),
      expect.stringMatching(/\tChild \d+ exited with 3$/),
      "",
    ]);
    const other = enter({ logfile, loglevel: "critical" });
    expect(await other.ended("-- sh -c", "exit 3")).toExit(3);
    expect(readFileSync(logfile, "utf8").split("\n")).toEqual(lines);
  });

  test("that cannot be opened: 255; one that cannot be written does not keep the command from running", async () => {
    const bad = await enter({ logfile: "/no/such/log" }).ended("-- echo ran");
    expect(bad).toFail(255, /^switchman: Cannot write to the logfile: ENOENT/);
    expect(await enter({ logfile: "/dev/full" }).ended("-- echo ran")).toPrint("ran\n");
    const pipe = cluster.createPath();
    execFileSync("mkfifo", [pipe]);
    expect(await enter({ logfile: pipe }).ended("-- echo ran"), "a pipe that nobody reads").toFail(
      255,
      /^switchman: Cannot write to the logfile: ENXIO/,
    );
  });
});

describe.concurrent("bad lines and files, and no etcd: 255", () => {
  const UNREACHABLE = { etcdhosts: "127.0.0.1:9" };
  test.each([
    ["no command", {}, ["-g", "web"], /^switchman: no command is given\n$/],
    ["an unknown option", {}, ["--gruop", "web", "--", "x"], /^switchman: unknown option "--gruop"/],
    [
      "a slash in the lock's name",
      {},
      ["--lockname", "a/b", "--", "x"],
      /^switchman: a lock's name cannot contain "\/"/,
    ],
    [
      "a bad value",
      { termination_timeout: -1 },
      ["--", "x"],
      /^switchman: bad termination_timeout in .*: -1/,
    ],
    [
      "a bad address",
      { etcdhosts: "etcd1" },
      ["--", "x"],
      'etcdhosts: "etcd1" is not an address with a port',
    ],
    ["a port out of range", { etcdhosts: "etcd1:70000" }, ["--", "x"], 'etcdhosts: "etcd1:70000"'],
    [
      "only zkhosts",
      { etcdhosts: "" },
      ["--", "x"],
      'has only zkhosts, the addresses of ZooKeeper; add "etcdhosts"',
    ],
    [
      "no etcd",
      UNREACHABLE,
      ["--", "x"],
      matchLogLine("lock \\S+: the command was not started: cannot reach etcd: .*"),
    ],
    ["no etcd that is asked for", {}, ["--endpoints", "127.0.0.1:9", "--", "x"], "cannot reach etcd"],
  ])("%s", async (_, more, words, end) => {
    const { start, namespace } = enter(more);
    expect(await start(words, { SIGNALBOX_CONNECT_TIMEOUT: "200ms" }).ended).toFail(255, end);
    expect(await namespace.listKeys()).toEqual([]);
  });

  test("a file that is not there, cannot be read, or holds no JSON", async ({ namespace }) => {
    const end = (file: string) => namespace.execute(`switchman -c ${file} -- x`);
    expect(await end("/no/such")).toFail(255, /^switchman: Failed to open <\/no\/such>: it does not exist/);
    expect(await end("/")).toFail(255, /^switchman: Failed to open <\/>: EISDIR/);
    expect(await end("/dev/zero")).toFail(255, /^switchman: Failed to open <\/dev\/zero>: it is not a file/);
    expect(await end(cluster.createPath("{\n'"))).toFail(255, "is not JSON: line 2, column 1");
    if (existsSync("/etc/switchman.conf")) return;
    const none = await namespace.execute("switchman -- x");
    expect(none).toFail(255, /^switchman: \/etc\/switchman\.conf is absent and --config is missing/);
  });

  test("only zkhosts, where signalbox itself is configured: that will do", async () => {
    const { start } = enter({ etcdhosts: "" });
    const env = { SIGNALBOX_ENDPOINTS: cluster.endpoints.join() };
    expect(await start(["--", "echo", "ran"], env).ended).toPrint("ran\n");
  });

  test("help and the version end with 1", async () => {
    const { start } = enter();
    const help = await start(["-h"]).ended;
    expect(help).toExit(1, { stderr: "", stdout: "--lockname" });
    expect(await start(["-v"]).ended).toExit(1, { stdout: /^switchman 1\.16 / });
  });

  test("a child that gets longer than the time to live gets a longer one", async () => {
    const { start } = enter({ termination_timeout: 60 });
    expect(await start(["--", "echo", "ran"], { SIGNALBOX_TERMINATION_TIMEOUT: "1s" }).ended).toPrint(
      "ran\n",
    );
  });
});

describe.concurrent("import switchman", () => {
  const DOCUMENT = `{"groups":{"web":["${W1}","db1"],"one":"${W2}"},"resources":["FQDN_mem","db"]}`;
  const take = (namespace: TestNamespace, input: string, ...flags: string[]) =>
    namespace.execute(["import", "switchman", "-", ...flags], { input });

  test("takes what ZooKeeper's shell prints, and says what it makes of it", async ({ namespace }) => {
    const printed = `Connecting to zk1\n\nWATCHER::\n${DOCUMENT}\ncZxid = 0x2\n`;
    const end = await take(namespace, printed, "--yes");
    expect(end).toExit(0);
    expect(end.stderr.split("\n").slice(0, 2)).toEqual([
      "signalbox: stdin: ignored, not part of the data: lines 1, 3, 5",
      expect.stringMatching(/^signalbox: stdin: group "web": "db1" is neither a group nor a full host name/),
    ]);
    const listed = await namespace.execute("export --format json");
    expect(JSON.parse(listed.stdout)).toMatchObject({
      groups: { web: [W1, "db1"].sort(), one: [W2] },
      resources: [
        { name: "FQDN_mem", order: 1 },
        { name: "db", order: 2 },
      ],
    });
    const lease = ["--lease", "db=1:2", "-g", "one", "--host", W2];
    expect(await namespace.run(lease, "echo ran")).toPrint("ran\n");
  });

  test("tells faults with their places, and changes nothing", async ({ namespace }) => {
    expect(await take(namespace, `WATCHER::\n{"groups":{"web":[1]}}\n`, "--yes")).toFail(
      78,
      'stdin:2:19: group "web": a member must be a host or a group',
    );
    expect(await take(namespace, "WATCHER::\ncZxid = 0x2\n", "--yes")).toFail(78, "stdin:2:1: ");
    expect(await take(namespace, " \n", "--yes")).toFail(78, "is empty: the znode keeps neither");
    expect(await namespace.execute("import switchman /no/such")).toFail(74, "cannot read");
    expect(await namespace.listKeys()).toEqual([]);
  });

  test("--dry-run only shows", async ({ namespace }) => {
    expect(await take(namespace, DOCUMENT, "--dry-run", "-q")).toExit(0, {
      stderr: "",
      stdout: /\+ group web: .*web1/,
    });
    expect(await namespace.listKeys()).toEqual([]);
  });
});

test("the same crontab line on two hosts: one runs, the other ends with 0", async () => {
  const { namespace, start } = enter();
  const line = ["--lockname", "nightly", "--", "sh", "-c", "echo $SIGNALBOX_HOST; exec sleep 1000"];
  const runs = [W1, W2].map((host) => start(line, { SIGNALBOX_HOST: host }));
  const loser = await Promise.race(runs.map(async (run) => ({ run, end: await run.ended })));
  expect(loser.end).toExitSilently(0);
  const [winner] = runs.filter((run) => run !== loser.run);
  await winner?.waitForOutput(/web\d\.example\.com/);
  const holder = await waitUntil("a holder", async () => (await namespace.readQueue("nightly"))[0]?.ticket);
  expect(winner?.output.stdout).toBe(`${holder.host}\n`);
});
