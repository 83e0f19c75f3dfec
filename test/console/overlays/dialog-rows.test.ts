import { expect, it } from "vitest";
import type { ConsoleApp } from "../../../src/console/console-app.ts";
import { createForm } from "../../../src/console/overlays/dialog-form.ts";
import { buildDialogRows } from "../../../src/console/overlays/dialog-rows.ts";
import { createField } from "../../../src/console/overlays/field.ts";
import { getCommandById } from "../../../src/console/parts/row-actions.ts";
import { joinCellTexts } from "../../../src/console/theme/Row.tsx";
import { getTheme } from "../../../src/console/theme/theme.ts";

function build(active: string, theme = getTheme("dark", "256", false)) {
  const form = createForm(getCommandById("schedule trigger"), { args: ["s"], fixed: 1 });
  const rows = buildDialogRows(
    {
      app: { theme } as ConsoleApp,
      targets: ["s"],
      forms: [form],
      fields: form.fields.filter(({ isFixed }) => !isFixed),
      active,
      typed: new Map(form.fields.map(({ id }) => [id, createField()])),
      top: 0,
      fault: undefined,
      incomplete: undefined,
      isReading: true,
      isReady: true,
      isLate: false,
      previews: undefined,
      base: undefined,
      lines: ["signalbox schedule trigger s"],
      word: undefined,
    },
    80,
    40,
  );
  return rows.map((row) => ({ ...row, text: joinCellTexts(row.cells) }));
}

it("the field that has the keyboard is tinted, and its help stands whole below it", () => {
  const rows = build("flag:dead").filter(({ field }) => field === "flag:dead");
  expect(rows.map(({ selection }) => selection)).toEqual(["focused", ...rows.slice(1).map(() => undefined)]);
  const help = rows.slice(1).map(({ text }) => text.trim());
  expect(help.join(" ")).toContain("it is removed from the list, and runs again");
  for (const { text } of rows) expect(text.length).toBeLessThanOrEqual(80);
  expect(build("flag:env").filter(({ field }) => field === "flag:dead")).toHaveLength(1);
});

it("no row is tinted where that would hide the cursor of its field", () => {
  expect(build("flag:dead", getTheme("mono", "16", false)).some(({ selection }) => selection)).toBe(false);
});
