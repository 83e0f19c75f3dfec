import { clean } from "../../base/text.ts";
import { getFavouriteId } from "../../model/views/favourite-id.ts";
import type { StateUpdates, SubjectAccess, ToastAccess } from "../parts/parts.ts";
import { MAX_FAVOURITES, toggleFavouriteId } from "../state/favourites.ts";

/** Makes the object of the selected row a favourite, or removes it from the favourites. */
export function toggleFavourite(app: StateUpdates & SubjectAccess & ToastAccess): void {
  const subject = app.getSubject();
  const id = subject && getFavouriteId(subject);
  if (id === undefined)
    return app.showToast("favourite: select a lock, resource, host, group or schedule", "problem");
  if (id.length >= 500) return app.showToast("favourite: the name is too long", "problem");
  const { favourites } = app.state;
  const isAdded = !favourites.has(id);
  if (isAdded && favourites.size >= MAX_FAVOURITES)
    return app.showToast(`there are ${MAX_FAVOURITES} favourites; remove one first`, "problem");
  app.update((state) => toggleFavouriteId(state, id));
  app.showToast(`${clean(id)} is ${isAdded ? "now" : "no longer"} a favourite`);
}
