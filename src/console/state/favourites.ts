import { FAVOURITE_KINDS, type FavouriteKind } from "../../model/views/favourite-id.ts";
import type { ConsoleState } from "./console-state.ts";
import { isText } from "./stored-values.ts";

/** Maximum number of favourites of a cluster. */
export const MAX_FAVOURITES = 200;

/** Splits the id of a favourite, such as `lock invoices`. */
export function parseFavouriteId(id: string): { kind: FavouriteKind; name: string } | undefined {
  const at = id.indexOf(" ");
  const kind = FAVOURITE_KINDS.find((one) => one === id.slice(0, at));
  const name = id.slice(at + 1);
  return kind === undefined || name === "" ? undefined : { kind, name };
}

/** Restores stored favourites. Ignores those that are invalid. */
export function restoreFavourites(kept: unknown): ReadonlySet<string> {
  if (!Array.isArray(kept)) return new Set();
  const valid = kept.filter(isText).filter((id) => parseFavouriteId(id) !== undefined);
  return new Set(valid.slice(0, MAX_FAVOURITES));
}

/** Adds or removes a favourite. Favourites are shown in the explorer, so their node is unfolded with the first one. */
export function toggleFavouriteId(state: ConsoleState, id: string): ConsoleState {
  const favourites = new Set(state.favourites);
  const { open } = state.explorer;
  if (favourites.delete(id)) return { ...state, favourites };
  favourites.add(id);
  const isFirst = favourites.size === 1 && open !== undefined;
  const explorer = isFirst ? { ...state.explorer, open: new Set([...open, "favourites"]) } : state.explorer;
  return { ...state, favourites, explorer };
}
