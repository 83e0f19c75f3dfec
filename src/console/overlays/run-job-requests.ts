import { EXIT } from "../../base/errors.ts";
import type { ConsoleJob, JobRequest } from "../data/jobs.ts";
import type {
  ChangeNotifier,
  ClipboardAccess,
  JobAccess,
  KeymapAccess,
  OverlayAccess,
  SettingsAccess,
  StateUpdates,
  ThemeAccess,
  ToastAccess,
} from "../parts/parts.ts";
import { START_CURSOR } from "../state/console-state.ts";
import { openJob } from "./output.ts";

type RunJobRequestsParts = ChangeNotifier &
  ClipboardAccess &
  JobAccess &
  KeymapAccess &
  OverlayAccess &
  SettingsAccess &
  StateUpdates &
  ThemeAccess &
  ToastAccess;

/** Maximum number of jobs that run at the same time. */
const AT_ONCE = 4;

/** Runs confirmed requests, each as its own job, and reports the results. @returns the ended jobs */
export async function runJobRequests(
  app: RunJobRequestsParts,
  requests: readonly JobRequest[],
): Promise<readonly ConsoleJob[]> {
  const results: ConsoleJob[] = [];
  const next = requests.values();
  const runNext = async () => {
    for (const request of next) results.push(await app.jobs.start(request).done);
  };
  app.update((state) => ({
    ...state,
    panel: { ...state.panel, id: "jobs", isOpen: true, cursor: START_CURSOR },
  }));
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
  reportResults(app, results);
  return results;
}

/** Within this time after a confirmation, ms, a refused job opens at once. Later the user may be elsewhere. */
const SOON = 5_000;

function reportResults(app: RunJobRequestsParts, results: readonly ConsoleJob[]): void {
  const [only] = results;
  if (results.length > 1) return reportResultCounts(app, results);
  if (only === undefined) return;
  const { code, startedAt, endedAt = startedAt } = only;
  const isSoon = endedAt - startedAt < SOON && app.overlays.top === undefined;
  if (code === EXIT.changed && isSoon) return openJob(app, only.id);
  app.showToast(formatJobToast(app, only), code === EXIT.ok ? "held" : "problem");
}

function reportResultCounts(app: ToastAccess, results: readonly ConsoleJob[]): void {
  const bad = results.filter(({ code }) => code !== EXIT.ok).length;
  if (bad === 0) app.showToast(`all ${results.length} jobs are done`, "held");
  else app.showToast(`${bad} of ${results.length} jobs failed: press Enter on a job to see why`, "problem");
}

function formatJobToast(app: KeymapAccess, { title, lines, code, outcome }: ConsoleJob): string {
  const end = code === EXIT.ok ? "done" : `exit ${code}`;
  const isDrained = outcome?.result.kind === "drain" && code === EXIT.ok;
  const [undo] = isDrained ? app.keymap.getKeyLabels("undrain") : [];
  return `${title}: ${lines.at(-1) ?? end}${undo === undefined ? "" : `; ${undo} lifts it`}`;
}
