/** cronlock and golock, as `signalbox cronlock …` and as links: exit codes, output and locks. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import type { NamespaceOptions, TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import { type EtcdMember, startEtcd } from "../../../fixtures/etcd/index.ts";
import { BUNDLE, createCleanEnv, LAUNCHER, type ProcessResult } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { computeArgumentsHash } from "../../../src/compat/cronlock/options.ts";

const cluster = TestCluster.startForFile();
/** Links with the tools' names, as somebody would put where the tools were. */
let bin: string;
beforeAll(async () => {
  bin = mkdtempSync(join(tmpdir(), "signalbox-links-"));
  for (const tool of TOOLS) symlinkSync(BUNDLE, join(bin, tool));
});
afterAll(async () => {
  rmSync(bin, { recursive: true, force: true });
});

const TOOLS = ["cronlock", "golock"] as const;
type Tool = (typeof TOOLS)[number];
type Env = Record<string, string>;
/** Free as soon as the command has ended, or within the second. */
const NOW = { CRONLOCK_GRACE: "0" };
const HOLD = ["sh", "-c", "echo up; exec sleep 1000"];
const SLOG = String.raw`\d{4}/\d\d/\d\d \d\d:\d\d:\d\d`;
/** Nothing listens there, and that is noticed at once. */
const AWAY = { CRONLOCK_HOST: "127.0.0.1", CRONLOCK_REDIS_TIMEOUT: "0", CRONLOCK_RECONNECT_BACKOFF: "0" };

const enter = (options: NamespaceOptions = {}) => cluster.createNamespace(options);
const start = (namespace: TestNamespace, tool: Tool, words: readonly string[], env: Env = {}) =>
  namespace.start([tool, ...words], { env });
const end = (namespace: TestNamespace, tool: Tool, words: readonly string[], env: Env = {}) =>
  start(namespace, tool, words, env).ended;

/** A line as a crontab has it: a link is called. */
function runLinked(
  namespace: TestNamespace,
  program: string,
  words: readonly string[],
  env: Env = {},
): Promise<ProcessResult> {
  return runProgram(namespace, process.execPath, [program, ...words], env);
}

async function runProgram(
  namespace: TestNamespace,
  program: string,
  words: readonly string[],
  env: Env,
): Promise<ProcessResult> {
  const child = spawn(program, words, {
    env: { ...createCleanEnv(), SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","), ...namespace.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [stdout, stderr] = [text(child.stdout), text(child.stderr)];
  const [code, signal] = await once(child, "close");
  return { code, signal, stdout: await stdout, stderr: await stderr };
}

describe.concurrent.each(TOOLS)("%s", (tool) => {
  const nameOf = (words: readonly string[]) => `cronlock.${computeArgumentsHash(tool, words)}`;

  test("called by a link: it runs, under the name that the tool computes; a second one gets 200", async () => {
    const namespace = enter();
    const program = join(bin, tool);
    const first = start(namespace, tool, HOLD);
    await first.waitForOutput("up");
    await namespace.waitForTicket(first, "held", nameOf(HOLD));
    expect(await runLinked(namespace, program, HOLD)).toExitSilently(200);
    expect(
      await runLinked(namespace, program, ["echo", "a  b", "c"], { ...NOW, CRONLOCK_NTPDATE: "yes" }),
    ).toPrint("a  b c\n");
    expect(await namespace.run(["--lock", nameOf(HOLD)], "echo ran"), "signalbox run").toExitSilently(75);
    expect(await first.end()).toPrint("up\n", 143);
  });

  test.each([0, 7, 199, 200, 255])("the command's own exit code: %i", async (code) => {
    expect(await end(enter(), tool, ["sh", "-c", `exit ${code}`])).toExitSilently(code);
  });

  test.runIf(tool === "cronlock").each([
    [["cd", "/"], 0, ""],
    [["exit", "3"], 3, ""],
    [["eval", "echo a; exit 4"], 4, "a\n"],
    [["exec", "echo", "a b"], 0, "a b\n"],
  ])("a builtin of the shell that cronlock is written in: %j", async (words, code, stdout) => {
    const namespace = enter();
    expect(await end(namespace, tool, words, NOW)).toPrint(stdout, code);
    expect(await end(namespace, tool, words, { ...NOW, CRONLOCK_TIMEOUT: "9" })).toMatchObject({
      code: words[0] === "cd" ? expect.anything() : 127, // some systems have a program cd
    });
  });

  test("CRONLOCK_SHOW_KEY: golock writes the lock's name", async () => {
    const { code, stderr } = await end(enter(), tool, ["true"], { ...NOW, CRONLOCK_SHOW_KEY: "true" });
    const line = new RegExp(`^${SLOG} INFO Acquiring lock on cronlock\\.[0-9a-f]{32} key\n$`);
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: tool === "golock" ? expect.stringMatching(line) : "",
    });
  });

  test("killed by a signal, not found, not executable", async () => {
    const namespace = enter();
    expect(await end(namespace, tool, ["sh", "-c", "kill -KILL $$"])).toExitSilently(137);
    expect(await end(namespace, tool, ["no-such-command"])).toFail(127, '"no-such-command" was not found');
    expect(await end(namespace, tool, ["/etc/passwd"])).toFail(126, "cannot be executed");
  });

  test("the grace counts from the start, in whole seconds and one more: 40 by default", async () => {
    const namespace = enter();
    const key = { CRONLOCK_KEY: "job" };
    const since = Date.now();
    expect(await end(namespace, tool, ["echo", "ran"], key)).toPrint("ran\n");
    const [entry] = await namespace.readQueue("cronlock.job");
    const until = entry?.ticket?.until ?? 0;
    expect(entry?.ticket?.state).toBe("grace");
    expect(until % 1000).toBe(0);
    expect(until - since, "ms from before its start").toBeGreaterThan(40_000);
    expect(until, "and not from the grant").toBeLessThanOrEqual((entry?.ticket?.grantedAt ?? 0) + 41_000);
    expect(await end(namespace, tool, ["echo", "ran"], key)).toExitSilently(200);
    const verbose = await end(namespace, tool, ["echo", "ran"], { ...key, CRONLOCK_VERBOSE: "yes" });
    expect(verbose).toFail(200, /(was already acquired|by another process) \(expires in \d+s\)\n$/);
  });

  test("CRONLOCK_TIMEOUT: killed at once, 202, and said so; the grace stays", async () => {
    const namespace = enter();
    const deaf = ["sh", "-c", "trap '' TERM; echo up; sleep 60 & wait; wait"];
    const said = `emergency: had to kill ${tool === "golock" ? `[${deaf.join(" ")}]` : `'${deaf.join(" ")}'`} after 1s timeout`;
    const ended = await end(namespace, tool, deaf, { CRONLOCK_TIMEOUT: "1" });
    if (tool === "cronlock") expect(ended).toPrint(`up\n${said}\n`, 202);
    else {
      expect(ended).toMatchObject({ code: 202, stdout: "up\n" });
      expect(ended.stderr).toMatch(new RegExp(`^${SLOG} ERROR `));
      expect(ended.stderr.endsWith(` ERROR ${said}\n`), ended.stderr).toBe(true);
    }
    expect((await namespace.readQueue(nameOf(deaf)))[0]?.ticket?.state).toBe("grace");
  });

  test("CRONLOCK_TIMEOUT leaves a command that gets a TERM its time to end itself", async () => {
    const tidy = ["sh", "-c", "trap 'sleep 0.2; echo bye; exit 3' TERM; echo up; sleep 60 & wait; wait"];
    const run = start(enter(), tool, tidy, { CRONLOCK_TIMEOUT: "50" });
    await run.waitForOutput("up");
    expect(await run.end()).toMatchObject({ code: 3, stdout: "up\nbye\n" });
  });

  test("CRONLOCK_RELEASE: the command is terminated when the lock is free, 202", async () => {
    const namespace = enter();
    const ended = await end(namespace, tool, HOLD, { CRONLOCK_RELEASE: "1", CRONLOCK_TIMEOUT: "50", ...NOW });
    expect(ended).toExit(202);
    expect(ended.stdout + ended.stderr).toMatch(/emergency: had to kill .* after 1s: .*CRONLOCK_RELEASE/);
    expect(ended.stdout.startsWith("up\n")).toBe(true);
  });

  test("CRONLOCK_RESET: ends who holds the lock, takes away a grace, and finds nothing: 200 and silence", async () => {
    const namespace = enter();
    const key = { CRONLOCK_KEY: "job" };
    const reset = () => end(namespace, tool, ["any"], { ...key, CRONLOCK_RESET: "yes" });
    expect(await reset(), "nobody").toExitSilently(200);
    const holder = start(namespace, tool, HOLD, key);
    await holder.waitForOutput("up");
    expect(await reset(), "a holder").toExitSilently(200);
    expect(await holder.ended).toMatchObject({
      code: 201,
      stdout: "up\n",
      stderr: expect.stringContaining("the lock was lost"),
    });
    expect(await end(namespace, tool, ["true"], key)).toExitSilently(0);
    expect((await namespace.readQueue("cronlock.job"))[0]?.ticket?.state).toBe("grace");
    const verbose = { ...key, CRONLOCK_RESET: "yes", CRONLOCK_VERBOSE: "yes" };
    expect(await end(namespace, tool, [], verbose), "a grace").toFail(200, "Removing cronlock.job key");
    expect(await namespace.readQueue("cronlock.job")).toEqual([]);
  });

  test("CRONLOCK_VERBOSE: what it does, on standard error", async () => {
    const namespace = enter();
    const env = {
      CRONLOCK_VERBOSE: "yes",
      CRONLOCK_KEY: "job",
      CRONLOCK_NTPDATE: "yes",
      CRONLOCK_PREFIX: "x.",
    };
    const { code, stdout, stderr } = await end(namespace, tool, ["echo", "ran"], env);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "ran\n" });
    const [note, connecting, ...others] = stderr.split("\n");
    if (tool === "golock") expect(others.shift()).toMatch(/ DEBUG Acquiring lock on x\.job key$/);
    const [acquired, ...rest] = others;
    expect(note).toContain("CRONLOCK_NTPDATE is ignored");
    expect(connecting).toContain("Connecting to etcd at ");
    expect(acquired).toMatch(
      tool === "golock"
        ? new RegExp(`^${SLOG} DEBUG Lock x\\.job acquired$`)
        : /^Cronlock x\.job acquired by me$/,
    );
    expect(rest).toEqual([""]);
  });

  test("drained, or not in the group: 200 in silence; only VERBOSE says why", async () => {
    const namespace = enter({ env: { SIGNALBOX_HOST: "web1.example.com" } });
    await namespace.put(namespace.keys.group("web"), JSON.stringify(["web2.example.com"]));
    expect(await end(namespace, tool, ["true"], { SIGNALBOX_GROUP: "web" })).toExitSilently(200);
    await namespace.put(
      namespace.keys.drain("all", "all"),
      JSON.stringify({ v: 1, by: "ops", at: Date.now() }),
    );
    expect(await end(namespace, tool, ["true"])).toExitSilently(200);
    expect(await end(namespace, tool, ["true"], { CRONLOCK_VERBOSE: "yes" })).toFail(
      200,
      /drained by an operator\n$/,
    );
  });

  test("the lock is lost: the command is ended, 201", async () => {
    const namespace = enter();
    const run = start(namespace, tool, HOLD, { CRONLOCK_KEY: "job" });
    await run.waitForOutput("up");
    const [entry] = await namespace.readQueue("cronlock.job");
    await namespace.delete(entry?.key ?? "");
    expect(await run.ended).toMatchObject({
      code: 201,
      stdout: "up\n",
      stderr: expect.stringMatching(/^.*the lock was lost, the command was terminated: .*\n$/),
    });
  });

  test("CRONLOCK_DB keeps locks apart, under the prefix", async () => {
    const namespace = enter();
    const held = start(namespace, tool, HOLD, { CRONLOCK_DB: "0" });
    await held.waitForOutput("up");
    expect(await end(namespace, tool, HOLD), "0 is the usual place").toExitSilently(200);
    const other = start(namespace, tool, HOLD, { CRONLOCK_DB: "3" });
    await other.waitForOutput("up");
    const keys = (await namespace.listKeys()).map(({ key }) => key.slice(namespace.prefix.length));
    const own = keys.filter((key) => key.startsWith("db3/") && key.includes(nameOf(HOLD)));
    expect(own, "a ticket and its mark").toHaveLength(2);
    const { stdout } = await namespace.execute("init");
    expect(stdout, "nobody is to take them for rubbish").not.toMatch(/none of ours|not a key/);
    for (const run of [held, other]) run.kill("SIGTERM");
    await Promise.all([held.ended, other.ended]);
  });

  test("the same line on two hosts at once: one runs it", async () => {
    const namespace = enter();
    const hosts = ["web1.example.com", "web2.example.com"].map((host) =>
      end(namespace, tool, ["sh", "-c", "echo $SIGNALBOX_HOST"], { SIGNALBOX_HOST: host }),
    );
    const ends = await Promise.all(hosts);
    expect(ends.map(({ code }) => code).sort()).toEqual([0, 200]);
    expect(ends.map(({ stdout }) => stdout).join("")).toMatch(/^web[12]\.example\.com\n$/);
  });
});

describe.concurrent("errors: 201, in the tool's words", () => {
  const errors: [what: string, words: string[], env: Env, message: string | RegExp][] = [
    ["no command", [], {}, /no command was given; usage: \w+ COMMAND/],
    ["no command to reset", [], { CRONLOCK_RESET: "yes" }, "usage:"],
    [
      "a reset in doubt",
      ["echo", "ran"],
      { CRONLOCK_RESET: "true" },
      'CRONLOCK_RESET: "true" is neither yes nor no',
    ],
    ["an empty command", [""], {}, "the command is empty"],
    ["a negative grace", ["true"], { CRONLOCK_GRACE: "-1" }, 'CRONLOCK_GRACE: "-1" is not a whole number'],
    ["a port out of range", ["true"], { CRONLOCK_PORT: "65536" }, 'CRONLOCK_PORT: "65536" is not'],
    ["a database that is none", ["true"], { CRONLOCK_DB: "x" }, 'CRONLOCK_DB: "x" is not'],
    ["a configuration that is missing", ["true"], { CRONLOCK_CONFIG: "/no/such" }, "/no/such does not exist"],
    ["one that cannot be read", ["true"], { CRONLOCK_CONFIG: "/etc" }, "/etc cannot be read (EISDIR)"],
    [
      "one without an end",
      ["true"],
      { CRONLOCK_CONFIG: "/dev/zero" },
      /\/dev\/zero cannot .*it is not a file/,
    ],
    ["Sentinel", ["true"], { CRONLOCK_USE_SENTINEL: "yes" }, "name several of them in CRONLOCK_HOST"],
    ["a name too long", ["true"], { CRONLOCK_KEY: "x".repeat(512) }, /lock name .* cannot be used/],
    [
      "hostile bytes in a name",
      ["true"],
      { CRONLOCK_KEY: "\x1b[31m" },
      /lock name "\\u001b\[31m"|cannot be used/,
    ],
    ["a setting of ours", ["true"], { SIGNALBOX_TTL: "x" }, 'SIGNALBOX_TTL: "x"'],
    [
      "no etcd",
      ["true"],
      { ...AWAY, CRONLOCK_PORT: "9" },
      /lock "\S+": the command was not started: cannot reach etcd: http:\/\/127\.0\.0\.1:9/,
    ],
    [
      "Redis's port",
      ["true"],
      { ...AWAY, CRONLOCK_PORT: "6379" },
      "port 6379 is the port of Redis, etcd listens on 2379",
    ],
    [
      "no etcd to reset in",
      ["true"],
      { ...AWAY, CRONLOCK_PORT: "9", CRONLOCK_RESET: "yes" },
      "was not reset: cannot reach etcd",
    ],
    [
      "a password without a user",
      ["true"],
      { CRONLOCK_AUTH: "geheim" },
      "write user:password, or name the user in SIGNALBOX_USER",
    ],
    ["a password in the clear", ["true"], { CRONLOCK_AUTH: "ben:geheim" }, "use TLS with CRONLOCK_TLS=yes"],
  ];
  // One tool each, in turn: the other goes the same way.
  const cases = errors.map((one, index) => [TOOLS[index % 2] ?? "cronlock", ...one] as const);
  test.each(cases)("%s: %s", async (tool, _, words, env, message) => {
    const ended = await end(enter(), tool, words, env);
    expect(ended).toFail(201, message);
    expect(ended.stderr).toMatch(
      tool === "golock" ? new RegExp(`^${SLOG} ERROR [^\n]+\n$`) : /^cronlock: [^\n]+\n$/,
    );
    expect(ended.stderr).not.toMatch(/geheim|\x1b/);
  });
});

describe.concurrent("the tools beside each other", () => {
  test("one key, one lock: cronlock, golock and signalbox run keep each other out", async () => {
    const namespace = enter();
    const key = { CRONLOCK_KEY: "mail" };
    const run = start(namespace, "cronlock", HOLD, key);
    await run.waitForOutput("up");
    expect(await end(namespace, "golock", ["echo", "ran"], key)).toExitSilently(200);
    expect(await namespace.run("--lock cronlock.mail", "echo ran")).toExitSilently(75);
    await run.end();
    expect(await end(namespace, "golock", ["echo", "ran"], key), "cronlock's grace").toExitSilently(200);
  });

  test("without a key, their names differ", async () => {
    const namespace = enter();
    expect(await end(namespace, "cronlock", ["echo", "ran"])).toExit(0);
    expect(await end(namespace, "golock", ["echo", "ran"])).toExit(0);
  });

  test("bytes that are no text: 201, as any error", async () => {
    const namespace = enter();
    const script = `exec "$0" "$1" echo "$(printf '\\377')"`;
    const env = { ...createCleanEnv(), SIGNALBOX_ENDPOINTS: cluster.endpoints.join(","), ...namespace.env };
    const child = spawn("sh", ["-c", script, process.execPath, join(bin, "cronlock")], { env });
    const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
    expect({ code, stderr }).toEqual({ code: 201, stderr: expect.stringContaining("not valid UTF-8") });
    expect(await namespace.listKeys()).toEqual([]);
  });

  test("--help alone is ours, and names every variable", async () => {
    expect(await end(enter(), "golock", ["--help"])).toExit(0, { stdout: "CRONLOCK_TLS_SKIP_VERIFY" });
  });
});

describe.concurrent("cronlock's configuration file", () => {
  test("beside the link; it wins over the environment, and what it exports reaches the command", async () => {
    const namespace = enter();
    const program = join(mkdtempSync(join(bin, "folder-")), "cronlock");
    symlinkSync(BUNDLE, program);
    const lines = [
      "CRONLOCK_KEY='from file'",
      "CRONLOCK_GRACE=0",
      "export GREETING=hello",
      "SILENT=x",
      "TEST_SEEN=new",
    ];
    writeFileSync(`${program}.conf`, lines.join("\n"));
    const words = ["sh", "-c", "echo $GREETING,$SILENT,$TEST_SEEN"];
    const env = { CRONLOCK_KEY: "from environment", TEST_SEEN: "old", CRONLOCK_VERBOSE: "yes" };
    const ended = await runLinked(namespace, program, words, env);
    expect(ended).toMatchObject({ code: 0, stdout: "hello,,new\n" });
    expect(ended.stderr).toContain(`Including config from ${program}.conf\n`);
    expect(ended.stderr).toContain("Cronlock cronlock.from file acquired by me\n");
    const named = cluster.createPath("CRONLOCK_KEY=named");
    expect(
      (await runLinked(namespace, program, ["true"], { ...env, CRONLOCK_CONFIG: named })).stderr,
    ).toContain("cronlock.named");
  });

  test("a link to a link: where cronlock would have looked", async () => {
    const namespace = enter();
    const place = mkdtempSync(join(bin, "place-"));
    mkdirSync(join(place, "opt"));
    symlinkSync(BUNDLE, join(place, "opt/cronlock"));
    symlinkSync("opt/cronlock", join(place, "cronlock"));
    writeFileSync(join(place, "opt/cronlock.conf"), "CRONLOCK_KEY=there");
    const ended = await runLinked(namespace, join(place, "cronlock"), ["true"], { CRONLOCK_VERBOSE: "yes" });
    expect(ended.stderr).toContain("Cronlock cronlock.there acquired by me\n");
  });

  test.each([
    ["the launcher", LAUNCHER],
    ["the program of the npm package", join(dirname(BUNDLE), "signalbox")],
  ])("beside a link to %s", async (_, target) => {
    const namespace = enter();
    const program = join(mkdtempSync(join(bin, "native-")), "cronlock");
    symlinkSync(target, program);
    writeFileSync(`${program}.conf`, "CRONLOCK_KEY=there");
    const env = { CRONLOCK_VERBOSE: "yes", SIGNALBOX_AGENT_SOCKET: "/nowhere/agent.sock" };
    const script = 'echo "$(env | grep -c SIGNALBOX_PROGRAM)"';
    const ended = await runProgram(namespace, program, ["sh", "-c", script], env);
    expect(ended).toMatchObject({ code: 0, stdout: "0\n" });
    expect(ended.stderr).toContain("Cronlock cronlock.there acquired by me\n");
  });

  test("never run: a command in it is an error, and nothing comes of it", async () => {
    const namespace = enter();
    const trap = cluster.createPath();
    const file = cluster.createPath(`CRONLOCK_GRACE=0\nCRONLOCK_KEY=$(touch ${trap})\n`);
    const ended = await end(namespace, "cronlock", ["echo", "ran"], { CRONLOCK_CONFIG: file });
    expect(ended).toFail(201, new RegExp(`^cronlock: ${file}:2: of "\\$" only`));
    expect(() => readFileSync(trap)).toThrow("ENOENT");
    expect(await namespace.listKeys()).toEqual([]);
  });

  test("golock looks for none, but reads what is named", async () => {
    const namespace = enter();
    const program = join(mkdtempSync(join(bin, "folder-")), "golock");
    symlinkSync(BUNDLE, program);
    writeFileSync(join(dirname(program), "cronlock.conf"), "CRONLOCK_GRACE=x");
    expect(await runLinked(namespace, program, ["true"])).toExitSilently(0);
    const env = { CRONLOCK_CONFIG: join(dirname(program), "cronlock.conf") };
    expect(await runLinked(namespace, program, ["true"], env)).toFail(
      201,
      'cronlock.conf: CRONLOCK_GRACE: "x"',
    );
  });
});

describe.concurrent("TLS and a password", () => {
  const LOGIN = { rootPassword: "r00t", user: "ben", password: "ge:heim", prefix: "/jobs/" };
  let secured: EtcdMember;
  let env: Env;
  beforeAll(async () => {
    secured = await startEtcd({ tls: {}, auth: LOGIN });
    const { port } = new URL(secured.clientUrl);
    env = { CRONLOCK_HOST: `127.0.0.1:${port}`, CRONLOCK_TLS: "yes", SIGNALBOX_PREFIX: LOGIN.prefix };
  });
  afterAll(() => secured?.stop());

  test.each<[what: string, tool: Tool, env: Env]>([
    ["user:password", "cronlock", { CRONLOCK_AUTH: "ben:ge:heim", CRONLOCK_TLS_SKIP_VERIFY: "true" }],
    ["the authority by our setting", "golock", { CRONLOCK_AUTH: "ben:ge:heim", CA: "yes" }],
    [
      "a password alone",
      "golock",
      { CRONLOCK_AUTH: "gehei", CRONLOCK_USER: "", SIGNALBOX_USER: "ben", WRONG: "yes" },
    ],
    [
      "a user of its own",
      "cronlock",
      { CRONLOCK_AUTH: "ge:heim", CRONLOCK_USER: "ben", CRONLOCK_TLS_SKIP_VERIFY: "1" },
    ],
  ])("%s", async (_, tool, { CA, WRONG, ...more }) => {
    const ca = { SIGNALBOX_CACERT: secured.certificates?.ca ?? "" };
    const all = { ...env, ...((CA ?? WRONG) && ca), ...more, CRONLOCK_KEY: crypto.randomUUID() };
    const words = ["sh", "-c", "env; tr '\\0' ' ' </proc/$PPID/cmdline"];
    const ended = await end(enter(), tool, words, all);
    if (WRONG) return expect(ended).toFail(201, "etcd refused the credentials");
    expect(ended).toExit(0, { stderr: "" });
    expect(ended.stdout).not.toMatch(/heim|CRONLOCK_AUTH|CRONLOCK_USER/);
    expect(ended.stdout).toContain("CRONLOCK_KEY=");
    const reset = await end(enter(), tool, words, { ...all, CRONLOCK_RESET: "yes" });
    expect(reset, "the grace is taken away").toExitSilently(200);
    const free = await waitUntil("the lock is free", async () => {
      const again = await end(enter(), tool, ["echo", "ran"], all);
      return again.code === 0 && again;
    });
    expect(free.stdout).toBe("ran\n");
  });

  test("an unknown authority: 201, and the certificate is the reason", async () => {
    const all = { ...AWAY, ...env, CRONLOCK_REDIS_TIMEOUT: "3", CRONLOCK_AUTH: "ben:ge:heim" };
    expect(await end(enter(), "cronlock", ["true"], all)).toFail(201, "certificate");
  });
});
