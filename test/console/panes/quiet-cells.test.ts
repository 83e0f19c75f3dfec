import { describe, expect, it } from "vitest";
import { quietenCells } from "../../../src/console/panes/Table.tsx";
import type { RowCell } from "../../../src/console/theme/Row.tsx";
import { UNICODE } from "../../../src/console/theme/signs.ts";

const row = (state: RowCell, ...more: RowCell[]): RowCell[] => [
  { text: "invoices", role: "plain" },
  { text: "  " },
  state,
  ...more,
];
const quieten = (cells: readonly RowCell[]) =>
  quietenCells(cells, UNICODE).map(({ text, role = "none" }) => `${text}:${role}`);

describe("a row", () => {
  it("that is held keeps the colour of its mark only", () => {
    expect(quieten(row({ text: "● held  ", role: "held" }))).toEqual([
      "invoices:plain",
      "  :none",
      "● :held",
      "held  :plain",
    ]);
  });

  it("that is free is dim", () => {
    expect(quieten(row({ text: "○ free", role: "free" }, { text: "ok", role: "problem" }))).toEqual([
      "invoices:quiet",
      "  :quiet",
      "○ free:free",
      "ok:problem",
    ]);
  });

  it.each(["waiting", "problem"] as const)("in the state %s has its name in that colour", (role) => {
    const text = `${UNICODE.marks[role]}so`;
    expect(quieten(row({ text, role }))).toEqual([`invoices:${role}`, "  :none", `${text}:${role}`]);
  });

  it("without a state stays as it is, and its empty cells are empty", () => {
    const cells: RowCell[] = [{ text: "3", role: "held" }, { text: "   -", role: "quiet" }, { text: "-" }];
    expect(quieten(cells)).toEqual(["3:plain", "    :none", "-:none"]);
  });
});
