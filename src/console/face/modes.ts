import type { Modes } from "../../commands/see/screen.ts";

/** What the console switches on beside the other screen: pastes as a whole, and clicks. */
export function modesOf(wants: { mouse: boolean }): Modes {
  const mouse = wants.mouse ? ["?1000", "?1006"] : [];
  const all = ["?2004", ...mouse];
  const set = (end: "h" | "l") => all.map((mode) => `\x1b[${mode}${end}`).join("");
  return { on: set("h"), off: set("l") };
}
