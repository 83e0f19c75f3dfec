/** docs/migrate/other-schedulers.md: what its tables offer for the options of other schedulers. */
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect } from "vitest";
import { TestCluster } from "../../../fixtures/cluster/test-cluster.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";

const PAGE = resolve(import.meta.dirname, "../../../docs/migrate/other-schedulers.md");

/** What stands for the words in capitals. */
const PLACEHOLDERS: Readonly<Record<string, string>> = {
  KEY: "nightly",
  CALENDAR: "holidays",
  CRON: "0 4 * * *",
  TIME: "2026-11-01T00:00Z",
  "RES=COUNT:TOTAL": "db=1:2",
  "POOL=SLOTS:TOTAL": "pool=1:2",
};

/** Values of options that the page names without one. */
const VALUES: Readonly<Record<string, string>> = {
  "--timezone": "Europe/Berlin",
  "--start": "2026-11-01",
  "--end": "2036-11-01",
  "--group": "web",
  "--jitter": "2m",
  "--deadline": "1d",
  "--retries": "2",
  "--hook-failure": "https://example.com/failed",
};

/** Code that is no line for a shell: fields of the library and of tasks. */
const OF_PROGRAMS =
  /^(\*|L|CRON|jobs\.add|key|priority|at|delay|task\.attempt|http|sh -c|Worker|SIGNALBOX_\w+)$/;
const DAY_OF_WEEK = /^(MON|\d(L|#.))$/;
const CRON_TEXT = /^(@\w+( \w+)?|[\d*]+( \S+){4})$/;

/** Commands that do not end by themselves, or show what has run. */
const SHOWN_ONLY = /^signalbox (worker|logs)/;

const { test } = TestCluster.startForFile();

test("every command, option and cron text of its tables is accepted", async ({ namespace }) => {
  const crontab = join(createTestFolder(), "crontab");
  writeFileSync(crontab, "0 3 * * * true\n");
  for (const line of [
    "schedule add nightly @daily -- true",
    "calendar add holidays 12-25",
    "group set web host1",
  ])
    await namespace.expectDone(line);

  let added = 0;
  const add = (cron: string, options: readonly string[] = []) => {
    added += 1;
    return namespace.execute(["schedule", "add", `s${added}`, cron, ...options, "--", "true"]);
  };
  const tryOut = (code: string) => {
    if (DAY_OF_WEEK.test(code)) return add(`0 0 * * ${code}`);
    if (CRON_TEXT.test(code)) return add(code);
    const words = code.split(" ").map((word) => (word === "FILE" ? crontab : (PLACEHOLDERS[word] ?? word)));
    const value = VALUES[code];
    if (code.startsWith("--")) return add("0 4 * * *", value === undefined ? words : [code, value]);
    const [program, ...rest] = words;
    expect(program, `${code} is a line for a shell`).toBe("signalbox");
    if (SHOWN_ONLY.test(code)) return namespace.execute([...rest, "--help"]);
    return namespace.execute(code.includes(" import ") ? [...rest, "--yes"] : rest);
  };
  const codes = readCodes(readFileSync(PAGE, "utf8")).filter((code) => !OF_PROGRAMS.test(code));
  const refused: string[] = [];
  for (const code of codes) {
    const ended = await tryOut(code);
    if (ended.code !== 0) refused.push(`${code}: ${ended.stderr}`);
  }
  expect(refused).toEqual([]);
  expect(codes.length, "what the tables offer").toBeGreaterThan(35);
});

/** Returns the code in the right column of each table. */
function readCodes(page: string) {
  const cells = page.split("\n").flatMap((line) => /^\|[^|]*\|(.*)\|$/.exec(line)?.[1] ?? []);
  return [...new Set(cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code)))];
}
