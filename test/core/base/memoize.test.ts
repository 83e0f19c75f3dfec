/** Lists are mapped as if each item were mapped anew. */
import { array, assert, integer, property } from "fast-check";
import { expect, it } from "vitest";
import { createListMapper } from "../../../src/core/base/memoize.ts";

const NUMBERED_ITEMS = Array.from({ length: 12 }, (_, number) => ({ number }));

it("maps any lists, one after the other, and equal ones without another call", () => {
  const list = array(integer({ min: 0, max: NUMBERED_ITEMS.length - 1 }), { maxLength: 12 });
  assert(
    property(array(list, { maxLength: 8 }), (lists) => {
      const map = createListMapper<{ number: number }, string>();
      for (const numbers of lists) {
        const items = numbers.flatMap((number) => NUMBERED_ITEMS[number] ?? []);
        expect(map(items, ({ number }) => `${number}`)).toEqual(numbers.map(String));
        const again = map([...items], () => "mapped again");
        expect(again).toEqual(numbers.map(String));
      }
    }),
  );
});

it.each([
  ["one is replaced", [0, 1, 2, 3, 4], [0, 1, 9, 3, 4], ["9"]],
  ["one is removed", [0, 1, 2, 3, 4], [0, 2, 3, 4], []],
  ["one is added", [0, 1, 2], [0, 1, 2, 9], ["9"]],
])("if %s, maps no others", (_, before, after, expected) => {
  const map = createListMapper<{ number: number } | undefined, string>();
  const mapped: string[] = [];
  const mapNumbers = (numbers: readonly number[]) =>
    map(
      numbers.map((number) => NUMBERED_ITEMS[number]),
      (item) => {
        mapped.push(`${item?.number}`);
        return "";
      },
    );
  mapNumbers(before);
  mapped.length = 0;
  mapNumbers(after);
  expect(mapped).toEqual(expected);
});
