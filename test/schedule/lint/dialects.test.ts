import { describe, expect, test } from "vitest";
import { parseCron } from "../../../src/schedule/cron/cron.ts";
import { listCronDifferences, listPerfectschedDifferences } from "../../../src/schedule/cron/lint.ts";

const NOW = Date.UTC(2026, 0, 1);

describe("differences from cron", () => {
  const list = (text: string, zone: string) => listCronDifferences(parseCron(text), zone, NOW);

  test.each([
    "0 12 13 * 5",
    "0 12 */2 * *",
    "0 12 * * */2",
    "0 0-23 * * *",
    "@daily",
    "30 2 * * *",
    "*/15 2 * * *",
  ])("%s has none", (text) => {
    expect(list(text, "Europe/Berlin")).toEqual([]);
  });

  test.each(["0 12 */2 * 5", "0 12 13 * */2"])("the days of %s", (text) => {
    expect(list(text, "UTC")).toEqual([
      expect.stringMatching(
        /must both match, as in Vixie's cron and cronie; in BusyBox's crond one match is enough$/,
      ),
    ]);
  });

  test("several times of a day at clock changes", () => {
    expect(list("0,30 2 * * *", "Europe/Berlin")).toEqual([
      "on 2026-03-29 the clocks of Europe/Berlin go from 02:00 to 03:00: it does not fire for 02:00" +
        " (Vixie's cron and cronie: right after the change); on 2026-10-25 the clocks of Europe/Berlin go from 03:00 to" +
        " 02:00: it fires twice for 02:00 (Vixie's cron and cronie: once)",
    ]);
    expect(list("0,30 2 * * *", "UTC")).toEqual([]);
    expect(list("0,30 4 * * *", "Europe/Berlin")).toEqual([]);
  });
});

describe("differences from PerfectSched", () => {
  const list = (text: string, zone = "UTC") => listPerfectschedDifferences(parseCron(text), zone, NOW);

  test.each([
    "* * * * *",
    "*/5 1-5/2 1,15 * *",
    "0 12 * * 1-5",
    "0 0 * * 7",
    "0 12 */1 * *",
    "0,30 2 * * *",
    "@weekly",
  ])("%s has none", (text) => {
    expect(list(text, "Europe/Berlin")).toEqual([]);
  });

  // What the gems do is from their sources: cron-spec 0.1.2 (CronSpecification, StepCronValue, DowFactory) and chrono
  // 0.3.0 (NextTime, Fields::Base, Fields::Wday).
  test.each([
    ["0 12 13 * 5", /: one match is enough; in PerfectSched up to 0\.8\.10, both must match$/],
    ["0 12 13 * */2", /: both must match; in PerfectSched from 0\.8\.11 on, one match is enough$/],
    [
      "0 12 */2 * *",
      /^day of the month "\*\/2" is 1, 3, 5 and so on; PerfectSched up to 0\.8\.10 takes the multiples/,
    ],
    ["0 12 1 */3 *", /^month "\*\/3" is 1, 4, 7 and so on/],
    [
      "5/15 * * * *",
      /^minute "5\/15" goes on to the end of the field; in PerfectSched it is the first value only$/,
    ],
    ["0 12 * * 0-7", /^day of the week "0-7" is every day of the range; in PerfectSched it is Sunday only$/],
  ])("%s", (text, note) => {
    expect(list(text)).toEqual([expect.stringMatching(note)]);
  });

  test("several kinds are several notes", () => {
    expect(list("0 12 */2 */3 1")).toEqual([
      expect.stringContaining("both must match"),
      expect.stringMatching(/^day of the month .*; month .* and so on/),
    ]);
  });

  test("one time of a day at clock changes", () => {
    expect(list("30 2 * * *", "Europe/Berlin")).toEqual([
      "on 2026-03-29 the clocks of Europe/Berlin go from 02:00 to 03:00: 02:30 does not exist, it fires at 03:00" +
        " (PerfectSched: not on that day); on 2026-10-25 the clocks of Europe/Berlin go from 03:00 to 02:00: 02:30 comes" +
        " twice, it fires the first time (PerfectSched: both times)",
    ]);
    expect(list("30 2 * * *", "Asia/Tokyo")).toEqual([]);
  });
});
