import { describe, expect, it } from "vitest";
import { encodeKeystroke } from "../../../fixtures/console/keys.ts";
import { parseChords } from "../../../fixtures/console/parse-reads.ts";
import { COMMANDS } from "../../../src/cli/commands/registry.ts";
import { listKeyActions } from "../../../src/console/parts/keymap.ts";
import { formatChord, parseChord } from "../../../src/core/base/chord.ts";

describe("a chord as people write it", () => {
  it.each([
    [["Ctrl+P", "ctrl+p", "CTRL-P", "control+P", " Ctrl+p "], "ctrl+p", "Ctrl+P"],
    [["PgUp", "pageup", "PAGEUP"], "pageup", "PgUp"],
    [["PgDn", "pgdown", "PageDown"], "pagedown", "PgDn"],
    [["Shift-Tab", "shift+tab"], "shift+tab", "Shift+Tab"],
    [["Space", " ", "spacebar"], "space", "Space"],
    [["g"], "g", "g"],
    [["G", "Shift+g", "Shift+G"], "G", "G"],
    [["Alt+x", "alt+X", "Meta-x"], "alt+x", "Alt+X"],
    [["Alt+Shift+g", "shift+alt+G"], "alt+G", "Alt+Shift+G"],
    [["Alt+Ctrl+X", "ctrl-alt-x"], "ctrl+alt+x", "Ctrl+Alt+X"],
    [["Shift+Ctrl+Up", "ctrl+shift+↑"], "ctrl+shift+up", "Ctrl+Shift+↑"],
    [["F12", "f12"], "f12", "F12"],
    [["Esc", "escape"], "escape", "Esc"],
    [["Del", "delete"], "delete", "Del"],
    [["+"], "+", "+"],
    [["-"], "-", "-"],
    [["Alt++"], "alt++", "Alt++"],
    [["Alt+-", "alt--"], "alt+-", "Alt+-"],
    [["é"], "é", "é"],
    [["ß"], "ß", "ß"],
    [["Ctrl+]"], "ctrl+]", "Ctrl+]"],
  ])("%j", (texts, chord, shown) => {
    expect(texts.map(parseChord)).toEqual(texts.map(() => ({ value: chord })));
    expect(formatChord(chord)).toBe(shown);
    expect(parseChord(shown)).toEqual({ value: chord });
  });

  it.each([
    [["", "foo", "F21", "F0", "gg", "\x07", "constructor", "\u200b"], "is not a key; write it as"],
    [["Super+x", "hyper-up"], "it must be one of Ctrl, Alt, Shift"],
    [
      ["Ctrl+Shift+P", "Ctrl+1", "Ctrl+Tab", "Ctrl+;", "Ctrl++", "Alt+Tab"],
      "is not sent to programs by terminals",
    ],
    [["Ctrl+I"], "is Tab to a terminal"],
    [["ctrl+m"], "is Enter to a terminal"],
    [["Ctrl+["], "is Esc to a terminal"],
    [["Ctrl+@"], "is Ctrl+Space to a terminal"],
    [["Shift+1", "Shift+ß"], "must be written as the character that it types"],
    [
      ["Shift+Enter", "Ctrl+Backspace", "Shift+Space", "Alt+Esc"],
      "is the same as the key alone in most terminals",
    ],
    [["Alt+[", "Alt+Shift+O", "Alt+]"], "begins the codes of other keys in a terminal"],
  ])("%j are faults", (texts, fault) => {
    for (const text of texts) {
      expect(parseChord(text), text).toEqual({ fault: expect.stringContaining(fault) });
      expect(parseChord(text), text).toEqual({ fault: expect.stringMatching(/^"/) });
    }
  });

  it("repeats nothing that a terminal would obey", () => {
    expect(parseChord("\x1b]52;c;eA==\x07")).toEqual({ fault: expect.not.stringMatching(/[\x00-\x1f]/) });
  });
});

describe("the usual keys", () => {
  const keys = listKeyActions(COMMANDS).flatMap((action) => action.keys);

  it("can be written as they are shown", () => {
    expect(keys.map((chord) => parseChord(formatChord(chord)))).toEqual(keys.map((value) => ({ value })));
  });

  it("arrive as terminals send them", () => {
    expect(keys.map((chord) => parseChords(encodeKeystroke(chord)))).toEqual(keys.map((chord) => [chord]));
  });
});
