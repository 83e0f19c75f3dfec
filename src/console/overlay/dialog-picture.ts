import { clean } from "../../base/text.ts";
import { proseLines } from "../../commands/see/detail.ts";
import type { Preview } from "../act/preview.ts";
import type { App } from "../app/app.ts";
import { type Field, fieldOf } from "../field/field.ts";
import type { Form } from "../form/form.ts";
import { padTo } from "../theme/theme.ts";
import { fieldLine } from "./field-line.ts";
import type { OverlayPicture } from "./overlay.ts";

/** What a dialog is painted from. */
export interface DialogView {
  readonly app: Pick<App, "theme">;
  readonly title: string;
  readonly targets: readonly string[];
  readonly forms: readonly Form[];
  readonly fields: Form["fields"];
  /** The field that has the keyboard. */
  readonly active: string;
  readonly typed: ReadonlyMap<string, Field>;
  /** Lines of the preview that are scrolled away. */
  readonly top: number;
  readonly fault: string | undefined;
  readonly incomplete: string | undefined;
  readonly isReading: boolean;
  /** Whether Enter can be pressed now. */
  readonly isReady: boolean;
  readonly previews: readonly Preview[] | undefined;
  /** The same from a shell. */
  readonly lines: readonly string[];
  /** What must be typed before it is done. */
  readonly word: string | undefined;
}

/** A dialog as it is painted: what will happen, what can be said about it, how to do it. */
export function dialogPicture(dialog: DialogView, room: { width: number; height: number }): OverlayPicture {
  const width = Math.min(100, room.width);
  const below = [
    ...fieldLines(dialog, width),
    ...commandLines(dialog, width),
    ...confirmLines(dialog, width),
  ];
  const height = Math.max(3, room.height - below.length - 1);
  const preview = previewLines(dialog, width);
  const top = Math.max(0, Math.min(dialog.top, preview.length - height));
  const shown = preview.slice(top, top + height);
  const { style, signs } = dialog.app.theme;
  if (preview.length > top + height)
    shown.splice(
      -1,
      1,
      style("quiet", `${signs.ellipsis} ${preview.length - top - height + 1} more lines (PgDn)`),
    );
  const isDanger = dialog.word !== undefined;
  return {
    title: clean(dialog.title, width - 4),
    lines: [...shown, "", ...below],
    hints: [
      ...(dialog.fields.length > 0 ? ([["Tab", "next field"]] as const) : []),
      ...(dialog.isReady ? ([["Enter", dialog.forms[0]?.spec.id ?? "do it"]] as const) : []),
      ["Esc", "cancel"],
    ],
    ...{ width, at: "middle", tone: isDanger ? "danger" : "plain" },
  };
}

/** What would happen, as the command itself says it. */
function previewLines(
  { app, previews, targets, forms, incomplete, isReading }: DialogView,
  width: number,
): string[] {
  const look = app.theme.look(width);
  if (incomplete !== undefined) return [app.theme.style("quiet", clean(incomplete, width))];
  if (isReading) return [app.theme.style("quiet", "it only looks")];
  if (previews === undefined)
    return [app.theme.style("quiet", `looking what it would do${app.theme.signs.ellipsis}`)];
  return previews.flatMap(({ messages, outcome }, at) => {
    const role = outcome === "failed" ? "problem" : "plain";
    const lines = proseLines(messages, look).map((line) => app.theme.style(role, line));
    const empty = lines.length === 0 ? ["nothing to do"] : lines;
    if (forms.length === 1) return empty;
    return [app.theme.style("heading", clean(targets[at] ?? "", width)), ...empty.map((line) => `  ${line}`)];
  });
}

function fieldLines({ app, fields, active, typed }: DialogView, width: number): string[] {
  const label = Math.max(...fields.map((field) => field.label.length), 0);
  return fields.map((field) => {
    const isActive = field.id === active;
    const name = app.theme.style(isActive ? "titleFocused" : "title", padTo(field.label, label));
    const room = Math.max(10, Math.min(32, width - label - 4));
    const value = valueText(field, typed.get(field.id) ?? fieldOf(), room, isActive, app.theme);
    const help = clean(field.help, Math.max(0, width - label - room - 4));
    const sign = isActive ? app.theme.style("key", ">") : " ";
    return `${sign} ${name} ${value} ${app.theme.style("quiet", help)}`;
  });
}

function valueText(
  field: Form["fields"][number],
  typed: Field,
  room: number,
  isActive: boolean,
  theme: DialogView["app"]["theme"],
): string {
  if (field.kind === "switch") return padTo(field.value === true ? `[${theme.signs.marked}]` : "[ ]", room);
  if (field.kind === "choice") return padTo(`< ${field.value === "" ? "-" : String(field.value)} >`, room);
  return fieldLine(theme, typed, room, isActive);
}

function commandLines({ app, lines }: DialogView, width: number): string[] {
  const { style, signs } = app.theme;
  const [first = ""] = lines;
  const more = lines.length > 1 ? ` (and ${lines.length - 1} more)` : "";
  return [
    "",
    style("quiet", `${signs.arrow} `) + clean(first, width - 4 - more.length) + style("quiet", more),
  ];
}

function confirmLines({ app, word, active, typed, fault }: DialogView, width: number): string[] {
  const { style, signs } = app.theme;
  const isActive = active === "confirm";
  const fieldRoom = Math.min(40, width - 10);
  const asked =
    word === undefined
      ? []
      : [
          `${isActive ? style("key", ">") : " "} ${style("danger", `type ${clean(word, 40)} to confirm`)}`,
          `  ${fieldLine(app.theme, typed.get("confirm") ?? fieldOf(), fieldRoom, isActive)}`,
        ];
  const told = fault === undefined ? [] : [style("problem", clean(`${signs.marks.problem}${fault}`, width))];
  return [...asked, ...told];
}
