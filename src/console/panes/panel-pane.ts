import { formatBriefDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { ConsoleJob } from "../actions/commands/jobs.ts";
import type { App } from "../app.ts";
import { PANELS, type PanelId } from "../state/console-state.ts";
import type { Size } from "../state/layout.ts";
import type { StyleRole } from "../theme/roles.ts";
import { padToWidth } from "../theme/theme.ts";
import { NOT_READ_YET } from "./empty-pages.ts";

/** Renders the panel's title line, with the names of its views. */
export function renderPanelRule(app: App, width: number): string {
  const { theme, state } = app;
  const { horizontal } = theme.signs;
  const titles = listPanelTitles(app);
  const painted = titles.map(({ id, text }) => {
    const isActive = id === state.panel.id;
    const role: StyleRole = isActive ? (state.focus === "panel" ? "titleFocused" : "heading") : "title";
    return theme.style(role, text);
  });
  const start = theme.style("border", `${horizontal} `) + painted.join("  ");
  const length = titles.reduce((sum, { text }) => sum + text.length + 2, 0);
  return `${start} ${theme.style("border", horizontal.repeat(Math.max(0, width - length - 1)))}`;
}

/** Lists the titles as they appear in that line: from the third column on, with two columns between them. */
export function listPanelTitles(app: App): { id: PanelId; text: string }[] {
  const counts: Partial<Record<PanelId, number>> = {
    jobs: app.jobs.running.length,
    problems: app.getTabCounts().problems ?? 0,
  };
  return PANELS.map((id) => ({ id, text: id.toUpperCase() + (counts[id] ? ` ${counts[id]}` : "") }));
}

/** Renders the active view of the panel. */
export function renderPanelPane(app: App, size: Size): string[] {
  switch (app.state.panel.id) {
    case "events":
      return renderEvents(app, size);
    case "jobs":
      return renderJobs(app, size);
    case "problems":
    case "audit":
      return renderPanelTable(app, size);
    case "log":
      return renderNewest(app, app.log.lines, size, "Nothing was logged.");
  }
}

function renderEvents(app: App, size: Size): string[] {
  const { theme } = app;
  const lines = app.events.list.map(({ at, text, tone }) => {
    const time = theme.style("quiet", formatInstant(at).slice(11, 19));
    return `${time} ${theme.style(tone, clean(text, size.width - 11))}`;
  });
  return renderNewest(
    app,
    lines,
    size,
    app.liveView.hasRead ? "No events yet. Runs, drains and changes appear here." : NOT_READ_YET,
  );
}

/** Renders lines, newest first, at the panel's scroll position. */
function renderNewest(app: App, lines: readonly string[], { width, height }: Size, empty: string): string[] {
  if (lines.length === 0) return [` ${app.theme.style("quiet", clean(empty, width - 2))}`];
  const top = Math.max(0, Math.min(app.state.panel.top, lines.length - height));
  return lines.slice(top, top + height).map((line) => ` ${line}`);
}

function renderJobs(app: App, { width, height }: Size): string[] {
  const { theme, state, jobs } = app;
  if (jobs.list.length === 0)
    return [
      ` ${theme.style("quiet", clean("No jobs yet. D drains, X resets what is selected; : has all commands.", width - 2))}`,
    ];
  const { cursor } = state.panel;
  return jobs.list.slice(cursor.top, cursor.top + height).map((job, at) => {
    const isSelected = cursor.top + at === cursor.index && state.focus === "panel";
    const line = padToWidth(` ${renderJob(app, job, width - 2)}`, width);
    return theme.styleRow(line, { isSelected, isFocused: state.focus === "panel", width });
  });
}

function renderJob(app: App, job: ConsoleJob, width: number): string {
  const { theme } = app;
  const { text, role } = describeJobState(job);
  const took = formatBriefDuration((job.endedAt ?? app.getWallTime()) - job.startedAt);
  const head = `${theme.style(role, text)} ${took.padStart(4)} `;
  const last = job.lines.at(-1) ?? "";
  const title = clean(job.title, 60);
  const room = Math.max(0, width - text.length - 7 - title.length - 2);
  return `${head} ${title}  ${theme.style("quiet", clean(last, room))}`;
}

/** Describes the state of a job in a word. */
export function describeJobState({ code }: ConsoleJob): { text: string; role: StyleRole } {
  if (code === undefined) return { text: "running", role: "waiting" };
  if (code === 0) return { text: "done   ", role: "held" };
  if (code === 75) return { text: "moved  ", role: "problem" };
  if (code === 124) return { text: "late   ", role: "problem" };
  if (code > 128) return { text: "stopped", role: "quiet" };
  return { text: `exit ${code}`.padEnd(7), role: "problem" };
}

function renderPanelTable(app: App, { width, height }: Size): string[] {
  const { theme, state } = app;
  const table = app.getPanelTable();
  if (table === undefined) return [];
  const empty = app.liveView.hasRead ? table.empty : NOT_READ_YET;
  if (table.length === 0) return [` ${theme.style("quiet", clean(empty, width - 2))}`];
  const { cursor } = state.panel;
  const { head, rows } = table.renderLines(
    { top: cursor.top, height: height - 1 },
    app.getWallTime(),
    theme.createLook(width - 2),
  );
  return [
    ` ${head}`,
    ...rows.map((line, at) => {
      const isSelected = cursor.top + at === cursor.index && state.focus === "panel";
      return theme.styleRow(padToWidth(` ${line}`, width), {
        isSelected,
        isFocused: state.focus === "panel",
        width,
      });
    }),
  ];
}
