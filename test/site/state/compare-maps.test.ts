/** The differences of two maps, in whatever order they have what they have in common. */
import { array, assert, constantFrom, property, tuple, uniqueArray } from "fast-check";
import { expect, it } from "vitest";
import { compareMaps } from "../../../src/site/state/snapshot.ts";

it("lists what only one of two maps has, as a look-up of each name does", () => {
  const names = ["a", "b", "c", "d", "e", "f"];
  const values = new Map(names.flatMap((name) => [1, 2].map((at) => [`${name}${at}`, { name, at }])));
  const entry = tuple(constantFrom(...names), constantFrom(1, 2));
  const map = uniqueArray(entry, { selector: ([name]) => name }).map(
    (entries) => new Map(entries.map(([name, at]) => [name, values.get(`${name}${at}`) ?? { name, at }])),
  );
  assert(
    property(array(map, { minLength: 2, maxLength: 2 }), ([before = new Map(), after = new Map()]) => {
      const isIn =
        (map: typeof before) =>
        ([name, value]: [string, object]) =>
          map.get(name) === value;
      const { gone, come } = compareMaps<object>(before, after);
      const sort = (entries: [string, object][]) => entries.sort(([a], [b]) => (a < b ? -1 : 1));
      expect(sort(gone)).toEqual(sort([...before].filter((one) => !isIn(after)(one))));
      expect(sort(come)).toEqual(sort([...after].filter((one) => !isIn(before)(one))));
    }),
  );
});
