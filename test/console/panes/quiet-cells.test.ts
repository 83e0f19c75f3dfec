import { describe, expect, it } from "vitest";
import { parseSpans } from "../../../fixtures/console/parse-spans.ts";
import { quietenCells } from "../../../src/console/panes/Table.tsx";
import type { StyleRole } from "../../../src/console/theme/palettes.ts";
import { UNICODE } from "../../../src/console/theme/theme.ts";

/** Expects that cells become these, all as texts with roles. */
function expectQuiet(cells: string, quiet: string) {
  expect(quietenCells(parseSpans<StyleRole>(cells), UNICODE)).toEqual(parseSpans(quiet));
}

describe("a row", () => {
  it("that is held keeps the colour of its mark only", () => {
    expectQuiet("{plain}invoices{}  {held}● held  ", "{plain}invoices{}  {held}● {plain}held  ");
  });

  it("that is free is dim", () => {
    const free = "{free}○ free{problem}ok";
    expectQuiet(`{plain}invoices{}  ${free}`, `{quiet}invoices{quiet}  ${free}`);
  });

  it.each(["waiting", "problem"] as const)("in the state %s has its name in that colour", (role) => {
    const state = `{}  {${role}}${UNICODE.marks[role]}so`;
    expectQuiet(`{plain}invoices${state}`, `{${role}}invoices${state}`);
  });

  it("without a state stays as it is, and its empty cells are empty", () => {
    expectQuiet("{held}3{quiet}   -{}-", "{plain}3{}    {}-");
  });
});
