/** What every Store must do, told as steps. Run on each adapter, and on the in-memory store so that it stays honest. */
import { afterAll, beforeAll, describe } from "vitest";
import { bytes } from "./bytes.ts";
import { comparisons } from "./comparisons.ts";
import { endings } from "./endings.ts";
import type { Subject } from "./helpers.ts";
import { ranges } from "./ranges.ts";
import { sessions } from "./sessions.ts";
import { transactions } from "./transactions.ts";
import { watches } from "./watches.ts";

export type { Subject } from "./helpers.ts";
export { kindOf, write } from "./helpers.ts";

/** @param open makes the store under test, once for the whole suite */
export function storeContract(title: string, open: () => Promise<Subject>): void {
  describe(`${title} keeps the contract of a store`, () => {
    const on = {} as Subject; // filled before the first test runs
    beforeAll(async () => {
      Object.assign(on, await open());
    });
    afterAll(() => on.stop?.());

    sessions(on);
    transactions(on);
    comparisons(on);
    ranges(on);
    bytes(on);
    watches(on);
    endings(on);
  });
}
