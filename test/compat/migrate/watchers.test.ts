/** What watches a job from outside becomes options of its run. */
import { describe, expect, test } from "vitest";
import { migrateCrontab } from "../../../src/compat/migrate/crontab.impl.ts";

const CHECK = "https://hc-ping.com/6e1fbf8f-c17e-4749-af44-0c3d0d3f0b3c";
const RUN = "signalbox run";

function migrate(command: string, plain = false) {
  const options = { format: "user", plain, program: "signalbox", files: { get: () => undefined } } as const;
  const { text, lines } = migrateCrontab(`* * * * * ${command}`, options);
  expect(migrateCrontab(text, options).text, "migrated again").toBe(text);
  return { text: text.replace("* * * * * ", ""), notes: lines.flatMap(({ notes }) => notes) };
}

describe("lines with a lock tool", () => {
  test.each([
    ["chronic flock -n /x job", `${RUN} --quiet-success --lock /x -E 1 -- job`],
    ["nice -n 10 chronic flock -n /x job", `nice -n 10 ${RUN} --quiet-success --lock /x -E 1 -- job`],
    ["/usr/bin/cronic flock -n /x job", `${RUN} --quiet-success --lock /x -E 1 -- job`],
    [
      `runitor -uuid=abc-1 -- flock -n /x job`,
      `${RUN} --ping https://hc-ping.com/abc-1 --lock /x -E 1 -- job`,
    ],
    [
      "runitor --ping-key k --slug nightly -api-url https://hc.example/ping -- flock -n /x job",
      `${RUN} --ping https://hc.example/ping/k/nightly --lock /x -E 1 -- job`,
    ],
    [
      `flock -n /x job >/dev/null && curl -fsS -m 10 --retry 5 -o /dev/null ${CHECK}`,
      `${RUN} --ping ${CHECK} --lock /x -E 1 -- job >/dev/null`,
    ],
    [
      `flock -n /x job && curl -fsS ${CHECK} > /dev/null || curl -fsS "${CHECK}/fail" > /dev/null 2>&1`,
      `${RUN} --ping ${CHECK} --lock /x -E 1 -- job`,
    ],
    [`flock -n /x job; curl -m 10 ${CHECK}/$?`, `${RUN} --ping ${CHECK} --lock /x -E 1 -- job`],
    [
      `curl ${CHECK}/start ; flock -n /x job && wget ${CHECK} -O /dev/null`,
      `${RUN} --ping ${CHECK} --lock /x -E 1 -- job`,
    ],
    [
      "flock -n /x job || curl -d 'it failed' https://chat.example/hook",
      `${RUN} --on-failure 'curl -d '\\''it failed'\\'' https://chat.example/hook' --lock /x -E 1 -- job`,
    ],
    [
      `chronic ${RUN} --lock x -- job && curl ${CHECK}`,
      `${RUN} --quiet-success --ping ${CHECK} --lock x -- job`,
    ],
  ])("%s", (before, after) => {
    expect(migrate(before).text).toBe(after);
  });

  test.each([
    ["chronic -e flock -n /x job", `chronic -e ${RUN} --lock /x -E 1 -- job`],
    [
      "runitor -every 1h -uuid a -- flock -n /x job",
      `runitor -every 1h -uuid a -- ${RUN} --lock /x -E 1 -- job`,
    ],
    ["runitor flock -n /x job", `runitor ${RUN} --lock /x -E 1 -- job`],
    [`flock -n /x job && curl ${CHECK}/fail`, `${RUN} --lock /x -E 1 -- job && curl ${CHECK}/fail`],
    [`flock -n /x job && curl "$HC"`, `${RUN} --lock /x -E 1 -- job && curl "$HC"`],
    [
      `flock -n /x job && curl ${CHECK} || curl https://hc-ping.com/other/fail`,
      `${RUN} --lock /x -E 1 -- job && curl ${CHECK} || curl https://hc-ping.com/other/fail`,
    ],
  ])("stays, because it means something else: %s", (before, after) => {
    expect(migrate(before).text).toBe(after);
  });

  test("the notes say what changes", () => {
    expect(migrate("cronic flock -n /x job").notes.join("\n")).toMatch("any on standard error");
    expect(migrate(`flock -n /x job && curl ${CHECK}`).notes.join("\n")).toMatch(
      "--ping tells the check also",
    );
  });
});

test.each([
  ["chronic /opt/sync.sh", `${RUN} --lock sync.sh --quiet-success -- /opt/sync.sh`],
  [`cd /opt && ./sync.sh && curl ${CHECK}`, `cd /opt && ${RUN} --lock sync.sh --ping ${CHECK} -- ./sync.sh`],
  [`/opt/a.sh; /opt/b.sh && curl ${CHECK}`, expect.stringContaining("/bin/sh -c")],
])("--plain: %s", (before, after) => {
  expect(migrate(before, true).text).toEqual(after);
});
