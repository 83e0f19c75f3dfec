import { expect, test } from "vitest";
import { findChainCycle } from "../../src/schedule/state/chain.ts";

test.each<[string, Record<string, string[]>, string[] | undefined]>([
  ["follows itself", { a: ["a"] }, ["a", "a"]],
  ["a long way around", { a: ["b"], b: ["c", "d"], c: [], d: ["e"], e: ["a"] }, ["a", "b", "d", "e", "a"]],
  ["a diamond is none", { a: ["b", "c"], b: ["d"], c: ["d"], d: [] }, undefined],
  ["a cycle elsewhere is not its own", { a: ["b"], b: ["c"], c: ["b"] }, undefined],
  ["a missing schedule", { a: ["z"] }, undefined],
])("%s", (_, graph, expected) => {
  expect(findChainCycle(new Map(Object.entries(graph)), "a")).toEqual(expected);
});
