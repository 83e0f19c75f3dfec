import { cleanToWidth } from "../../base/display-width.ts";
import { wrapProseLines } from "../../commands/see/detail.ts";
import type { JobRequest } from "../data/jobs.ts";
import type { ConsoleParts } from "../parts/console-parts.ts";
import type { OverlayModel } from "../parts/overlay.ts";
import { type CommandPreview, findChangeObstacle, findPastObstacle, hasFlag } from "../parts/row-actions.ts";
import { createRow, padText, type RowCell, type RowModel } from "../theme/cells.ts";
import type { StyleRole } from "../theme/roles.ts";
import type { Theme } from "../theme/theme.ts";
import { type Form, formatFormCommand, toCommandWords } from "./dialog-form.ts";
import { buildFieldCells, createField, type TextField } from "./field.ts";

/** The values a dialog is rendered from. */
export interface DialogView {
  readonly app: ConsoleParts;
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

/** Builds a dialog: the preview, the fields, the command line and the confirmation. */
export function buildDialogModel(
  dialog: DialogView,
  available: { width: number; height: number },
): OverlayModel {
  const width = Math.min(100, available.width);
  const end = {
    command: buildCommandRow(dialog, width),
    confirmation: buildConfirmationRows(dialog, width),
    faults: buildFaultRows(dialog, width),
  };
  const least = available.height < LOW ? LEAST_ROWS.low : LEAST_ROWS.usual;
  const others = least.preview + 3 + end.confirmation.length + end.faults.length;
  const room = Math.max(least.fields, available.height - others);
  const below = { fields: cutFields(dialog, buildFieldRows(dialog, width), room), ...end };
  const taken = below.fields.length + 2 + below.confirmation.length + below.faults.length;
  const height = Math.max(least.preview, available.height - taken - 1);
  const preview = cutPreview(dialog, buildPreviewRows(dialog, width), height);
  return {
    title: cleanToWidth(dialog.title, width - 4),
    content: { kind: "dialog", preview, ...below },
    hints: [
      ...(dialog.fields.length > 0 ? ([["Tab", "next field"]] as const) : []),
      ...(dialog.isReady ? ([["Enter", dialog.forms[0]?.spec.id ?? "confirm"]] as const) : []),
      ["Esc", "cancel"],
    ],
    width,
    at: "middle",
    tone: dialog.word === undefined ? "plain" : "danger",
  };
}

/** Least rows of the preview and of the fields: usually, and on a low screen, where the keys at the end must still fit. */
const LEAST_ROWS = { usual: { preview: 3, fields: 5 }, low: { preview: 2, fields: 3 } };
const LOW = 14;

/** Returns the rows around the active field. The first and the last one say how many are left out. */
function cutFields({ app, fields, active }: DialogView, rows: RowModel[], room: number): RowModel[] {
  if (rows.length <= room) return rows;
  const at = Math.max(
    0,
    fields.findIndex(({ id }) => id === active),
  );
  const top = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
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
  const top = Math.max(0, Math.min(wanted, rows.length - height));
  const shown = rows.slice(top, top + height);
  const left = rows.length - top - height;
  if (left <= 0) return shown;
  const more = `${app.theme.signs.ellipsis} ${left + 1} more lines (PgDn)`;
  return [...shown.slice(0, -1), createRow(more, "quiet")];
}

/** Builds what would happen, in the command's own messages. */
function buildPreviewRows(dialog: DialogView, width: number): RowModel[] {
  const { app, previews, targets, forms, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return [createRow(cleanToWidth(incomplete, width), "quiet")];
  if (isReading) return [createRow("this command changes nothing", "quiet")];
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

function buildFieldRows({ app, fields, active, typed }: DialogView, width: number): RowModel[] {
  const label = Math.max(...fields.map((field) => field.label.length), 0);
  const room = Math.max(10, Math.min(32, width - label - 4));
  return fields.map((field): RowModel => {
    const isActive = field.id === active;
    const value = buildValueCells(field, typed.get(field.id) ?? createField(), room, isActive, app.theme);
    return {
      cells: [
        buildActiveSign(isActive),
        { text: " " },
        { text: padText(field.label, label), role: isActive ? "titleFocused" : "title" },
        { text: " " },
        ...value,
        { text: " " },
        { text: cleanToWidth(field.help, Math.max(0, width - label - room - 4)), role: "quiet" },
      ],
    };
  });
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

function buildConfirmationRows({ word, active, typed }: DialogView, width: number): RowModel[] {
  if (word === undefined) return [];
  const isActive = active === "confirm";
  const asked: RowCell = { text: `type ${cleanToWidth(word, 40)} to confirm`, role: "danger" };
  const field = buildFieldCells(typed.get("confirm") ?? createField(), Math.min(40, width - 10), isActive);
  return [
    { cells: [buildActiveSign(isActive), { text: " " }, asked] },
    { cells: [{ text: "  " }, ...field] },
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
 * Returns why a dialog cannot be confirmed now, or undefined if it can. @param typed  what the user typed to confirm
 */
export function findDialogObstacle(app: ConsoleParts, dialog: DialogView, typed: string): string | undefined {
  const { previews, word, incomplete, isReading } = dialog;
  if (incomplete !== undefined) return incomplete;
  if (isReading) return findPastObstacle(app.liveView);
  const obstacle = findChangeObstacle(app);
  if (obstacle !== undefined) return obstacle;
  if (previews === undefined) return "wait for the preview of what will happen";
  if (previews.some(({ outcome }) => outcome === "failed" || outcome === "changed"))
    return "not possible with these values: see above";
  if (word !== undefined && typed !== word) return `type ${cleanToWidth(word, 60)} to confirm`;
  return dialog.isReady ? undefined : "the preview has just changed: read it, then press Enter";
}

/**
 * Builds a job request that is bound to the revision of its preview: if the revision has changed since, the command
 * does nothing.
 */
export function createJobRequest(
  form: Form,
  {
    target,
    preview,
    reopen,
    more,
  }: {
    target: string;
    preview: CommandPreview | undefined;
    reopen: () => void;
    /** Further flags of the line to copy. */
    more: readonly string[];
  },
): JobRequest {
  const { spec } = form;
  const revision = preview?.revision;
  const isBound = revision !== undefined && hasFlag(spec, "expect-revision");
  const flags = [
    ...(isBound ? ["--expect-revision", revision] : []),
    ...(hasFlag(spec, "yes") ? ["--yes"] : []),
  ];
  return {
    command: spec,
    words: [...flags, ...toCommandWords(form)],
    line: formatFormCommand(form, [...flags, ...more]),
    title: `${spec.id} ${cleanToWidth(target, 80)}`.trim(),
    reopen,
  };
}
