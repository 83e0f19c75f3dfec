import type { KeyValue } from "../protocol/txn.ts";
import { parseRunning } from "../schedule/running.ts";
import type { Execution } from "./picture.ts";

/** What runs of each schedule. Lists are given out as they are, and are others when they change. */
export class Executions {
  readonly #lists = new Map<string, readonly Execution[]>();
  #given: ReadonlyMap<string, readonly Execution[]> | undefined;

  /** @returns true: whatever its value is, it is in the schedule's way */
  put(id: string, { key, value, modRevision, createRevision: token, session }: KeyValue): true {
    const one = { modRevision, key, id, token, session, ...parseRunning(value) };
    const others = this.#others(id, key);
    this.#lists.set(id, [...others, one].sort(byToken));
    this.#given = undefined;
    return true;
  }

  delete(id: string, key: string): void {
    const others = this.#others(id, key);
    if (others.length === 0) this.#lists.delete(id);
    else this.#lists.set(id, others);
    this.#given = undefined;
  }

  /** The same map until something changes. */
  all(): ReadonlyMap<string, readonly Execution[]> {
    this.#given ??= new Map(this.#lists);
    return this.#given;
  }

  #others(id: string, key: string): readonly Execution[] {
    return (this.#lists.get(id) ?? []).filter((one) => one.key !== key);
  }
}

/** Keys that one transaction put have one token. */
function byToken(a: Execution, b: Execution): number {
  if (a.token !== b.token) return a.token < b.token ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
