import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SignalboxError, UsageError } from "../../../src/core/base/errors.ts";
import { MAX_RESOURCES, parseLeases } from "../../../src/core/fleet/lease-spec.ts";
import { createMacros } from "../../../src/core/fleet/macros.ts";

const macros = createMacros({
  fqdn: "web1.example.com",
  host: "web1",
  cpu: 4,
  memMb: 7976,
  macros: { RACK: "r12" },
});
const parse = (...specs: string[]) => parseLeases(specs, macros);

describe("one lease", () => {
  test.each([
    ["db=2:10", { resource: "db", count: 2, total: 10 }],
    [
      "FQDN_mem=4:int(MEMMB/1024)",
      { resource: "web1.example.com_mem", template: "FQDN_mem", count: 4, total: 7 },
    ],
    [
      "web1.example.com_cpu=1:4",
      { resource: "web1.example.com_cpu", template: "FQDN_cpu", count: 1, total: 4 },
    ],
    ["web10_cpu=1", { resource: "web10_cpu", count: 1 }], // another host
    ["db=CPU:4", { resource: "db", count: 4, total: 4 }],
    ["db:main=2", { resource: "db:main", count: 2 }],
    ["a/b c=2 : 10", { resource: "a/b c", count: 2, total: 10 }],
    ["RACK=max(1,2):CPU*2", { resource: "r12", template: "RACK", count: 2, total: 8 }],
  ])("%s", (spec, lease) => {
    expect(parse(spec)).toEqual([lease]);
  });

  test.each([
    ["db", "write it as --lease db=2:10"],
    ["=1", "the resource's name cannot be used: it is empty"],
    ["d\nb=1", "the resource's name cannot be used: it contains a control character"],
    ["db=", "count: it is missing"],
    ["db=1:", "total: it is missing"],
    ["db=:4", "count: it is missing"],
    ["db=1:2:3", 'total: "2:3": unexpected ":", at character 2'],
    ["db=2=10", 'count: "2=10": unexpected "=", at character 2'],
    ["db=0", 'count: "0" is 0, it must be 1 or more'],
    ["db=-1", 'count: "-1" is -1, it must be 1 or more'],
    ["db=1.5", 'count: "1.5" is 1.5, not a whole number; round it with int(...) or ceil(...)'],
    ["db=1:0", 'total: "0" is 0'],
    ["db=2:RAM", 'there is no macro "RAM"'],
    ["db=5:CPU", '5 units of resource "db", but its total is 4'],
  ])("%j is refused: %s", (spec, message) => {
    expect(() => parse(spec)).toThrow(UsageError);
    expect(() => parse(spec)).toThrow(message);
  });
});

describe("several leases", () => {
  test("keep the order of their first naming", () => {
    expect(parse("b=1", "a=1", "b=1").map(({ resource, count }) => [resource, count])).toEqual([
      ["b", 2],
      ["a", 1],
    ]);
  });

  test("the same resource twice is one lease with the sum, also when only macros make it the same", () => {
    expect(parse("FQDN_mem=1:8", "web1.example.com_mem=2")).toEqual([
      { resource: "web1.example.com_mem", template: "FQDN_mem", count: 3, total: 8 },
    ]);
    expect(parse("db=1", "db=2:8")).toEqual([{ resource: "db", count: 3, total: 8 }]);
  });

  test("totals that disagree are refused, both named", () => {
    expect(() => parse("db=1:8", "db=1:9")).toThrow('two totals for resource "db", 8 and 9');
  });

  test("it is the sum that must fit", () => {
    expect(() => parse("db=2:3", "db=2:3")).toThrow('4 units of resource "db", but its total is 3');
  });

  test("as many as fit into a transaction", () => {
    const specs = Array.from({ length: MAX_RESOURCES + 1 }, (_, index) => `r${index}=1`);
    expect(parse(...specs.slice(1))).toHaveLength(MAX_RESOURCES);
    expect(() => parse(...specs)).toThrow(`at most ${MAX_RESOURCES} resources; got ${MAX_RESOURCES + 1}`);
  });
});

test("whatever comes in, leases or an error of ours come out, short and printable", () => {
  const pieces = fc.array(
    fc.constantFrom("db", "=", ":", "1", "CPU", "(", ")", "\0", "\x1b[31m", "é", "FQDN", "x".repeat(5_000)),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        pieces.map((all) => all.join("")),
      ),
      (spec) => {
        try {
          for (const { count } of parse(spec)) expect(Number.isSafeInteger(count) && count > 0).toBe(true);
        } catch (error) {
          if (!(error instanceof SignalboxError)) throw error;
          expect(error.message).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
          expect(error.message.length).toBeLessThan(400);
        }
      },
    ),
  );
});
