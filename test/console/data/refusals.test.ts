/** In the past nothing can be changed or run. */
import { describe, expect, it } from "vitest";
import { createSnapshot, NOW } from "../../../fixtures/state/sample-snapshots.ts";
import { COMMANDS } from "../../../src/cli/commands/registry.ts";
import { isLive } from "../../../src/console/data/live-view.ts";
import { PastView } from "../../../src/console/data/time-travel.ts";
import { findChoiceObstacle } from "../../../src/console/overlays/palette-entries.ts";
import { listKeyActions } from "../../../src/console/parts/keymap.ts";
import { findChangeObstacle, findPastObstacle } from "../../../src/console/parts/row-actions.ts";

const view = new PastView(createSnapshot([]), { revision: 5n, at: NOW, from: undefined, until: undefined });
const actions = listKeyActions(COMMANDS);

it("a past view is not live, so code that asks for that refuses", () => {
  expect(isLive(view.connection)).toBe(false);
  view.reread();
  view.catchUp();
  expect(view.snapshot.revision).toBe(100n);
});

it.each([true, false])("changes are refused with the reason (read-only console: %s)", (isReadOnly) => {
  expect(findChangeObstacle({ isReadOnly, liveView: view })).toContain("this is the past");
  expect(findPastObstacle(view)).toContain("a returns to live");
});

describe("in the palette", () => {
  const standing = { isReadOnly: false, isAway: false, hasSelection: true, isPast: true };
  const conditions = { commands: COMMANDS, actions, ...standing };
  it.each(COMMANDS.map(({ id }) => id))("the command %s cannot be chosen", (id) => {
    expect(findChoiceObstacle({ kind: "command", id }, conditions)).toBeDefined();
  });
  it.each(actions.filter(({ isChange }) => isChange).map(({ id }) => id))(
    "the action %s cannot be chosen",
    (id) => {
      expect(findChoiceObstacle({ kind: "action", id }, conditions)).toBe("not in the past");
    },
  );
  it("names, views and times can", () => {
    expect(findChoiceObstacle({ kind: "go", tab: "locks" }, conditions)).toBeUndefined();
    expect(findChoiceObstacle({ kind: "travel", time: "03:00" }, conditions)).toBeUndefined();
    expect(findChoiceObstacle({ kind: "action", id: "help" }, conditions)).toBeUndefined();
  });
});
