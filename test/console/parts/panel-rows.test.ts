import { expect, it } from "vitest";
import { countPanelLines } from "../../../src/console/parts/pane-lines.ts";
import type { PanelId } from "../../../src/console/state/console-state.ts";

type PanelInputs = Parameters<typeof countPanelLines>[0];

/** Creates an app whose panel has so many of everything. */
function createApp(id: PanelId, length: number): PanelInputs {
  const list = Array<string>(length).fill("x");
  return {
    state: { panel: { id } },
    events: { length },
    log: { lines: list },
    jobs: { list },
    getPanelTable: () => ({ length }),
  } as unknown as PanelInputs;
}

it.each<[id: PanelId, lines: number[]]>([
  ["events", [1, 1, 5]],
  ["jobs", [1, 1, 5]],
  ["log", [1, 1, 5]],
  ["problems", [1, 2, 6]],
  ["audit", [1, 2, 6]],
])("%s of the panel has as many lines as it needs, one if it is empty", (id, lines) => {
  expect([0, 1, 5].map((length) => countPanelLines(createApp(id, length)))).toEqual(lines);
});
