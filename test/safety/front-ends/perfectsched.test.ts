/** `perfectsched` on a real etcd: commands, options, exit codes, messages, and the import of its table. */

import { execFile } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect } from "vitest";
import { readSchedule } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder with a configuration whose environments stand under one prefix; only the file says where etcd is. */
function createSampleNamespace(more = "") {
  const namespace = cluster.createNamespace();
  const folder = mkdtempSync(join(tmpdir(), "signalbox-perfectsched-"));
  folders.push(folder);
  mkdirSync(join(folder, "config"));
  const config = join(folder, "config/perfectsched.yml");
  const etcdAt = JSON.stringify(cluster.endpoints);
  writeFileSync(
    config,
    `
defaults: &defaults { type: rdb_compat, url: "mysql://ann:secret@db/jobs", table: jobs }
development:
  <<: *defaults
  endpoints: ${etcdAt}
  prefix: ${namespace.prefix}
${more}
production: { <<: *defaults, endpoints: ${etcdAt}, prefix: "${namespace.prefix}", timezone: Asia/Tokyo }
database: *defaults
`,
    { mode: 0o600 },
  );
  const start = (args: readonly string[], env: Record<string, string> = {}) =>
    namespace.start(["perfectsched", ...args], {
      cwd: folder,
      endpoints: [],
      env: { SIGNALBOX_PREFIX: "", ...env },
    });
  const run = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout, stderr } = await start(args, env).ended;
    return [code, stdout, stderr] as const;
  };
  return { namespace, folder, config, start, run };
}

const HEAD =
  "                           key            type               cron   delay    timezone                    next_time                next_run_time  data\n";
/** 2033-05-18 03:33:20 UTC. */
const FAR = 2_000_000_000;
const HOUR = 3600;

describe.concurrent("perfectsched", () => {
  test("list, add, delete: as documented, in its columns, with its exit codes", async () => {
    const { run } = createSampleNamespace();
    expect(await run(["list"])).toEqual([0, `${HEAD}0 entries.\n`, ""]);
    expect(await run(["add", "s1", "user_task", "0 * * * *", "{}", "-s", String(FAR)])).toEqual([0, "", ""]);
    expect(
      await run([
        "-d",
        "30",
        "add",
        "s0",
        "user_task",
        "0 * * * *",
        '{"a":"b"}',
        "--start",
        String(FAR - HOUR),
      ]),
    ).toEqual([0, "", ""]);
    expect(await run(["add", "s1", "user_task", "0 * * * *", "{}"])).toEqual([
      1,
      "",
      "perfectsched: schedule key=s1 already exists (AlreadyExistsError)\n",
    ]);
    expect(await run(["list"])).toEqual([
      0,
      `${HEAD}                            s0       user_task          0 * * * *      30         UTC      2033-05-18 03:00:00 UTC      2033-05-18 03:00:30 UTC  {"a":"b"}\n` +
        "                            s1       user_task          0 * * * *       0         UTC      2033-05-18 04:00:00 UTC      2033-05-18 04:00:00 UTC  {}\n2 entries.\n",
      "",
    ]);
    expect(await run(["delete", "s1"])).toEqual([0, "", ""]);
    expect(await run(["delete", "s1"])).toEqual([
      1,
      "",
      "perfectsched: schedule key=s1 does not exist (NotFoundError)\n",
    ]);
    expect((await run(["list"]))[1]).toMatch(/\n1 entries\.\n$/);
  });

  test("what add writes, option by option", async () => {
    const { namespace, run } = createSampleNamespace();
    const next = Math.ceil(FAR / HOUR) * HOUR;
    const cases: [string, string[], object, object][] = [
      ["plain", [], { timezone: "UTC" }, { next, runAt: next }],
      ["delay", ["-d", "90"], { timezone: "UTC", delay: 90_000 }, { next, runAt: next + 90 }],
      [
        "zone",
        ["-t", "Asia/Kolkata"],
        { timezone: "Asia/Kolkata" },
        { next: next + HOUR / 2, runAt: next + HOUR / 2 },
      ],
      ["at", ["-a", "1795000000"], { timezone: "UTC" }, { next, runAt: 1_795_000_000 }],
    ];
    await Promise.all(
      cases.map(async ([id, options, definition, due]) => {
        const line = ["add", id, "type", "0 * * * *", '{"x":[1]}', "-s", String(FAR), ...options];
        expect(await run(line)).toEqual([0, "", ""]);
        const inMs = Object.fromEntries(Object.entries(due).map(([key, at]) => [key, at * 1000]));
        expect(await readSchedule(namespace, id)).toEqual({
          definition: { catchup: "all", cron: "0 * * * *", type: "type", data: { x: [1] }, ...definition },
          due: { ...inMs, open: [] },
        });
      }),
    );
    expect(await run(["add", "a.b", "@daily", "{}"])).toEqual([0, "", ""]);
    expect((await readSchedule(namespace, "a.b")).definition).toEqual({
      catchup: "all",
      cron: "@daily",
      timezone: "UTC",
      data: {},
    });
  });

  test("environments: -e, RAILS_ENV, development; a link of its name", async () => {
    const { namespace, folder, run } = createSampleNamespace();
    const [code, , stderr] = await run(["add", "tokyo", "t", "0 0 * * *", "{}"], { RAILS_ENV: "production" });
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(
        /^perfectsched: note: the time zone is Asia\/Tokyo, from the configuration; .*\n$/,
      ),
    ]);
    expect((await readSchedule(namespace, "tokyo")).definition?.timezone).toBe("Asia/Tokyo");
    const link = join(folder, "perfectsched");
    symlinkSync(BUNDLE, link);
    const linked = await new Promise<string>((resolve, reject) =>
      execFile(
        process.execPath,
        [link, "list", "-e", "production"],
        { cwd: folder, env: namespace.env },
        (error, stdout) => (error ? reject(error) : resolve(stdout)),
      ),
    );
    expect(linked).toMatch(/ tokyo .*\n1 entries\.\n$/);
  });

  test("misuse: the usage on standard output, and 1", async () => {
    const { run } = createSampleNamespace();
    const usage = /^Usage: perfectsched \[options\] <command>\n[\s\S]*-r, --require PATH/;
    expect(await run([])).toEqual([1, expect.stringMatching(usage), ""]);
    expect(await run(["lst"])).toEqual([
      1,
      expect.stringMatching(/\n\nerror: unknown command: 'lst'\n$/),
      "",
    ]);
    expect(await run(["list", "-e"])).toEqual([
      1,
      expect.stringMatching(/\n\nerror: missing argument: -e\n$/),
      "",
    ]);
    expect(await run(["-h"])).toEqual([0, expect.stringMatching(usage), ""]);
    const [code, stdout] = await run(["\u001b[31m"]);
    expect([code, stdout.includes("\u001b")]).toEqual([1, false]);
  });

  test("bad values: 1, and what is wrong with them", async () => {
    const { namespace, folder, run } = createSampleNamespace();
    const add = (...more: string[]) => run(["add", "bad", "t", "* * * * *", "{}", ...more]);
    const away = join(folder, "away.yml");
    writeFileSync(away, 'development: { endpoints: "http://127.0.0.1:1" }');
    const soon = { SIGNALBOX_CONNECT_TIMEOUT: "300ms" };
    const cases: [Promise<readonly [number | null, string, string]>, RegExp][] = [
      [run(["add", "bad", "t", "61 * * * *", "{}"]), /^perfectsched: .*"61"/],
      [run(["add", "bad", "t", "0 0 30 2 *", "{}"]), /never fires/],
      [run(["add", "", "t", "* * * * *", "{}"]), /it is empty/],
      [add("-d", "-5"), /^perfectsched: -d: the delay -5 is negative\n$/],
      [add("-t", "Mars/Base"), /Mars\/Base/],
      [add("-s", "99999999999999"), /^perfectsched: -s: 99999999999999 is not a time/],
      [add("-a", "-1"), /^perfectsched: -a: -1 is not a time/],
      [run(["-e", "nix", "list"]), /no configuration for the environment "nix"/],
      [run(["-c", "none.yml", "list"]), /^perfectsched: none\.yml does not exist; /],
      [
        run(["-e", "database", "list"]),
        /^(?!.*secret).*database\.url: it names a database, .*; add endpoints/,
      ],
      [run(["-c", away, "list"], soon), /^perfectsched: cannot reach etcd/],
      [
        run(["run", "-rboot.rb", "Dispatch"]),
        /^perfectsched: "Dispatch" is not a file of handlers, .*\n {2}handlers:\n[\s\S]*standard input/,
      ],
      [
        run(["run", "none.yml"]),
        /^perfectsched: none\.yml does not exist here; name other folders with -I\n$/,
      ],
    ];
    for (const [ended, message] of cases)
      expect(await ended).toEqual([1, "", expect.stringMatching(message)]);
    expect((await run(["-c", away, "init"], soon))[0]).toBe(1);
    expect((await namespace.listKeys()).length, "nothing was written").toBe(0);
  });

  test("init checks that etcd can be used", async () => {
    const { run } = createSampleNamespace();
    expect(await run(["init"])).toEqual([0, expect.stringContaining("permissions"), ""]);
  });

  test("a database in the file, etcd in our own configuration: a note", async () => {
    const { run } = createSampleNamespace();
    const ours = { SIGNALBOX_ENDPOINTS: cluster.endpoints.join(",") };
    const [code, stdout, stderr] = await run(["-e", "database", "list"], ours);
    expect([code, stdout.startsWith(HEAD)]).toEqual([0, true]);
    expect(stderr).toMatch(
      /note: config\/perfectsched\.yml: database: its url names a database, which is not used: .*\(environment SIGNALBOX_ENDPOINTS\)\n$/,
    );
  });

  test("run: handlers do the work of a class, for what was added and what was moved here; TERM, USR2", async () => {
    const { namespace, folder, run, start } = createSampleNamespace(`
  log: worker.log
  retry_wait: 0
  handlers: [{ type: user_task, command: [sh, -c, 'cat >> tasks; echo >> tries; test "$(wc -l < tries)" -ge 2 || exit 75'] }]`);
    const hourAgo = new Date(Math.floor(Date.now() / HOUR / 1000 - 1) * HOUR * 1000);
    // Its next occurrence after this one is a year away.
    const cron = `0 ${hourAgo.getUTCHours()} ${hourAgo.getUTCDate()} ${hourAgo.getUTCMonth() + 1} *`;
    const due = hourAgo.getTime() / 1000;
    // A shell schedule of the site, which another worker runs: this one takes only what it routes.
    const foreign = `touch ${join(folder, "foreign")}`;
    await namespace.expectDone("schedule at +1s --id foreign --", "sh", "-c", foreign);
    const add = ["add", "s1", "user_task", cron, '{"x":1}', "-s", String(due - 60), "-a", String(due + 1)];
    expect((await run(add))[0]).toBe(0);
    const row = { id: "s2", timeout: due, next_time: due, cron, delay: 0, data: '{"type":"user_task"}' };
    const moved = await namespace.execute("import perfectsched - --yes", {
      input: JSON.stringify(row),
    });
    expect(moved).toExit(0);
    const worker = start(["run", "-I.", "-rboot.rb", "ScheduleDispatch"]);
    const log = join(folder, "worker.log");
    const read = () => (existsSync(log) ? readFileSync(log, "utf8") : "");
    await waitUntil("both are done", () => read().split("result=ok").length === 3);
    const { foreign: left } = JSON.parse(
      await namespace.expectDone("export --only schedules --format json"),
    ).schedules;
    expect([left !== undefined, existsSync(join(folder, "foreign"))]).toEqual([true, false]);
    expect(await namespace.execute("ls problems")).toExit(0, { stdout: /no worker runs commands: foreign/ });
    const text = readFileSync(join(folder, "tasks"), "utf8").trim();
    const tasks = text.split("\n").map((task) => JSON.parse(task));
    const common = { type: "user_task", scheduled: due * 1000 };
    const [first, second] = [
      { ...common, id: "s2", data: {} },
      { ...common, id: "s1", data: { x: 1 } },
    ];
    expect(tasks.map(({ id }) => id).sort()).toEqual(["s1", "s2", "s2"]);
    expect(tasks).toEqual(
      expect.arrayContaining([first, second].map((task) => expect.objectContaining(task))),
    );
    expect(read(), "its exit code was 75").toMatch(/schedule=s2.* result=retry/);
    renameSync(log, `${log}.1`);
    worker.kill("SIGUSR2");
    await waitUntil("the log is opened anew", () => existsSync(log));
    worker.kill("SIGTERM");
    const note =
      /^perfectsched: note: ScheduleDispatch is treated as a class of Ruby \(as are boot\.rb\), .*\n$/;
    expect(await worker.ended).toExit(0, { stderr: note });
    expect(readFileSync(`${log}.1`, "utf8")).not.toMatch("has no effect here");
  });
});

describe.concurrent("import perfectsched", () => {
  const buildCsv = (...rows: string[]) =>
    `id,timeout,next_time,cron,delay,data,timezone\n${rows.join("\n")}\n`;
  const A = `a,${FAR + 30},${FAR},0 * * * *,30,"{""type"":""mail"",""to"":""ops""}",Asia/Tokyo`;
  const B = `b,${FAR},${FAR},@daily,0,{},\\N`;
  const importText = (namespace: TestNamespace, text: string | Buffer, ...flags: string[]) =>
    namespace.execute(["import", "perfectsched", "-", ...flags], { input: text });

  test("shows, asks, writes in one transaction, and is idempotent", async ({ namespace }) => {
    expect(await importText(namespace, buildCsv(A, B), "--dry-run")).toExit(0, {
      stderr: "",
      stdout:
        /^schedule a would be added: "0 \* \* \* \*" Asia\/Tokyo, type mail; next 2033-05-18 03:33:20 UTC, run at 2033-05-18 03:33:50 UTC\n/,
    });
    expect(await importText(namespace, buildCsv(A, B))).toExit(64, { stderr: "cannot ask for confirmation" });
    expect(await namespace.listKeys()).toEqual([]);
    expect(await importText(namespace, buildCsv(A, B), "--yes")).toExit(0);
    expect(await readSchedule(namespace, "a")).toEqual({
      definition: {
        catchup: "all",
        cron: "0 * * * *",
        timezone: "Asia/Tokyo",
        type: "mail",
        delay: 30_000,
        data: { to: "ops" },
        source: "perfectsched",
      },
      due: { next: FAR * 1000, runAt: (FAR + 30) * 1000, open: [] },
    });
    const keys = (await namespace.store.readRange(namespace.keys.schedules())).kvs.concat(
      (await namespace.store.readRange(namespace.keys.dues())).kvs,
    );
    expect(new Set(keys.map(({ modRevision }) => modRevision)).size, "revisions").toBe(1);
    expect(await importText(namespace, buildCsv(A, B), "--yes")).toMatchObject({
      code: 0,
      stdout: "the schedules are up to date: nothing to change\n",
    });
  });

  test("moves no schedule back, and on where the table went further", async ({ namespace }) => {
    expect(await importText(namespace, buildCsv(A), "--yes")).toExit(0);
    const later = { next: (FAR + HOUR) * 1000, runAt: (FAR + HOUR) * 1000, open: [] };
    await namespace.put(namespace.keys.due("a"), formatDue(later)); // as a worker does that has run it
    expect(await importText(namespace, buildCsv(A), "--yes")).toMatchObject({
      stdout: "the schedules are up to date: nothing to change\n",
    });
    expect((await readSchedule(namespace, "a")).due).toEqual(later);
    const further = `a,${FAR + 2 * HOUR + 30},${FAR + 2 * HOUR},0 * * * *,30,"{""type"":""mail"",""to"":""ops""}",Asia/Tokyo`;
    expect(await importText(namespace, buildCsv(further), "--yes")).toExit(0);
    expect((await readSchedule(namespace, "a")).due).toEqual({
      next: (FAR + 2 * HOUR) * 1000,
      runAt: (FAR + 2 * HOUR + 30) * 1000,
      open: [],
    });
  });

  test("--prune deletes what is gone from it, and nothing of others", async ({ namespace }) => {
    await namespace.expectDone("schedule add own t @daily");
    expect(await importText(namespace, buildCsv(A, B), "--yes")).toExit(0);
    expect(await importText(namespace, buildCsv(A), "--yes", "--prune", "--json")).toExit(0, {
      stdout: /"outcome":"done",.*"changes":\[\{"id":"b","kind":"deleted"\}\]/,
    });
    expect((await readSchedule(namespace, "own")).definition).toBeDefined();
    expect(await importText(namespace, buildCsv("own,1,1,@daily,0,{},UTC"), "--yes")).toExit(78, {
      stderr: '"own" exists already, and was not imported',
    });
  });

  test("a bad row: every fault with its line, 78, nothing written", async ({ namespace }) => {
    const bad = await importText(
      namespace,
      buildCsv(A, "c,1,x,@daily,0,{},UTC", 'd,1,1,"\u001b[31m61 * * * *",0,{},UTC'),
      "--yes",
    );
    expect(bad).toExit(78, { stdout: "" });
    expect(bad.stderr).toMatch(
      /^signalbox: standard input:3: next_time "x" .*\nsignalbox: standard input:4: .*\nsignalbox: nothing was changed\n$/,
    );
    expect(bad.stderr).not.toContain("\u001b");
    const latin1 = Buffer.from(buildCsv(A, `caf\u00e9,${FAR},${FAR},@daily,0,{},UTC`), "latin1");
    expect(await importText(namespace, latin1, "--yes")).toFail(74, "standard input: line 3 is not UTF-8");
    expect(await namespace.listKeys()).toEqual([]);
    expect(await namespace.execute("import perfectsched /no/such/file")).toExit(74);
  });
});
