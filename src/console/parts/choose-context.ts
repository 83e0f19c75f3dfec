import { cleanToWidth } from "../../base/display-width.ts";
import type { ContextAccess, JobAccess, StateUpdates, ToastAccess } from "./parts.ts";

/**
 * Switches to another context. Everything of the present cluster ends, also its jobs, so if any are running, the user must choose
 * the context again to confirm.
 */
export function chooseListedContext(
  app: ContextAccess & JobAccess & StateUpdates & ToastAccess,
  name: string | undefined,
): void {
  const label = name ?? "no context";
  if (name === app.contexts.activeName) return app.showToast(`${label} is shown already`);
  const asks = `context ${label}`;
  const [first, ...more] = app.jobs.running;
  if (first === undefined || app.state.toast?.asks === asks) return app.switchContext(name);
  const what = more.length === 0 ? `${cleanToWidth(first.title, 24)} is` : `${more.length + 1} jobs are`;
  app.showToast(
    `${what} running and would be left; choose ${label} again to switch anyway`,
    "problem",
    () => app.jobs.running.length > 0,
  );
  app.update(({ toast, ...state }) => ({ ...state, toast: toast && { ...toast, asks } }));
}
