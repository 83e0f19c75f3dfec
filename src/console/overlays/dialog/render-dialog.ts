import { clean } from "../../../base/text.ts";
import type { CommandPreview } from "../../actions/commands/preview.ts";
import type { App } from "../../app.ts";
import { padToWidth } from "../../theme/theme.ts";
import { createField, type TextField } from "../field/field.ts";
import { renderField } from "../field/field-line.ts";
import type { Form } from "../form/form.ts";
import type { RenderedOverlay } from "../overlay.ts";
import { renderChangedLines } from "./changed-lines.ts";

/** The values a dialog is rendered from. */
export interface DialogView {
  readonly app: Pick<App, "theme">;
  readonly title: string;
  readonly targets: readonly string[];
  readonly forms: readonly Form[];
  readonly fields: Form["fields"];
  /** The field that has the keyboard. */
  readonly active: string;
  readonly typed: ReadonlyMap<string, TextField>;
  /** Lines of the preview scrolled past. */
  readonly top: number;
  readonly fault: string | undefined;
  readonly incomplete: string | undefined;
  readonly isReading: boolean;
  /** Whether Enter works now. */
  readonly isReady: boolean;
  readonly previews: readonly CommandPreview[] | undefined;
  /** The first previews shown. Differences from them are marked. */
  readonly base: readonly CommandPreview[] | undefined;
  /** The same commands as lines for a shell. */
  readonly lines: readonly string[];
  /** What the user must type to confirm. */
  readonly word: string | undefined;
}

/** Renders a dialog: the preview, the fields, the command line and the confirmation. */
export function renderDialog(
  dialog: DialogView,
  available: { width: number; height: number },
): RenderedOverlay {
  const width = Math.min(100, available.width);
  const below = [
    ...renderFieldLines(dialog, width),
    ...renderCommandLines(dialog, width),
    ...renderConfirmLines(dialog, width),
  ];
  const height = Math.max(3, available.height - below.length - 1);
  const preview = renderPreviewLines(dialog, width);
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

/** Renders what would happen, in the command's own messages. */
function renderPreviewLines(dialog: DialogView, width: number): string[] {
  const { app, previews, targets, forms, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return [app.theme.style("quiet", clean(incomplete, width))];
  if (isReading) return [app.theme.style("quiet", "it only looks")];
  if (previews === undefined)
    return [app.theme.style("quiet", `looking what it would do${app.theme.signs.ellipsis}`)];
  return previews.flatMap((preview, at) => {
    const lines = renderChangedLines(preview, dialog.base?.[at], app.theme, width);
    const empty = lines.length === 0 ? ["nothing to do"] : lines;
    if (forms.length === 1) return empty;
    return [app.theme.style("heading", clean(targets[at] ?? "", width)), ...empty.map((line) => `  ${line}`)];
  });
}

function renderFieldLines({ app, fields, active, typed }: DialogView, width: number): string[] {
  const label = Math.max(...fields.map((field) => field.label.length), 0);
  return fields.map((field) => {
    const isActive = field.id === active;
    const name = app.theme.style(isActive ? "titleFocused" : "title", padToWidth(field.label, label));
    const room = Math.max(10, Math.min(32, width - label - 4));
    const value = formatFieldValue(field, typed.get(field.id) ?? createField(), room, isActive, app.theme);
    const help = clean(field.help, Math.max(0, width - label - room - 4));
    const sign = isActive ? app.theme.style("key", ">") : " ";
    return `${sign} ${name} ${value} ${app.theme.style("quiet", help)}`;
  });
}

function formatFieldValue(
  field: Form["fields"][number],
  typed: TextField,
  room: number,
  isActive: boolean,
  theme: DialogView["app"]["theme"],
): string {
  if (field.kind === "switch")
    return padToWidth(field.value === true ? `[${theme.signs.marked}]` : "[ ]", room);
  if (field.kind === "choice")
    return padToWidth(`< ${field.value === "" ? "-" : String(field.value)} >`, room);
  return renderField(theme, typed, room, isActive);
}

function renderCommandLines({ app, lines }: DialogView, width: number): string[] {
  const { style, signs } = app.theme;
  const [first = ""] = lines;
  const more = lines.length > 1 ? ` (and ${lines.length - 1} more)` : "";
  return [
    "",
    style("quiet", `${signs.arrow} `) + clean(first, width - 4 - more.length) + style("quiet", more),
  ];
}

function renderConfirmLines({ app, word, active, typed, fault }: DialogView, width: number): string[] {
  const { style, signs } = app.theme;
  const isActive = active === "confirm";
  const fieldRoom = Math.min(40, width - 10);
  const asked =
    word === undefined
      ? []
      : [
          `${isActive ? style("key", ">") : " "} ${style("danger", `type ${clean(word, 40)} to confirm`)}`,
          `  ${renderField(app.theme, typed.get("confirm") ?? createField(), fieldRoom, isActive)}`,
        ];
  const told = fault === undefined ? [] : [style("problem", clean(`${signs.marks.problem}${fault}`, width))];
  return [...asked, ...told];
}
