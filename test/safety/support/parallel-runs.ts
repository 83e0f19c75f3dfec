/** Many parallel runs, some of which are killed. */

import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import type { Job } from "../../../fixtures/cluster/test-jobs.ts";
import { splitWords } from "../../../fixtures/cluster/test-jobs.ts";
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { ProcessResult } from "../../../fixtures/signalbox.ts";
import { countStalls } from "../../../fixtures/steady.ts";

/** When a runner gets SIGKILL: a while after it was spawned, or after its command has started. Milliseconds. */
export type KillTime = { after: "spawn" | "start"; ms: number };

export interface ParallelRun extends Job {
  killAt?: KillTime | undefined;
}

/** So that what a killed runner held is soon free. */
const SHORT_SESSION = ["--ttl", "2s", "--termination-timeout", "300ms"];
/** Nothing may cost the others their claim, not even a machine that stands still. */
const LONG_SESSION = ["--ttl", "2m"];

/**
 * Runs all members, so many at a time, which must never use more than the total together. Nothing may cost those that are not
 * killed their claim, nor make them say a word. One that does not wait may find its claim taken.
 */
export async function runInParallel(
  namespace: TestNamespace,
  members: readonly ParallelRun[],
  workers: number,
  total = 1,
): Promise<void> {
  const left = [...members];
  const faults: string[] = [];
  const work = async () => {
    for (let member = left.shift(); member !== undefined; member = left.shift()) {
      const { code, stdout, stderr } = await executeRun(namespace, member);
      const isFine = code !== null && listExpectedCodes(member).includes(code) && stdout + stderr === "";
      if (!isFine && member.killAt === undefined)
        faults.push(`${member.name} ended with ${code}, saying: ${stdout}${stderr}`);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  const { journal } = namespace.jobs;
  expect(journal.findOveruse(total)).toEqual([]);
  expect(faults, journal.formatTimeline()).toEqual([]);
}

const listExpectedCodes = ({ options }: ParallelRun) =>
  ["--wait", "--no-lock"].some((option) => options.includes(option)) ? [0] : [0, 75];

async function executeRun(namespace: TestNamespace, member: ParallelRun): Promise<ProcessResult> {
  const { killAt, options } = member;
  const before = countStalls();
  const ttl = killAt === undefined ? LONG_SESSION : SHORT_SESSION;
  const running = namespace.jobs.start({ ...member, options: [...ttl, ...splitWords(options)] });
  if (killAt !== undefined) {
    const over = new AbortController();
    void running.ended.then(() => over.abort());
    await waitForKillTime(namespace, member, killAt, over.signal);
    running.kill("SIGKILL");
  }
  const ended = await running.ended;
  return countStalls() === before ? ended : { ...ended, stderr: ended.stderr.replace(UNANSWERED, "") };
}

/** What a run says where no answer comes: on a machine that stands still for two seconds that may happen. */
const UNANSWERED =
  /^signalbox: warn: (the claim was not freed; it ends with its session|etcd does not answer, the session was not renewed) .*\n/gm;

/** Waits until a run should be killed, or until it has ended. */
async function waitForKillTime(
  namespace: TestNamespace,
  { name }: ParallelRun,
  killAt: KillTime,
  over: AbortSignal,
): Promise<void> {
  while (killAt.after === "start" && !over.aborted && !namespace.jobs.journal.findLine(name, "start"))
    await pause(10);
  await pause(killAt.ms, undefined, { signal: over }).catch(() => {});
}
