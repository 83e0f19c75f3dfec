/** One file for a site: `signalbox diff`, `apply` and `export`, and the old words for them, on a real etcd. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect } from "vitest";
import { matchText } from "../../../fixtures/cluster/request-patterns.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { buildLogin, SECURED } from "../../../fixtures/etcd/index.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const TERMINAL = { columns: 100, rows: 24 };
const JOB = { cron: "0 3 * * *", timezone: "UTC", command: ["true"] };

const SITE = `version: 1
groups:
  web:
    - web1.example.com
    - web2.example.com
resources:
  - name: db
    total: 10
    note: two for reports
calendars:
  holidays:
    days:
      - 12-25
    note: bank
schedules:
  backup:
    cron: "*/5 * * * *"
    timezone: Europe/Berlin
    jitter: 30s
    except:
      - holidays
    command:
      - backup
      - --all
    group: web
    leases:
      - db=2
    timeout: 1h30m
    hooks:
      failure: mailto:ops@example.com
      dead:
        - page
        - --now
    tags:
      - nightly
    pause:
      by: ann
      at: 2026-11-26T17:00:00.000Z
      why: migration
  report:
    cron: "@manual"
    timezone: UTC
    command:
      - report
    after:
      - backup
`;

const createFile = (document: object | string) =>
  cluster.createPath(typeof document === "string" ? document : JSON.stringify({ version: 1, ...document }));

describe("a site", () => {
  test.concurrent("is the same after a round trip into an empty cluster, as YAML and as JSON", async () => {
    const [first, second, third] = [1, 2, 3].map(() => cluster.createNamespace());
    if (first === undefined || second === undefined || third === undefined) throw new Error("no namespace");
    const file = createFile(SITE);
    expect(await first.execute(`diff ${file}`)).toExit(1, { stdout: "2 schedules added" });
    const dry = await first.execute(`apply ${file} --dry-run`);
    expect(dry).toExit(0, {
      stdout: /\+ group web: web1[\s\S]*schedule backup would be added: [\s\S]*do it with --expect-revision/,
    });
    expect(await first.listKeys()).toEqual([]);
    expect(await first.execute(`apply ${file}`)).toExit(64, { stderr: "add --yes" });
    const done = "done: 1 group and 1 resource set, 1 calendar set, 2 schedules added\n";
    expect(await first.expectDone(`apply ${file} --yes`)).toBe(done);
    expect(await first.expectDone("export")).toBe(SITE);
    expect(await first.execute(`diff ${file} --prune`)).toExit(0, { stdout: "is up to date" });
    await second.expectDone("apply", createFile(await first.expectDone("export --format json")), "--yes");
    expect(await second.expectDone("export")).toBe(SITE);
    await third.expectDone(
      "apply",
      createFile(await second.expectDone("export --only calendars --only schedules --format json")),
      "--yes",
    );
    expect(await third.expectDone("export --only schedules --only calendars")).toBe(
      SITE.replace(/groups:[\s\S]*(?=calendars:)/, ""),
    );
    const keys = await first.listKeys();
    expect(keys.filter(({ key }) => key.includes("/audit/"))).toHaveLength(1);
    expect(new Set(keys.map(({ modRevision }) => modRevision)).size, "one transaction").toBe(1);
  });

  test.concurrent("of a file says what it changes; a pause and what the file does not have stay", async () => {
    const namespace = cluster.createNamespace();
    await namespace.expectDone("apply", createFile(SITE), "--yes");
    await namespace.expectDone("schedule pause report --reason 'by hand'");
    await namespace.expectDone("group set other x");
    const file = createFile(
      SITE.replace("12-25", "12-26").replace('"@manual"', '"@daily"').replace("total: 10", "total: 3"),
    );
    const diff = await namespace.execute(`diff ${file} --json`);
    expect(diff).toExit(1);
    expect(JSON.parse(diff.stdout)).toMatchObject({
      outcome: "dry-run",
      action: "apply",
      target: "site",
      changes: [
        { kind: "resource", name: "db", before: { total: "10" }, after: { total: "3" } },
        { kind: "calendar", name: "holidays", before: { days: ["12-25"] }, after: { days: ["12-26"] } },
      ],
      schedules: [
        {
          id: "report",
          kind: "changed",
          fields: [{ field: "cron", before: '"@manual"', after: '"@daily"' }],
        },
      ],
      hits: [],
    });
    await namespace.expectDone(`apply ${file} --yes --reason 'new law'`);
    const text = await namespace.expectDone("export");
    expect(text).toContain("why: by hand");
    expect(text).toContain("  other:\n    - x\n");
    expect((await namespace.executeJson("ls audit")).rows[0]).toMatchObject({
      action: "apply",
      target: "site",
      reason: "new law",
      outcome: "1 resource set, 1 calendar set, 1 schedule changed",
    });
    await namespace.expectDone(`apply ${file} --prune --yes`);
    expect(await namespace.expectDone("export")).not.toContain("other:");
  });

  test.concurrent("has owners: a file changes and deletes only what its owner has", async () => {
    const namespace = cluster.createNamespace();
    const build = (...names: string[]) =>
      createFile({
        groups: Object.fromEntries(names.map((name) => [name, ["h"]])),
        schedules: Object.fromEntries(names.map((name) => [name, JOB])),
      });
    await namespace.expectDone("schedule add hand @daily -- true");
    await namespace.expectDone("apply", build("a", "b"), "--owner", "one", "--prune", "--yes");
    await namespace.expectDone("apply", build("c"), "--owner=two", "--prune", "--yes");
    await namespace.expectDone("diff", build("a"), "--owner", "one");
    const diff = await namespace.execute(["diff", build("a"), "--owner", "one", "--prune"]);
    expect(diff).toExit(1, {
      stdout: /^- group b \(h\)\nschedule b would be deleted: [^\n]*\n1 group deleted, 1 schedule deleted\n$/,
    });
    await namespace.expectDone("apply", build("a"), "--owner", "one", "--prune", "--yes");
    expect(
      Object.keys(
        JSON.parse(await namespace.expectDone("export --only calendars --only schedules --format json"))
          .schedules,
      ),
    ).toEqual(["a", "c", "hand"]);
    const refused = await namespace.execute(["apply", build("c", "hand"), "--owner", "one", "--yes"]);
    expect(refused).toExit(78, {
      stderr:
        /group "c" exists already, imported from "site:two"; .*schedule "hand" exists already, and was not.*--adopt/,
    });
    expect(await namespace.execute(["diff", build("c"), "--adopt"])).toExit(64, {
      stderr: "--adopt needs --owner",
    });
    await namespace.expectDone("apply", build("a", "hand"), "--owner", "one", "--adopt", "--yes");
    expect(await namespace.expectDone("export")).toMatch(
      /hand:\n {4}members:\n {6}- h\n {4}source: site:one/,
    );
    await namespace.expectDone("group add hand h2");
    expect(await namespace.expectDone("export"), "who changes a group by hand leaves its owner").toMatch(
      /hand:\n {4}members:\n {6}- h\n {6}- h2\n {4}source: site:one/,
    );
  });

  test.concurrent("without an owner, a prune leaves what others own, and says what that is", async () => {
    const namespace = cluster.createNamespace();
    const build = (...names: string[]) =>
      createFile({
        groups: Object.fromEntries(names.map((name) => [name, ["h"]])),
        schedules: Object.fromEntries(names.map((name) => [name, JOB])),
      });
    const readIds = async () =>
      Object.keys(JSON.parse(await namespace.expectDone("export --only schedules --format json")).schedules);
    await namespace.expectDone("apply", build("a1", "a2"), "--owner", "a", "--yes");
    await namespace.expectDone("schedule add hand @daily -- true");
    const note = "not deleted, because it has an owner: 2 groups of site:a, 2 schedules of site:a";
    const pruned = await namespace.execute(["apply", build("b"), "--prune", "--yes"]);
    expect(pruned).toExit(0, { stderr: note });
    expect(pruned.stderr).toContain("to delete it too: --prune=all");
    expect(await readIds()).toEqual(["a1", "a2", "b"]);
    expect(await namespace.execute(["diff", build("b"), "--prune"])).toExit(0, { stderr: note });
    for (const words of [["--prune=everything"], ["--prune=all", "--owner", "b"]])
      expect(await namespace.execute(["apply", build("b"), ...words, "--yes"])).toExit(64, {
        stderr:
          words.length === 1 ? 'one of own, all; got "everything"' : '--owner "b" excludes it; write --prune',
      });
    const owners = "deletes what has other owners: 2 groups of site:a, 2 schedules of site:a";
    const preview = await namespace.execute(["apply", build("b"), "--prune=all", "--dry-run"]);
    expect(preview).toExit(0, { stdout: `${owners}\n2 groups deleted, 2 schedules deleted\n` });
    expect(await readIds()).toEqual(["a1", "a2", "b"]);
    await namespace.expectDone("apply", build("b"), "--prune=all", "--yes");
    expect(await readIds()).toEqual(["b"]);
    const [audit] = (await namespace.executeJson("ls audit")).rows;
    expect(audit).toMatchObject({ outcome: expect.stringContaining(owners) });
  });

  test.concurrent("with faults is refused with their lines and columns", async () => {
    const namespace = cluster.createNamespace();
    const file = createFile(
      SITE.replace("timeout:", "timout:").replace("total: 10", "total: -1").replace("Europe/Berlin", "Mars"),
    );
    for (const words of [
      ["apply", file, "--yes"],
      ["diff", file],
    ]) {
      const { code, stderr } = await namespace.execute(words);
      expect({ code, lines: stderr.split("\n") }).toEqual({
        code: 78,
        lines: [
          `signalbox: ${file}:8:12: resource "db": total "-1" is -1, it must be 1 or more`,
          `signalbox: ${file}:18:15: schedule "backup": unknown time zone "Mars"; use a name such as Europe/Berlin or UTC`,
          `signalbox: ${file}:28:5: schedule "backup": unknown field "timout"; did you mean "timeout"?`,
          "signalbox: nothing was changed",
          "",
        ],
      });
    }
    expect(await namespace.executeJson(["apply", createFile("groups: {a: [x], a: [y]}")])).toMatchObject({
      outcome: "faulty",
      faults: [{ line: 1, column: 18 }],
    });
    const missing = createFile({ schedules: { a: { ...JOB, except: ["nodays"] } } });
    expect(await namespace.execute(["apply", missing, "--yes"])).toExit(78, {
      stderr: 'there is no calendar "nodays"',
    });
    expect(await namespace.listKeys()).toEqual([]);
  });
});

describe("what was shown", () => {
  test.concurrent("is not applied if somebody changed it before the yes; it is told what and by whom", async () => {
    const namespace = cluster.createNamespace();
    await namespace.expectDone("apply", createFile(SITE), "--yes");
    const file = createFile(SITE.replace('"*/5 * * * *"', '"*/7 * * * *"'));
    const asked = namespace.start(`apply ${file}`, { terminal: TERMINAL });
    await asked.waitForOutput("Change 1 schedule changed? [y/N]");
    await namespace.expectDone("schedule edit backup --cron '*/9 * * * *'");
    asked.child.stdin?.write("y\r");
    expect(await asked.ended).toExit(75, {
      stdout:
        /nothing was changed, because something has changed meanwhile:[\s\S]*schedule backup changed: cron "\*\/5 \* \* \* \*" -> "\*\/9 \* \* \* \*"[\s\S]*changed by .*: schedule, schedule backup: /,
    });
    expect(await namespace.expectDone("export")).toContain('"*/9 * * * *"');
  });

  test.concurrent("in a dry run is not applied if it was changed or deleted since", async () => {
    const namespace = cluster.createNamespace();
    await namespace.expectDone("apply", createFile(SITE), "--yes");
    const file = createFile(SITE.replace("report\n    after", "report2\n    after"));
    const { revision } = await namespace.executeJson(`apply ${file} --dry-run`);
    const apply = ["apply", file, "--yes", "--expect-revision", revision];
    await namespace.expectDone("group set unrelated x");
    await namespace.expectDone("schedule delete report --yes");
    expect(await namespace.execute(apply)).toExit(75, { stderr: "schedule report deleted" });
    expect(await namespace.expectDone("export")).not.toContain("report:");
    await namespace.expectDone(`apply ${file} --yes`);
  });
});

describe("a large site", () => {
  const build = (count: number) => ({
    schedules: Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`job${String(index).padStart(4, "0")}`, JOB]),
    ),
  });

  test.concurrent("is applied in parts; a run that is killed half-way is repeated and does the rest", async () => {
    const namespace = cluster.createNamespace();
    const file = createFile(build(2_000));
    const interceptor = await namespace.interceptRequests();
    const caught = interceptor.interceptNext(matchText("200 schedules added"), "request");
    const killed = namespace.start(`apply ${file} --yes`, { endpoints: [interceptor.endpoint] });
    const request = await caught;
    const ended = await killed.end("SIGKILL");
    expect(ended.stderr).toContain("a part is applied; left: 200 schedules added");
    request.reset();
    expect((await namespace.listKeys()).filter(({ key }) => key.includes("/schedules/"))).toHaveLength(1_800);
    expect(await namespace.execute(`diff ${file}`)).toExit(1, { stdout: "200 schedules added" });
    expect(await namespace.expectDone(`apply ${file} --yes`)).toBe("done: 200 schedules added\n");
    await namespace.expectDone(`diff ${file} --prune`);
    const { schedules } = JSON.parse(
      await namespace.expectDone("export --only calendars --only schedules --format json"),
    );
    expect(Object.keys(schedules)).toHaveLength(2_000);
    expect(await namespace.expectDone("apply", createFile(build(0)), "--prune", "--yes")).toBe(
      "done: 2000 schedules deleted\n",
    );
    expect((await namespace.listKeys()).filter(({ key }) => !key.includes("/audit/"))).toEqual([]);
  });

  test.concurrent("that is ended by a signal half-way says what is left", async () => {
    const namespace = cluster.createNamespace();
    const file = createFile(build(2_000));
    const interceptor = await namespace.interceptRequests();
    const caught = interceptor.interceptNext(matchText("1800 schedules added"), "answers");
    const started = namespace.start(`apply ${file} --yes`, { endpoints: [interceptor.endpoint] });
    const answer = await caught;
    started.kill("SIGTERM");
    answer.release();
    expect(await started.ended).toExit(143, {
      stderr: "stopped half-way, not done: 200 schedules added; run the same command again for the rest",
    });
    expect(await namespace.expectDone(`apply ${file} --yes`)).toBe("done: 200 schedules added\n");
  });
});

describe("a role for schedules only", () => {
  const cluster = TestCluster.startForFile({ auth: SECURED });
  let namespace: TestNamespace;

  beforeAll(async () => {
    await cluster.etcd.addUser("planner", {
      read: ["/jobs/config/calendars/", "/jobs/config/schema/"],
      write: ["schedules", "due", "outcomes", "audit"].map((name) => `/jobs/${name}/`),
    });
    namespace = cluster.createNamespace({ prefix: "/jobs/", env: buildLogin("planner") });
  });

  test("applies a file of schedules, and is told what it lacks for the rest", async () => {
    await namespace.expectDone(
      "apply",
      createFile({ schedules: { a: JOB, b: { ...JOB, group: "web" } } }),
      "--yes",
    );
    const calendar = createFile({ calendars: { c: { days: ["12-25"] } } });
    expect(await namespace.execute(["apply", calendar, "--yes"])).toExit(77, {
      stderr: /nothing was changed: this needs readwrite on .*\/jobs\/config\/calendars\//,
    });
    const whole = createFile({ groups: { web: ["x"] }, schedules: { a: JOB } });
    const refused = await namespace.execute(["apply", whole, "--yes"]);
    expect(refused).toExit(77, { stderr: "permission" });
    await namespace.expectDone("apply", whole, "--only", "schedules", "--yes");
    expect(readFileSync(whole, "utf8")).toContain("groups");
  });
});
