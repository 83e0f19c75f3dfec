/** Chains of processes that each fork the next one and exit: no list of processes is up to date when it has been read. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  clock,
  createMark,
  createOutput,
  findGuardians,
  getFixturePath,
  killTogether,
  startGuarded,
} from "../../../fixtures/process/guarded-processes.ts";
import { killProcess } from "../../../fixtures/process/marked-processes.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

const folder = createTestFolder(afterAll);
const program = join(folder, "fork-chain");

beforeAll(() => {
  const flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-std=gnu11"];
  execFileSync(process.env.CC || "cc", [...flags, "-o", program, getFixturePath("fork-chain.c")]);
});

type Guardians = Record<"outer" | "inner", number>;

const FAULTS: [name: string, fault: (guardians: Guardians) => void][] = [
  ["the inner guardian is killed", ({ inner }) => killProcess(inner, "SIGKILL")],
  ["the outer guardian is killed", ({ outer }) => killProcess(outer, "SIGKILL")],
  ["both guardians are killed", ({ outer, inner }) => killTogether(outer, inner)],
];

/** Whether no process is left: a list of processes could miss the chain. */
const isFree = (lock: string) => spawnSync("flock", ["-n", lock, "true"]).status === 0;

async function startChains(words: string[]) {
  const mark = createMark();
  const lock = createOutput().path;
  const { it } = await startGuarded(mark, [program, lock, ...words]);
  await waitUntil("a chain", () => existsSync(lock) && !isFree(lock));
  return { mark, lock, it };
}

describe.each([
  ["without a pause", ["4", "0"]],
  ["with pauses", ["4", "3000"]],
])("in one process group, %s", (_, words) => {
  test.each(FAULTS)("%s: no chain is left", async (_name, fault) => {
    const { mark, lock, it } = await startChains(words);
    fault(findGuardians(mark));
    await it.gone;
    expect(isFree(lock)).toBe(true);
  });
});

test.each([[["2", "0"]], [["2", "5000", "session"]]])("a termination ends chains %j", async (words) => {
  const { lock, it } = await startChains(words);
  it.terminate(clock.now());
  await it.gone;
  expect(isFree(lock)).toBe(true);
});
