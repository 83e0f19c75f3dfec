/**
 * How a thing stands that was checked. `hint`: nothing is wrong, but somebody may want to know. `unknown`: it could not
 * be checked.
 */
export type Level = "ok" | "hint" | "warning" | "unknown" | "failure";

/** One thing that was checked, and how it stands. Texts may hold other people's words, and are not cleaned. */
export interface Finding {
  /** What kind of thing was checked, for programs: `member`, `quorum`, `orphan`. */
  kind: string;
  /** The thing itself, for people: `member http://etcd1:2379`. */
  check: string;
  level: Level;
  detail: string;
  remedy?: string;
}

/** From the best to the worst. */
const ORDER: readonly Level[] = ["ok", "hint", "warning", "unknown", "failure"];

/** The worst of some levels; `ok` where there are none. */
export function worst(levels: Iterable<Level>): Level {
  let index = 0;
  for (const level of levels) index = Math.max(index, ORDER.indexOf(level));
  return ORDER[index] ?? "ok";
}
