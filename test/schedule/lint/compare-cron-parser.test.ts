/** Comparison of the cron parser with the package cron-parser. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseCron } from "../../../src/schedule/cron/cron.ts";
import { compareWithCronParser } from "../../../src/schedule/lint/compare-cron-parser.ts";
import { cronText } from "../cron-texts.ts";

describe("a second reading", () => {
  const agreed = [
    "*/5 * * * *",
    "0 0 * * 7",
    "0 0 * * 5-7",
    "? * ? * ?",
    "0 0 L * *",
    "0 0 * * 5L",
    "0 0 * * 1#2",
    "@daily",
  ];
  test.each([...agreed, "0 0 1,15 jan-mar mon", "59 23 31 12 0-6/2"])("agrees on %s", async (text) => {
    expect(await compareWithCronParser(parseCron(text))).toBeUndefined();
  });

  test("tells where the other refuses", async () => {
    expect(await compareWithCronParser(parseCron("0 0 * * sat-sun"))).toMatchObject({
      level: "warning",
      about: "other readers",
      detail: expect.stringContaining("it is refused there: Invalid range"),
    });
  });

  test("tells which field differs", async () => {
    const cron = parseCron("0 6 * * *");
    const other = parseCron("0 7 * * *");
    const mixed = { ...cron, fields: { ...cron.fields, hour: { ...other.fields.hour, text: "6" } } };
    expect((await compareWithCronParser(mixed))?.detail).toContain('its hour "6" means something else there');
  });

  test("never means anything else, in some hundred random texts", async () => {
    await fc.assert(
      fc.asyncProperty(cronText, async (text) => {
        let cron: ReturnType<typeof parseCron>;
        try {
          cron = parseCron(text);
        } catch {
          return; // a date that never comes
        }
        const { detail } = (await compareWithCronParser(cron)) ?? {};
        // It refuses a list that has a value twice, which cron takes.
        if (detail !== undefined) expect(detail, text).toContain("it is refused there: ");
      }),
      { numRuns: 400 },
    );
  });
});
