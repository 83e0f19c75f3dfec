/** Calls that no agent serves: the launcher becomes Node, here a script that tells how it was started. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createFolder, createSocketPath, listenOn } from "../../../fixtures/process/agent-socket.ts";
import { type FakeAgent, FROM_LAUNCHER, TO_LAUNCHER } from "../../../fixtures/process/fake-agent.ts";
import { isRoot } from "../../../fixtures/process/guarded-processes.ts";
import {
  createNodeFolder,
  installLauncher,
  launch,
  launchRun,
  serveRun,
  startAgent,
  startCall,
} from "../../../fixtures/process/launcher.ts";
import { BUNDLE } from "../../../fixtures/signalbox.ts";
import { HEAP_LIMITS } from "../../../src/bin/heap-limits.ts";
import { VERSION } from "../../../src/core/base/version.ts";

const NOBODY = 65534;
const WORDS = ["run", "--lock", "x", "--", "true"];
const formatFallback = (reason: string, words = WORDS.join(" "), call = "none") =>
  `fallback=${reason}\ncall=${call}\nwords=${words}\n`;

test("no socket: Node runs, and nothing is explained", async () => {
  const run = launch(WORDS, { env: { SIGNALBOX_AGENT_SOCKET: "/no/such/agent.sock" } });
  expect(await run.ended).toEqual({ code: 0, signal: null, err: "", out: formatFallback("none") });
});

test.each(Object.entries(HEAP_LIMITS))(
  "%s: Node gets its limits at once, and need not start twice",
  async (name, limits) => {
    const { out } = await launch([name, "run"]).ended;
    expect(out).toBe(`${formatFallback("none", `${name} run`)}limits= ${limits.join(" ")}\n`);
  },
);

test("what earlier calls left in the environment does not reach Node", async () => {
  const env = { SIGNALBOX_AGENT: "never", SIGNALBOX_CALL: "old", SIGNALBOX_FALLBACK: "old" };
  expect(await launch(WORDS, { env }).ended).toMatchObject({ out: formatFallback("none") });
});

test("a socket without a listener", async () => {
  const path = createSocketPath();
  const server = await listenOn(`${path}.draft`);
  renameSync(`${path}.draft`, path); // Node removes only the name it knows
  await new Promise((resolve) => server.close(resolve));
  const { out } = await launch(WORDS, { env: { SIGNALBOX_AGENT_SOCKET: path } }).ended;
  expect(out).toBe(formatFallback("no process listens at the agent's socket"));
});

const FOREIGN = "the agent's socket, its folder or the process behind it belongs to another user";
const NO_SOCKET = "the file at the path of the agent's socket is not a socket";

test("a file that is no socket, and a link to a socket", async () => {
  const agent = await startAgent();
  const folder = createFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync(agent.path, join(folder, "link"));
  for (const name of ["file", "link"]) {
    const { out } = await launch(WORDS, { env: { SIGNALBOX_AGENT_SOCKET: join(folder, name) } }).ended;
    expect(out).toBe(formatFallback(NO_SOCKET));
  }
  const env = { SIGNALBOX_AGENT: "always", SIGNALBOX_AGENT_SOCKET: join(folder, "file") };
  expect(await launch(WORDS, { env }).ended).toMatchObject({
    code: 69,
    err: expect.stringContaining(`no agent serves this call: ${NO_SOCKET};`),
  });
  expect(agent.connections).toBe(0);
});

test("a folder in which others may write, unless it is sticky", async () => {
  const folder = createFolder();
  const agent = await startAgent(join(folder, "agent.sock"));
  chmodSync(folder, 0o777);
  expect(await launchRun(agent).ended).toMatchObject({ out: formatFallback(FOREIGN) });
  expect(agent.connections).toBe(0);
  chmodSync(folder, 0o1777);
  const run = launchRun(agent);
  await serveRun(await agent.accept(), "exit 0");
  expect(await run.ended).toMatchObject({ code: 0, out: "" });
});

test.runIf(isRoot)("a socket that another user has put there", async () => {
  const agent = await startAgent();
  chownSync(agent.path, NOBODY, NOBODY);
  expect(await launchRun(agent).ended).toMatchObject({ code: 0, out: formatFallback(FOREIGN) });
  const { code, err } = await launchRun(agent, ["true"], { env: { SIGNALBOX_AGENT: "always" } }).ended;
  expect({ code, err }).toEqual({
    code: 77,
    err: `signalbox: no agent serves this call: ${FOREIGN}; start one with \`signalbox agent\`, or use --agent auto\n`,
  });
  expect(agent.connections).toBe(0);
});

test.runIf(isRoot)("a folder of another user", async () => {
  const folder = createFolder();
  const agent = await startAgent(join(folder, "agent.sock"));
  chownSync(folder, NOBODY, NOBODY);
  expect(await launchRun(agent).ended).toMatchObject({ out: formatFallback(FOREIGN) });
});

test.runIf(isRoot)("a process of another user that listens behind a trusted name", async () => {
  const folder = createFolder();
  chownSync(folder, NOBODY, NOBODY);
  process.seteuid?.(NOBODY); // the kernel keeps who called listen(2)
  const agent = await startAgent(join(folder, "agent.sock")).finally(() => process.seteuid?.(0));
  chownSync(folder, 0, 0);
  chownSync(agent.path, 0, 0);
  expect(await launchRun(agent).ended).toMatchObject({ out: formatFallback(FOREIGN) });
  expect(agent.connections === 0 || (await agent.accept()).frames.length === 0, "nothing was sent").toBe(
    true,
  );
});

test.runIf(isRoot)("an ordinary user trusts the agent of root, but no other user's", async () => {
  const agent = await startAgent(createSocketPath());
  chmodSync(agent.path, 0o666);
  const before = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"];
  const run = launchRun(agent, ["true"], { before });
  await serveRun(await agent.accept(), "exit 0");
  expect(await run.ended).toMatchObject({ code: 0, out: "" });
  chmodSync(agent.path, 0o600);
  const { out } = await launchRun(agent, ["true"], { before }).ended;
  expect(out).toBe(formatFallback("no permission for the agent's socket"));
  chownSync(agent.path, NOBODY - 1, NOBODY - 1);
  expect(await launchRun(agent, ["true"], { before }).ended).toMatchObject({ out: formatFallback(FOREIGN) });
});

test("the agent is told whether its caller has a configuration file, and need not look for it", async () => {
  const agent = await startAgent();
  const [home, other] = [createFolder(), createFolder()];
  mkdirSync(join(home, ".config/signalbox"), { recursive: true });
  writeFileSync(join(home, ".config/signalbox/config.json"), "{}");
  const cases: [Record<string, string | undefined>, bigint][] = [
    [{ HOME: home }, 1n],
    [{ HOME: other }, 0n],
    [{ HOME: home, XDG_CONFIG_HOME: other }, 0n],
    [{ HOME: other, XDG_CONFIG_HOME: join(home, ".config") }, 1n],
    [{ HOME: home, XDG_CONFIG_HOME: "relative" }, 1n],
    [{ HOME: "." }, 0n],
  ];
  for (const [env, expected] of cases) {
    const run = launchRun(agent, ["true"], { env: { XDG_CONFIG_HOME: undefined, ...env } });
    const connection = await agent.accept();
    const { a } = await connection.waitFor(FROM_LAUNCHER.words);
    connection.send(TO_LAUNCHER.declined);
    await run.ended;
    expect([env, a]).toEqual([env, expected]);
  }
});

test("an agent that declines, and says why", async () => {
  const agent = await startAgent();
  const decline = async () => {
    const connection = await agent.accept();
    await connection.waitForCall();
    connection.send(TO_LAUNCHER.declined, 0n, 0n, "other \u001bendpoints");
  };
  const [auto] = await Promise.all([launchRun(agent).ended, decline()]);
  expect(auto).toMatchObject({ code: 0, out: formatFallback("other endpoints") });
  const env = { SIGNALBOX_AGENT: "always" };
  const [always] = await Promise.all([launchRun(agent, ["true"], { env }).ended, decline()]);
  expect(always).toMatchObject({
    code: 69,
    out: "",
    err: expect.stringContaining("other endpoints; start one"),
  });
});

test("with always, an agent that answers late serves the run: nothing else would", async () => {
  const agent = await startAgent();
  const run = launchRun(agent, ["true"], { env: { SIGNALBOX_AGENT: "always" } });
  const connection = await agent.accept();
  await pause(11_000); // without always, a run falls back after three seconds
  await serveRun(connection, "exit 0");
  expect(await run.ended).toExit(0);
});

test("an agent that never answers, and one that does not even read", async () => {
  const { agent, run } = await startCall();
  expect(await run.ended).toMatchObject({ out: formatFallback("the agent does not answer in time") });
  const unread = launchLongRun(agent);
  (await agent.accept()).freeze();
  expect((await unread.ended).out).toContain("fallback=the agent does not ");
});

/** Starts a run whose call is larger than what a socket takes unread. */
function launchLongRun(agent: FakeAgent) {
  const words = Array.from({ length: 4 }, () => "x".repeat(100_000));
  return launchRun(agent, words, { env: { PATH: `${createNodeFolder()}:/usr/bin:/bin` } });
}

test("an agent that declines before it has read the call", async () => {
  const agent = await startAgent();
  const run = launchLongRun(agent);
  const connection = await agent.accept();
  connection.freeze();
  connection.send(TO_LAUNCHER.declined, 0n, 0n, "not this user");
  connection.close();
  expect((await run.ended).out).toContain("fallback=not this user\n");
});

test("an agent that ends the connection before it has accepted", async () => {
  const { run, connection } = await startCall();
  connection.close();
  expect(await run.ended).toMatchObject({ out: formatFallback("the agent has ended the connection") });
});

test("an agent of another version", async () => {
  const { run, connection } = await startCall();
  connection.send(TO_LAUNCHER.accepted, 2n);
  expect(await run.ended).toMatchObject({ out: formatFallback("the agent is of another version") });
});

test("an agent with more calls than it accepts", async () => {
  const path = createSocketPath();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen({ path, backlog: 1 }, resolve));
  onTestFinished(() => void server.close());
  const PATH = `${createNodeFolder()}:${process.env.PATH}`;
  const env = { ...process.env, PATH, SIGNALBOX_AGENT_SOCKET: path };
  const script = `for i in 1 2 3 4 5 6; do ${installLauncher()} run --lock x -- true & done; wait`; // this process accepts nothing meanwhile
  const out = execFileSync("sh", ["-c", script], { env, encoding: "utf8" });
  expect(out.match(/fallback=too many calls wait for the agent/g)?.length).toBeGreaterThanOrEqual(3);
  expect(out.match(/words=run --lock x -- true/g)).toHaveLength(6);
});

test.each([
  ["run", "--dry-run", "--lock", "x", "--", "true"],
  ["run", "--help"],
  ["run", "-h"],
  ["run", "--agent", "never", "--lock", "x", "--", "true"],
  ["run", "--agent=never", "--lock", "x", "--", "true"],
  ["run", "--agent=sometimes", "--lock", "x", "--", "true"],
  ["ls", "locks"],
  ["--version"],
  ["cronlock", "--help"],
])("%s %s is for Node at once", async (...words) => {
  const agent = await startAgent();
  const run = launch(words, { env: { SIGNALBOX_AGENT_SOCKET: agent.path } });
  expect(await run.ended).toMatchObject({ code: 0, out: formatFallback("none", words.join(" ")) });
  expect(agent.connections).toBe(0);
});

test("the option wins over the variable, an empty variable is none, and words of the command are no options", async () => {
  const agent = await startAgent();
  const env = { SIGNALBOX_AGENT: "never", SIGNALBOX_AGENT_SOCKET: "/no/such/agent.sock" };
  const words = [
    ..."run --agent=auto --agent-socket".split(" "),
    agent.path,
    ..."--lock x -- job --dry-run".split(" "),
  ];
  launch(words, { env });
  const { words: received } = await (await agent.accept()).waitForCall();
  expect(received).toEqual(words);
  expect((await startCall(undefined, { env: { SIGNALBOX_AGENT: "" } })).call).toMatchObject({ stage: 0 });
});

test("with always and without an agent nothing runs", async () => {
  const env = { SIGNALBOX_AGENT_SOCKET: "/no/such/agent.sock" };
  const { code, out, err } = await launch(["run", "--agent", "always", ...WORDS.slice(1)], { env }).ended;
  expect({ code, out, err }).toEqual({
    code: 69,
    out: "",
    err: "signalbox: no agent serves this call: there is no socket; start one with `signalbox agent`, or use --agent auto\n",
  });
});

test("without Node the remedy is named", async () => {
  const { code, err } = await launch(["ls"], { env: { PATH: "/nowhere" } }).ended;
  expect(code).toBe(78);
  expect(err).toMatch(/^signalbox: cannot start Node\.js: .*; install Node\.js 22\.14 or later/);
});

test("at a terminal, a Node that is too old is reported before it is started", () => {
  const PATH = `${createNodeFolder('#!/bin/sh\n[ "$1" != --disable-sigusr1 ] || exit 9\n')}:${process.env.PATH}`;
  const words = ["-qec", `${installLauncher()} ls`, "/dev/null"];
  const { status, stdout } = spawnSync("script", words, { env: { PATH }, encoding: "utf8" });
  expect({ status, stdout }).toEqual({
    status: 78,
    stdout: expect.stringMatching(
      /^signalbox: cannot use the Node\.js in PATH: it is too old; install Node\.js 22\.14/,
    ),
  });
});

test("a USR1 that arrives before Node is started does not end the launcher, and waits for signalbox", () => {
  const node = createNodeFolder(`#!/bin/sh
[ "$2" != --version ] || kill -USR1 $PPID
[ "$2" = --version ] || exec grep ^ShdPnd /proc/self/status
`);
  const env = { PATH: `${node}:${process.env.PATH}` };
  const words = ["-qec", `${installLauncher()} ls`, "/dev/null"]; // at a terminal, it asks Node for its version
  const { status, stdout } = spawnSync("script", words, { env, encoding: "utf8" });
  expect({ status, stdout: stdout.trim() }).toEqual({ status: 0, stdout: "ShdPnd:\t0000000000000200" });
});

test("the program of a clone starts the clone's Node, by a link and whatever Node is in the PATH", () => {
  const link = join(createFolder(), "signalbox");
  symlinkSync(join(dirname(BUNDLE), "signalbox"), link);
  const env = { PATH: `${createNodeFolder()}:/usr/bin:/bin`, SIGNALBOX_AGENT: "never" };
  expect(execFileSync(link, ["--version"], { env, encoding: "utf8" })).toContain(VERSION);
});

test("Node gets signals, masks and dispositions as the caller has set them", async () => {
  const folder = createNodeFolder("#!/bin/sh\nexec grep '^Sig[^Q]' /proc/self/status\n");
  const PATH = `${folder}:${process.env.PATH}`;
  const direct = await launch(WORDS, { env: { PATH, SIGNALBOX_AGENT: "never" } }).ended;
  const { run, connection } = await startCall(undefined, { env: { PATH } });
  connection.close();
  expect((await run.ended).out).toBe(direct.out);
});

test("a link that is named after a front end calls it", async () => {
  const agent = await startAgent();
  const env = { SIGNALBOX_AGENT_SOCKET: agent.path, CRONLOCK_KEY: "k", DEBUG: "1" };
  launch(["job", "word"], { env, name: "/usr/local/bin/cronlock" });
  const call = await (await agent.accept()).waitForCall();
  expect(call.words).toEqual(["cronlock", "job", "word"]);
  expect(call.settings).toContain("CRONLOCK_KEY=k");
  expect(call.settings).not.toContain("DEBUG=1");
  const other = launch(["-e", "test", "job"], { env, name: "perfectsched" });
  expect(await other.ended).toMatchObject({ out: formatFallback("none", "perfectsched -e test job") });
});
