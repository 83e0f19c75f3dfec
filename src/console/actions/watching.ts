import { cleanToWidth } from "../../base/display-width.ts";
import { getChosenSubjects } from "../navigation/marks.ts";
import type { SelectionAccess, StateUpdates, ToastAccess } from "../parts/parts.ts";
import { findWatchable, getWatchId, toggleWatched } from "../state/watched-rows.ts";

/** Begins to watch the chosen rows, or ends it if all of them are watched. */
export function toggleWatch(app: SelectionAccess & StateUpdates & ToastAccess): void {
  const rows = getChosenSubjects(app).flatMap((subject) => findWatchable(subject) ?? []);
  const [first] = rows;
  if (first === undefined) return app.showToast("nothing here can be watched", "problem");
  const before = app.state.watched.length;
  app.update((state) => ({ ...state, watched: toggleWatched(state.watched, rows) }));
  const what = rows.length === 1 ? cleanToWidth(getWatchId(first), 40) : `${rows.length} rows`;
  const isOn = app.state.watched.length > before || app.state.watched.includes(first);
  app.showToast(isOn ? `watching ${what}: you are told when it changes` : `no longer watching ${what}`);
}
