import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NotSupportedError } from "../../src/schedule/errors.ts";
import { toJsonData } from "../../src/schedule/json-fields.ts";

const self: Record<string, unknown> = {};
self.inner = [self];

describe("toJsonData", () => {
  test("returns what JSON carries unchanged, as a copy", () => {
    fc.assert(
      fc.property(
        fc.jsonValue({ noUnicodeString: false }).map((value) => JSON.parse(JSON.stringify(value))),
        (value) => {
          expect(toJsonData("data", value)).toEqual(value);
        },
      ),
    );
    const given = { list: [1, { deep: null }], shared: {}, text: "ü\ud800" };
    const twice = { a: given, b: given };
    const copy = toJsonData("data", twice) as typeof twice;
    expect(copy).toEqual(twice);
    expect(copy.a).not.toBe(given);
  });

  test.each([
    ["undefined", undefined, "data: JSON cannot represent undefined"],
    ["undefined in a field", { a: { b: undefined } }, "data.a.b: JSON cannot represent undefined"],
    ["a hole in a list", new Array(1), "data[0]: JSON cannot represent undefined"],
    ["NaN", { n: Number.NaN }, "data.n: JSON cannot represent NaN"],
    ["infinity", [Number.NEGATIVE_INFINITY], "data[0]: JSON cannot represent -Infinity"],
    ["minus zero", { n: -0 }, "data.n: JSON cannot represent -0"],
    ["a bigint", 1n, "data: JSON cannot represent 1n"],
    ["a symbol", Symbol("s"), "data: JSON cannot represent Symbol(s)"],
    ["a function", { f: () => 1 }, "data.f: JSON cannot represent a function"],
    ["a Map", { m: new Map([[1, 2]]) }, "data.m: JSON cannot represent a Map"],
    ["a Set", new Set([1]), "data: JSON cannot represent a Set"],
    ["a Date", { at: new Date(0) }, "data.at: JSON cannot represent a Date"],
    ["bytes", Buffer.from("x"), "data: JSON cannot represent a Buffer"],
    ["an object of a class", new (class Job {})(), "data: JSON cannot represent a Job"],
    ["an object that speaks for itself", { toJSON: () => 1 }, "data: JSON cannot represent a special object"],
    ["a field named by a symbol", { [Symbol("s")]: 1 }, "data: JSON cannot represent a special object"],
    [
      "an object that contains itself",
      self,
      "data.inner[0]: JSON cannot represent an object that contains itself",
    ],
  ])("refuses %s, and names its place", (_, given, message) => {
    expect(() => toJsonData("data", given)).toThrow(new NotSupportedError(message));
  });
});
