import { buildSiteConfig, formatSiteJson } from "../../cli/commands/configure/site-fields.ts";
import { formatEventText } from "../../cli/views/event.ts";
import { formatInstant } from "../../core/base/clock.ts";
import { clean } from "../../core/base/text.ts";
import type { SiteDocument } from "../../site/operate/site.ts";
import type { Snapshot } from "../../site/state/snapshot.ts";
import { type Subject, toActionable } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import type { ConsoleTable } from "../data/console-table.ts";
import { openDialog } from "../overlays/Dialog.tsx";
import { formatDetailText } from "../parts/pane-lines.ts";
import { createSheet, discardStored, editDraft, lendTo, loadPrograms, openSheet } from "../parts/programs.ts";
import { findChangeObstacle, formatSubjectName, getCommandById } from "../parts/row-actions.ts";

/** Shows the focused pane or overlay in the user's pager. */
export function openPager(app: ConsoleApp): void {
  const { text } = getShownText(app);
  void lendTo(app, async () => (await loadPrograms()).openUserPager(app.ports.io, text, app.context.signal));
}

/** Opens a copy of the focused pane or overlay in the user's editor. Removes the file afterwards. */
export function openInEditor(app: ConsoleApp): void {
  const { name, text } = getShownText(app);
  void editCopy(app, name, text);
}

async function editCopy(app: ConsoleApp, name: string, text: string): Promise<void> {
  const sheet = createSheet(app, text, "signalbox.txt");
  if (sheet === undefined) return;
  try {
    if (await openSheet(app, sheet))
      app.showToast(sheet.isChanged ? `${name} was a copy: your changes have no effect` : `closed ${name}`);
  } finally {
    sheet.discard();
  }
}

/** The definition of a row as a document, which `apply` reads. */
interface EditableDefinition {
  /** Its name for the user, which is also the key of its draft: `group web`. */
  target: string;
  text: string;
}

/**
 * Opens the definition of the selected group, resource or schedule in the user's editor. The edited text goes through
 * the preview and the confirmation of an import. A text that was not stored is kept, and opened again the next time.
 * @returns false if the row has no definition, or nothing can be changed now
 */
export function openDefinition(app: ConsoleApp): boolean {
  const definition = findDefinition(app.getSubject(), app.liveView.snapshot);
  if (definition === undefined || findChangeObstacle(app) !== undefined) return false;
  void edit(app, definition);
  return true;
}

async function edit(app: ConsoleApp, definition: EditableDefinition): Promise<void> {
  const { target, text } = definition;
  const sheet = await editDraft(app, target, { text, name: "signalbox.json", key: "E" });
  if (sheet === undefined) return;
  const now = findDefinition(app.getSubject(), app.liveView.snapshot);
  if (now?.target === target && now.text !== text)
    app.showToast(`${target} was changed by others meanwhile: read what the preview replaces`, "problem");
  const apply = getCommandById("apply");
  const command = { ...apply, flags: (apply.flags ?? []).filter(({ name }) => !WHOLE_SITE.has(name)) };
  openDialog(app, [{ command, args: [sheet.path], target }], (jobs) => discardStored(app, target, jobs));
}

/** Flags of `apply` that are useless for a document with one definition, or would delete everything else. */
const WHOLE_SITE: ReadonlySet<string> = new Set(["owner", "adopt", "prune", "only"]);

function findDefinition(row: Subject | undefined, snapshot: Snapshot): EditableDefinition | undefined {
  const subject = toActionable(row);
  if (subject?.kind !== "group" && subject?.kind !== "resource" && subject?.kind !== "schedule")
    return undefined;
  const document = toDocument(subject.kind, subject.name, snapshot);
  return document && { target: formatSubjectName(subject), text: formatSiteJson(document) };
}

function toDocument(
  kind: "group" | "resource" | "schedule",
  name: string,
  snapshot: Snapshot,
): SiteDocument | undefined {
  if (kind === "schedule") {
    const value = snapshot.schedules.get(name)?.value;
    return value && { schedules: new Map([[name, value]]) };
  }
  const { groups, resources } = buildSiteConfig(snapshot);
  return kind === "group"
    ? { groups: new Map([[name, groups.get(name) ?? { members: [] }]]) }
    : { resources: new Map([[name, resources.get(name) ?? { isWhole: true, config: {} }]]) };
}

/** A text for another program. It has no control characters, because the program may pass them to the terminal. */
interface ShownText {
  /** Describes the text in messages: `the detail`. */
  name: string;
  text: string;
}

/** Width of a text, columns. Pagers and editors scroll sideways. */
const TEXT_WIDTH = 240;
/** Maximum number of rows of a table. More would take too long. */
const MOST_ROWS = 20_000;

/** Returns the whole text of the focused pane or overlay, including lines that are scrolled out of view. */
function getShownText(app: ConsoleApp): ShownText {
  const own = app.overlays.text?.listLines?.();
  if (own !== undefined) return joinLines("the text", own);
  switch (app.state.focus) {
    case "explorer":
      return joinLines(
        "the explorer",
        app.tree.nodes.map(({ depth, label, note }) => `${"  ".repeat(depth)}${label} ${note}`.trimEnd()),
      );
    case "table":
      return joinLines(`the table ${app.state.tab}`, listTableLines(app, app.table));
    case "detail":
      return joinLines("the detail", formatDetailText(app, TEXT_WIDTH));
    case "panel":
      return joinLines(`the panel ${app.state.panel.id}`, listPanelLines(app));
  }
}

/** Joins lines without their control characters. */
function joinLines(name: string, lines: readonly string[]): ShownText {
  return { name, text: `${lines.map((line) => clean(line).trimEnd()).join("\n")}\n` };
}

function listTableLines(app: ConsoleApp, table: ConsoleTable): string[] {
  const height = Math.min(table.length, MOST_ROWS);
  const look = app.theme.createLook(TEXT_WIDTH);
  const { head, rows } = table.buildRows({ top: 0, height }, app.getWallTime(), look);
  const more = table.length > height ? [`(${table.length - height} more rows)`] : [];
  const lines = [head, ...rows].map((spans) => spans.map(({ text }) => text).join(""));
  return [...(table.length === 0 ? [table.empty] : lines), ...more];
}

function listPanelLines(app: ConsoleApp): readonly string[] {
  switch (app.state.panel.id) {
    case "events":
      return app.events.list.map((event) => `${formatInstant(event.at)} ${formatEventText(event)}`);
    case "log":
      return app.log.lines;
    case "jobs":
      return app.jobs.list.flatMap(({ title, code, line, lines }) => [
        `${title}: ${code === undefined ? "running" : `exit code ${code}`}`,
        `$ ${line}`,
        ...lines.map((one) => `  ${one}`),
        "",
      ]);
    default: {
      const table = app.getPanelTable();
      return table === undefined ? [] : listTableLines(app, table);
    }
  }
}
