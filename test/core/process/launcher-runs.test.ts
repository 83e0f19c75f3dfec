/** Runs that an agent serves: what the command gets, what the caller gets. */
import { readlinkSync } from "node:fs";
import { expect, test } from "vitest";
import { createFolder } from "../../../fixtures/process/agent-socket.ts";
import { FROM_LAUNCHER, STAGE, TO_LAUNCHER } from "../../../fixtures/process/fake-agent.ts";
import {
  killTogether,
  listCommandLines,
  listRemains,
  waitForSleepers,
} from "../../../fixtures/process/guarded-processes.ts";
import {
  type LaunchOptions,
  launch,
  launchRun,
  readBootTime,
  serveEnd,
  serveStart,
  startCall,
  startServed,
} from "../../../fixtures/process/launcher.ts";
import { listMarkedProcesses } from "../../../fixtures/process/marked-processes.ts";
import {
  encodeFrame,
  encodeWords,
  GUARDIAN_EVENT,
  GUARDIAN_REQUEST,
} from "../../../src/core/process/guarded-command/wire.ts";

/** Serves a script to its end. */
async function runScript(script: string, options?: LaunchOptions, additions?: object) {
  const { run, connection } = await startCall(undefined, options);
  await serveStart(connection, ["sh", "-c", script], undefined, additions);
  await serveEnd(connection);
  return await run.ended;
}

test("the call names the process, its folder, all words, and only settings", async () => {
  const cwd = createFolder();
  const secrets = { SECRET: "no", HOMELESS: "no", SIGNALBOX_CALL: "no" };
  const env = { SIGNALBOX_TTL: "3s", ETCDCTL_ENDPOINTS: "e:1", ...secrets };
  const { run, call } = await startCall(["job", "", "a b", "é"], { cwd, env });
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
  expect(Math.abs(Number(call.boot - readBootTime()) / 1e9), "boot clock, s").toBeLessThan(60);
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

test("all frames of a start at once, with GUARD in their middle", async () => {
  const { run, connection, call } = await startCall();
  const { boot } = call;
  const { accepted, later, guard } = TO_LAUNCHER;
  const frames = [
    encodeFrame(accepted, 1n),
    encodeFrame(later, 1n),
    encodeFrame(guard),
    encodeFrame(GUARDIAN_REQUEST.arm, boot + 20_000_000_000n, boot + 21_000_000_000n),
    ...encodeWords(["sh", "-c", "exit 5"]),
    encodeFrame(GUARDIAN_REQUEST.start),
  ];
  connection.sendBytes(Buffer.concat(frames));
  await serveEnd(connection);
  expect(await run.ended).toExit(5);
});

test("the agent's messages, before, while and after the command runs; kinds of later versions are ignored", async () => {
  const { run, connection } = await startCall();
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
    const { run, connection } = await startCall();
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

test("a released command keeps what it has left in the background", async () => {
  const { run, connection } = await startServed(["sh", "-c", "setsid sleep 30 >/dev/null 2>&1 &"]);
  const exited = await connection.waitFor(GUARDIAN_EVENT.exited);
  expect(Number(exited.b)).toBe(1);
  connection.send(GUARDIAN_REQUEST.release);
  const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  expect(Number(ended.a)).toBe(3 << 8);
  connection.send(TO_LAUNCHER.end, 0n);
  expect(await run.ended).toExit(0);
  await waitForSleepers(run.mark, 1); // until then it is `setsid`
  expect(listRemains(run.mark)).toEqual(["sleep"]);
});

test("a command line of one mebibyte, both to the agent and to the command", async () => {
  const words = Array.from({ length: 10 }, (_, at) => String.fromCharCode(97 + at).repeat(100_000));
  const { agent, run, connection, call } = await startCall(words);
  expect(call.words.slice(4)).toEqual(words);
  await serveStart(connection, ["sh", "-c", 'printf "%s" "$#-$*" | wc -c', "sh", ...words]);
  await serveEnd(connection);
  expect(await run.ended).toMatchObject({ code: 0, out: `${3 + 10 * 100_000 + 9}\n` });
  const tooLong = launchRun(agent, [...words, "k".repeat(100_000)]);
  expect((await tooLong.ended).out).toMatch(/^fallback=the command line is longer than 1 MiB\n/);
});

test("children of the shell that the launcher has replaced live on", async () => {
  const before = ["sh", "-c", 'sleep 4031 >/dev/null 2>&1 & exec "$@"', "sh"];
  const script = "setsid sleep 4032 & sleep 4030";
  const { run, connection, outer, inner } = await startServed(["sh", "-c", script], undefined, { before });
  killTogether(outer, inner);
  const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
  expect(Number(ended.a)).toBe(9);
  expect(listCommandLines().filter(({ cmdline }) => /^sleep\0(4030|4032)\0$/.test(cmdline)).length).toBe(0);
  expect(listRemains(run.mark).toSorted()).toEqual(["launcher", "sleep"]);
  connection.send(TO_LAUNCHER.end, 125n);
  expect(await run.ended).toExit(125);
});
