import { expect, test } from "vitest";
import type { RunnerOrder } from "../../fixtures/process/runner.ts";
import { fixture, kill, marked, newMark, newOutput, runner, untilDead } from "./helpers.ts";

/** Runs `one` for every item, three at a time. */
async function inLanes<T, R>(items: T[], one: (item: T) => Promise<R>): Promise<R[]> {
  const todo = items.entries();
  const results: R[] = [];
  const lane = async () => {
    for (const [at, item] of todo) results[at] = await one(item);
  };
  await Promise.all([lane(), lane(), lane()]);
  return results;
}

const spin = async (ms: number) => {
  for (const end = performance.now() + ms; performance.now() < end; ) await new Promise(setImmediate);
};

/** SIGKILLs a runner some milliseconds after it began to spawn. @returns the milliseconds until all was dead */
async function killedAfter(ms: number): Promise<number> {
  const mark = newMark();
  const run = runner(mark, { command: [fixture("brood.sh")] });
  await run.event("spawning");
  await spin(ms);
  kill(run.pid, "SIGKILL");
  return untilDead(mark, 1000);
}

test("a runner SIGKILLed at any instant takes everything with it within a second", async () => {
  const instants = Array.from({ length: 30 }, (_, i) => (i < 15 ? i * 0.5 : 8 + Math.random() * 60));
  const took = await inLanes(instants, killedAfter);
  expect(Math.max(...took)).toBeLessThan(1000);
});

test("so does one that dies at a step of the start", async () => {
  const steps = ["spawned", "prepared", "ordered", "started"] satisfies RunnerOrder["dieAt"][];
  await inLanes([...steps, ...steps], async (dieAt) => {
    const mark = newMark();
    await runner(mark, { command: [fixture("brood.sh")], dieAt }).ended.catch(() => {});
    await untilDead(mark, 1000);
  });
});

/** Writes the uptime, in seconds, every 10 ms or so. Ignores SIGTERM, and so does what it starts. */
const METRONOME = `trap "" TERM; while :; do read up idle </proc/uptime; echo $up >>$OUT; sleep 0.01; done`;

test("a frozen runner's command is dead by its deadline", async () => {
  const mark = newMark();
  const out = newOutput();
  const order = {
    command: ["sh", "-c", METRONOME] satisfies [string, ...string[]],
    termIn: 300,
    killIn: 700,
  };
  const run = runner(mark, order, { OUT: out.path });
  const { killAtUptime = 0 } = await run.event("started");
  kill(run.pid, "SIGSTOP");
  await untilDead(mark, 3000, [run.pid]);
  const last = Number(out.lines().at(-1));
  expect(last).toBeGreaterThan(killAtUptime - 0.3);
  expect(last).toBeLessThanOrEqual(killAtUptime + 0.1); // room for the steps of the uptime, and for a busy machine
  kill(run.pid, "SIGCONT");
  expect((await run.ended).code).toBe(137);
});

test("a START whose deadline has passed starts nothing", async () => {
  const mark = newMark();
  const out = newOutput();
  const run = runner(
    mark,
    { command: ["sh", "-c", "echo ran >>$OUT"], termIn: 0, killIn: 0 },
    { OUT: out.path },
  );
  const { code, stderr } = await run.ended;
  expect(code).toBe(125);
  expect(stderr.toString()).toContain("was not started");
  expect(out.lines()).toEqual([]);
});

test("an unfrozen runner hears how its command ended", async () => {
  const mark = newMark();
  const run = runner(mark, { command: ["sleep", "30"], termIn: 200, killIn: 400 });
  await run.event("started");
  kill(run.pid, "SIGSTOP");
  await untilDead(mark, 3000, [run.pid]);
  expect(marked(mark).map(({ pid }) => pid)).toEqual([run.pid]);
  kill(run.pid, "SIGCONT");
  expect((await run.ended).code).toBe(143);
});
