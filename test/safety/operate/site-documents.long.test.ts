/** `signalbox export`, `apply` and `edit` of groups and resources: all changes at once, or none. */

import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect } from "vitest";
import { readAudits } from "../../../fixtures/cluster/read-keys.ts";
import { matchText } from "../../../fixtures/cluster/request-patterns.ts";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { SECURED } from "../../../fixtures/etcd/index.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
const W1 = "web1.example.com";
const W2 = "web2.example.com";
const TERMINAL = { columns: 100, rows: 24 };

/** Everything that is configured, and every record. */
async function readAllKeys(namespace: TestNamespace) {
  return (await namespace.store.readRange(namespace.keys.getFullRange())).kvs;
}

const take = (namespace: TestNamespace, document: object, ...flags: string[]) =>
  namespace.execute(["apply", "-", ...flags], { input: JSON.stringify(document) });

const buildGroups = (members: Record<string, string[]>) => ({ groups: members });

describe("an export", () => {
  test("imported elsewhere is the same configuration, and exported again the same text", async () => {
    const [namespace, other] = [
      await cluster.createTestNamespace(),
      await cluster.createTestNamespace("grpc"),
    ];
    await namespace.expectDone("group set web", W2, W1);
    await namespace.expectDone("group set all web ' %2F'");
    await namespace.expectDone("resource set FQDN_cpu CPU --order 2");
    await namespace.expectDone("resource set db 10 --note 'a \"note\"'");
    const text = await namespace.expectDone("export --format json");
    expect(await other.execute("apply - --yes", { input: text })).toExit(0);
    expect(await other.expectDone("export --format json -")).toBe(text);
    const again = await take(other, JSON.parse(text), "--prune", "--yes", "--strict");
    expect(again).toExit(1, { stdout: "is up to date" });
    expect(await readAudits(other)).toHaveLength(1);
  });

  test("says whose variables it has in clear", async ({ namespace }) => {
    await namespace.expectDone("schedule add backup @daily --env KEY=hunter2 -- true");
    await namespace.expectDone("schedule add other @daily -- true");
    expect(await namespace.execute("show schedule backup")).toExit(0, { stdout: /environment +KEY\s/ });
    expect(await namespace.execute("export")).toExit(0, {
      stdout: "KEY: hunter2",
      stderr: "note: the values of env, which show hides, are in clear for backup: keep the file secret",
    });
  });

  test("replaces a file whole, keeps its mode, and leaves alone one that says the same", async ({
    namespace,
  }) => {
    const file = join(createTestFolder(), "signalbox.json");
    writeFileSync(file, "old");
    chmodSync(file, 0o640);
    await namespace.expectDone("group set web", W1);
    await namespace.expectDone(`export ${file}`);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ version: 1, groups: { web: [W1] } });
    expect(statSync(file).mode & 0o777).toBe(0o640);
    const { ino } = statSync(file);
    await namespace.put(namespace.keys.history("x"), "{}");
    await namespace.expectDone(`export ${file}`);
    expect(statSync(file).ino, "the same file").toBe(ino);
    await namespace.expectDone("group add web", W2);
    await namespace.expectDone(`export ${file}`);
    expect(statSync(file).ino, "another one").not.toBe(ino);
    expect(readdirSync(dirname(file))).toEqual(["signalbox.json"]);
  });

  test.runIf(existsSync("/dev/full"))("into a device does not read it first", async ({ namespace }) => {
    const full = await namespace.execute("export /dev/full");
    expect(full).toExit(74, { stderr: "no space left on device" });
  });

  test("that cannot be written leaves nothing behind", async ({ namespace }) => {
    const path = createTestFolder();
    const missing = await namespace.execute(["export", join(path, "none", "x.json")]);
    expect(missing).toExit(74, {
      stderr: /cannot write \S+none\/x\.json: no such file or directory \(ENOENT\); nothing was written\n$/,
    });
    const silent = { endpoints: ["http://127.0.0.1:1"], env: { SIGNALBOX_CONNECT_TIMEOUT: "200ms" } };
    const away = await namespace.execute(["export", join(path, "x.json")], silent);
    expect(away).toExit(69);
    expect(readdirSync(path)).toEqual([]);
  });
});

describe("an import", () => {
  test("with faults tells them all, and changes nothing", async ({ namespace }) => {
    const file = join(createTestFolder(), "c.json");
    writeFileSync(
      file,
      '{\n  "groups": {"web": [1, ""]},\n  "resources": [{"name": "db", "total": "-1"}]\n}',
    );
    const { code, stderr } = await namespace.execute(`apply ${file} --yes`);
    expect({ code, lines: stderr.split("\n") }).toEqual({
      code: 78,
      lines: [
        `signalbox: ${file}:2:22: group "web": a member must be a host or a group, in quotes`,
        `signalbox: ${file}:2:25: member "" cannot be used: it is empty`,
        `signalbox: ${file}:3:41: resource "db": total "-1" is -1, it must be 1 or more`,
        "signalbox: nothing was changed",
        "",
      ],
    });
    const json = await take(namespace, { groups: 1 }, "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ version: 1, outcome: "faulty", faults: [{ line: 1 }] });
    expect(await namespace.execute("apply /none")).toExit(74);
    expect(await readAllKeys(namespace)).toEqual([]);
  });

  test("takes switchman's document as it is: its groups run jobs, its resources are leased", async ({
    namespace,
  }) => {
    const document =
      '{"groups":{"g1":["host1","g3"],"g2":"host1","g3":"host2"},"resources":["FQDN_mem","db"]}';
    await namespace.expectDone("resource set db 3");
    expect(await namespace.execute("apply - --yes", { input: document })).toExit(0);
    const run = (host: string, group: string, lease: string) =>
      namespace.jobs.start(host, ["--host", host, "-g", group, "--lease", lease]).ended;
    expect(await run("host2", "g1", "FQDN_mem=1:8")).toExit(0);
    expect(await run("host2", "g2", "FQDN_mem=1:8")).toExit(75);
    expect(await run("host1", "g2", "db=1")).toExit(0);
    expect(await run("host1", "g2", "db=4")).toExit(78);
    expect(JSON.parse(await namespace.expectDone("export --format json")).resources).toMatchObject([
      { name: "FQDN_mem", order: 1 },
      { name: "db", total: 3, order: 2 },
    ]);
  });

  test("asks in any case, and says whom it hits; --prune deletes what the document does not have", async ({
    namespace,
  }) => {
    await namespace.expectDone("group set web", W1);
    await namespace.expectDone("group set old", W1);
    await namespace.expectDone("resource set db 3");
    const options = ["--lock", "a", "-g", "old", "--host", W1];
    const run = await namespace.jobs.startHolder("run", options);
    const document = buildGroups({ web: [W1, W2] });
    const refused = await take(namespace, document, "--prune");
    expect(refused).toExit(64, { stderr: "add --yes" });
    expect(refused.stderr).toContain(`- group old (${W1})`);
    expect(refused.stderr).toMatch(new RegExp(`ends +${W1}:${run.pid} .*group "old" is gone`));
    expect(await take(namespace, document)).toExit(64);
    const dry = await take(namespace, document, "--dry-run");
    expect(dry.stdout).toMatch(
      /^~ group web: \+ web2.example.com\n1 group set\ndo it with --expect-revision \d+ --yes instead of --dry-run\n$/,
    );
    expect((await take(namespace, document, "--prune", "--yes")).stdout).toContain("ends 1 running command");
    expect(await run.ended).toExit(125);
    expect(JSON.parse(await namespace.expectDone("export --format json"))).toMatchObject({
      ...document,
      resources: [{ name: "db", total: 3 }], // not mentioned
    });
  });

  test.each(TRANSPORTS)("of 500 groups and 500 resources over %s is one transaction", async (transport) => {
    const namespace = await cluster.createTestNamespace(transport);
    const range = Array.from({ length: 500 }, (_, index) => index);
    const document = {
      groups: Object.fromEntries(range.map((n) => [`g${n}`, [`g${n + 1}`, `h${n}.example.com`, W1]])),
      resources: range.map((n) => ({ name: `FQDN_r${n}`, total: n + 1, note: "made by a test" })),
    };
    const { code, stdout } = await take(namespace, document, "--yes");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "done: 500 groups and 500 resources set\n" });
    const kvs = await readAllKeys(namespace);
    expect(kvs).toHaveLength(1001);
    expect(new Set(kvs.map(({ modRevision }) => modRevision)).size, "revisions").toBe(1);
    const replaced = await take(namespace, { groups: {}, resources: [] }, "--prune", "--yes");
    expect(replaced.stdout).toBe("done: 500 groups and 500 resources deleted\n");
    expect(await readAllKeys(namespace)).toHaveLength(2);
  });

  test.each([3, 100])("of a configuration of %d is refused when it moves meanwhile", async (count) => {
    const namespace = await cluster.createTestNamespace();
    const before = Object.fromEntries(Array.from({ length: count }, (_, n) => [`g${n}`, [W1]]));
    await take(namespace, buildGroups(before), "--yes");
    const file = join(createTestFolder(), "c.json");
    writeFileSync(file, JSON.stringify(buildGroups({ web: [W2] })));
    const asked = namespace.start(`apply ${file}`, { terminal: TERMINAL });
    await asked.waitForOutput("Change 1 group set? [y/N]");
    await namespace.expectDone("group delete g1 --yes");
    asked.child.stdin?.write("y\r");
    const { code, stdout } = await asked.ended;
    expect({ code, stdout }).toEqual({
      code: 75,
      stdout: expect.stringMatching(/has changed meanwhile:[\s\S]*- group g1 \(/),
    });
    expect(stdout).toMatch(/changed by .*: group, group g1: - group g1/);
    expect(JSON.parse(await namespace.expectDone("export --format json")).groups).not.toHaveProperty("web");
  });

  test("goes on when others act on something else meanwhile", async ({ namespace }) => {
    await take(
      namespace,
      buildGroups(Object.fromEntries(Array.from({ length: 80 }, (_, n) => [`g${n}`, [W1]]))),
      "--yes",
    );
    const file = join(createTestFolder(), "c.json");
    writeFileSync(file, JSON.stringify(buildGroups({ web: [W2] })));
    const asked = namespace.start(`apply ${file}`, { terminal: TERMINAL });
    await asked.waitForOutput("[y/N]");
    await namespace.expectDone("drain lock x --yes");
    asked.child.stdin?.write("y\r");
    expect(await asked.ended).toExit(0);
  });

  test.each(TRANSPORTS)("whose answer is lost over %s is made once", async (transport) => {
    const namespace = await cluster.createTestNamespace(transport);
    const interceptor = await namespace.interceptRequests();
    const caught = interceptor.interceptNext(matchText('"action":"apply"'), "answers");
    const taken = namespace.start("apply - --yes", {
      input: JSON.stringify(buildGroups({ web: [W1], db: [W2] })),
      endpoints: [interceptor.endpoint],
    });
    const answer = await caught;
    await waitUntil("it is applied", async () => (await readAllKeys(namespace)).length === 3);
    answer.reset();
    expect(await taken.ended).toExit(0);
    const kvs = await readAllKeys(namespace);
    expect(kvs).toHaveLength(3);
    for (const { createRevision, modRevision } of kvs) expect(modRevision).toBe(createRevision);
  });
});

/** An editor: a shell script that gets the file as `$1` and keeps where it was. */
function writeEditor(script: string): { path: string; seen: string; env: Record<string, string> } {
  const path = createTestFolder();
  const [file, seen] = [join(path, "my editor.sh"), join(path, "seen")];
  writeFileSync(file, `#!/bin/sh\nstat -c '%a %n' "$1" "$(dirname "$1")" >>'${seen}'\n${script}\n`, {
    mode: 0o755,
  });
  return { path, seen, env: { EDITOR: file, TMPDIR: path, VISUAL: "" } };
}

/** What an edit has left: its files by their texts. */
function readKeptFiles(path: string): string[] {
  const folders = readdirSync(path).filter((name) => /^signalbox-/.test(name));
  return folders.flatMap((name) =>
    readdirSync(join(path, name)).map((file) => readFileSync(join(path, name, file), "utf8")),
  );
}

describe("an edit", () => {
  test("opens a private file, shows what changes, asks, does it, and leaves no file", async ({
    namespace,
  }) => {
    await namespace.expectDone("group set web", W1);
    const { env, seen, path } = writeEditor(`sed -i 's/${W1}/${W2}/' "$1"`);
    const edit = namespace.start("edit --reason moved", { env, terminal: TERMINAL });
    await edit.waitForOutput(/~ group web: \+ web2.example.com, - web1.example.com/);
    await edit.waitForOutput("Change 1 group set? [y/N]");
    edit.child.stdin?.write("y\r");
    expect(await edit.ended).toExit(0);
    expect(readFileSync(seen, "utf8")).toMatch(/^600 .*\.yaml\n700 .*\n$/);
    expect(readKeptFiles(path)).toEqual([]);
    expect(JSON.parse(await namespace.expectDone("export --format json")).groups).toEqual({
      web: [W2],
    });
    expect((await readAudits(namespace)).at(-1)).toMatchObject({ action: "edit", reason: "moved" });
  });

  test("with faults shows them and opens the same text again", async ({ namespace }) => {
    const { env, path } = writeEditor(
      `if grep -q oops "$1"; then sed -i 's/{oops/["a"]/' "$1"; else sed -i 's/groups: {}/groups:\\n  web: {oops/' "$1"; fi`,
    );
    const edit = namespace.start("edit", { env, terminal: TERMINAL });
    await edit.waitForOutput(/signalbox.yaml:\d+:\d+: [\s\S]*Edit again\? \[Y\/n\]/);
    edit.child.stdin?.write("\r");
    await edit.waitForOutput("+ group web: a");
    edit.child.stdin?.write("y\r");
    expect(await edit.ended).toExit(0);
    expect(readKeptFiles(path)).toEqual([]);
  });

  test.each([
    ["has faults, and is given up", 'echo oops >>"$1"', "n\r", 78],
    ["is declined", `sed -i 's/${W1}/${W2}/' "$1"`, "n\r", 1],
    ["comes from an editor that fails", `echo oops >>"$1"; exit 3`, undefined, 1],
    ["comes from an editor that is killed", `echo oops >>"$1"; kill -9 $$`, undefined, 1],
  ])("whose text %s changes nothing, and keeps the text", async (_, script, answer, code) => {
    const namespace = await cluster.createTestNamespace();
    await namespace.expectDone("group set web", W1);
    const before = await readAllKeys(namespace);
    const { env, path } = writeEditor(script);
    const edit = namespace.start("edit", { env, terminal: TERMINAL });
    if (answer !== undefined) {
      await edit.waitForOutput(/\[(y\/N|Y\/n)\]/);
      edit.child.stdin?.write(answer);
    }
    const end = await edit.ended;
    expect(end).toExit(code);
    const [, file = ""] = /your text is kept in (\S+)/.exec(end.stdout) ?? [];
    expect([readFileSync(file, "utf8")]).toEqual(readKeptFiles(path));
    expect(readFileSync(file, "utf8")).toMatch(code === 1 && answer ? W2 : /oops/);
    expect(await readAllKeys(namespace)).toEqual(before);
  });

  test.each([
    ["nothing is typed", "true", 0],
    ["only blanks are typed", 'echo >>"$1"', 0],
    ["the editor fails before anything is typed", "exit 3", 1],
    ["the file is deleted", 'rm "$1"', 0],
  ])("in which %s changes nothing, and leaves no file", async (_, script, code) => {
    const namespace = await cluster.createTestNamespace();
    await namespace.expectDone("group set web", W1);
    const before = await readAllKeys(namespace);
    const { env, path } = writeEditor(script);
    const end = await namespace.execute("edit", { env, terminal: TERMINAL });
    expect({ code: end.code, kept: readKeptFiles(path) }).toEqual({ code, kept: [] });
    expect(await readAllKeys(namespace)).toEqual(before);
  });

  test("that others overtook is refused, keeps the text, and says how to go on", async ({ namespace }) => {
    await namespace.expectDone("group set web", W1);
    const { env, path } = writeEditor(
      'sed -i "s/^groups:/&\\n  mine: []/" "$1"; touch "$1.open"; while [ -e "$1.open" ]; do sleep 0.02; done',
    );
    const edit = namespace.start("edit --yes", { env });
    const open = () =>
      readdirSync(path)
        .map((name) => join(path, name, "signalbox.yaml.open"))
        .find((file) => existsSync(file));
    const file = await waitUntil("the editor has typed", open);
    await namespace.expectDone("group add web", W2);
    rmSync(file);
    const { code, stderr } = await edit.ended;
    expect({ code, stderr }).toEqual({
      code: 75,
      stderr: expect.stringMatching(/something has changed meanwhile:\n.*~ group web: \+ web2/),
    });
    const [, text = ""] = /kept in (\S+)\n/.exec(stderr) ?? [];
    expect(stderr).toContain(`signalbox diff --prune=all ${text}`);
    const { stdout } = await namespace.execute(["diff", "--prune=all", text]);
    expect(stdout).toMatch(/^\+ group mine: empty\n~ group web: - web2.example.com\n/);
  });

  test("that is ended by a signal keeps what was typed", async ({ namespace }) => {
    const { env, path } = writeEditor('echo typed >>"$1"; touch "$1.open"; exec sleep 1000');
    const edit = namespace.start("edit --yes", { env });
    await waitUntil("the editor has typed", () =>
      readdirSync(path).some((name) => existsSync(join(path, name, "signalbox.yaml.open"))),
    );
    expect(await edit.end()).toExit(143, { stderr: "your text is kept in" });
    expect(readKeptFiles(path).join("")).toContain("typed");
  });

  test("needs a terminal, unless a script is the editor and says --yes; and an editor that is there", async ({
    namespace,
  }) => {
    const { env } = writeEditor('sed -i "s/groups: {}/groups: {mine: []}/" "$1"');
    const refused = await namespace.execute("edit", { env });
    expect(refused).toExit(64, { stderr: "edit needs a terminal" });
    expect(await namespace.execute("edit --yes", { env })).toExit(0);
    const none = await namespace.execute("edit --yes", { env: { EDITOR: "/none/such --wait" } });
    expect(none).toExit(1, { stderr: "cannot be started" });
  });
});

describe("a role that may not configure", () => {
  const cluster = TestCluster.startForFile({ auth: SECURED });
  let namespace: TestNamespace;

  beforeAll(async () => {
    namespace = await cluster.createUserNamespace("auditor", ["audit/"]);
    await namespace.put(namespace.keys.group("web"), '["web1.example.com"]');
  });

  test.each([2, 200])("is told what is missing, and %d changes are not made", async (count) => {
    const many = Array.from({ length: count }, (_, n) => [`g${n}`, []]);
    const document = { groups: Object.fromEntries(many), resources: ["db"] };
    const end = await namespace.execute("apply - --yes", { input: JSON.stringify(document) });
    expect(end).toExit(77, {
      stderr: /nothing was changed.*readwrite on .*\/jobs\/config\/groups\/.*config\/resources/,
    });
    expect((await namespace.listKeys()).map(({ key }) => key)).toEqual(["/jobs/config/groups/web"]);
  });

  test("keeps what was typed into an editor", async () => {
    const { env, path } = writeEditor('sed -i s/web1/web2/ "$1"');
    const end = await namespace.execute("edit --yes", { env });
    expect(end).toExit(77, { stderr: "your text is kept in" });
    expect(readKeptFiles(path).join("")).toContain("web2");
  });
});
