import { briefDuration, formatInstant } from "../../base/duration.ts";
import { clean } from "../../base/text.ts";
import type { Job } from "../act/jobs.ts";
import type { App } from "../app/app.ts";
import type { Size } from "../frame/layout.ts";
import { PANELS, type PanelId } from "../state/state.ts";
import type { Role } from "../theme/roles.ts";
import { padTo } from "../theme/theme.ts";

/** The panel's title line: what it can show, and what it does. */
export function panelRule(app: App, width: number): string {
  const { theme, state } = app;
  const { horizontal } = theme.signs;
  const titles = panelTitles(app);
  const painted = titles.map(({ id, text }) => {
    const isActive = id === state.panel.id;
    const role: Role = isActive ? (state.focus === "panel" ? "titleFocused" : "heading") : "title";
    return theme.style(role, text);
  });
  const start = theme.style("border", `${horizontal} `) + painted.join("  ");
  const length = titles.reduce((sum, { text }) => sum + text.length + 2, 0);
  return `${start} ${theme.style("border", horizontal.repeat(Math.max(0, width - length - 1)))}`;
}

/** What the panel can show, as it is written in that line: from its third column on, two columns between them. */
export function panelTitles(app: App): { id: PanelId; text: string }[] {
  const counts: Partial<Record<PanelId, number>> = {
    jobs: app.jobs.running.length,
    problems: app.counts().problems ?? 0,
  };
  return PANELS.map((id) => ({ id, text: id.toUpperCase() + (counts[id] ? ` ${counts[id]}` : "") }));
}

/** What has happened, what runs, what is wrong. */
export function panelPane(app: App, size: Size): string[] {
  switch (app.state.panel.id) {
    case "events":
      return eventLines(app, size);
    case "jobs":
      return jobLines(app, size);
    case "problems":
    case "audit":
      return tableLines(app, size);
    case "log":
      return newest(app, app.log.lines, size, "Nothing was logged.");
  }
}

function eventLines(app: App, size: Size): string[] {
  const { theme } = app;
  const lines = app.events.list.map(({ at, text, tone }) => {
    const time = theme.style("quiet", formatInstant(at).slice(11, 19));
    return `${time} ${theme.style(tone, clean(text, size.width - 11))}`;
  });
  return newest(
    app,
    lines,
    size,
    "Nothing has happened since you look. Runs, drains and changes appear here.",
  );
}

/** Lines of which the newest come first, from where it was scrolled to. */
function newest(app: App, lines: readonly string[], { width, height }: Size, empty: string): string[] {
  if (lines.length === 0) return [` ${app.theme.style("quiet", clean(empty, width - 2))}`];
  const top = Math.max(0, Math.min(app.state.panel.top, lines.length - height));
  return lines.slice(top, top + height).map((line) => ` ${line}`);
}

function jobLines(app: App, { width, height }: Size): string[] {
  const { theme, state, jobs } = app;
  if (jobs.list.length === 0)
    return [
      ` ${theme.style("quiet", clean("No jobs yet. D drains, X resets what is selected; : has all commands.", width - 2))}`,
    ];
  const { cursor } = state.panel;
  return jobs.list.slice(cursor.top, cursor.top + height).map((job, at) => {
    const isSelected = cursor.top + at === cursor.index && state.focus === "panel";
    const line = padTo(` ${jobLine(app, job, width - 2)}`, width);
    return theme.row(line, { isSelected, isFocused: state.focus === "panel", width });
  });
}

function jobLine(app: App, job: Job, width: number): string {
  const { theme } = app;
  const { text, role } = jobState(job);
  const took = briefDuration((job.endedAt ?? app.wall()) - job.startedAt);
  const head = `${theme.style(role, text)} ${took.padStart(4)} `;
  const last = job.lines.at(-1) ?? "";
  const title = clean(job.title, 60);
  const room = Math.max(0, width - text.length - 7 - title.length - 2);
  return `${head} ${title}  ${theme.style("quiet", clean(last, room))}`;
}

/** How a job stands, in a word. */
export function jobState({ code }: Job): { text: string; role: Role } {
  if (code === undefined) return { text: "running", role: "waiting" };
  if (code === 0) return { text: "done   ", role: "held" };
  if (code === 75) return { text: "moved  ", role: "problem" };
  if (code === 124) return { text: "late   ", role: "problem" };
  if (code > 128) return { text: "stopped", role: "quiet" };
  return { text: `exit ${code}`.padEnd(7), role: "problem" };
}

function tableLines(app: App, { width, height }: Size): string[] {
  const { theme, state } = app;
  const table = app.panelTable();
  if (table === undefined) return [];
  if (table.length === 0) return [` ${theme.style("quiet", clean(table.empty, width - 2))}`];
  const { cursor } = state.panel;
  const { head, rows } = table.lines(
    { top: cursor.top, height: height - 1 },
    app.wall(),
    theme.look(width - 2),
  );
  return [
    ` ${head}`,
    ...rows.map((line, at) => {
      const isSelected = cursor.top + at === cursor.index && state.focus === "panel";
      return theme.row(padTo(` ${line}`, width), { isSelected, isFocused: state.focus === "panel", width });
    }),
  ];
}
