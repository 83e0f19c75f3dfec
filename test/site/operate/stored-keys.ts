/** Keys in the store of a test: written as somebody else might write them, and read back. */
import type { Store } from "../../../src/core/etcd/store.ts";
import type { Keys } from "../../../src/core/protocol/keys.ts";
import { type DueState, parseDue } from "../../../src/schedule/state/due.ts";
import { type OutcomeHistory, parseOutcomes } from "../../../src/schedule/state/outcome.ts";

export abstract class StoredKeys {
  abstract readonly store: Store;
  abstract readonly keys: Keys;

  /** Puts keys in one transaction: a key, its value, another key, its value … @returns its revision */
  async put(...pairs: string[]): Promise<bigint> {
    const success = Array.from({ length: pairs.length / 2 }, (_, n) => {
      return { op: "put", key: pairs[2 * n] ?? "", value: pairs[2 * n + 1] ?? "" } as const;
    });
    return (await this.store.commitTxn({ compare: [], success, failure: [] })).revision;
  }

  /** @returns the revision of the transaction */
  async delete(...keys: string[]): Promise<bigint> {
    const success = keys.map((key) => ({ op: "delete", key }) as const);
    return (await this.store.commitTxn({ compare: [], success, failure: [] })).revision;
  }

  async readValue(key: string): Promise<string | undefined> {
    return (await this.store.readRange({ key })).kvs[0]?.value;
  }

  /** Lists the names of all keys in a range, without the prefix. */
  async listKeys(range = this.keys.getFullRange()): Promise<string[]> {
    return (await this.store.readRange(range)).kvs.map(({ key }) => key.slice(this.keys.prefix.length));
  }

  async readDue(id: string, host?: string): Promise<DueState> {
    const parsed = parseDue((await this.readValue(this.keys.due(id, host))) ?? "");
    if ("fault" in parsed) throw new Error(parsed.fault);
    return parsed.value;
  }

  async readOutcomes(id: string): Promise<OutcomeHistory> {
    return parseOutcomes(await this.readValue(this.keys.outcomes(id)));
  }
}
