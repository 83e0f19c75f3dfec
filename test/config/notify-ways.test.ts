import { describe, expect, it } from "vitest";
import { notifyWays } from "../../src/config/settings.ts";
import { chooseChannels } from "../../src/console/alerts.ts";

describe("ways to notify", () => {
  it.each([
    { given: "all", value: ["all"] },
    { given: "off", value: ["off"] },
    { given: "bell", value: ["bell"] },
    { given: "bell, title", value: ["bell", "title"] },
    { given: ["bell", "title", "bell"], value: ["bell", "title"] },
  ])("$given", ({ given, value }) => {
    expect(notifyWays.parse(given)).toEqual({ value });
  });

  it.each([
    { given: "beep", fault: '"beep" is not one of all, bell, desktop, title, off; use off for none' },
    { given: ["bell", 7], fault: "7 is not one of all, bell, desktop, title, off; use off for none" },
    { given: [], fault: "[] is not one of all, bell, desktop, title, off; use off for none" },
    {
      given: "bell,off",
      fault: '"bell,off" is not a choice: off excludes the others; leave it out, or give it alone',
    },
  ])("$given is refused, with the remedy", ({ given, fault }) => {
    expect(notifyWays.parse(given)).toEqual({ fault });
  });

  it("are combined, and limited to what the terminal survives", () => {
    const some = { bell: true, desktop: false, title: true };
    expect(chooseChannels(["bell", "title"], "xterm-256color", false)).toEqual(some);
    expect(chooseChannels(["bell", "title"], "linux", false)).toEqual({ ...some, title: false });
    expect(chooseChannels(["off"], "xterm", false)).toEqual({ bell: false, desktop: false, title: false });
  });
});
