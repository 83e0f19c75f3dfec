import { describe, expect, it } from "vitest";
import { COMMANDS, ROW_COMMANDS } from "../../../src/cli/commands/registry.ts";
import { HANDLERS } from "../../../src/console/actions/handlers.tsx";
import { createKeymap, type KeyBindings, listKeyActions } from "../../../src/console/parts/keymap.ts";

const ACTIONS = listKeyActions(COMMANDS);
function mapped(wishes: KeyBindings = {}) {
  const { keymap, findings } = createKeymap(ACTIONS, wishes);
  const findActions = (...chords: string[]) => chords.map((chord) => keymap.findAction(chord, "list"));
  return { keymap, findings, findActions };
}

describe("the actions", () => {
  it("have each a name, a handler and keys of their own", () => {
    const ids = ACTIONS.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.filter((id) => !Object.hasOwn(HANDLERS, id))).toEqual([]);
    expect(mapped().findings).toEqual([]);
  });

  it("that change something are on no key with Ctrl", () => {
    const changing = ACTIONS.filter(({ isChange }) => isChange);
    expect(changing.map(({ id }) => id)).toEqual(expect.arrayContaining(["reset", "drain", "undrain"]));
    expect(changing.flatMap(({ keys }) => keys).filter((chord) => chord.includes("ctrl"))).toEqual([]);
  });

  it("of commands have the keys that the commands bring", () => {
    const keys = mapped().findActions("X", "D", "U");
    expect(keys).toEqual(["reset", "drain", "undrain"]);
    expect(keys.map((id) => ROW_COMMANDS.find((command) => command.id === id)?.rows.key)).toEqual([
      "X",
      "D",
      "U",
    ]);
  });
});

describe("a keymap", () => {
  it("has the keys of a list only where there is one", () => {
    const { keymap, findActions } = mapped();
    expect(findActions("j", "?", "ctrl+shift+up")).toEqual(["down", "help", undefined]);
    expect(["j", "?"].map((chord) => keymap.findAction(chord, "global"))).toEqual([undefined, "help"]);
  });

  it("shows keys as people write them", () => {
    const { keymap } = mapped();
    expect(keymap.getKeyLabels("palette")).toEqual([":", "F1", "Ctrl+P"]);
    expect(keymap.getKeyLabels("pageDown")).toEqual(["PgDn", "Ctrl+F"]);
    expect(keymap.getKeyLabels("nothing")).toEqual([]);
  });
});

describe("keys that a user wants otherwise", () => {
  it("take the place of the usual ones", () => {
    const { keymap, findings, findActions } = mapped({ drain: "F13", palette: ["Ctrl+O", "Alt+X"] });
    expect(findings).toEqual([]);
    expect(findActions("f13", "D", "ctrl+o", "alt+x", ":")).toEqual([
      "drain",
      undefined,
      "palette",
      "palette",
      undefined,
    ]);
    expect(keymap.getKeyLabels("drain")).toEqual(["F13"]);
  });

  it("can be none", () => {
    const { keymap, findings, findActions } = mapped({ reset: [] });
    expect([findings, findActions("X"), keymap.getKeyLabels("reset")]).toEqual([[], [undefined], []]);
  });

  it("can change places, which is no conflict", () => {
    const { findings, findActions } = mapped({ drain: "U", undrain: "D" });
    expect(findings).toEqual([]);
    expect(findActions("U", "D")).toEqual(["drain", "undrain"]);
  });

  it("win over the usual key of another, which is said", () => {
    const { keymap, findings, findActions } = mapped({ drain: "R" });
    expect(findings).toEqual(["keyBindings: R: this key runs drain now, no longer reread"]);
    expect([findActions("R"), keymap.getKeyLabels("reread")]).toEqual([["drain"], []]);
  });

  it("that are the same for two are said, and one has it, whatever their order", () => {
    for (const wishes of [
      { drain: "F16", reset: "f16" },
      { reset: "F16", drain: "f16" },
    ]) {
      const { findings, findActions } = mapped(wishes);
      expect(findings).toEqual([
        "keyBindings: F16: reset and drain are both bound to this key; it runs reset",
      ]);
      expect(findActions("f16")).toEqual(["reset"]);
    }
  });

  it.each([
    [
      "an action that there is not",
      { dran: "x" },
      'keyBindings: unknown action "dran"; did you mean "drain"?',
    ],
    ["one that nobody can guess", { zzzzzz: "x" }, "use one of palette, filter, help"],
    ["no key", { drain: "foo" }, 'keyBindings: drain: "foo" is not a key'],
    ["a key that never arrives", { help: "Ctrl+Shift+H" }, '"Ctrl+Shift+H" is not sent to programs'],
    ["Ctrl and a change", { drain: "Ctrl+D" }, "drain: Ctrl+D is refused: actions that change something"],
    ["Ctrl, Alt and a change", { delete: "Ctrl+Alt+D" }, "delete: Ctrl+Alt+D is refused"],
    ["the way out", { help: "Ctrl+C" }, "help: Ctrl+C always quits"],
    ["names that every object has", { constructor: "x" }, 'unknown action "constructor"'],
  ])("%s: is said, and everything stays as it was", (_what, wishes, finding) => {
    const { keymap, findings } = mapped(wishes);
    expect(findings).toEqual([expect.stringContaining(finding)]);
    const usual = mapped().keymap;
    for (const { id } of ACTIONS) expect(keymap.getKeyLabels(id)).toEqual(usual.getKeyLabels(id));
  });

  it("that are good hold beside one that is not", () => {
    const { keymap, findings } = mapped({ drain: ["Ctrl+D", "F13"] });
    expect([findings.length, keymap.getKeyLabels("drain")]).toEqual([1, ["F13"]]);
  });

  it("never take Ctrl+C away, nor hide it when nothing else quits", () => {
    const { keymap } = mapped({ quit: [] });
    expect([keymap.findAction("ctrl+c", "global"), keymap.findAction("q", "list")]).toEqual([
      "quit",
      undefined,
    ]);
    expect(keymap.getKeyLabels("quit")).toEqual(["Ctrl+C"]);
  });
});
