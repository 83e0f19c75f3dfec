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

/** What has moved within this time of a confirmation, ms, is what its user must see now; later, they are elsewhere. */
const SOON = 5_000;

function tell(app: App, results: readonly Job[]): void {
  const [only] = results;
  if (results.length > 1) return tellAll(app, results);
  if (only === undefined) return;
  const { code, startedAt, endedAt = startedAt } = only;
  const isSoon = endedAt - startedAt < SOON && app.overlays.top === undefined;
  if (code === EXIT.changed && isSoon) return openJob(app, only.id);
  app.toast(toastOf(app, only), code === EXIT.ok ? "held" : "problem");
}

function tellAll(app: App, results: readonly Job[]): void {
  const bad = results.filter(({ code }) => code !== EXIT.ok).length;
  if (bad === 0) app.toast(`all ${results.length} are done`, "held");
  else app.toast(`${bad} of ${results.length} are not done: see JOBS`, "problem");
}

function toastOf(app: App, { title, lines, code, command }: Job): string {
  const end = code === EXIT.ok ? "done" : `exit ${code}`;
  const [undo] = command.id === "drain" && code === EXIT.ok ? app.keymap.keysOf("undrain") : [];
  return `${title}: ${lines.at(-1) ?? end}${undo === undefined ? "" : `; ${undo} lifts it`}`;
}
