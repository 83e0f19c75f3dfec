/** Cron texts with other minutes, as a table. */
import { expect, it } from "vitest";
import { shiftCron } from "../../src/state/collisions.ts";

it.each([
  ["0 3 * * *", 5, "5 3 * * *"],
  ["0,30 3 * * 1-5", 5, "5,35 3 * * 1-5"],
  ["55 3 * * *", 10, "5 4 * * *"],
  ["55 23 * * *", 10, undefined],
  ["0,55 3 * * *", 10, undefined],
  ["50 * * * *", 20, "10 * * * *"],
  ["0,50 * * * *", 20, "10,20 * * * *"],
  ["*/15 * * * *", 4, "4-59/15 * * * *"],
  ["*/15 * * * *", 15, undefined],
  ["*/7 * * * *", 1, undefined],
  ["* * * * *", 1, undefined],
  ["0-10 * * * *", 1, undefined],
  ["@daily", 7, "7 0 * * *"],
  ["@hourly", 7, "7 * * * *"],
  ["@weekly", 7, "7 0 * * 0"],
  ["@manual", 7, undefined],
] as const)("%s, %i minutes later", (text, minutes, moved) => {
  expect(shiftCron(text, minutes)).toBe(moved);
});
