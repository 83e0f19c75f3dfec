/** The borders between panes that the user can move. */
export const BORDERS = ["explorer", "detailHeight", "detailWidth", "panel"] as const;
export type Border = (typeof BORDERS)[number];

/** Columns or rows that the user has chosen; without one, the console computes it from the screen. */
export type UserSizes = Readonly<Partial<Record<Border, number>>>;

/** A state with sizes. */
interface SizedState {
  sizes: UserSizes;
}

/** Minimum columns or rows of the pane, and of what is on the other side of the border. */
const LIMITS: Readonly<Record<Border, { least: number; others: number }>> = {
  explorer: { least: 14, others: 60 },
  detailHeight: { least: 3, others: 6 },
  detailWidth: { least: 30, others: 60 },
  panel: { least: 2, others: 10 },
};

/**
 * Returns the size of a pane: the user's, if the screen has room for it.
 * @param available  columns or rows of both sides of the border
 */
export function chooseSize(
  { sizes }: SizedState,
  border: Border,
  computed: number,
  available: number,
): number {
  const wanted = sizes[border];
  if (wanted === undefined) return computed;
  const { least, others } = LIMITS[border];
  const most = available - others;
  return most < least ? computed : Math.max(least, Math.min(wanted, most));
}

/** Sets a size; `undefined` returns to the computed one. */
export function setUserSize<S extends SizedState>(state: S, border: Border, size: number | undefined): S {
  const { [border]: before, ...others } = state.sizes;
  if (before === size) return state;
  return { ...state, sizes: size === undefined ? others : { ...others, [border]: Math.max(1, size) } };
}

/** Restores stored sizes. Ignores those that are no sizes. */
export function restoreUserSizes(kept: unknown): UserSizes {
  if (typeof kept !== "object" || kept === null) return {};
  const entries = Object.entries(kept).filter(
    ([border, size]) =>
      BORDERS.some((known) => known === border) && Number.isInteger(size) && size > 0 && size < 10_000,
  );
  return Object.fromEntries(entries);
}
