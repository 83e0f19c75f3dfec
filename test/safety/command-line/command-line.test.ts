/** The command line: typing errors, and output for people and for programs. */

import { describe, expect } from "vitest";
import { IS_WITH_AGENT } from "../../../fixtures/cluster/test-agents.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { Words } from "../../../fixtures/cluster/test-jobs.ts";
import { ALL_COMMANDS } from "../../../src/bin/commands.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

describe.concurrent("help", () => {
  test.each([" --help", " help", "", ...ALL_COMMANDS.map(({ id }) => ` ${id} --help`)])(
    "signalbox%s: fits 100 columns, exit 0",
    async (words) => {
      const { code, stdout, stderr } = await cluster.createNamespace().execute(words.split(" ").slice(1));
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toMatch(/^signalbox.*\n\nUsage: signalbox/);
      expect(stdout.split("\n").filter((line) => line.length > 100 || / $/.test(line))).toEqual([]);
      expect(stdout).toMatch(/[^\n]\n$/);
    },
  );

  test("help all has every command, help connection its options, and --version prints one line", async () => {
    const { stdout } = await cluster.createNamespace().execute("help all");
    const connection = await cluster.createNamespace().execute("help connection");
    expect(connection).toExit(0, { stdout: /^ {2}--endpoints /m, stderr: "" });
    for (const { id, brief } of ALL_COMMANDS)
      expect(stdout).toMatch(new RegExp(`^  ${id} +${brief.replaceAll(" ", "\\s+")}$`, "m"));
    expect((await cluster.createNamespace().execute("--version")).stdout).toMatch(
      /^signalbox \d+\.\d+\.\d+\n$/,
    );
  });
});

describe.concurrent("an etcd that does not answer", () => {
  const NOTHING_THERE = { SIGNALBOX_ENDPOINTS: "http://127.0.0.1:1", SIGNALBOX_CONNECT_TIMEOUT: "4s" };
  const TOLD = "signalbox: etcd has not answered yet, trying again: http://127.0.0.1:1: connection refused";

  // A run that an agent serves is on a connection that may have answered before: only its end tells.
  test.each(["ls", ...(IS_WITH_AGENT ? [] : ["run --lock a -- true"])])(
    "is told at a terminal: %s",
    async (line) => {
      const namespace = cluster.createNamespace();
      const command = namespace.start(line, { env: NOTHING_THERE, terminal: { columns: 100, rows: 24 } });
      const { code, stdout } = await command.ended;
      expect({ code, told: stdout.split(TOLD).length - 1 }).toEqual({ code: 69, told: 1 });
      const quiet = await namespace.execute(line, { env: NOTHING_THERE });
      expect(quiet).toExit(69, { stderr: /^signalbox: [^\n]*cannot reach etcd[^\n]*\n$/ });
    },
  );

  test.skipIf(IS_WITH_AGENT)("is told in the log of a run otherwise", async () => {
    const run = cluster.createNamespace().start("run -v --lock a -- true", { env: NOTHING_THERE });
    expect(await run.ended).toExit(69, { stderr: TOLD });
  });
});

describe.concurrent("mistakes: exit 64, one line that says what to do", () => {
  test.each<[line: Words, message: string | RegExp]>([
    ["rum", '"rum" is not a command; did you mean "run"?'],
    ["frobnicate", '"frobnicate" is not a command; see: signalbox --help'],
    ["group", '"group" needs a second word; there are: group set, group add, '],
    ["group sett", '"group sett" is not a command; did you mean "group set"?'],
    ["group ls", '"group ls" is not a command; use: signalbox ls groups'],
    ["schedule remove a", "use: signalbox schedule delete KEY"],
    ["schedule enable a", "use: signalbox schedule resume KEY"],
    ["schedule disable a", "use: signalbox schedule pause KEY"],
    ["run --lock a -e FOO=1 -- true", /unknown option "-e"; see: signalbox run --help$/m],
    ["-x", /unknown option "-x"; write options after the command/],
    ["prune --hosts 1", '--hosts: "1" has no unit; write 1s, 1m, 1h or 1d'],
    ["group x", '"group x" is not a command; there are: group set, group add, '],
    ["queues", '"queues" is not a command; use: signalbox ls queues'],
    ["host", '"host" is not a command; use: signalbox ls hosts'],
    ["help grup", '"grup" is not a command; did you mean "group"?'],
    ["run --lokc a -- true", 'unknown option "--lokc"; did you mean --lock?'],
    ["run --frobnicate -- true", /unknown option "--frobnicate".*see: signalbox run --help/],
    ["run sleep 1", 'unexpected argument "sleep"; put -- before the command: -- sleep 1'],
    ["run", "COMMAND is missing: put it after --"],
    ["run --", "COMMAND is missing: put it after --"],
    [["run", "--", ""], "COMMAND is empty"],
    ["run --lock", "--lock needs a value"],
    ["run --label a --label b -- true", "--label was given twice"],
    ["run --lock a --no-lock -- true", "--lock and --no-lock exclude each other"],
    ["run --no-lock -- true", "--no-lock needs --lease"],
    ["run --lock a --mask x -- true", "--mask has an effect only with --capture; add --capture"],
    ["run --json -- true", "--json has an effect only with --dry-run; add --dry-run"],
    ["run --wait 5m -- true", 'unexpected argument "5m"'],
    ["run --wait=5 -- true", '--wait: "5" has no unit; write 5s'],
    ["run --ttl soon -- true", '--ttl: "soon" is not a duration'],
    ["run --busy-exit-code 256 -- true", '--busy-exit-code: "256" is not a whole number'],
    ["run --lease db -- true", "--lease"],
    ["run --lease db=0:3 -- true", "--lease"],
    ["run --transport smoke -- true", '--transport: "smoke" is not one of auto, http, grpc'],
    ["ls -- x", /WHAT must be one of overview, locks.*got "x"/],
    ["ls lock", /WHAT must be one of .*; got "lock"; did you mean "locks"\?/],
    ["drain -- lock -x y", 'unexpected argument "y"'],
    ["group set", "GROUP is missing"],
    ["resource set db many", 'total "many"'],
    ["resource set db", "TOTAL is missing: write signalbox resource set db 10"],
    [
      "run ./c.sh --lock x",
      "if --lock is for signalbox, write --lock x -- ./c.sh; if it is for the command, write -- ./c.sh --lock x",
    ],
    ["run \u2014lock x -- true", "begins with another character than the hyphen; write --lock"],
    ["flock -n x true", "use: signalbox run --lock NAME -- COMMAND"],
    ["resource set db=10", "write signalbox resource set db 10"],
    ["run x -- true", 'unexpected argument "x"; put -- before the command, or write --lock x if it is'],
    ["resource set db 1 --order x", '--order must be a whole number; got "x"'],
    ["lock x", '"lock" is not a command; use: signalbox run --lock NAME -- COMMAND'],
    ["unlock x", '"unlock" is not a command; use: signalbox reset lock NAME'],
    ["rnu", '"rnu" is not a command; did you mean "run"?'],
    ["incident --from 2h", /"incident" is not a command; use: signalbox timeline, ls history or ls audit$/m],
    [
      "since 8h",
      /"since" is not a command; use: signalbox ls history --since TIME, ls audit --since TIME or timeline$/m,
    ],
    ["waits", /"waits" is not a command; use: signalbox ls queues or why NAME$/m],
    ["--versoin", 'unknown option "--versoin"; did you mean --version?'],
    ["--frobnicate ls", 'unknown option "--frobnicate"; write options after the command'],
    [
      ["--lock", "a b", "--", "true"],
      /"--lock" is an option of run; did you mean: signalbox run --lock 'a b' -- true$/m,
    ],
    ["--context prod", 'COMMAND is missing after the option "--context"'],
    ["--context prod ls lock", 'did you mean "locks"'],
    ["schedule add a * * * * * -- true", 'unexpected argument "*"; put CRON into quotes'],
    [
      "drain web1",
      /SCOPE must be one of .*; got "web1"; it comes before NAME, as in: signalbox drain host web1$/m,
    ],
    ["reset invoices", /got "invoices"; it comes before NAME, as in: signalbox reset lock invoices$/m],
    ["constructor", '"constructor" is not a command; see: signalbox --help'],
    [
      "schedule add a @daily --retries 999999999999 -- true",
      '--retries must be a whole number from 0 to 999999999; got "999999999999"',
    ],
    ["schedule add a @daily --start 1900-01-01 -- true", '--start: "1900-01-01" is before 1970-01-01T00:00Z'],
  ])("signalbox %j", async (line, message) => {
    const end = await cluster.createNamespace().execute(line);
    expect(end).toFail(64, message);
    expect(end.stderr).toMatch(/^signalbox: [^\n]+\n$/);
  });
});

describe.concurrent("options before the command", () => {
  test("are those of the command", async ({ namespace }) => {
    const file = cluster.createPath(JSON.stringify({ contexts: { prod: { prefix: "/elsewhere/" } } }));
    expect(
      (
        await namespace.executeJson(`-c ${file} --context=prod config`, {
          env: { SIGNALBOX_PREFIX: "" },
        })
      ).settings,
    ).toContainEqual(expect.objectContaining({ key: "prefix", value: "/elsewhere/" }));
    expect(await namespace.execute("--prefix /x/ run --lock a -- echo -v")).toPrint("-v\n");
  });
});

test.skipIf(IS_WITH_AGENT)("--agent always without the launcher: 69, and what to start", async () => {
  const run = cluster.createNamespace().startRun("--agent always");
  expect(await run.ended).toFail(69, "; start the program signalbox (in a clone: dist/signalbox)");
});

describe.concurrent("outputs", () => {
  test("a closed standard output is an error: 74", async ({ namespace }) => {
    const closed = { launcher: {}, before: ["sh", "-c", 'exec "$@" >&-', "sh"] };
    for (const line of [["ls", "--json"], ["--version"], ["run", "--help"]])
      expect(await namespace.execute(line, closed)).toFail(74, "standard output cannot be written: EBADF");
  });

  test("a dumb terminal gets no full screen", async () => {
    const namespace = cluster.createNamespace({ env: { TERM: "dumb" } });
    const terminal = { columns: 80, rows: 24 };
    const watch = namespace.start("ls --watch", { terminal });
    await watch.waitForOutput('"event":"ready"');
    watch.child.stdin?.write("\x03");
    const app = namespace.start("console", { terminal });
    await app.waitForOutput("Overview, 0 held, 0 waiting, problems: row 0 of 0");
    app.child.stdin?.write("\x03");
    for (const { stdout } of [await watch.ended, await app.ended]) expect(stdout).not.toContain("\x1b");
  });
});

describe.concurrent("settings", () => {
  test("--wait=DURATION has a value; --wait before -- has none, and waits for ever", async ({
    namespace,
  }) => {
    const holder = await namespace.startHolder("--lock job");
    expect(await namespace.run("--wait=200ms --lock job")).toExitSilently(75);
    const waiter = namespace.startRun("--lock job --wait", "echo ran");
    await namespace.waitForTicket(waiter, "waiting", "job");
    holder.kill("SIGTERM");
    expect(await waiter.ended).toPrint("ran\n");
  });

  test("config prints each value with its source, as text and as JSON", async () => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_GROUP: "web", SIGNALBOX_TTLL: "1" } });
    const file = cluster.createPath(
      JSON.stringify({
        label: "nightly",
        user: "me",
        passwordFile: cluster.createPath("s3cret"),
        allowPlaintextPassword: true,
      }),
    );
    const config = ["config", "--json", "-c", file, "--ttl", "20s"];
    const { code, stdout, stderr } = await namespace.execute(config);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: "signalbox: note: unknown setting SIGNALBOX_TTLL; did you mean SIGNALBOX_TTL?\n",
    });
    const { settings } = JSON.parse(stdout) as { settings: { key: string; value: string; source: string }[] };
    const found = Object.fromEntries(settings.map(({ key, value, source }) => [key, [value, source]]));
    expect(found).toMatchObject({
      ttl: ["20s", "flag --ttl"],
      group: ["web", "environment SIGNALBOX_GROUP"],
      label: ["nightly", `${file}: label`],
      transport: ["http", "environment SIGNALBOX_TRANSPORT"],
      password: ["***", expect.stringMatching(/^file /)],
      grace: ["-", "default"],
    });
    const text = await namespace.execute(`config -c ${file}`);
    expect(text.stdout).toMatch(/^SETTING +VALUE +SOURCE\n/);
    expect(text.stdout + stdout).not.toContain("s3cret");
  });

  test.each<[text: string, message: string | RegExp]>([
    ['{"ttl": 30}', "ttl: 30 is not a duration in quotes"],
    ['{"tll": "30s"}', /unknown setting "tll" .*"30s".*; did you mean "ttl"\?/],
    ['{"ttl": "30s",', "is not JSON: line 1, column 15"],
    ["[]", "must contain a JSON object"],
    ['{"ttl": "5s", "terminationTimeout": "5s"}', /terminationTimeout 5s .*does not fit into ttl 5s/],
  ])("a file with %s: 78, naming file, key and value", async (text, message) => {
    const file = cluster.createPath(text);
    const namespace = cluster.createNamespace({
      env: { SIGNALBOX_TTL: "", SIGNALBOX_TERMINATION_TIMEOUT: "" },
    });
    const end = await namespace.run(`-c ${file}`);
    expect(end).toFail(78, message);
    expect(end.stderr).toContain(file);
  });
});

describe.concurrent("--dry-run", () => {
  test("prints the claim and what stands in its way; 0 if it would run or wait, else 75; writes nothing", async ({
    namespace,
  }) => {
    const options = ["--lock", "job", "--lease", "db=1+1:5", "--host", "web1.example.com", "--dry-run"];
    const free = await namespace.run(options);
    expect(free).toPrint(
      [
        "host     web1.example.com",
        "lock     job",
        "lease    db: 2 of 5, 5 neither held nor waited for",
        "now      would be granted at once",
        "",
      ].join("\n"),
    );
    expect(await namespace.listKeys(), "what it wrote").toEqual([]);
    const holder = await namespace.startHolder("--lock job --lease db=4:5");
    const busy = await namespace.run(options);
    expect(busy).toExit(75, { stderr: "" });
    expect(busy.stdout).toMatch(/now +would give up\nbecause +lock "job" is held by .* pid \d+/);
    expect(busy.stdout).toMatch(/because +resource "db": 2 asked for, 1 of 5 neither held nor waited for/);
    expect(await namespace.run([...options, "-E", "3"])).toExit(3);
    expect(await namespace.run([...options, "--wait"])).toExit(0, { stdout: /now +would wait/ });
    const json = await namespace.run([...options, "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({
      version: 1,
      lock: "job",
      verdict: "refused",
      host: "web1.example.com",
      leases: [{ resource: "db", count: 2, total: 5, free: 1 }],
    });
    await holder.end();
  });

  test("of a run outside of its group, under a drain, and with a claim that can never be granted", async ({
    namespace,
  }) => {
    await namespace.execute("group set web web2");
    const outside = await namespace.run("-g web --host web1 --dry-run");
    expect(outside).toExit(75, { stdout: 'host "web1" is not in group "web"' });
    await namespace.put(
      namespace.keys.drain("all", "all"),
      JSON.stringify({ v: 1, by: "ops", at: 1, why: "upgrade" }),
    );
    const drained = await namespace.run("--dry-run");
    expect(drained).toExit(75, { stdout: 'everything is drained by "ops": "upgrade"' });
    await namespace.execute("resource set db 2");
    const never = await namespace.run("--lease db=3 --dry-run");
    expect(never).toFail(78, '3 units of resource "db" are requested, but there are only 2');
  });
});
