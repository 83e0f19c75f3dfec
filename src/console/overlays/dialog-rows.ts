import { wrapProseLines } from "../../cli/commands/see/detail.ts";
import { wrapText } from "../../cli/commands/see/grid.ts";
import { cleanToWidth, computeDisplayWidth } from "../../core/base/display-width.ts";
import { clean } from "../../core/base/text.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { JobRequest } from "../data/jobs.ts";
import {
  type CommandPreview,
  findChangeObstacle,
  findPastObstacle,
  hasFlag,
  hasPreview,
} from "../parts/row-actions.ts";
import { clamp, computeWindowTop } from "../state/cursor.ts";
import type { StyleRole } from "../theme/palettes.ts";
import { BLANK_ROW, createRow, padText, type RowCell, type RowModel } from "../theme/Row.tsx";
import type { Theme } from "../theme/theme.ts";
import { type Form, formatFormCommand, listContextWords, toCommandWords } from "./dialog-form.ts";
import { buildFieldCells, createField, type TextField } from "./field.ts";

/** Id of the field that asks for a confirmation before live runs are ended, so that one key too many does nothing. */
export const CONFIRM_FIELD = "confirm";

/** What Enter does while the terminal has not answered that it shows the preview. */
export const LATE_HINT = "works once the terminal has shown the preview";

/** The values a dialog is rendered from. */
interface DialogView {
  readonly app: ConsoleApp;
  readonly targets: readonly string[];
  readonly forms: readonly Form[];
  readonly fields: Form["fields"];
  /** The focused field. */
  readonly active: string;
  readonly typed: ReadonlyMap<string, TextField>;
  /** Lines of the preview scrolled past. */
  readonly top: number;
  readonly fault: string | undefined;
  readonly incomplete: string | undefined;
  readonly isReading: boolean;
  /** Whether Enter confirms now. */
  readonly isReady: boolean;
  /** Whether it does not because the terminal takes long to show the preview. */
  readonly isLate: boolean;
  readonly previews: readonly CommandPreview[] | undefined;
  /** The first previews shown. Differences from them are marked. */
  readonly base: readonly CommandPreview[] | undefined;
  /** The same commands as lines for a shell. */
  readonly lines: readonly string[];
  /** What the user must type to confirm. */
  readonly word: string | undefined;
}

/** A row of a dialog, and the field that a click on it selects. */
interface DialogRow extends RowModel {
  field?: string;
}

/** Builds the rows of a dialog: the preview, the fields, the command line and the confirmation. */
export function buildDialogRows(dialog: DialogView, width: number, height: number): DialogRow[] {
  const isLow = height < LOW_SCREEN_ROWS;
  const least = isLow ? LEAST_ROWS.low : LEAST_ROWS.usual;
  const gap = isLow ? [] : [BLANK_ROW];
  const end = [
    buildCommandRow(dialog, width),
    ...buildConfirmationRows(dialog, width),
    ...buildFaultRows(dialog, width),
  ];
  const taken = end.length + 2 * gap.length;
  const room = Math.max(least.fields, height - least.preview - taken);
  const fields = cutFields(dialog, buildFieldRows(dialog, width), room);
  const left = Math.max(least.preview, height - taken - fields.length);
  return [...cutPreview(dialog, buildPreviewRows(dialog, width), left), ...gap, ...fields, ...gap, ...end];
}

/** The indent of the help below a field. */
const HELP_INDENT = "    ";
/**
 * Minimum numbers of rows of the preview and of the fields: usually, and on a low screen, where the hints at the end
 * must still fit.
 */
const LEAST_ROWS = { usual: { preview: 3, fields: 5 }, low: { preview: 2, fields: 3 } };
const LOW_SCREEN_ROWS = 14;

/** Returns the rows around the active field. The first and the last one say how many are left out. */
function cutFields({ app, active }: DialogView, rows: DialogRow[], room: number): DialogRow[] {
  if (rows.length <= room) return rows;
  const at = Math.max(
    0,
    rows.findIndex(({ field }) => field === active),
  );
  const top = computeWindowTop(at, rows.length, room);
  const left = rows.length - top - room;
  const { ellipsis } = app.theme.signs;
  const buildMore = (count: number, where: string) =>
    createRow(`  ${ellipsis} ${count} more fields ${where}`, "quiet");
  return [
    ...(top > 0 ? [buildMore(top + 1, "above (Shift+Tab)")] : []),
    ...rows.slice(top > 0 ? top + 1 : top, top + room - (left > 0 ? 1 : 0)),
    ...(left > 0 ? [buildMore(left + 1, "below (Tab)")] : []),
  ];
}

/** Returns the rows at the scroll position. The last one says how many follow. */
function cutPreview({ app, top: wanted }: DialogView, rows: RowModel[], height: number): RowModel[] {
  const top = clamp(wanted, 0, rows.length - height);
  const shown = rows.slice(top, top + height);
  const left = rows.length - top - height;
  if (left <= 0) return shown;
  const more = `${app.theme.signs.ellipsis} ${left + 1} more lines (PgDn)`;
  return [...shown.slice(0, -1), createRow(more, "quiet")];
}

/** Builds the rows of the preview, in the command's own messages. */
function buildPreviewRows(dialog: DialogView, width: number): RowModel[] {
  const { app, previews, targets, forms, incomplete } = dialog;
  if (incomplete !== undefined) return [createRow(cleanToWidth(incomplete, width), "quiet")];
  if (!forms.every(({ spec }) => hasPreview(spec)))
    return [createRow("this command changes nothing", "quiet")];
  if (previews === undefined) return [createRow(`reading the preview${app.theme.signs.ellipsis}`, "quiet")];
  return previews.flatMap((preview, at): RowModel[] => {
    const rows = buildChangedRows(preview, dialog.base?.[at], app.theme, width);
    const filled = rows.length === 0 ? [createRow("nothing to do")] : rows;
    if (forms.length === 1) return filled;
    const indent = { text: "  " };
    return [
      createRow(cleanToWidth(targets[at] ?? "", width), "heading"),
      ...filled.map(({ cells }) => ({ cells: [indent, ...cells] })),
    ];
  });
}

function buildFieldRows({ app, fields, active, typed }: DialogView, width: number): DialogRow[] {
  const label = Math.max(...fields.map((field) => field.label.length), 0);
  const room = clamp(width - label - 4, 10, 32);
  const start = label + room + 4;
  return fields.flatMap((field): DialogRow[] => {
    const isActive = field.id === active;
    const isWrapped = isActive && computeDisplayWidth(clean(field.help)) > width - start;
    const value = buildValueCells(field, typed.get(field.id) ?? createField(), room, isActive, app.theme);
    const help = isWrapped ? "" : cleanToWidth(field.help, Math.max(0, width - start));
    return [
      {
        field: field.id,
        selection: chooseTint(app.theme, isActive),
        cells: [
          buildActiveSign(isActive),
          { text: " " },
          { text: padText(field.label, label), role: isActive ? "titleFocused" : "title" },
          { text: " " },
          ...value,
          { text: " " },
          { text: help, role: "quiet" },
        ],
      },
      ...(isWrapped ? buildHelpRows(field, width) : []),
    ];
  });
}

/** Builds the help below the focused field. */
function buildHelpRows({ id, help }: Form["fields"][number], width: number): DialogRow[] {
  return wrapText(clean(help), width - HELP_INDENT.length).map((line) => ({
    field: id,
    ...createRow(`${HELP_INDENT}${line}`, "quiet"),
  }));
}

/**
 * Chooses the tint of a field's row. The focused row is not tinted in themes in which an inverted row would hide the
 * cursor.
 */
function chooseTint({ getLook }: Theme, isActive: boolean): "focused" | undefined {
  return isActive && getLook("selected")?.style.inverse !== true ? "focused" : undefined;
}

function buildActiveSign(isActive: boolean): RowCell {
  return isActive ? { text: ">", role: "key" } : { text: " " };
}

function buildValueCells(
  field: Form["fields"][number],
  typed: TextField,
  room: number,
  isActive: boolean,
  theme: Theme,
): RowCell[] {
  if (field.kind === "switch")
    return [{ text: padText(field.value === true ? `[${theme.signs.marked}]` : "[ ]", room) }];
  if (field.kind === "choice")
    return [{ text: padText(`< ${field.value === "" ? "-" : String(field.value)} >`, room) }];
  return buildFieldCells(typed, room, isActive);
}

function buildCommandRow({ app, lines }: DialogView, width: number): RowModel {
  const [first = ""] = lines;
  const more = lines.length > 1 ? ` (and ${lines.length - 1} more)` : "";
  return {
    cells: [
      { text: `${app.theme.signs.arrow} `, role: "quiet" },
      { text: cleanToWidth(first, width - 4 - more.length) },
      { text: more, role: "quiet" },
    ],
  };
}

function buildConfirmationRows({ app, word, active, typed }: DialogView, width: number): DialogRow[] {
  if (word === undefined) return [];
  const isActive = active === CONFIRM_FIELD;
  const question: RowCell = { text: `type ${cleanToWidth(word, 40)} to confirm`, role: "danger" };
  const field = buildFieldCells(
    typed.get(CONFIRM_FIELD) ?? createField(),
    Math.min(40, width - 10),
    isActive,
  );
  return [
    {
      field: CONFIRM_FIELD,
      selection: chooseTint(app.theme, isActive),
      cells: [buildActiveSign(isActive), { text: " " }, question],
    },
    { field: CONFIRM_FIELD, cells: [{ text: "  " }, ...field] },
  ];
}

function buildFaultRows({ app, fault }: DialogView, width: number): RowModel[] {
  if (fault === undefined) return [];
  return [createRow(cleanToWidth(`${app.theme.signs.marks.problem}${fault}`, width), "problem")];
}

/**
 * Builds the rows of a preview. `+` marks a line that the first preview did not have, `-` a line that it had and
 * that is gone.
 * @param base  the preview that was shown first
 */
function buildChangedRows(
  { messages, messageKeys, outcome }: CommandPreview,
  base: CommandPreview | undefined,
  theme: Theme,
  width: number,
): RowModel[] {
  const now = new Set(messageKeys);
  const then = new Set(base?.messageKeys ?? messageKeys);
  const isNew = (at: number) => !then.has(messageKeys[at] ?? "");
  const plain: StyleRole = outcome === "failed" ? "problem" : "plain";
  const gone = base?.messages.filter((_, at) => !now.has(base.messageKeys[at] ?? "")) ?? [];
  const isSame = gone.length === 0 && messageKeys.every((key) => then.has(key));
  const wrap = (text: string, sign: string, role: StyleRole) =>
    wrapProseLines([text], theme.createLook(width - (isSame ? 0 : 2))).map((line, at) =>
      createRow(isSame ? line : `${at === 0 ? sign : " "} ${line}`, role),
    );
  return [
    ...messages.flatMap((text, at) => (isNew(at) ? wrap(text, "+", "match") : wrap(text, " ", plain))),
    ...gone.flatMap((text) => wrap(text, "-", "quiet")),
  ];
}

/**
 * Returns why a dialog cannot be confirmed now, or undefined if it can.
 * @param typed  what the user typed to confirm
 */
export function findDialogObstacle(
  app: ConsoleApp,
  dialog: Pick<DialogView, "previews" | "word" | "incomplete" | "isReading" | "isReady" | "isLate">,
  typed: string,
): string | undefined {
  const { previews, word, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return incomplete;
  if (isReading) return findPastObstacle(app.liveView);
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined) return obstacle;
  if (previews === undefined) return "wait for the preview of what will happen";
  if (previews.some(({ outcome }) => outcome === "failed" || outcome === "changed"))
    return "not possible with these values: see above";
  if (word !== undefined && typed !== word) return `type ${cleanToWidth(word, 60)} to confirm`;
  if (dialog.isReady) return undefined;
  return dialog.isLate ? `Enter ${LATE_HINT}` : "the preview has just changed: read it, then press Enter";
}

/**
 * Builds a job request that is bound to the revision of its preview: if the revision has changed since, the command
 * does nothing.
 */
export function createJobRequest(
  { jobs, context }: ConsoleApp,
  form: Form,
  { target, preview, reopen }: { target: string; preview: CommandPreview | undefined; reopen: () => void },
): JobRequest {
  const { spec } = form;
  const revision = preview?.revision;
  // The form may have the revision of something that was read before its preview.
  const isBoundBefore = form.fields.some(({ id }) => id === "flag:expect-revision");
  const isBound = revision !== undefined && hasFlag(spec, "expect-revision") && !isBoundBefore;
  const flags = [
    ...(isBound ? ["--expect-revision", revision] : []),
    ...(hasFlag(spec, "yes") ? ["--yes"] : []),
  ];
  const words = [...flags, ...toCommandWords(form)];
  return {
    run: (capture) => jobs.perform(spec, words, capture),
    line: formatFormCommand(form, [...flags, ...listContextWords(context)]),
    title: `${spec.id} ${cleanToWidth(target, 80)}`.trim(),
    reopen,
  };
}
