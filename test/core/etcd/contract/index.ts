/** The contract of every Store. It runs on each adapter, and on the in-memory store. */
import { afterAll, beforeAll, describe } from "vitest";
import type { Subject } from "../../../../fixtures/etcd/store-calls.ts";
import { testBytes } from "./bytes.ts";
import { testComparisons } from "./comparisons.ts";
import { testEndings } from "./endings.ts";
import { testRanges } from "./ranges.ts";
import { testSessions } from "./sessions.ts";
import { testTransactions } from "./transactions.ts";
import { testWatches } from "./watches.ts";

/** @param open makes the store under test, once for the whole suite */
export function testStoreContract(title: string, open: () => Promise<Subject>): void {
  describe(`${title} keeps the contract of a store`, () => {
    const on = {} as Subject; // filled before the first test runs
    beforeAll(async () => {
      Object.assign(on, await open());
    });
    afterAll(() => on.stop?.());

    testSessions(on);
    testTransactions(on);
    testComparisons(on);
    testRanges(on);
    testBytes(on);
    testWatches(on);
    testEndings(on);
  });
}
