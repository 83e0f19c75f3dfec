/** Runs that an agent serves: what the command gets, what the caller gets. */
import { readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { FROM_LAUNCHER, STAGE, TO_LAUNCHER } from "../../fixtures/process/fake-agent.ts";
import { listMarkedProcesses } from "../../fixtures/process/marked-processes.ts";
import {
  encodeFrame,
  encodeWords,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
} from "../../src/process/guarded-command/wire.ts";
import { listCommandLines, listRemains } from "./helpers.ts";
import {
  createFolder,
  type LaunchOptions,
  launch,
  launchRun,
  serveEnd,
  serveStart,
  startAgent,
  startServed,
} from "./launcher-helpers.ts";

/** Runs a command to its end. */
async function runServed(command: string[], options: LaunchOptions = {}, additions = {}) {
  const agent = await startAgent();
  const run = launchRun(agent, command, options);
  const connection = await agent.accept();
  await serveStart(connection, command, undefined, additions);
  const end = await serveEnd(connection);
  return { ...(await run.ended), end };
}

const runScript = (script: string, options?: LaunchOptions, additions?: object) =>
  runServed(["sh", "-c", script], options, additions);

test.each([
  ["exit 0", 0],
  ["exit 42", 42],
  ["kill -TERM $$", 143],
  ["kill -KILL $$", 137],
])("`%s` ends the launcher with %i, and nothing is said", async (script, code) => {
  const { end, ...run } = await runScript(script);
  expect(end).toMatchObject({ bits: 0, guardians: 0 });
  expect(run).toEqual({ code, signal: null, out: "", err: "" });
});

test("the call names the process, its folder, all words, and only settings", async () => {
  const agent = await startAgent();
  const cwd = createFolder();
  const env = {
    SIGNALBOX_TTL: "3s",
    ETCDCTL_ENDPOINTS: "e:1",
    SECRET: "no",
    HOMELESS: "no",
    SIGNALBOX_CALL: "no",
  };
  const run = launchRun(agent, ["job", "", "a b", "é"], { cwd, env });
  const call = await (await agent.accept()).waitForCall();
  expect(call).toMatchObject({
    version: 1,
    pid: run.pid,
    parent: process.pid,
    folder: cwd,
    note: undefined,
    stage: STAGE.isNew,
    connection: 0,
    words: ["run", "--lock", "x", "--", "job", "", "a b", "é"],
  });
  expect(Math.abs(Number(call.boot - process.hrtime.bigint()) / 1e9), "boot clock, s").toBeLessThan(60);
  expect(call.settings).toEqual(
    expect.arrayContaining(["SIGNALBOX_TTL=3s", "ETCDCTL_ENDPOINTS=e:1", `HOME=${process.env.HOME}`]),
  );
  const allowed =
    /^(SIGNALBOX_|ETCDCTL_|CRONLOCK_)|^(HOME|XDG_CONFIG_HOME|XDG_RUNTIME_DIR|LOGNAME|USER|TZ|SHELL)=/;
  expect(
    call.settings.filter((entry) => !allowed.test(entry) || entry.startsWith("SIGNALBOX_CALL=")),
  ).toEqual([]);
});

test("folder, umask, limits, priority, groups, oom score and cgroup of the caller arrive at the command", async () => {
  const script =
    "pwd; umask; ulimit -a; nice; id; cat /proc/self/oom_score_adj; grep -v 0:: /proc/self/cgroup";
  const before = ["sh", "-c", 'umask 027; ulimit -n 77; ulimit -c 0; exec nice -n 3 "$@"', "sh"];
  const cwd = createFolder();
  const direct = await launch([], { cwd, before: [...before, "sh", "-c", script] }).ended;
  expect((await runScript(script, { cwd, before })).out).toBe(direct.out);
});

test.each(["cat", "cat >&2"])("input and output are those of the caller: `%s`", async (script) => {
  const text = "x".repeat(300_000);
  const { end, ...run } = await runScript(script, { input: text });
  const [out, err] = script === "cat" ? [text, ""] : ["", text];
  expect(run).toEqual({ code: 0, signal: null, out, err });
});

test("the environment: inherited, extended, replaced, and variables removed", async () => {
  const env = { KEPT: "1", REPLACED: "old", REMOVED: "x", SIGNALBOX_PASSWORD: "secret" };
  const additions = {
    environment: "REPLACED=new\0REMOVED\0SIGNALBOX_PASSWORD\0",
    extra: "SIGNALBOX_TOKEN=7\0",
  };
  const script =
    'echo "$KEPT $REPLACED $SIGNALBOX_TOKEN"; env | grep -E "^(REMOVED|SIGNALBOX_PASSWORD)" || echo removed';
  expect((await runScript(script, { env }, additions)).out).toBe("1 new 7\nremoved\n");
});

test("the command has default signals, and a group and a session of its own", async () => {
  const script =
    "head -c 2000 /proc/self/status | grep Sig[BIC]; read a b c parent group session rest </proc/$$/stat; echo $$ $group";
  const { out } = await runScript(`exec 2>&1; ${script}`);
  const lines = out.trim().split("\n");
  expect(lines.slice(0, 3).join("\n")).toMatch(/^SigBlk:\t0+\nSigIgn:\t0+\nSigCgt:\t0+$/);
  const [pid, group] = lines[3]?.split(" ") ?? [];
  expect(group).toBe(pid);
});

test("a launcher whose standard descriptors are closed", async () => {
  const before = ["sh", "-c", 'exec <&- >&- 2>&-; exec "$@"', "sh"];
  const { code, out } = await runScript("cat; exit 3", { before });
  expect({ code, out }).toEqual({ code: 3, out: "" });
});

test("guardians show no word of the call, and hold none of its streams", async () => {
  const { outer, inner, run, connection } = await startServed(["sleep", "30"]);
  const lines = listCommandLines().filter(({ pid }) => pid === outer || pid === inner);
  expect(lines.map(({ cmdline }) => cmdline.replaceAll("\0", ""))).toEqual(["sbxgd", "sbxgd"]);
  const names = listMarkedProcesses(run.mark).map(({ name }) => name);
  expect(names.toSorted()).toEqual(["launcher", "sbxgd", "sbxgd", "sleep"]);
  for (const pid of [outer, inner])
    for (const fd of [0, 1, 2]) expect(readlinkSync(`/proc/${pid}/fd/${fd}`)).toBe("/dev/null");
  connection.send(GUARDIAN_REQUEST.terminate, 0n);
  await serveEnd(connection);
});

test("a command that cannot be started", async () => {
  const agent = await startAgent();
  const run = launchRun(agent);
  const connection = await agent.accept();
  const started = serveStart(connection, ["/no/such/command"]).catch(() => {});
  expect(Number((await connection.waitFor(GUARDIAN_EVENT.failed)).a)).toBe(2);
  await connection.waitFor(GUARDIAN_EVENT.gone);
  connection.send(TO_LAUNCHER.write, 2n, 0n, "signalbox: cannot start it\n");
  connection.send(GUARDIAN_REQUEST.release);
  await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  connection.send(TO_LAUNCHER.end, 127n);
  expect(await run.ended).toEqual({ code: 127, signal: null, out: "", err: "signalbox: cannot start it\n" });
  connection.close();
  await started;
});

test("all frames of a start at once, with GUARD in their middle", async () => {
  const agent = await startAgent();
  const run = launchRun(agent);
  const connection = await agent.accept();
  const { boot } = await connection.waitForCall();
  const deadlines = encodeFrame(GUARDIAN_REQUEST.arm, boot + 20_000_000_000n, boot + 21_000_000_000n);
  const start = [deadlines, ...encodeWords(["sh", "-c", "exit 5"]), encodeFrame(GUARDIAN_REQUEST.start)];
  const head = [
    encodeFrame(TO_LAUNCHER.accepted, 1n),
    encodeFrame(TO_LAUNCHER.later, 1n),
    encodeFrame(TO_LAUNCHER.guard),
  ];
  connection.sendBytes(Buffer.concat([...head, ...start]));
  await serveEnd(connection);
  expect(await run.ended).toMatchObject({ code: 5 });
});

test("the agent's messages, before, while and after the command runs; kinds of later versions are ignored", async () => {
  const agent = await startAgent();
  const run = launchRun(agent);
  const connection = await agent.accept();
  await connection.waitForCall();
  connection.send(TO_LAUNCHER.accepted, 1n);
  connection.send(TO_LAUNCHER.write, 2n, 0n, "waiting\n");
  connection.send(TO_LAUNCHER.later, 0n, 0n, "?");
  await serveStart(connection, ["sleep", "30"]);
  connection.send(TO_LAUNCHER.later + 7, 0n, 0n, "?");
  connection.send(TO_LAUNCHER.write, 2n, 0n, "running\n");
  connection.send(TO_LAUNCHER.write, 1n, 0n, "x".repeat(60_000));
  connection.send(GUARDIAN_REQUEST.terminate, 0n);
  await connection.waitFor(GUARDIAN_EVENT.gone);
  connection.send(GUARDIAN_REQUEST.release);
  await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  connection.send(TO_LAUNCHER.write, 2n, 0n, "ended\n");
  connection.send(TO_LAUNCHER.end, 124n);
  expect(await run.ended).toEqual({
    code: 124,
    signal: null,
    out: "x".repeat(60_000),
    err: "waiting\nrunning\nended\n",
  });
});

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const)(
  "%s reaches the agent while the launcher waits, and then the command",
  async (name) => {
    const agent = await startAgent();
    const run = launchRun(agent);
    const connection = await agent.accept();
    await connection.waitForCall();
    connection.send(TO_LAUNCHER.accepted, 1n);
    run.process.kill(name);
    const waiting = await connection.waitFor(FROM_LAUNCHER.signalled);
    expect(Number(waiting.b)).toBe(0);
    await serveStart(connection, ["sleep", "30"]);
    run.process.kill(name);
    expect(await connection.waitFor(FROM_LAUNCHER.signalled)).toMatchObject({ a: waiting.a, b: 1n });
    expect((await serveEnd(connection)).status & 0x7f).toBe(Number(waiting.a));
    expect((await run.ended).code).toBe(128 + Number(waiting.a));
  },
);

test("the agent ends a waiting call", async () => {
  const agent = await startAgent();
  const run = launchRun(agent);
  const connection = await agent.accept();
  await connection.waitForCall();
  connection.send(TO_LAUNCHER.accepted, 1n);
  connection.send(TO_LAUNCHER.end, 75n);
  expect(await run.ended).toEqual({ code: 75, signal: null, out: "", err: "" });
});

test("a released command keeps what it has left in the background", async () => {
  const { run, connection } = await startServed(["sh", "-c", "setsid sleep 30 >/dev/null 2>&1 &"]);
  const exited = await connection.waitFor(GUARDIAN_EVENT.exited);
  expect(Number(exited.b)).toBe(1);
  connection.send(GUARDIAN_REQUEST.release);
  const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  expect(Number(ended.a)).toBe(3 << 8);
  connection.send(TO_LAUNCHER.end, 0n);
  expect(await run.ended).toMatchObject({ code: 0 });
  expect(listRemains(run.mark)).toEqual(["sleep"]);
});

test("a command line of one mebibyte, both to the agent and to the command", async () => {
  const words = Array.from({ length: 10 }, (_, at) => String.fromCharCode(97 + at).repeat(100_000));
  const agent = await startAgent();
  const run = launchRun(agent, words);
  const connection = await agent.accept();
  await serveStart(connection, ["sh", "-c", 'printf "%s" "$#-$*" | wc -c', "sh", ...words]);
  expect(connection.readCall().words.slice(4)).toEqual(words);
  await serveEnd(connection);
  expect(await run.ended).toMatchObject({ code: 0, out: `${3 + 10 * 100_000 + 9}\n` });
  const tooLong = launchRun(agent, [...words, "k".repeat(100_000)]);
  expect((await tooLong.ended).out).toMatch(/^fallback=the command line is longer than 1 MiB\n/);
});

test("ten at once", async () => {
  const agent = await startAgent();
  const runs = Array.from({ length: 10 }, () => launchRun(agent));
  await Promise.all(
    runs.map(async () => {
      const connection = await agent.accept();
      const { pid } = await connection.waitForCall();
      connection.send(TO_LAUNCHER.accepted, 1n);
      connection.send(TO_LAUNCHER.guard);
      const hello = await connection.waitFor(GUARDIAN_EVENT.hello);
      connection.send(GUARDIAN_REQUEST.arm, hello.a + 20_000_000_000n, hello.a + 21_000_000_000n);
      for (const frame of encodeWords(["sh", "-c", `exit ${pid % 100}`])) connection.sendBytes(frame);
      connection.send(GUARDIAN_REQUEST.start);
      await serveEnd(connection);
    }),
  );
  for (const run of runs) expect((await run.ended).code).toBe(run.pid % 100);
});

test("children of the shell that the launcher has replaced live on", async () => {
  const agent = await startAgent();
  const before = ["sh", "-c", 'sleep 4031 >/dev/null 2>&1 & exec "$@"', "sh"];
  const run = launchRun(agent, ["sleep", "4030"], { before });
  const connection = await agent.accept();
  const { outer, inner } = await serveStart(connection, ["sh", "-c", "setsid sleep 4032 & sleep 4030"]);
  for (const signal of ["SIGSTOP", "SIGKILL"] as const) {
    process.kill(inner, signal);
    process.kill(outer, signal);
  }
  const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  expect(Number(ended.a)).toBe(9);
  expect(listCommandLines().filter(({ cmdline }) => /^sleep\0(4030|4032)\0$/.test(cmdline)).length).toBe(0);
  expect(listRemains(run.mark).toSorted()).toEqual(["launcher", "sleep"]);
  connection.send(TO_LAUNCHER.end, 125n);
  expect((await run.ended).code).toBe(125);
});
