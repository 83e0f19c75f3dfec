/** `signalbox schedule …` on a real etcd: changes of operators, which never undo changes of other operators. */

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { listAudits, readDefinition, readDue } from "../../../fixtures/cluster/read-keys.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { splitFirst, type TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { type EndCase, expectEnds } from "../../../fixtures/schedule/expect-ends.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { formatDefinition } from "../../../src/schedule/definition.ts";
import { formatDue } from "../../../src/schedule/state/due.ts";
import { formatOutcomes } from "../../../src/schedule/state/outcome.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const ODD = join(import.meta.dirname, "../../cli/commands/schedule/crontab/fixtures/odd.crontab");
const TERMINAL = { columns: 120, rows: 24 };
/** Escape sequences, a bidi control and a line break. */
const HOSTILE = "a\u001b[31mred\u001b]0;title\u0007\u202eb\nc";

/** Runs `signalbox schedule ARGS` to its end. */
const schedule = (namespace: TestNamespace, ...args: string[]) =>
  namespace.execute(["schedule", ...splitFirst(args)]);

async function runRefused(namespace: TestNamespace, ...args: string[]): Promise<[number | null, string]> {
  const { code, stderr } = await schedule(namespace, ...args);
  return [code, stderr];
}

const NIGHTLY = ["30 2 * * *", "--timezone", "Europe/Berlin", "--start", "2027-03-27"];

describe("an operator's day", () => {
  test("adds, looks, changes, pauses, triggers and deletes, and all of it is on record", async () => {
    const namespace = await cluster.createTestNamespace("grpc");
    const added = await namespace.expectDone(
      "schedule add backup",
      ...NIGHTLY,
      "--retries",
      "2",
      "--",
      "dump",
      "a b",
    );
    expect(added).toMatch(
      /^schedule backup added: .*runs dump 'a b'\nnext: 2027-03-27 02:30 CET \(\+01:00\), 2027-03-27 01:30:00 UTC\nthen: /,
    );
    await namespace.expectDone(
      "schedule add report.weekly report @weekly '{\"to\": [1]}' --delay 5m --start 2027-01-01",
    );
    expect(await namespace.expectDone("ls schedules")).toMatch(
      /^SCHEDULE .*\nreport\.weekly .* 2027-01-03 00:05:00Z +@weekly +UTC +report .*\nbackup .* 2027-03-27 01:30:00Z +30 2 \* \* \* +Europe\/Berlin +dump 'a b' .*\n$/,
    );
    expect(await namespace.expectDone("schedule edit backup --retries '' --timeout 1h")).toBe(
      "schedule backup changed: retries 2 -> none, timeout none -> 1h\n",
    );
    expect(await namespace.expectDone("schedule pause backup report.weekly --reason 'disk full'")).toMatch(
      /\(disk full\)\n.*\(disk full\)\n$/,
    );
    expect((await readDefinition(namespace, "backup"))?.pause?.why).toBe("disk full");
    await namespace.expectDone("schedule resume backup");
    await namespace.expectDone("schedule trigger backup");
    expect((await readDue(namespace, "backup"))?.open).toMatchObject([{ kind: "trigger" }]);
    await namespace.expectDone("schedule delete backup report.weekly --yes");
    expect(await namespace.expectDone("ls schedules")).toBe("");
    const records = (await listAudits(namespace, ["target", "outcome"])).map((record) =>
      record.replace(/^schedules? /, ""),
    );
    expect(records.sort()).toEqual(
      [
        "backup | added",
        "report.weekly | added",
        "backup | changed",
        "backup, report.weekly | paused: 2",
        "backup | resumed",
        "backup | triggered",
        "backup, report.weekly | deleted: 2",
      ].sort(),
    );
  });

  test("sees what clock changes do", async ({ namespace }) => {
    await namespace.expectDone("schedule add backup", ...NIGHTLY, "--", "true");
    const next = await namespace.expectDone("schedule next backup --count 3");
    expect(next.match(/2027-03-2\d 0\d:\d\d:00 UTC/g)).toHaveLength(3);
    expect(next).toMatch(/2027-03-28.*gap/);
    const away = namespace.start(
      "schedule next --cron '30 2 * * *' --timezone Europe/Berlin --from 2026-10-25 --json",
      {
        endpoints: ["http://127.0.0.1:9"],
      },
    );
    const { code, stdout } = await away.ended; // etcd is not asked
    expect(code).toBe(0);
    expect(JSON.parse(stdout).rows[0]).toMatchObject({ mark: "overlap" });
  });

  test("is told in words, and of what may be wrong", async ({ namespace }) => {
    const options = ["--group", "web", "--lease", "db=1", "--catchup", "none"];
    const added = await schedule(namespace, "add a x", "0 3 * * *", ...options);
    expect(added.stderr).toMatch(/note: there is no group "web": .*signalbox group set web HOST/);
    expect((await schedule(namespace, "edit a --note x")).stderr, "it is told once").toBe("");
    expect(await namespace.expectDone("schedule explain a")).toMatch(
      /type "x", on hosts of group web, holding db=1\n/,
    );
    expect(await schedule(namespace, "lint a")).toExit(0);
    await namespace.put(namespace.keys.schedule("bad"), '{"cron":"61 * * * *","timezone":"UTC"}');
    const lint = await schedule(namespace, "lint");
    expect(lint).toExit(1, { stdout: /^bad: error: definition: .*minute/m });
    expect(await runRefused(namespace, "edit bad --note x")).toEqual([
      78,
      expect.stringContaining("cannot be read"),
    ]);
    for (const never of [["--cron", "0 0 30 2 *"], ["0 0 30 2 *"]])
      expect(await schedule(namespace, "lint", ...never)).toExit(1, { stdout: "never" });
    expect(await runRefused(namespace, "lint a --timezone UTC")).toEqual([
      64,
      expect.stringContaining("--timezone needs a cron text"),
    ]);
  });

  test("lists dead letters and runs one again", async ({ namespace }) => {
    await namespace.expectDone("schedule add a x @daily");
    const scheduled = Date.UTC(2026, 0, 1);
    const letter = {
      scheduled,
      result: "failed" as const,
      endedAt: scheduled + 5,
      code: 3,
      attempt: 1,
      reason: HOSTILE,
    };
    await namespace.put(namespace.keys.outcomes("a"), formatOutcomes({ runs: [letter], dead: [letter] }));
    const dead = await namespace.expectDone("schedule dead");
    expect(dead).toMatch(/^a +2026-01-01 00:00:00 UTC +failed +3 +1 +.*ared\\u\{202e\}b c$/m);
    await namespace.expectDone("schedule trigger a --dead 2026-01-01T00:00Z");
    expect((await readDue(namespace, "a"))?.open).toMatchObject([{ scheduled, kind: "trigger" }]);
    expect(await namespace.expectDone("schedule dead a")).toBe("no dead letters\n");
    expect(await runRefused(namespace, "trigger a --dead 2026-01-01T00:00Z")).toEqual([
      1,
      expect.stringContaining("no dead letter"),
    ]);
  });
});

describe("a mistake", () => {
  test("is refused with its reason, and writes nothing", async ({ namespace }) => {
    await namespace.expectDone("schedule add a @daily -- true");
    const before = (await namespace.store.readRange(namespace.keys.getFullRange())).kvs;
    const cases: EndCase[] = [
      ["add a @daily -- true", 1, '"a" already'],
      ["add b @daily", 64, "CRON or COMMAND is missing"],
      ["add b @daily x -- true", 64, 'got "@daily" as TYPE, and "x" as CRON'],
      ["add b @daily echo hi", 64, 'KEY CRON -- COMMAND; got "@daily" as TYPE, and "echo" as CRON'],
      ["add b @team/mail '60 * * * *'", 64, "minute"],
      ["add b x '61 * * * *'", 64, "minute"],
      ["add b x '* * * * * *'", 64, /six|6 field/],
      ["add b x @daily {", 64, "not JSON"],
      ["add b x @daily --timezone Europe/Berln", 64, "Europe/Berlin"],
      ["add b x @daily --start soon", 64, '--start: "soon"'],
      ["edit z --note x", 1, 'no schedule "z"'],
      ["edit a", 64, "terminal"],
      ["delete a z --yes", 1, 'no schedule "z"'],
      ["delete a", 64, "--yes"],
      ["trigger z", 1, 'no schedule "z"'],
      ["pause a --until 2020-01-01", 64, "must end in the future"],
      ["next", 64, "KEY or CRON is missing"],
      ["next '0 25 * * *'", 64, "hour"],
      ["add a x @daily --hook-failure https://", 64, /must be a command line, or https:.*; got "https:\/\/"/],
      ["resume a --strict", 1, /^$/],
    ];
    await expectEnds(namespace, cases, "schedule");
    expect((await namespace.store.readRange(namespace.keys.getFullRange())).kvs).toEqual(before);
  });

  test("is not possible where readOnly is set", async ({ namespace }) => {
    const env = { SIGNALBOX_READ_ONLY: "true" };
    const ended = await namespace.execute("schedule add a @daily -- true", { env });
    expect(ended).toExit(77, { stderr: "readOnly" });
    expect((await namespace.store.readRange(namespace.keys.getFullRange())).kvs).toEqual([]);
  });
});

describe("two operators", () => {
  test("at once: of two adds one wins, and edits of different fields both stand", async ({ namespace }) => {
    const adds = await Promise.all(
      ["1", "2"].map((note) => runRefused(namespace, "add a @daily --note", note, "--", "x")),
    );
    expect(adds.map(([code]) => code).sort()).toEqual([0, 1]);
    await Promise.all([
      namespace.expectDone("schedule edit a --timeout 1m"),
      namespace.expectDone("schedule edit a --retries 3"),
    ]);
    expect(await readDefinition(namespace, "a")).toMatchObject({ timeout: 60_000, retries: 3 });
  });

  test("acts on what it saw, or not at all; a worker's writes do not count", async ({ namespace }) => {
    await namespace.expectDone("schedule add a @daily -- x");
    const seen = JSON.parse(await namespace.expectDone("schedule delete a --dry-run --json"));
    expect(seen).toMatchObject({ outcome: "dry-run", changes: [{ id: "a", kind: "deleted" }] });
    await namespace.put(namespace.keys.due("a"), formatDue({ next: 9e12, runAt: 9e12, open: [] }));
    await namespace.expectDone("schedule pause a --expect-revision", seen.revision);
    const [code, why] = await runRefused(namespace, "delete a --expect-revision", seen.revision, "--yes");
    expect([code, why]).toEqual([
      75,
      expect.stringMatching(/something has changed meanwhile:[\s\S]*schedule a has changed/),
    ]);
    expect(await runRefused(namespace, "pause a --expect-revision 999999")).toEqual([
      64,
      expect.stringContaining("must not be in the future"),
    ]);
    expect(await readDefinition(namespace, "a")).toBeDefined();
  });

  test("what changes while it is asked is not deleted", async ({ namespace }) => {
    await namespace.expectDone("schedule add a @daily -- x");
    const asked = namespace.start("schedule delete a", { terminal: TERMINAL });
    await asked.waitForOutput("Delete schedule a? [y/N]");
    await namespace.expectDone("schedule edit a --note mine");
    asked.child.stdin?.write("y\r");
    expect(await asked.ended).toExit(75);
    expect((await readDefinition(namespace, "a"))?.note).toBe("mine");
  });
});

describe("an edit in an editor", () => {
  /** An editor that runs a script on its file. */
  function writeEditor(script: string): { path: string; env: Record<string, string> } {
    const path = createTestFolder();
    const file = join(path, "editor");
    writeFileSync(file, `#!/bin/sh\n${script}\n`);
    chmodSync(file, 0o755);
    return { path, env: { EDITOR: file, VISUAL: "", TMPDIR: path } };
  }

  test("writes what was typed, and keeps it where it is wrong", async ({ namespace }) => {
    await namespace.expectDone("schedule add a @daily -- x");
    const good = writeEditor(`sed -i 's/@daily/@hourly/' "$1"`);
    const ended = await namespace.execute("schedule edit a --yes", { env: good.env });
    expect(ended).toExit(0, { stdout: 'cron "@daily" -> "@hourly"' });
    expect(readdirSync(good.path)).toEqual(["editor"]);
    const bad = writeEditor(`sed -i 's/@hourly/@sometimes/' "$1"`);
    const wrong = await namespace.execute("schedule edit a --yes", { env: bad.env });
    expect(wrong).toExit(78, { stderr: /@sometimes[\s\S]*is kept in/ });
    expect(readdirSync(bad.path)).toHaveLength(2);
    expect((await readDefinition(namespace, "a"))?.cron).toBe("@hourly");
  });

  test("overwrites nothing that another has written meanwhile, and keeps the text", async ({ namespace }) => {
    await namespace.expectDone("schedule add a @daily -- x");
    const { path, env } = writeEditor(
      `sed -i 's/@daily/@hourly/' "$1"; touch "$TMPDIR/open"; while [ -e "$TMPDIR/open" ]; do sleep 0.02; done`,
    );
    const edit = namespace.start("schedule edit a --yes", { env });
    const open = join(path, "open");
    await waitUntil("the editor has typed", () => existsSync(open));
    await namespace.expectDone("schedule edit a --note mine");
    rmSync(open);
    expect(await edit.ended).toExit(75, {
      stderr: /something has changed meanwhile:\n.*schedule a has changed.*\n.*is kept in/,
    });
    expect(await readDefinition(namespace, "a")).toMatchObject({ cron: "@daily", note: "mine" });
  });
});

describe("a crontab", () => {
  const IMPORT = ["crontab", ODD, "--timezone", "UTC"];

  test("is imported once, shown by diff, changed where it changed, and pruned", async () => {
    const namespace = await cluster.createTestNamespace("grpc");
    await namespace.expectDone("schedule add mine @daily -- x");
    expect(await schedule(namespace, "diff", ...IMPORT)).toExit(1, { stdout: /\n9 added\n$/ });
    await namespace.expectDone("schedule import", ...IMPORT, "--yes");
    expect(await namespace.expectDone("schedule import", ...IMPORT, "--yes")).toBe(
      "the schedules are up to date: nothing to change\n",
    );
    expect(await namespace.expectDone("schedule diff", ...IMPORT)).toBe(
      "the schedules are up to date: nothing to change\n",
    );
    const text = readFileSync(ODD, "utf8")
      .replace("30 2 * * *", "40 2 * * *")
      .replace(/^.*leap\n/m, "");
    const file = join(createTestFolder(), "odd.crontab");
    writeFileSync(file, text);
    const again = ["crontab", file, "--timezone", "UTC"];
    const changed = await schedule(namespace, "diff", ...again, "--prune");
    expect(changed.stdout).toMatch(
      /db-dump-\w{7} would be changed: cron "30 2 \* \* \*" -> "40 2 \* \* \*"; next/,
    );
    expect(changed.stdout).toMatch(/leap-\w{7} would be deleted[\s\S]*\n1 changed, 1 deleted\n$/);
    await namespace.expectDone("schedule import", ...again, "--prune", "--yes");
    expect((await namespace.store.readRange(namespace.keys.schedules())).kvs).toHaveLength(9);
    expect(await readDefinition(namespace, "mine")).toBeDefined();
    expect(await listAudits(namespace, ["target", "outcome"])).toContain(
      "crontab odd.crontab | 1 changed, 1 deleted",
    );
  });

  test("with bad lines is refused as a whole, every one told by its number", async ({ namespace }) => {
    const input = "0 1 * * * fine\n@sometimes daemon\n99 * * * * x\n";
    const ended = await namespace.execute("schedule import crontab - --yes", { input });
    expect(ended).toExit(78, {
      stderr: /standard input:2: .*@sometimes[\s\S]*standard input:3: .*99[\s\S]*nothing was changed/,
    });
    expect((await namespace.store.readRange(namespace.keys.getFullRange())).kvs).toEqual([]);
  });

  test("leaves lines with locks in the crontab; lines of @reboot, and those that maintain their host, run on every host", async ({
    namespace,
  }) => {
    const input =
      "17 * * * * root cd / && run-parts /etc/cron.hourly\n@reboot root daemon\n* * * * * root flock -n /x job\n0 1 * * * root report";
    const words = ["schedule", "import", "crontab", "-", "--yes"];
    const ended = await namespace.execute(words, { input });
    expect(ended).toExit(0, {
      stderr:
        /input:1: .*\(run-parts\)[\s\S]*input:2: @reboot[\s\S]*input:3: .*with flock[\s\S]*input:4: .*newline/,
    });
    const { kvs } = await namespace.store.readRange(namespace.keys.schedules());
    expect(kvs.map(({ value }) => JSON.parse(value).on).sort()).toEqual([
      "every-host",
      "every-host",
      undefined,
    ]);
  });

  test("of another file never touches what is there", async ({ namespace }) => {
    const take = (source: string) =>
      namespace.execute(["schedule", "import", "crontab", "-", "--source", source, "--prune", "--yes"], {
        input: "0 1 * * * a\n",
      });
    expect(await take("one")).toExit(0);
    expect(await take("two")).toExit(78, { stderr: /imported from "crontab:one".*--prefix-id/ });
  });

  test("refuses a group without a name, as an unset variable gives", async ({ namespace }) => {
    const words = ["schedule", "import", "crontab", "-", "--host-group", "", "--yes"];
    const ended = await namespace.execute(words, { input: "0 1 * * * a\n" });
    expect(ended).toExit(64, { stderr: 'group name "" cannot be used: it is empty' });
    expect((await namespace.store.readRange(namespace.keys.schedules())).kvs).toEqual([]);
  });

  test("exported as JSON is the same elsewhere", async () => {
    const [namespace, other] = [
      await cluster.createTestNamespace(),
      await cluster.createTestNamespace("grpc"),
    ];
    await namespace.expectDone("schedule import", ...IMPORT, "--yes");
    await namespace.expectDone("schedule add mine report @daily '{\"a\":[1]}' --hook-late \"x 'y z'\"");
    const file = join(createTestFolder(), "schedules.json");
    await namespace.expectDone(`export --only calendars --only schedules --format json ${file}`);
    await other.expectDone(`apply ${file} --yes`);
    expect(await other.expectDone("export --only calendars --only schedules --format json")).toBe(
      readFileSync(file, "utf8"),
    );
    expect(await other.expectDone(`diff ${file} --prune`)).toBe(
      "the site is up to date: nothing to change\n",
    );
    writeFileSync(
      file,
      '{"schedules": {"a": {"cron": "x"}, "b": {"cron": "@daily", "timezone": "UTC", "retries": -1}}}',
    );
    const { code, stderr } = await other.execute(["apply", file, "--yes"]);
    expect([code, stderr]).toEqual([
      78,
      expect.stringMatching(/"a": [\s\S]*"b": retries -1|"a": [\s\S]*"b": retries/),
    ]);
  });
});

test("other people's words reach no terminal as they are", async ({ namespace }) => {
  const nasty = {
    cron: "@daily",
    timezone: "UTC",
    type: HOSTILE,
    note: HOSTILE,
    data: HOSTILE,
    source: HOSTILE,
  };
  await namespace.put(namespace.keys.schedule(`x${""}`), formatDefinition(nasty));
  await namespace.put(namespace.keys.due(`x${""}`), formatDue({ next: 9e11, runAt: 9e11, open: [] }));
  await namespace.put(namespace.keys.schedule("y"), HOSTILE);
  const runs = { ...nasty, command: ["sh", "-c", HOSTILE], env: { A: HOSTILE } };
  await namespace.put(namespace.keys.schedule("z"), formatDefinition(runs));
  const commands = [
    ["list"],
    ["show", "xé"],
    ["explain", "xé"],
    ["next", "xé"],
    ["lint"],
    ["explain", "z"],
    ["show", "z"],
    ["export"],
    ["export", "--format", "crontab"],
  ];
  const ended = await Promise.all(
    [
      ...commands,
      ["edit", "xé", "--type", "b", "--note", "", "--dry-run"],
      ["delete", "xé", "--dry-run"],
      ["list", "--json"],
    ].map((args) => schedule(namespace, ...args)),
  );
  const harm = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
  for (const { stdout, stderr } of ended) expect(stdout + stderr).not.toMatch(harm);
});
