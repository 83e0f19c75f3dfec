import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedKeys } from "../../../src/etcd/combined/touched-keys.ts";

const key = fc.string({ unit: fc.constantFrom("a", "b", "/", "\u00ff"), maxLength: 4 });

test("finds the keys of a range, whatever the order in which they were added", () => {
  fc.assert(
    fc.property(fc.array(key), fc.array(key), key, key, (first, later, start, rangeEnd) => {
      const keys = new SortedKeys(first);
      for (const one of later) keys.add(one);
      const isIn = (one: string) => one >= start && one < rangeEnd;
      expect(keys.hasKeyIn({ key: start, rangeEnd })).toBe([...first, ...later].some(isIn));
    }),
  );
});
