/** Configuration documents of signalbox and switchman, and the positions of faults. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evaluateUnits } from "../../src/fleet/arithmetic.ts";
import {
  applyConfigDocument,
  formatConfigDocument,
  parseConfigDocument,
  type TotalCheck,
} from "../../src/fleet/config-document-parser.ts";
import type { Configuration } from "../../src/fleet/configuration.ts";
import { anyConfiguration, EMPTY_CONFIGURATION } from "./configurations.ts";

const MACROS: Record<string, number> = { CPU: 4, MEMMB: 8000 };
const check: TotalCheck = (_, total) => {
  const units = evaluateUnits(total, (name) => MACROS[name]);
  return "fault" in units ? units.fault : undefined;
};

function read(text: string) {
  const parsed = parseConfigDocument(text, check);
  if ("faults" in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

const faults = (text: string) => {
  const parsed = parseConfigDocument(text, check);
  return "faults" in parsed ? parsed.faults.map(({ line, column, what }) => `${line}:${column} ${what}`) : [];
};

const groupsOf = ({ groups }: Configuration) => Object.fromEntries(groups);

describe("our document", () => {
  it("says everything: what is written is read back, over whatever was there", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (configuration, before) => {
        const document = read(formatConfigDocument(configuration, 7n));
        expect(applyConfigDocument(before, document, true)).toEqual(configuration);
      }),
    );
  });

  it("is the same text for the same configuration, in whatever order it came", () => {
    fc.assert(
      fc.property(anyConfiguration, ({ groups, resources }) => {
        const turned = {
          groups: new Map([...groups].reverse()),
          resources: new Map([...resources].reverse()),
        };
        expect(formatConfigDocument(turned, 7n)).toBe(formatConfigDocument({ groups, resources }, 7n));
      }),
    );
  });

  it("is JSON that reads well and differs by lines", () => {
    const configuration: Configuration = {
      groups: new Map([
        ["web", ["web1.example.com", "web2.example.com"]],
        ["none", []],
      ]),
      resources: new Map([
        ["FQDN_cpu", { total: "CPU" }],
        ["db", { total: "10", order: 1, note: "two for reports" }],
      ]),
    };
    expect(formatConfigDocument(configuration, 88n)).toBe(`{
  "version": 1,
  "revision": "88",
  "groups": {
    "none": [],
    "web": [
      "web1.example.com",
      "web2.example.com"
    ]
  },
  "resources": [
    { "name": "db", "total": 10, "order": 1, "note": "two for reports" },
    { "name": "FQDN_cpu", "total": "CPU" }
  ]
}
`);
    expect(JSON.parse(formatConfigDocument(EMPTY_CONFIGURATION, 1n))).toEqual({
      version: 1,
      revision: "1",
      groups: {},
      resources: [],
    });
  });
});

it("a document shows no terminal what it would act on", () => {
  const text = formatConfigDocument(
    { groups: new Map([["\u202eweb", ["\u009b2J"]]]), resources: new Map() },
    1n,
  );
  expect(text).toMatch(/^[ -~\n]*$/);
  expect(Object.keys(JSON.parse(text).groups)).toEqual(["\u202eweb"]);
});

describe("switchman's document", () => {
  const TEXT = '{"groups":{"g1":["host1","g3"],"g2":"host1","g3":"host2"},"resources":["FQDN_mem", "db"]}';

  it("is taken as it is: a host alone, names of resources in their order", () => {
    const result = applyConfigDocument(EMPTY_CONFIGURATION, read(TEXT), false);
    expect(groupsOf(result)).toEqual({ g1: ["g3", "host1"], g2: ["host1"], g3: ["host2"] });
    expect([...result.resources]).toEqual([
      ["FQDN_mem", { order: 1 }],
      ["db", { order: 2 }],
    ]);
  });

  it("leaves totals and notes alone, also where it replaces", () => {
    const before: Configuration = {
      groups: new Map(),
      resources: new Map([
        ["db", { total: "10", order: 9, note: "x" }],
        ["old", { total: "1" }],
      ]),
    };
    const replaced = applyConfigDocument(before, read(TEXT), true);
    expect(replaced.resources.get("db")).toEqual({ total: "10", order: 2, note: "x" });
    expect(replaced.resources.has("old")).toBe(false);
    expect(applyConfigDocument(before, read(TEXT), false).resources.has("old")).toBe(true);
  });

  it("says nothing of what it does not mention, also where it replaces", () => {
    const before: Configuration = { groups: new Map([["web", ["web1"]]]), resources: new Map([["db", {}]]) };
    expect(applyConfigDocument(before, read('{"resources": []}'), true)).toEqual({
      ...before,
      resources: new Map(),
    });
    expect(applyConfigDocument(before, read('{"groups": {}}'), true)).toEqual({
      ...before,
      groups: new Map(),
    });
  });
});

describe("a document with faults", () => {
  it("names them all, each with its place", () => {
    const text = `{
  "version": 2,
  "groups": {
    "web": ["web1", 7, ""],
    "web": {},
    "\\u0007": []
  },
  "resources": [
    "db",
    { "name": "db", "total": 0 },
    { "total": "CPU" },
    { "name": "x", "total": true, "order": 1.5, "note": 3, "size": 1 },
    "db", 5
  ],
  "resuorces": []
}`;
    expect(faults(text)).toEqual([
      "2:14 the version must be 1",
      '4:21 group "web": a member must be a host or a group, in quotes',
      '4:24 member "" cannot be used: it is empty',
      '5:5 "web" is listed twice',
      '5:12 group "web": a member must be a host or a group, in quotes',
      '6:5 group "\\u0007" cannot be used: it contains a control character',
      '10:5 resource "db" is listed twice',
      '10:30 resource "db": total "0" is 0, it must be 1 or more',
      '11:5 a resource needs a "name", in quotes',
      "12:29 a total must be a number, or an expression over macros in quotes",
      "12:44 an order must be a whole number",
      "12:57 a note must be a string of at most 500 characters",
      '12:60 a resource has no field "size"; it may have name, total, order, note',
      '13:5 resource "db" is listed twice',
      "13:11 a resource must be an object, in braces",
      '15:3 the document has no field "resuorces"; did you mean "resources"?',
    ]);
  });

  it.each([
    ["{", "1:2 expected a quoted key"],
    ["[]", "1:1 the document must be an object, in braces"],
    ["{}", '1:1 it has neither "groups" nor "resources"'],
    ['{"groups": []}', '1:12 "groups" must be an object, in braces'],
    ['{"resources": {"db": 1}}', '1:15 "resources" must be a list of names'],
    ['{"resources": [{"name": "a", "total": "RAM"}]}', '1:39 resource "a": total "RAM": there is no macro'],
  ])("%s is told as %s", (text, told) => {
    expect(faults(text)).toEqual([expect.stringContaining(told)]);
  });

  it("never throws, whatever it is", () => {
    const json = fc.json({ maxDepth: 4 }).map((value) => `{"groups": ${value}, "resources": [${value}]}`);
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), json), (text) => {
        const parsed = parseConfigDocument(text, check);
        expect("value" in parsed || parsed.faults.length > 0).toBe(true);
      }),
    );
  });
});
