import type { KeyValue } from "../../protocol/txn.ts";
import { parseRunning } from "../../schedule/state/running-record.ts";
import type { Execution } from "./snapshot.ts";

/** The executions of each schedule. Lists are immutable: a change replaces the list. */
export class ExecutionIndex {
  readonly #lists = new Map<string, readonly Execution[]>();
  #given: ReadonlyMap<string, readonly Execution[]> | undefined;

  /** Adds or replaces an execution. @returns true, also for an unreadable value, because the key blocks the schedule */
  put(id: string, { key, value, modRevision, createRevision: token, session }: KeyValue): true {
    const one = { modRevision, key, id, token, session, ...parseRunning(value) };
    const others = this.#listOthers(id, key);
    this.#lists.set(id, [...others, one].sort(compareByToken));
    this.#given = undefined;
    return true;
  }

  delete(id: string, key: string): void {
    const others = this.#listOthers(id, key);
    if (others.length === 0) this.#lists.delete(id);
    else this.#lists.set(id, others);
    this.#given = undefined;
  }

  /** Returns all executions by schedule id. Returns the same map until an execution changes. */
  getAll(): ReadonlyMap<string, readonly Execution[]> {
    this.#given ??= new Map(this.#lists);
    return this.#given;
  }

  #listOthers(id: string, key: string): readonly Execution[] {
    return (this.#lists.get(id) ?? []).filter((one) => one.key !== key);
  }
}

/** Compares by token, then by key: all keys of one transaction have the same token. */
function compareByToken(a: Execution, b: Execution): number {
  if (a.token !== b.token) return a.token < b.token ? -1 : 1;
  return a.key < b.key ? -1 : 1;
}
