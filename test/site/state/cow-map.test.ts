import { expect, test } from "vitest";
import { CowMap } from "../../../src/site/state/snapshot-builder.ts";

test("a copy that was given out does not change, and stays the same until a value changes", () => {
  const map = new CowMap<number>();
  expect(map.put("a", 1)).toBe(true);
  const first = map.getAll();
  expect(map.getAll()).toBe(first);
  map.put("b", 2);
  expect([...first]).toEqual([["a", 1]]);
  expect([...map.getAll()]).toEqual([
    ["a", 1],
    ["b", 2],
  ]);
});

test.each<[string, (map: CowMap<number>) => unknown, string[], boolean]>([
  // case, change, names afterwards, whether the copy stays the same
  ["delete", (map) => map.delete("a"), ["b"], false],
  ["delete of an unknown name", (map) => map.delete("x"), ["a", "b"], true],
  ["put of nothing", (map) => map.put("a", undefined), ["b"], false],
  ["put of a value", (map) => map.put("a", 3), ["a", "b"], false],
])("%s", (_, change, names, isSame) => {
  const map = new CowMap<number>();
  map.put("a", 1);
  map.put("b", 2);
  const before = map.getAll();
  change(map);
  expect([...map.getAll().keys()]).toEqual(names);
  expect(map.getAll() === before).toBe(isSame);
  expect([...before.keys()]).toEqual(["a", "b"]);
});

test("put tells whether the name has a value", () => {
  expect(new CowMap<number>().put("a", undefined)).toBe(false);
});
