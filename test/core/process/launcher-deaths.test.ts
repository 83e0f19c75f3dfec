/** Launchers and guardians that are killed, stopped or late while their command runs. */
import { spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { FROM_LAUNCHER, TO_LAUNCHER } from "../../../fixtures/process/fake-agent.ts";
import {
  createOutput,
  getFixturePath,
  killTogether,
  listRemains,
  WAYS,
  waitForSleepers,
  waitUntilDead,
} from "../../../fixtures/process/guarded-processes.ts";
import { readBootTime, sendDeadlines, serveEnd, startServed } from "../../../fixtures/process/launcher.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { GUARDIAN_EVENT, GUARDIAN_REQUEST } from "../../../src/core/process/guarded-command/wire.ts";

const DEAF = ["sh", "-c", "trap '' TERM; sleep 30; sleep 30"];

/** A process tree that is complete, see `startProcessTree`. */
async function startServedProcessTree(before: string[] = []) {
  const served = await startServed([getFixturePath("process-tree.sh")], undefined, { before });
  await waitForSleepers(served.run.mark, 8);
  return served;
}

const listCommand = (mark: string) => listRemains(mark).filter((name) => name !== "launcher");

describe.each(WAYS)("$name: all dead, and the agent is told", ({ before }) => {
  test("the launcher killed", async () => {
    const { run, connection } = await startServedProcessTree(before);
    killProcess(run.pid, "SIGKILL");
    expect(await connection.waitFor(GUARDIAN_EVENT.exited)).toMatchObject({ a: 9n, b: expect.anything() });
    await connection.waitFor(GUARDIAN_EVENT.gone);
    expect(listRemains(run.mark)).toEqual([]);
    connection.send(GUARDIAN_REQUEST.release);
    await connection.ended;
    await waitUntilDead(run.mark, 5_000);
  });

  test("the outer guardian killed", async () => {
    const { run, connection, outer } = await startServedProcessTree(before);
    killProcess(outer, "SIGKILL");
    const end = await serveEnd(connection, 125);
    expect(end).toMatchObject({ status: 9, guardians: 9 });
    expect(end.bits & 2).toBe(2);
    expect(await run.ended).toExit(125);
    expect(listCommand(run.mark)).toEqual([]);
  });

  test.each<[string, (guardians: Record<"inner" | "outer", number>) => void, number]>([
    ["the inner guardian killed", ({ inner }) => killProcess(inner, "SIGKILL"), 4 << 8],
    [
      "both guardians killed at once, by the launcher's hand",
      ({ outer, inner }) => killTogether(outer, inner),
      9,
    ],
  ])("%s", async (_, kill, status) => {
    const { run, connection, ...guardians } = await startServedProcessTree(before);
    kill(guardians);
    const ended = await connection.waitFor(FROM_LAUNCHER.guardiansEnded);
    expect(Number(ended.a)).toBe(status);
    expect(listCommand(run.mark)).toEqual([]);
    connection.send(TO_LAUNCHER.end, 125n);
    expect(await run.ended).toMatchObject({ code: 125, err: "" });
  });
});

test("pkill -f with a word of the job: only the launcher is found, and the command dies", async () => {
  const word = `job-${randomUUID()}`;
  const { run, connection } = await startServed(["sh", "-c", "sleep 30; :", word]);
  const { status } = spawnSync("pkill", ["-KILL", "-f", "-o", word]); // the oldest: the launcher, not this command itself
  expect(status).toBe(0);
  await connection.waitFor(GUARDIAN_EVENT.gone);
  connection.send(GUARDIAN_REQUEST.release);
  expect(await run.ended).toMatchObject({ code: null, signal: "SIGKILL" });
  await waitUntilDead(run.mark, 5_000);
});

test("both guardians and the launcher killed: the first process dies, and the connection ends", async () => {
  const { run, connection, inner, outer } = await startServed(["sleep", "30"]);
  killTogether(run.pid, inner, outer);
  await connection.ended;
  await waitUntilDead(run.mark, 5_000);
});

test("both guardians killed while the agent is away: all dead, exit code 125", async () => {
  const { agent, run, inner, outer } = await startServedProcessTree();
  for (const pid of [inner, outer]) killProcess(pid, "SIGSTOP");
  agent.stop();
  for (const pid of [outer, inner]) killProcess(pid, "SIGKILL"); // the outer one would report the death of the inner one
  expect(await run.ended).toMatchObject({
    code: 125,
    err: expect.stringContaining("freed when its session expires"),
  });
  expect(listRemains(run.mark)).toEqual([]);
});

test("stopped guardians are woken by the launcher, and keep their deadline", async () => {
  const { run, connection, inner, outer, boot } = await startServed(DEAF);
  for (const pid of [outer, inner]) killProcess(pid, "SIGSTOP");
  sendDeadlines(connection, boot, { termIn: 0, killIn: 1 });
  expect((await serveEnd(connection, 125)).bits & 2).toBe(2);
  expect(await run.ended).toExit(125);
});

test("all stopped past the deadline: a later deadline that waits in the socket does not save the command", async () => {
  const out = createOutput();
  const script = `trap '' TERM; echo up >>${out.path}; sleep 30; sleep 30`;
  const { run, connection, inner, outer, boot } = await startServed(["sh", "-c", script]);
  await waitUntil("its first line", () => out.lines().length > 0);
  const killAt = Number(readBootTime() - boot) / 1e6 + 300;
  sendDeadlines(connection, boot, { termIn: killAt, killIn: killAt });
  connection.send(GUARDIAN_REQUEST.ping);
  await connection.waitFor(GUARDIAN_EVENT.pong); // it has read the deadlines
  for (const pid of [run.pid, outer, inner]) killProcess(pid, "SIGSTOP");
  await waitUntil("the deadline", () => Number(readBootTime() - boot) / 1e6 > killAt + 100);
  sendDeadlines(connection, boot, { termIn: killAt + 20_000, killIn: killAt + 20_000 });
  for (const pid of [inner, outer, run.pid]) killProcess(pid, "SIGCONT");
  expect(await serveEnd(connection, 125)).toMatchObject({ status: 9 });
  expect(await run.ended).toExit(125);
});

test("TERM before KILL at the deadlines, and the agent hears of it", async () => {
  const script = "trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done";
  const { run, connection, boot } = await startServed(["sh", "-c", script]);
  await run.waitForOutput();
  sendDeadlines(connection, boot, { termIn: 0, killIn: 20_000 });
  expect(await serveEnd(connection, 125)).toMatchObject({ status: 9 << 8, bits: 2 });
  expect(await run.ended).toExit(125);
});
