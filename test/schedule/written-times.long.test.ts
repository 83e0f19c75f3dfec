/** Written times of all zones, over the clock changes of 20 years, against Intl. */
import { expect, test } from "vitest";
import { findWrongTimes } from "../../fixtures/schedule/written-times.ts";

test("agree with Intl in all zones", () => {
  expect([...Intl.supportedValuesOf("timeZone"), "UTC"].flatMap(findWrongTimes)).toEqual([]);
}, 900_000);
