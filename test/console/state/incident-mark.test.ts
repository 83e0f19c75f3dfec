/** What is kept of an incident between sessions. */
import { expect, it } from "vitest";
import { createInitialState } from "../../../src/console/state/console-state.ts";
import { createIncidentMark, isPastInstant } from "../../../src/console/state/incident-mark.ts";
import { restoreState, toConsolePreferences } from "../../../src/console/state/preferences.ts";

const MARK = { title: "disks", since: 1_700_000_000_000, problems: ["lock x"] };

it("a mark and the last look survive", () => {
  const state = { ...createInitialState(), incident: MARK, lookedAt: 5 };
  const kept = JSON.parse(JSON.stringify(toConsolePreferences(state)));
  expect(restoreState(kept)).toMatchObject({ incident: MARK, lookedAt: 5 });
});

it.each([
  [undefined],
  [null],
  ["x"],
  [{}],
  [{ ...MARK, title: 5 }],
  [{ ...MARK, since: "now" }],
  [{ ...MARK, since: -1 }],
  [{ ...MARK, since: 1e17 }],
  [{ ...MARK, problems: "x" }],
])("%j is no mark", (incident) => {
  expect(restoreState({ incident, lookedAt: "x" })).toMatchObject({
    incident: undefined,
    lookedAt: undefined,
  });
});

it("what is stored has an end", () => {
  const { title, problems } = createIncidentMark("t".repeat(9_000), 1, Array(9_000).fill("p".repeat(9_000)));
  expect(title.length).toBeLessThanOrEqual(500);
  expect(problems.length).toBeLessThanOrEqual(200);
  expect(restoreState({ incident: { ...MARK, problems: [1, "a"] } }).incident?.problems).toEqual(["a"]);
  expect([Number.NaN, Number.POSITIVE_INFINITY, 8.65e15].some(isPastInstant)).toBe(false);
});
