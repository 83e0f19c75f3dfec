import { expect, test } from "vitest";
import { parseInherited } from "../../../../src/core/process/guarded-command/command.ts";

const NOTHING = { words: [], descriptors: [], ignored: [] };

test("descriptors and ignored signals are read, in the order of the words", () => {
  expect(parseInherited("ignore=1 ignore=13 fd=63 fd=3 pid=7", 7)).toEqual({
    words: ["ignore=1", "ignore=13", "fd=63", "fd=3"],
    descriptors: [63, 3],
    ignored: ["SIGHUP", "SIGPIPE"],
  });
});

test("words that are not understood are not passed on", () => {
  const words = "fd=x fd=-1 fd=03 foreground copies later=1 fd=5 pid=7";
  expect(parseInherited(words, 7)).toEqual({ words: ["fd=5"], descriptors: [5], ignored: [] });
});

test.each([undefined, "", "fd=5", "fd=5 pid=8", "fd=5 pid=77"])(
  "%j describes nothing for process 7",
  (text) => {
    expect(parseInherited(text, 7)).toEqual(NOTHING);
  },
);
