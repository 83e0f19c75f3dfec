/**
 * The fuzz targets find no fault in some seconds, and they find the faults that are put into copies of the sources. The nightly
 * run takes ten minutes for it (`npm run fuzz`).
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import {
  compileTarget,
  FUZZ_TARGETS,
  type FuzzTarget,
  type PlantedFault,
  runTarget,
  writeCorpus,
} from "../../../fixtures/fuzz/fuzz.ts";
import { findSanitizerObstacle } from "../../../fixtures/process/sanitizers.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { createTestRandom } from "../../../fixtures/test-seed.ts";

/** Of processor time. */
const SECONDS = 5;
/** A planted fault is found in a second or two. */
const SECONDS_TO_FIND = 60;

const PLANTED: (PlantedFault & { name: string; report: RegExp })[] = [
  {
    name: "a frame that has not arrived yet counts as whole",
    target: "frames",
    file: "guardian/frames.c",
    from: "if (f.length > in->filled - at - sizeof f) break;",
    to: "if (f.length > in->filled - at) break;",
    report: /frames\.c:\d+: this must hold/,
  },
  {
    name: "a note may be longer than the memory for it",
    target: "frames",
    file: "guardian/note.c",
    from: "if (length > NOTE_MAX || ",
    to: "if (",
    report: /heap-buffer-overflow.*note_keep/s,
  },
  {
    name: "an option may end before its value",
    target: "options",
    file: "launcher/options.c",
    from: "return *at + length + 1;",
    to: "return *at + length + 2;",
    report: /heap-buffer-overflow/,
  },
  {
    name: "the last line of /proc/PID/stat fills its buffer",
    target: "proc",
    file: "guardian/proc.c",
    from: "ssize_t n = read(fd, text, size - 1);",
    to: "ssize_t n = read(fd, text, size);",
    report: /stack-buffer-overflow|insufficient space.*read_stat/s,
  },
  {
    name: "a process may be named as the end of its name",
    target: "proc",
    file: "guardian/proc.c",
    from: "strrchr(text, ')')",
    to: "strchr(text, ')')",
    report: /proc\.c:\d+: this must hold/,
  },
];

const obstacle = findSanitizerObstacle(createTestFolder(afterAll));

async function fuzz(target: FuzzTarget, seconds: number, fault?: PlantedFault) {
  const folder = createTestFolder();
  const corpus = join(folder, "corpus");
  mkdirSync(corpus);
  writeCorpus(target, corpus);
  const seed = Math.floor(createTestRandom(target).drawUnit() * 2 ** 31);
  return await runTarget(compileTarget(target, folder, fault), { seconds, seed, corpus, folder });
}

describe.skipIf(obstacle !== undefined)(`fuzzing${obstacle ? ` (skipped: ${obstacle})` : ""}`, () => {
  test.each(FUZZ_TARGETS)("%s: no fault", async (target) => {
    const { report, summary } = await fuzz(target, SECONDS);
    expect(report).toBe("");
    expect(summary).toMatch(/^\d+ inputs, \d+ of them kept, \d+ edges$/);
  });

  test.each(PLANTED)("$target finds that $name", async (fault) => {
    expect((await fuzz(fault.target, SECONDS_TO_FIND, fault)).report).toMatch(fault.report);
  });
});
