import { describe, expect, it } from "vitest";
import type { Cell } from "../../fixtures/console/emulator.ts";
import { scrubRow } from "../../scripts/screens/scrub.ts";
import { SHOTS } from "../../scripts/screens/shots.ts";
import { renderSvg } from "../../scripts/screens/svg.ts";

it.each([
  [" signalbox  127.0.0.1:24258      ann@ops1", " signalbox  etcd1.test:2379      ann@ops1"],
  [" signalbox  127.0.0.1:9258       ann@ops1", " signalbox  etcd1.test:2379      ann@ops1"],
  [
    "│   runner  alive: its session was renewed 12s ago, 8s left",
    "│   runner  alive: its session was renewed 1s ago, 29s left",
  ],
  ["● live rev 36 · 1/1 · 40 ms    : palette", "● live rev 36 · 1/1 · < 10 ms  : palette"],
  ["* live rev 36 - 1/1 - < 10 ms  : palette", "* live rev 36 - 1/1 - < 10 ms  : palette"],
  ["backup-db  held  12m4s", "backup-db  held  12m4s"],
])("constants in the place of what differs: %s", (row, clean) => {
  expect(scrubRow(row)).toBe(clean);
});

function toCells(text: string, more: Partial<Cell> = {}): Cell[] {
  const plain = { foreground: undefined, background: undefined, bold: false, dim: false, italic: false };
  return Array.from(text, (letter) => ({
    text: letter,
    ...plain,
    underline: false,
    inverse: false,
    ...more,
  }));
}

describe("a screen as a picture", () => {
  it("keeps texts, one piece between wide gaps, each where its cells are", () => {
    const svg = renderSvg([toCells("NAME   STATE a b")], "locks");
    const pieces = [...svg.matchAll(/<text x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)"[^>]*>([^<]*)</g)];
    expect(pieces.map(([, x, length, text]) => [text, x, length])).toEqual([
      ["NAME", "12", "33.6"],
      ["STATE a b", "70.8", "75.6"],
    ]);
  });

  it("has colours: of the user, of the cube, greys, exact ones, and swapped", () => {
    const row = [1, 196, 232, "#6cc58a"].flatMap((foreground) => toCells("x", { foreground }));
    const svg = renderSvg([[...row, ...toCells("y", { inverse: true })]], "");
    for (const fill of ["#cd3131", "#ff0000", "#080808", "#6cc58a"]) expect(svg).toContain(`fill="${fill}"`);
    expect(svg).toMatch(/<rect [^>]*fill="#d4d4d4"\/>[\s\S]*fill="#1e1e1e"[^>]*>y</);
  });

  it("cannot be broken by what a screen says", () => {
    expect(renderSvg([toCells("<a&b>")], "<t>")).toMatch(/<title>&lt;t&gt;<[\s\S]*>&lt;a&amp;b&gt;</);
  });
});

it("each screen has a file of its own", () => {
  const names = SHOTS.map(({ name, size }) => `${name}-${size.join("x")}`);
  expect(new Set(names).size).toBe(names.length);
});
