import { ETCD_REMEDY } from "../../cli/views/problems.ts";
import { buildQueueId } from "../../site/state/snapshot.ts";
import type { PictureTarget, Subject } from "../../site/state/subject.ts";
import type { ConsoleApp } from "../console-app.ts";
import { CLUSTERS, getDefaultUnfolded } from "../data/explorer-tree.ts";
import { openRemedy, openTarget } from "../overlays/Dialog.tsx";
import { openJob } from "../overlays/output.tsx";
import { openRaw } from "../overlays/RawKeys.tsx";
import { moveInPicture } from "../parts/moves.ts";
import { chooseListedContext, focusOn, goTo, rememberPlace } from "../parts/navigation.ts";
import { findSelectedTarget } from "../parts/pane-lines.ts";
import { getTabView, TABS, type TabId, updateTab } from "../state/console-state.ts";

/**
 * Handles Enter. In the explorer it goes to the row of the node; from a row it opens the detail; from a job its
 * output.
 */
export function openSelected(app: ConsoleApp): void {
  switch (app.state.focus) {
    case "explorer": {
      const node = app.getNode();
      if (node?.context !== undefined) return chooseListedContext(app, node.context.name);
      if (node?.id === CLUSTERS) return unfold(app, node.isOpen !== true);
      return node && goTo(app, node.tab, node.key);
    }
    case "table": {
      const target = app.tablePane.picturePart?.target;
      if (target !== undefined) return openPicturePart(app, target);
      const subject = app.getSubject();
      if (app.state.tab === "sessions") return openRaw(app);
      return getTabView(app.state.tab) === "problems" && subject !== undefined
        ? openProblem(app, subject)
        : openDetail(app);
    }
    case "panel":
      return openRow(app);
    case "detail": {
      const target = findSelectedTarget(app);
      return target && openTarget(app, target);
    }
  }
}

/** Goes to the listing, or to the row of the object and its detail. */
function openPicturePart(app: ConsoleApp, target: PictureTarget): void {
  app.update(rememberPlace);
  if (target.kind === "listing") {
    const tab = TABS.find((id) => id === target.name);
    return tab && goTo(app, tab, undefined);
  }
  const row = findSubjectRow(target);
  if (row === undefined) return;
  goTo(app, row.tab, row.key);
  openDetail(app);
}

/** Opens the dialog of a problem's remedy. If no command remedies it, goes to the row that the problem is about. */
function openProblem(app: ConsoleApp, subject: Subject): void {
  if (subject.kind !== "record") return openDetail(app);
  if (subject.remedy?.command === ETCD_REMEDY.command) return app.act("etcd");
  if (subject.remedy !== undefined) return openRemedy(app, subject.remedy);
  const { about } = subject;
  const row = about && findSubjectRow(about);
  if (row === undefined) return openDetail(app);
  goTo(app, row.tab, row.key);
  openDetail(app);
}

/** Returns the tab and the key of a subject's own row, if it has one. */
function findSubjectRow(subject: Subject): { tab: TabId; key: string } | undefined {
  switch (subject.kind) {
    case "lock":
    case "resource":
      return { tab: `${subject.kind}s`, key: buildQueueId(subject.kind, subject.name) };
    case "host":
    case "group":
    case "schedule":
      return { tab: `${subject.kind}s`, key: subject.name };
    default:
      return undefined;
  }
}

/** Focuses the detail. If it does not fit beside the table, it fills the screen. */
function openDetail(app: ConsoleApp): void {
  app.update(rememberPlace);
  focusOn(app, "detail");
  if (app.getLayout()?.detail === undefined) app.update((state) => ({ ...state, zoomed: "detail" }));
}

function openRow(app: ConsoleApp): void {
  const { panel } = app.state;
  if (panel.id === "jobs") {
    const job = app.jobs.list[panel.cursor.index];
    return job && openJob(app, job.id);
  }
  const subject = app.getPanelTable()?.getSubjectAt(panel.cursor.index);
  if (panel.id === "problems" && subject !== undefined) return openProblem(app, subject);
  const key = app.getPanelTable()?.getKeyAt(panel.cursor.index);
  if (key !== undefined && (panel.id === "problems" || panel.id === "audit")) goTo(app, panel.id, key);
}

/** Moves to the next cell of a table whose cells are objects. @returns false if there is none in that direction */
function moveCell(app: ConsoleApp, by: 1 | -1): boolean {
  const { cells, cell = "" } = app.table;
  const next = cells[cells.indexOf(cell) + by];
  if (cell === "" || next === undefined) return false;
  app.update((state) => ({ ...updateTab(state, { cell: next }), detail: { top: 0 } }));
  return true;
}

/**
 * Handles left and right. In the explorer it folds and unfolds; elsewhere it moves between cells, and between explorer, table
 * and detail.
 */
export function unfold(app: ConsoleApp, isOpen: boolean): void {
  const { focus, explorer } = app.state;
  if (focus === "table" && (moveInPicture(app, isOpen ? "right" : "left") || moveCell(app, isOpen ? 1 : -1)))
    return;
  if (focus === "table") return focusOn(app, isOpen ? "detail" : "explorer");
  if (focus === "detail" && !isOpen) return focusOn(app, "table");
  if (focus !== "explorer") return;
  const node = app.getNode();
  if (node === undefined) return;
  if (node.isOpen === undefined || node.isOpen === isOpen)
    return isOpen ? focusOn(app, "table") : moveToParent(app);
  const open = new Set(explorer.open ?? getDefaultUnfolded(app.getTabCounts()));
  if (isOpen) open.add(node.id);
  else open.delete(node.id);
  app.update((state) => ({ ...state, explorer: { ...state.explorer, open } }));
}

function moveToParent(app: ConsoleApp): void {
  const { nodes } = app.tree;
  const { cursor } = app.state.explorer;
  const depth = nodes[cursor.index]?.depth ?? 0;
  const at = nodes.findLastIndex((node, index) => index < cursor.index && node.depth < depth);
  const key = nodes[at]?.id;
  if (key === undefined) return;
  app.update((state) => ({ ...state, explorer: { ...state.explorer, cursor: { ...cursor, key } } }));
}
