import { EXIT } from "../../base/errors.ts";
import type { App } from "../app/app.ts";
import { openJob } from "../overlay/output.ts";
import type { Job } from "./jobs.ts";

/** A command line as it was previewed. */
export type Errand = Pick<Job, "command" | "words" | "line" | "title">;

/** Jobs that run at the same time. */
const AT_ONCE = 4;

/** Does what was confirmed, each as a job of its own, and says how it went. */
export async function carryOut(app: App, errands: readonly Errand[]): Promise<void> {
  const results: Job[] = [];
  const next = errands.values();
  const work = async () => {
    for (const errand of next) results.push(await app.jobs.start(errand).done);
  };
  app.update((state) => ({ ...state, panel: { ...state.panel, id: "jobs", isOpen: true } }));
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  tell(app, results);
}

function tell(app: App, results: readonly Job[]): void {
  const [only] = results;
  const bad = results.filter(({ code }) => code !== EXIT.ok);
  if (results.length > 1) {
    const text =
      bad.length === 0
        ? `all ${results.length} are done`
        : `${bad.length} of ${results.length} are not done: see JOBS`;
    return app.toast(text, bad.length === 0 ? "held" : "problem");
  }
  if (only === undefined) return;
  // What has moved meanwhile is what its user must see now, not in a list.
  if (only.code === EXIT.changed) return openJob(app, only.id);
  app.toast(
    `${only.title}: ${only.lines.at(-1) ?? (only.code === EXIT.ok ? "done" : `exit ${only.code}`)}`,
    only.code === EXIT.ok ? "held" : "problem",
  );
}
