/**
 * The tests of the guardian and the launcher once more, with programs that end at the first invalid access to memory
 * (AddressSanitizer) or undefined behaviour (UndefinedBehaviorSanitizer).
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { FLAGS, listSources } from "../../scripts/build/native.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];
const TESTS = ["passthrough", "signals", "failures", "guardian-stops", "launcher-runs", "launcher-deaths"];

const folder = createTestFolder(afterAll);

function compile(program: string, sources: readonly string[]) {
  const flags = [...FLAGS.filter((flag) => flag !== "-s"), ...SANITIZERS];
  return spawnSync(process.env.CC || "cc", [...flags, "-o", program, ...sources], { encoding: "utf8" });
}

/** Without random addresses, where that is allowed: older sanitizers fail now and then on kernels with many random bits. */
const WORDS = spawnSync("setarch", ["-R", "true"]).status === 0 ? ["setarch", "-R"] : ["env"];

/** Why the sanitizers cannot be used here. */
function findObstacle(): string | undefined {
  const [source, program] = [join(folder, "probe.c"), join(folder, "probe")];
  writeFileSync(source, "int main(void) { return 0; }\n");
  if (compile(program, [source]).status !== 0) return "libasan or libubsan is missing";
  return spawnSync(WORDS[0] ?? "", [...WORDS.slice(1), program]).status === 0
    ? undefined
    : "a program with AddressSanitizer does not start";
}

const obstacle = findObstacle();

test.skipIf(obstacle !== undefined)(`no fault is found${obstacle ? ` (skipped: ${obstacle})` : ""}`, () => {
  const natives = join(folder, "natives");
  const reports = join(folder, "reports");
  for (const path of [natives, reports]) mkdirSync(path);
  for (const name of ["guardian", "launcher"]) {
    const sources = listSources(ROOT, name).filter((path) => path.endsWith(".c"));
    expect(compile(join(natives, name), sources)).toMatchObject({ status: 0, stderr: "" });
  }
  const files = TESTS.map((name) => `test/process/${name}.test.ts`);
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const options = `log_path=${join(reports, "fault")}:detect_leaks=0`; // guardians end without freeing anything
  const [file = "", ...words] = [...WORDS, process.execPath, vitest, "run", "--project", "!long", ...files];
  const run = spawnSync(file, words, {
    cwd: ROOT,
    env: { ...process.env, TEST_NATIVES: natives, ASAN_OPTIONS: options, UBSAN_OPTIONS: options },
    encoding: "utf8",
  });
  expect(readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8"))).toEqual([]);
  expect(run.stdout).toMatch(/Tests .*passed/);
  expect(run.status, run.stdout).toBe(0);
});
