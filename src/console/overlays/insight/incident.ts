import { closeSync, fsyncSync, openSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { formatBriefDuration } from "../../../base/duration.ts";
import { describeAuthor, describeCluster } from "../../../commands/see/insight/incident-source.ts";
import { readAllOutcomes } from "../../../commands/see/insight/read-outcomes.ts";
import {
  type IncidentReport,
  listIncidentEntries,
  listProblemTexts,
} from "../../../model/insight/incident.ts";
import { formatIncidentMarkdown } from "../../../model/insight/incident-text.ts";
import { isLive } from "../../data/connection-state.ts";
import { NOT_READ_YET } from "../../data/not-read-yet.ts";
import { describeWriteFault, getErrorCode } from "../../export/write-fault.ts";
import { describeJobState } from "../../jobs/job-state.ts";
import type {
  ChangeNotifier,
  ClockAccess,
  DataAccess,
  JobAccess,
  LogAccess,
  OverlayAccess,
  PreferenceAccess,
  SettingsAccess,
  StateUpdates,
  ToastAccess,
} from "../../parts/parts.ts";
import { createIncidentMark, type IncidentMark } from "../../state/incident-mark.ts";
import { openPrompt } from "../prompt.ts";

type IncidentParts = ChangeNotifier &
  ClockAccess &
  DataAccess &
  JobAccess &
  LogAccess &
  OverlayAccess &
  PreferenceAccess &
  SettingsAccess &
  StateUpdates &
  ToastAccess;

type Outcomes = Awaited<ReturnType<typeof readAllOutcomes>>;

/** Marks the start of an incident; if one is marked, ends it and writes its report. */
export function toggleIncident(app: IncidentParts): void {
  if (app.liveView.past !== undefined)
    return app.showToast("an incident is marked in the present: a returns to live", "problem");
  if (!app.liveView.hasRead) return app.showToast(NOT_READ_YET, "problem");
  const { incident } = app.state;
  if (incident === undefined) askTitle(app);
  else askPath(app, incident);
}

function askTitle(app: IncidentParts): void {
  openPrompt(app, {
    title: "mark an incident",
    help: "From now on, events, actions and commands go into a report. Title:",
    verb: "mark",
    onSubmit: (text) => {
      const now = app.getPresentTime();
      const mark = createIncidentMark(text || "Incident", now, listProblemTexts(app.liveView.snapshot, now));
      app.update((state) => ({ ...state, incident: mark }));
      const fault = app.savePreferences();
      if (fault === undefined) app.showToast("incident marked: M ends it and writes the report");
      else app.showToast(`marked, but lost if the console ends: ${fault}`, "problem");
      return undefined;
    },
  });
}

function askPath(app: IncidentParts, mark: IncidentMark): void {
  let outcomes: Outcomes | undefined;
  readAllOutcomes(app.context).then(
    (found) => {
      outcomes = found;
    },
    () => {}, // the report then says that they are missing
  );
  openPrompt(app, {
    title: `end the incident of ${formatBriefDuration(app.getPresentTime() - mark.since)}`,
    help: "The report is written to a new file:",
    initial: join(dirname(app.preferencesPath), buildFileName(mark.since)),
    verb: "write",
    onSubmit: (text) => {
      const path = text.startsWith("~/") ? join(homedir(), text.slice(2)) : text;
      if (path === "") return "write a path";
      const fault = writeIncidentFile(path, formatIncidentMarkdown(buildReport(app, mark, outcomes)));
      if (fault !== undefined) return fault;
      app.update((state) => ({ ...state, incident: undefined }));
      app.savePreferences();
      app.log.add(`the report of the incident is in ${path}`);
      app.showToast(`written to ${path}`);
      return undefined;
    },
  });
}

/** `incident-20261122T030000Z.md`. */
function buildFileName(since: number): string {
  return `incident-${new Date(since).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z.md`;
}

function buildReport(app: IncidentParts, mark: IncidentMark, outcomes: Outcomes | undefined): IncidentReport {
  const { snapshot, connection } = app.liveView;
  const until = app.getPresentTime();
  const span = { from: Math.min(mark.since, until), until };
  const seen = { from: Math.max(mark.since, app.seenFrom), events: app.events.list };
  const { entries, notes } = listIncidentEntries({ snapshot, outcomes: outcomes ?? new Map(), seen }, span);
  const jobs = app.jobs.list.filter(({ startedAt }) => startedAt >= mark.since).toReversed();
  return {
    title: mark.title,
    ...span,
    entries,
    cluster: describeCluster(app.context),
    by: describeAuthor(app.context),
    problemsAtStart: mark.problems,
    problemsAtEnd: listProblemTexts(snapshot, until),
    commands: jobs.map((job) => ({
      at: job.startedAt,
      line: job.line,
      result: describeJobState(job).text.trim(),
    })),
    notes: [
      ...notes,
      ...(outcomes === undefined ? ["the outcomes of schedules could not be read from etcd"] : []),
      ...(isLive(connection) ? [] : ["etcd was unreachable: this is what was last known"]),
      ...(app.seenFrom > mark.since
        ? [
            "the console was closed in between: waits before its last start are not known, and commands only as actions",
          ]
        : []),
    ],
  };
}

/**
 * Writes a report to a new file that only its owner can read. Never overwrites a file, and leaves no part of one.
 * @returns why it was not written
 */
export function writeIncidentFile(path: string, text: string): string | undefined {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    return getErrorCode(error) === "EEXIST"
      ? "this file exists already: choose another name"
      : describeWriteFault(error, path);
  }
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    closeSync(file);
    return undefined;
  } catch (error) {
    removePart(file, path);
    return describeWriteFault(error, path);
  }
}

/** Removes a file that this process has created and could not fill. */
function removePart(file: number, path: string): void {
  try {
    closeSync(file);
  } catch {
    // It was closed already.
  }
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that prevented writing is the one that matters.
  }
}
