/** `signalbox check crontab` and `check hosts` on real files and a real etcd. */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { type TestNamespace, TRANSPORTS } from "../../../fixtures/cluster/test-namespace.ts";
import { PROGRAM, type ProcessResult } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "signalbox-check-"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

/** These crontabs are for hosts that do not exist: their programs are not looked for here. */
const TEXT = ["check", "crontab", "--no-programs"];

const listLines = ({ stdout }: ProcessResult) =>
  stdout.split("\n").filter((line) => line !== "" && !line.startsWith("   "));

describe.concurrent("check crontab", () => {
  const writeCrontab = (name: string, ...text: string[]) => {
    const path = join(folder, name);
    writeFileSync(path, text.map((line) => `${line}\n`).join(""));
    return path;
  };
  /** A namespace with groups and resources. */
  const createSampleNamespace = async (transport: (typeof TRANSPORTS)[number] = "http") => {
    const namespace = cluster.createNamespace({ transport });
    await namespace.put(namespace.keys.group("web"), '["web1.example.com","web2.example.com"]');
    await namespace.put(namespace.keys.resourceConfig("db"), '{"v":1,"total":"10"}');
    for (const [name, cpu] of [
      ["web1", 2],
      ["web2", 8],
    ] as const)
      await namespace.put(
        namespace.keys.host(`${name}.example.com`),
        JSON.stringify({ v: 1, cpu, memMb: 4000, seenAt: Date.now() }),
      );
    return namespace;
  };

  test.each(TRANSPORTS)("holds lines against what is configured, over %s", async (transport) => {
    const namespace = await createSampleNamespace(transport);
    const path = writeCrontab(
      `jobs-${transport}`,
      "* * * * * signalbox run -g web --lock a -- ./a.sh",
      "* * * * * signalbox run -g wbe --lock b -- ./b.sh",
      "* * * * * signalbox run -g web --lease FQDN_cpu=4:CPU -- ./c.sh",
      "* * * * * signalbox run -g web --lease FQDN_cpu=9:CPU -- ./d.sh",
      "* * * * * signalbox run --lease db=11 -- ./e.sh",
      "* * * * * signalbox run --lease pigs=1 -- ./f.sh",
      "* * * * * signalbox run --lock a -- ./other.sh",
      "* * * * * switchman -g nowhere -- ./g.sh",
    );
    const ended = await namespace.execute([...TEXT, path]);
    expect(ended).toExit(2);
    expect(listLines(ended)).toEqual([
      expect.stringMatching(/^FAILURE .*:2: there is no group "wbe"/),
      expect.stringMatching(/^warning .*:3: it cannot run on web1\.example\.com: --lease asks for 4 units/),
      expect.stringMatching(/^FAILURE .*:4: it cannot run on web1\.example\.com: /),
      expect.stringMatching(/^FAILURE .*:4: it cannot run on web2\.example\.com: /),
      expect.stringMatching(
        /^FAILURE .*:5: .*11 units of resource "db" are requested, but there are only 10/,
      ),
      expect.stringMatching(/^FAILURE .*:6: .*resource "pigs" has no total/),
      expect.stringMatching(/^warning .*:7: lock "a" is also used by another command \(.*:1\)/),
      expect.stringMatching(/^hint {4}.*:8: as signalbox: /),
      expect.stringMatching(/^FAILURE .*:8: there is no group "nowhere"/),
      "6 failures, 2 warnings",
    ]);
  });

  test("a folder, standard input, several files: one lock in two of them", async () => {
    const namespace = await createSampleNamespace();
    const etc = mkdtempSync(join(folder, "cron.d-"));
    writeFileSync(join(etc, "one"), "* * * * * signalbox run --lock twice -- ./a.sh\n");
    writeFileSync(join(etc, "two"), "* * * * * signalbox run --lock twice -- ./b.sh\n");
    writeFileSync(join(etc, ".placeholder"), "not a crontab\n");
    const input = "* * * * * signalbox run --lock twice -- ./c.sh\n";
    const ended = await namespace.execute([...TEXT, etc, "-"], { input });
    expect(listLines(ended)).toEqual([
      expect.stringMatching(/^warning .*two:1: lock "twice"/),
      expect.stringMatching(/^warning stdin:1: lock "twice"/),
      "2 warnings",
    ]);
    expect(ended).toExit(1);
    const meant = await namespace.execute([...TEXT, etc, "-", "--shared", "twice"], { input });
    expect(meant).toMatchObject({ code: 0, stdout: "fine: 3 jobs in 3 crontabs\n" });
  });

  test("lines without signalbox count, and an import of them is judged on request", async () => {
    const namespace = await createSampleNamespace();
    const path = writeCrontab("plain", "0 3 * * * true", "0 4 * * * nohup true &");
    const check = ["check", "crontab", "--offline", path];
    expect(await namespace.execute(check)).toMatchObject({
      code: 0,
      stdout: "fine: 2 jobs in 1 crontab, 0 runs of signalbox\n",
    });
    expect(await namespace.execute([...check, "--as-schedules"])).toExit(1, {
      stdout: /plain:2: it leaves a process in the background \(nohup true &\)/,
    });
  });

  test("JSON and Nagios", async () => {
    const namespace = await createSampleNamespace();
    const path = writeCrontab("formats", "* * * * * signalbox run -g wbe -- ./a.sh");
    const end = await namespace.execute([...TEXT, "--json", path]);
    expect(end).toExit(2);
    expect(JSON.parse(end.stdout)).toMatchObject({
      version: 1,
      revision: expect.stringMatching(/^\d+$/),
      state: "critical",
      figures: { files: 1, jobs: 1 },
      findings: [{ kind: "group", check: `${path}:1`, level: "failure" }],
    });
    const nagios = await namespace.execute([...TEXT, "--nagios", path]);
    expect(nagios).toExit(2, { stdout: /^SIGNALBOX CRITICAL - 1 failure: .*"wbe".* \| files=1 jobs=1\n$/ });
  });

  test("what passes it runs, what it refuses does not: the parser is that of run", async () => {
    const namespace = await createSampleNamespace();
    for (const [words, isFine] of [
      [["--lease", "db=2:10"], true],
      [["--lease", "db=2:11"], false],
      [["--lease", "db=0"], false],
      [["--wait=5"], false],
      [["--grace", "1s", "--lock", "z"], true],
      [["--ttl", "3s", "--termination-timeout", "5s"], false],
    ] as const) {
      const line = `* * * * * signalbox run ${words.join(" ")} -- true\n`;
      const env = { SIGNALBOX_TTL: "", SIGNALBOX_TERMINATION_TIMEOUT: "" };
      const checked = await namespace.execute([...TEXT, "-"], { input: line, env });
      const ran = await namespace.execute(["run", ...words, "--", "true"], { env });
      expect([line, checked.code, ran.code === 0]).toEqual([line, isFine ? 0 : 2, isFine]);
    }
  });

  test("etcd is away: the text is checked, and that the rest was not is said", async () => {
    const namespace = cluster.createNamespace({
      endpoints: ["http://127.0.0.1:1"],
      env: { SIGNALBOX_CONNECT_TIMEOUT: "100ms" },
    });
    const fine = writeCrontab("away", "* * * * * signalbox run -g web -- ./a.sh");
    const bad = writeCrontab("away-bad", "* * * * * signalbox run --lokc a -- ./a.sh");
    expect(await namespace.execute([...TEXT, fine])).toExit(69, { stdout: /^UNKNOWN etcd: / });
    expect(await namespace.execute([...TEXT, "--nagios", fine])).toExit(3);
    expect(await namespace.execute([...TEXT, bad])).toExit(2);
    expect(await namespace.execute(["check", "crontab", "--offline", fine])).toMatchObject({
      code: 0,
      stdout: "fine: 1 job in 1 crontab\n",
    });
  });

  test("the README's line, with the PATH that cron gives it and with the line that it needs", async () => {
    const namespace = await createSampleNamespace();
    const bin = mkdtempSync(join(folder, "bin-"));
    symlinkSync(PROGRAM, join(bin, "signalbox"));
    symlinkSync(process.execPath, join(bin, "node"));
    const line = "* * * * * signalbox run -E 0 --lock invoices -- true";
    const check = (path: string) =>
      namespace.execute(`check crontab ${path}`, { env: { PATH: `${bin}:/bin` } });
    /** As Debian's cron starts it; `signalbox` is not in /usr/bin. */
    const start = (PATH: string) =>
      spawnSync("/bin/sh", ["-c", line.slice("* * * * * ".length)], {
        env: { ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","), PATH },
      }).status;

    const bare = await check(writeCrontab("bare-path", line, line));
    expect(bare).toExit(2, { stdout: /1:? signalbox is not found; PATH is/ });
    expect(start("/usr/bin:/bin")).toBe(127);
    const [, remedy = ""] = /(PATH=\S+)$/m.exec(bare.stdout) ?? [];
    expect(await check(writeCrontab("with-path", remedy, line))).toMatchObject({
      code: 0,
      stdout: "fine: 1 job in 1 crontab\n",
    });
    expect(start(remedy.slice("PATH=".length))).toBe(0);
  });

  test("files that are none: 74; no file at all: 64", async () => {
    expect(await cluster.createNamespace().execute("check crontab /no/such")).toExit(74, {
      stderr: 'cannot read "/no/such"',
    });
    expect(await cluster.createNamespace().execute("check crontab")).toExit(64);
  });
});

describe.concurrent("check hosts", () => {
  const MINUTES = 60_000;
  const putHostRecord = (namespace: TestNamespace, name: string, ago: number) =>
    namespace.put(namespace.keys.host(name), JSON.stringify({ v: 1, seenAt: Date.now() - ago }));

  test("a host is there when it runs, and its group is fine", async () => {
    const namespace = cluster.createNamespace({ env: { SIGNALBOX_HOST: "web1.example.com" } });
    await namespace.put(namespace.keys.group("web"), '["web1.example.com"]');
    const never = await namespace.execute("check hosts");
    expect(never).toExit(2, {
      stdout: /^FAILURE group web: none of its 1 host was seen within 1h: web1.example.com \(never\)/,
    });
    expect(await namespace.run("-g web")).toExit(0);
    expect(await namespace.execute("check hosts")).toExit(0, {
      stdout: /^ok {6}group web: 1 of 1 host is active\nfine: 1 group/,
    });
  });

  test.each(TRANSPORTS)(
    "one that was seen long ago, but has a run that lives, is there (over %s)",
    async (transport) => {
      const namespace = cluster.createNamespace({ transport, env: { SIGNALBOX_HOST: "web1.example.com" } });
      await namespace.put(namespace.keys.group("web"), '["web1.example.com","web2.example.com"]');
      const run = namespace.startRun("--lock long", "sleep 60");
      await waitUntil(
        "the run holds its lock",
        async () => (await namespace.readQueue("long"))[0]?.ticket?.state === "held",
      );
      await putHostRecord(namespace, "web1.example.com", 600 * MINUTES);
      await putHostRecord(namespace, "web2.example.com", 600 * MINUTES);
      const ended = await namespace.execute("check hosts");
      expect(listLines(ended)).toEqual([
        "ok      group web: 1 of 2 hosts is active",
        expect.stringMatching(/^warning group web: not seen within 1h: web2.example.com \(10h ago\)/),
        "1 warning",
      ]);
      await namespace.expectDone("check hosts --within 11h");
      await run.end();
      expect(await namespace.execute("check hosts")).toExit(2);
    },
  );

  test("JSON, Nagios, groups by name", async ({ namespace }) => {
    await namespace.put(namespace.keys.group("web"), '["web1.example.com"]');
    await namespace.put(namespace.keys.group("db"), "[]");
    await putHostRecord(namespace, "web1.example.com", 10 * MINUTES);
    expect(await namespace.execute("check hosts --nagios")).toMatchObject({
      code: 2,
      stdout:
        "SIGNALBOX CRITICAL - 1 failure: group db: it has no hosts: nothing can run in it | groups=2 groups_without_host=1;;0 hosts_missing=0\n",
    });
    expect(await namespace.execute("check hosts web --nagios")).toExit(0, {
      stdout: /^SIGNALBOX OK - 1 group/,
    });
    const { findings, state } = await namespace.executeJson("check hosts");
    expect([state, findings.length]).toEqual(["critical", 2]);
    expect(await namespace.execute("check hosts nope")).toExit(2);
    expect(await namespace.execute("check hosts --within soon")).toExit(64);
  });

  test("etcd is away: 69, for Nagios 3", async () => {
    const namespace = cluster.createNamespace({
      endpoints: ["http://127.0.0.1:1"],
      env: { SIGNALBOX_CONNECT_TIMEOUT: "100ms" },
    });
    expect(await namespace.execute("check hosts")).toExit(69);
    expect(await namespace.execute("check hosts --nagios")).toExit(3, {
      stdout: /^SIGNALBOX UNKNOWN - /,
    });
  });
});
