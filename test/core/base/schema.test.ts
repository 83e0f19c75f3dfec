import * as v from "valibot";
import { describe, expect, test } from "vitest";
import {
  applySchema,
  isUnknownKey,
  parseWith,
  quoteInput,
  refuseFault,
} from "../../../src/core/base/schema.ts";
import type { ParseResult } from "../../../src/core/base/text.ts";

const PORT = v.pipe(
  v.number(quoteInput("is not a number")),
  refuseFault((port) => (port > 65_535 ? `${port} is too large` : undefined)),
);
const SERVER = v.strictObject(
  {
    port: PORT,
    names: v.exactOptional(v.array(v.string(quoteInput("is not a string")))),
  },
  (issue) => (isUnknownKey(issue) ? `unknown key ${issue.input}` : `there is no ${issue.expected}`),
);
const FILE = v.object({ server: SERVER });

function parseEven(value: number): ParseResult<number> {
  return value % 2 === 0 ? { value: value / 2 } : { fault: `${value} is odd` };
}

describe("applySchema", () => {
  test("returns the output of the schema", () => {
    expect(applySchema(FILE, { server: { port: 80 }, more: 1 })).toEqual({ value: { server: { port: 80 } } });
  });

  test.each<[string, object, (string | number)[], string]>([
    ["a wrong value", { port: "80" }, ["server", "port"], '"80" is not a number'],
    ["a wrong item", { port: 1, names: ["a", 5] }, ["server", "names", 1], '"5" is not a string'],
    ["a value that another check refuses", { port: 65_536 }, ["server", "port"], "65536 is too large"],
    ["a missing key, as a fault of its object", {}, ["server"], 'there is no "port"'],
  ])("returns the path and the words of %s", (_, server, path, what) => {
    expect(applySchema(FILE, { server })).toEqual({ fault: { path, what, isUnknown: false } });
  });

  test("an unknown key comes before the one that is missing because of it", () => {
    const fault = { path: ["server", "prot"], what: "unknown key prot", isUnknown: true };
    expect(applySchema(FILE, { server: { prot: 80 } })).toEqual({ fault });
  });
});

test("a parser replaces the value, or says why it cannot", () => {
  const schema = v.pipe(v.number(), parseWith(parseEven));
  expect(applySchema(schema, 8)).toEqual({ value: 4 });
  expect(applySchema(schema, 7)).toMatchObject({ fault: { what: "7 is odd" } });
});
