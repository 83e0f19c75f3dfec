/** Unusual names: either a clear error, or they work like any other name. No crash, no wrong key. */

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const cluster = TestCluster.startForFile();
const { test } = cluster;

const OSC_52 = "\x1b]52;c;cm0gLXJmIH4K\x07";
const LONG = "x".repeat(10_000);

/** The prefix of a namespace. */
const PREFIX = /^\/test\d+\//;

const STRANGE_NAMES = [
  "a/b",
  "..",
  ".",
  "/",
  "../../etc",
  "a b",
  "%2F",
  "a%2Fb",
  "%",
  "'; true",
  "Ü😀",
  "-x",
  "x".repeat(512),
];
const REFUSED_NAMES: [what: string, name: string][] = [
  ["10 kB", LONG],
  ["a line break", "a\nb"],
  ["an escape sequence", `a${OSC_52}`],
  ["a C1 control", "a\x9bb"],
  ["no name at all", ""],
];

describe.concurrent("names", () => {
  test.each(STRANGE_NAMES)("%j is a name like any other, as a lock and as a resource", async (name) => {
    const namespace = cluster.createNamespace();
    const resource = await namespace.run(["--no-lock", `--lease=${name}=1:1`], "printenv SIGNALBOX_LEASES");
    expect(resource).toPrint(`${JSON.stringify({ [name]: 1 })}\n`);
    const lock = await namespace.run([`--lock=${name}`], "printenv SIGNALBOX_LOCK_KEY");
    expect(lock).toExit(0, { stderr: "" });
    expect(namespace.keys.parse(lock.stdout.trim())).toMatchObject({ kind: "lock", name });
    expect((await namespace.listKeys()).map(({ key }) => namespace.keys.parse(key))).toEqual([
      { kind: "history", name },
    ]);
    if (!name.startsWith("-")) {
      expect(await namespace.execute(["group", "set", name]), "as a group").toExit(0);
      expect((await namespace.execute("ls groups")).stdout).toContain(name);
    }
    const all = (await namespace.store.readRange({ key: "\0", rangeEnd: "\0" })).kvs.map(({ key }) => key);
    expect(
      all.filter((key) => !PREFIX.test(key)),
      "keys outside of every prefix",
    ).toEqual([]);
  });

  test.each(REFUSED_NAMES)(
    "%s is refused as a lock, a resource, a group, a host and a label",
    async (_, name) => {
      const namespace = cluster.createNamespace();
      const lines = [
        ["run", "--lock", name, "--", "true"],
        ["run", "--no-lock", "--lease", `${name}=1:1`, "--", "true"],
        ["run", "-g", name, "--", "true"],
        ["run", "--host", name, "--", "true"],
        ["run", "--label", name, "--", "true"],
        ["group", "set", name, "web1"],
        ["group", "set", "web", name],
        ["resource", "set", name, "1"],
      ];
      for (const line of lines) {
        const end = await namespace.execute(line);
        expect(end, line[1]).toFail(64, /^signalbox: [^\x00-\x09\x0b-\x1f\x7f-\x9f]{1,400}\n$/);
      }
      expect(await namespace.listKeys()).toEqual([]);
    },
  );

  test("bytes that are no UTF-8 are refused in names, and reach the command as they are", async ({
    namespace,
    onTestFinished,
  }) => {
    const env = { ...process.env, ...namespace.env, SIGNALBOX_ENDPOINTS: cluster.etcd.clientUrl };
    const execute = (args: string) =>
      promisify(execFile)("bash", ["-c", `exec "$@" run ${args}`, "bash", process.execPath, BUNDLE], {
        env,
        encoding: "latin1",
      });
    for (const args of ["--lock $'a\\xff' -- true", "-g $'\\xc3(' -- true", "-- $'/bin/\\xff'"]) {
      const failed = await execute(args).catch((error) => error);
      expect(failed, args).toFail(64, /not valid U(TF-8|nicode)/);
    }
    const folder = createTestFolder(onTestFinished);
    const script = `${folder}/$'\\xe9'`;
    await execute(`--lock a -- sh -c 'printf "printf %%s \\"\\$1\\"" > "$0"; chmod +x "$0"' ${script}`);
    for (const options of ["", "--record-args", "--capture", "--foreground"]) {
      const args = `--lock a ${options} -- ${script} $'\\xff\\xc3\\xa9'`;
      const { stdout } = await execute(args);
      expect([args, stdout]).toEqual([args, "\xff\xc3\xa9"]);
    }
    const honest = await namespace.run(["--lock", "a\ufffd"], ["printf", "%s", "\ufffd"]);
    expect(honest).toPrint("\ufffd");
  });

  test("NUL can come only from a file: 78, which names it", async () => {
    const file = cluster.createPath(JSON.stringify({ label: "a\0b" }));
    expect(await cluster.createNamespace().run(["-c", file])).toFail(78, /label: "a\\u0000b" cannot be used/);
  });
});
