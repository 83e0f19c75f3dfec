import { expect, test } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { createKeyValue } from "../../../fixtures/state/sample-snapshots.ts";
import { sumWrittenBytes } from "../../../src/cli/views/metrics.ts";

test("bytes are summed by the first part of the key; deletions and keys of others take no label of their own", () => {
  const put = (key: string, value: string) => ({ type: "put" as const, kv: createKeyValue(key, value) });
  const sums = sumWrittenBytes(keys, [
    put("/signalbox/locks/a/1", "é"),
    put("/signalbox/locks/b/2", "x"),
    put("/signalbox/made-up-1/x", "1"),
    put("/signalbox/made-up-2/x", "1"),
    { type: "delete", key: "/signalbox/history/a", revision: 3n },
  ]);
  expect(Object.fromEntries(sums)).toEqual({ locks: 20 + 2 + 20 + 1, other: 2 * 23 });
});
