/** Who kills a job by its name, or all of signalbox, ends its runner: whatever the job has started ends with it. */
import { chmodSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { retryAfterStalls } from "../../fixtures/steady.ts";
import { cmdlines, GUARDIAN, kill, marked, newSleeper, until } from "../process/helpers.ts";
import { death } from "./support/death.ts";
import { House, type Room, type Run } from "./support/house.ts";

const house = House.onEtcd();

/** A job whose children have other names, sessions of their own, and no word of it in their environment. */
function newJob(children: string): { path: string; name: string } {
  const name = `nightly-${Math.random().toString(36).slice(2)}.sh`;
  const path = join(dirname(house.file("")), name);
  writeFileSync(path, `#!/bin/sh\nsetsid env -i ${children} &\necho up\nwait\n`);
  chmodSync(path, 0o755);
  return { path, name };
}

/** As `pkill -9 -f PATTERN` and `pkill -9 PATTERN` do together, among the processes of one run. */
function killAllNamed(run: Run, pattern: string): string[] {
  const names = new Map(marked(run.mark).map(({ pid, name }) => [pid, name]));
  const shows = (pid: number, cmdline: string) => `${names.get(pid)}\n${cmdline.replaceAll("\0", " ")}`;
  const hit = cmdlines().filter(
    ({ pid, cmdline }) => names.has(pid) && shows(pid, cmdline).includes(pattern),
  );
  for (const { pid } of hit) kill(pid, "SIGKILL");
  return hit.map(({ cmdline }) => cmdline.replaceAll("\0", " "));
}

async function startJob(room: Room, words: (path: string) => string[]) {
  const sleeper = newSleeper();
  const { path, name } = newJob(sleeper.words);
  const run = room.run(["--lock", "job"], words(path));
  await run.waitForOutput(/up/);
  await until("its child", sleeper.find);
  return { run, name, sleeper };
}

/** What a user would type to end a job, and which of its words that is. */
const PATTERNS: [what: string, pattern: (name: string) => string][] = [
  ["its name", (name) => name],
  ["its secret", () => "--password=swordfish"],
  ["signalbox", () => "signalbox"],
  ["its lock", () => "--lock job"],
];

/** Kills a job whose runner shows this, and waits until the next one has its lock. */
async function killed(pattern: (name: string) => string): Promise<void> {
  const room = house.room({ env: { SIGNALBOX_TTL: "6s", SIGNALBOX_TERMINATION_TIMEOUT: "500ms" } });
  const { run, name, sleeper } = await startJob(room, (path) => [path, "--password=swordfish"]);
  const next = room.run(["--lock", "job", "--wait"], ["sh", "-c", "echo up; exec sleep 60"]);
  await room.standing(next, "waiting", "job");
  expect(killAllNamed(run, pattern(name)).length, "the runner at least").toBeGreaterThan(0);
  await next.waitForOutput(/up/);
  expect(sleeper.find(), "what the job has started").toBeUndefined();
  await death(run.mark, 5_000);
  kill(next.pid, "SIGTERM");
  await next.ended;
}

describe("SIGKILL of everything that shows", () => {
  test.each(PATTERNS)("%s: nothing lives on when the lock is free", (_, pattern) =>
    retryAfterStalls(() => killed(pattern)),
  );

  test("guardians show no word of the run, at no moment of their start", async () => {
    const room = house.room();
    const name = `nightly-${Math.random().toString(36).slice(2)}`;
    const run = room.run(["--lock", "job"], ["sh", "-c", "echo up; exec sleep 60", name]);
    const words = new Set<string>();
    const look = () => {
      for (const { pid, cmdline } of cmdlinesOf(run))
        if (pid !== run.pid) words.add(cmdline.replaceAll("\0", " ").trim());
    };
    const started = run.waitForOutput(/up/).then(() => true);
    while (!(await Promise.race([started, new Promise((next) => setImmediate(next, false))]))) look();
    look();
    const runners = cmdlines()
      .find(({ pid }) => pid === run.pid)
      ?.cmdline.replaceAll("\0", " ")
      .trim();
    words.delete(runners ?? ""); // a process between its fork and its exec shows what its parent shows
    expect([...words].filter((line) => line.includes(name)).every((line) => line.startsWith("sh -c"))).toBe(
      true,
    );
    expect([...words]).toContain(GUARDIAN);
    kill(run.pid, "SIGTERM");
    await run.ended;
  });
});

function cmdlinesOf(run: Run) {
  const ours = new Set(marked(run.mark).map(({ pid }) => pid));
  return cmdlines().filter(({ pid }) => ours.has(pid));
}

describe("guardians that are killed before the command starts", () => {
  test.each(["both", "the outer one", "the inner one"])(
    "%s: 125, nothing ran, the lock is free",
    async (which) => {
      const room = house.room();
      const holder = room.run(["--lock", "job"], ["sh", "-c", "echo up; exec sleep 60"]);
      await holder.waitForOutput(/up/);
      const run = room.run(["--lock", "job", "--wait"], ["echo", "ran"]);
      await room.standing(run, "waiting", "job");
      const guards = await until("guardians", () => {
        const all = marked(run.mark).filter(({ name }) => name === GUARDIAN);
        return all.length === 2 && all;
      });
      const outer = guards.find(({ parent }) => parent === run.pid)?.pid ?? 0;
      const inner = guards.find(({ parent }) => parent === outer)?.pid ?? 0;
      if (which !== "the inner one") kill(outer, "SIGKILL");
      if (which !== "the outer one") kill(inner, "SIGKILL");
      await until("no guardian", () => !marked(run.mark).some(({ name }) => name === GUARDIAN));
      kill(holder.pid, "SIGTERM");
      await holder.ended;
      const { code, stdout, stderr } = await run.ended;
      expect({ code, stdout }).toEqual({ code: 125, stdout: "" });
      expect(stderr).toMatch(
        /was not started: its guardian was killed before; none of its processes is left; run it again/,
      );
      expect(stderr).not.toMatch(/defect/);
      expect(await room.queue("job")).toEqual([]);
    },
  );
});
