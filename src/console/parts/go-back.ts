import { cleanToWidth } from "../../base/display-width.ts";
import { stepThroughPlaces } from "../state/places.ts";
import { createSameRowCheck } from "./focus.ts";
import type { ClockAccess, DataAccess, StateUpdates, TableAccess, ToastAccess } from "./parts.ts";

/** Goes back or forward in the history of places. If the row is gone, goes to its tab and says so. */
export function goToPlace(
  app: ClockAccess & DataAccess & StateUpdates & TableAccess & ToastAccess,
  by: 1 | -1,
): void {
  const before = app.state;
  app.update((state) => stepThroughPlaces(state, by));
  if (app.state === before) return app.showToast(by < 0 ? "no earlier place" : "no later place");
  const tab = app.state.tabs[app.state.tab];
  const { key } = tab.cursor;
  app.table.update(app.liveView.snapshot, app.getWallTime(), tab); // the tab was not shown until now
  if (key === undefined || app.table.findIndex(key, tab.cursor.index) >= 0) return;
  app.showToast(`${cleanToWidth(key, 40)} is gone`, "quiet", createSameRowCheck(app));
}
