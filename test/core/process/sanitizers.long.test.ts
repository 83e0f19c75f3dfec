/**
 * The tests of the guardian and the launcher once more, with programs that end at the first invalid access to memory
 * (AddressSanitizer) or undefined behaviour (UndefinedBehaviorSanitizer).
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  buildSanitizedEnv,
  compileC,
  findSanitizerObstacle,
  SANITIZED_FLAGS,
  SANITIZED_START,
} from "../../../fixtures/process/sanitizers.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { ADDON_FLAGS, FLAGS, listSources } from "../../../scripts/build/native.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const TESTS = [
  "core/process/passthrough",
  "core/process/signals",
  "core/process/failures",
  "core/process/last-message",
  "core/process/guardian-stops",
  "core/process/launcher-runs",
  "core/process/launcher-deaths",
  "core/process/notifier",
];

const folder = createTestFolder(afterAll);
const obstacle = findSanitizerObstacle(folder);
/** A trap, because the other reports go to a standard error that guardians have closed. AddressSanitizer reports it. */
const TRAP = "-fsanitize-undefined-trap-on-error";
const name = (what: string) => `${what}${obstacle ? ` (skipped: ${obstacle})` : ""}`;

test.skipIf(obstacle !== undefined)(name("no fault is found"), () => {
  const natives = join(folder, "natives");
  const reports = join(folder, "reports");
  for (const path of [natives, reports]) mkdirSync(path);
  for (const program of ["guardian", "launcher", "notify"]) {
    const sources = listSources(ROOT, program).filter((path) => path.endsWith(".c"));
    compileC([...SANITIZED_FLAGS, TRAP, "-o", join(natives, program), ...sources]);
  }
  const files = TESTS.map((path) => `test/${path}.test.ts`);
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const [file = "", ...words] = [
    ...SANITIZED_START,
    process.execPath,
    vitest,
    "run",
    "--project",
    "!long",
    ...files,
  ];
  const run = spawnSync(file, words, {
    cwd: ROOT,
    env: {
      ...process.env,
      TEST_NATIVES: natives,
      TEST_REPORT: join(folder, "report.json"),
      ...buildSanitizedEnv(join(reports, "fault")),
    },
    encoding: "utf8",
  });
  expect(readdirSync(reports).map((path) => readFileSync(join(reports, path), "utf8"))).toEqual([]);
  expect(run.stdout).toMatch(/Tests .*passed/);
  expect(run.status, run.stdout).toBe(0);
});

/** Calls each function of the addon with what no caller gives it, and closes no descriptor of its process. */
const ODD_CALLS = `
const addon = { exports: {} };
process.dlopen(addon, process.argv[1]);
const odd = [undefined, null, -1, 0, 2 ** 31, 1e300, Number.NaN, "text", {}, [], 12345678];
const attempt = (call, ...given) => { try { call(...given); } catch {} };
for (const [name, call] of Object.entries(addon.exports)) {
  attempt(call);
  for (const a of odd) for (const b of odd) if (name !== "signalProcess" || b === 0 || typeof b !== "number") attempt(call, a, b);
}
console.log(Object.keys(addon.exports).length);
`;

/** The addon has no libc, and so no runtime of a sanitizer: undefined behaviour ends the process with SIGILL. */
test("the addon has no undefined behaviour, whatever it is called with", () => {
  const addon = join(folder, "peer.node");
  compileC([
    ...FLAGS,
    ...ADDON_FLAGS,
    "-fsanitize=undefined",
    TRAP,
    "-o",
    addon,
    join(ROOT, "src/core/process/peer/peer.c"),
  ]);
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["-e", ODD_CALLS, addon], {
    encoding: "utf8",
  });
  expect({ status, signal, stdout, stderr }).toEqual({ status: 0, signal: null, stdout: "7\n", stderr: "" });
});
