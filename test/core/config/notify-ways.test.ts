import { describe, expect, it } from "vitest";
import { notifyWays } from "../../../src/core/config/settings.ts";

describe("ways to notify", () => {
  it.each([
    ["all", ["all"]],
    ["off", ["off"]],
    ["bell", ["bell"]],
    ["bell, title", ["bell", "title"]],
    [
      ["bell", "title", "bell"],
      ["bell", "title"],
    ],
  ])("%j", (given, value) => {
    expect(notifyWays.parse(given)).toEqual({ value });
  });

  it.each([
    ["beep", '"beep" is not one of all, bell, desktop, title, off; use off for none'],
    [["bell", 7], "7 is not one of all, bell, desktop, title, off; use off for none"],
    [[], "[] is not one of all, bell, desktop, title, off; use off for none"],
    ["bell,off", '"bell,off" is not a choice: off excludes the others; leave it out, or give it alone'],
  ])("%j is refused, with the remedy", (given, fault) => {
    expect(notifyWays.parse(given)).toEqual({ fault });
  });
});
