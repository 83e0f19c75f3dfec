import { expect, it } from "vitest";
import type { SnapshotEvent } from "../../../src/cli/views/event.ts";
import { buildEventCells } from "../../../src/console/panes/Panel.tsx";
import { computeDisplayWidth } from "../../../src/core/base/display-width.ts";

const event = (words: SnapshotEvent["words"], change: Partial<SnapshotEvent> = {}): SnapshotEvent => ({
  at: 1,
  kind: "granted",
  subject: undefined,
  tone: "held",
  words,
  ...change,
});

it.each([69, 149])("events have columns that do not move, in %i columns", (width) => {
  const lines = [
    event(["lock a", "web1:42", "after 3m"]),
    event([
      "lock a-very-long-name-of-a-lock-that-never-ends-and-goes-on-and-on-and-on",
      "web1:42",
      "after 3m",
    ]),
    event(["schedule s", undefined, "after 3m"], { kind: "configured" }),
    event(["lock バックアップ-日本語-バックアップ-日本語-バックアップ", "w".repeat(90), "after 3m"]),
  ].map((one) =>
    buildEventCells(one, width)
      .map(({ text }) => text)
      .join(""),
  );
  const starts = lines.map((line) => computeDisplayWidth(line.slice(0, line.indexOf("after 3m"))));
  expect(new Set(starts).size).toBe(1);
  for (const line of lines) expect(computeDisplayWidth(line)).toBeLessThanOrEqual(width);
});

it("an ordinary start is plain, and an event that says one thing has the whole row", () => {
  const start = event(["schedule s", "web1:42", ""], { kind: "started" });
  expect(buildEventCells(start, 69).map(({ role }) => role)).not.toContain("problem");
  const told = `lock ${"x".repeat(40)} is free`;
  const [, cell] = buildEventCells(event([told], { kind: "watched" }), 69);
  expect(cell?.text).toBe(told);
});
