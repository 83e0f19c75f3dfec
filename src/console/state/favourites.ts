import { FAVOURITE_KINDS, type FavouriteKind } from "../../model/views/favourite-id.ts";
import { type ConsoleState, START_CURSOR } from "./console-state.ts";
import { isStoredText } from "./stored-values.ts";

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
  const valid = kept.filter(isStoredText).filter((id) => parseFavouriteId(id) !== undefined);
  return new Set(valid.slice(0, MAX_FAVOURITES));
}

/**
 * Adds or removes a favourite. Their node is the first one of the explorer: with the first favourite it is unfolded and
 * comes into view.
 */
export function toggleFavouriteId(state: ConsoleState, id: string): ConsoleState {
  const favourites = new Set(state.favourites);
  if (favourites.delete(id)) return { ...state, favourites };
  favourites.add(id);
  if (favourites.size > 1) return { ...state, favourites };
  const { open, cursor } = state.explorer;
  const unfolded = open && new Set([...open, "favourites"]);
  const isAtTop = cursor.top === 0 && state.focus !== "explorer";
  return {
    ...state,
    favourites,
    explorer: { ...state.explorer, open: unfolded, cursor: isAtTop ? START_CURSOR : cursor },
  };
}
