/** Documents of a site, of signalbox and of switchman, and the positions of faults. */

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { findMismatches } from "../../../../fixtures/find-mismatches.ts";
import { anyConfiguration } from "../../../../fixtures/protocol/configurations.ts";
import { usableName } from "../../../../fixtures/protocol/samples.ts";
import { formatSiteYaml, parseSiteDocument } from "../../../../src/cli/commands/configure/site-document.ts";
import { formatSiteJson } from "../../../../src/cli/commands/configure/site-fields.ts";
import { evaluateUnits } from "../../../../src/core/fleet/arithmetic.ts";
import type { TotalCheck } from "../../../../src/core/fleet/resources.ts";
import type { Definition } from "../../../../src/schedule/definition.ts";
import type { SiteDocument } from "../../../../src/site/operate/site.ts";

const MACROS: Record<string, number> = { CPU: 4, MEMMB: 8000 };
const check: TotalCheck = (_, total) => {
  const units = evaluateUnits(total, (name) => MACROS[name]);
  return "fault" in units ? units.fault : undefined;
};

async function read(text: string) {
  const parsed = await parseSiteDocument("site.yaml", text, async () => check);
  if ("faults" in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

const listFaults = async (text: string) => {
  const parsed = await parseSiteDocument("site.yaml", text, async () => check);
  return "faults" in parsed ? parsed.faults.map(({ line, column, what }) => `${line}:${column} ${what}`) : [];
};

const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 20 }),
  fc.constantFrom(
    "true",
    "12-25",
    "1e3",
    "~",
    "@daily",
    "*/5 * * * *",
    "a: b",
    "# x",
    " x ",
    "\u202e\u009b2J",
  ),
);
const anyDefinition: fc.Arbitrary<Definition> = fc.record(
  {
    cron: fc.constantFrom("0 3 * * *", "*/5 * * * *", "@daily", ["@hourly", "0 12 * * 6"]),
    timezone: fc.constantFrom("UTC", "Europe/Berlin"),
    timeout: fc.integer({ min: 0, max: 10 ** 9 }),
    keepFor: fc.integer({ min: 0, max: 10 ** 9 }),
    end: fc.integer({ min: 0, max: 4e12 }),
    data: fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value))), // without -0
    command: fc.array(anyText, { minLength: 1, maxLength: 3 }),
    env: fc.dictionary(fc.constantFrom("A", "B", "NO"), anyText),
    note: anyText,
    source: anyText,
    hooks: fc.constant({ failure: "mailto:a@example.com", dead: ["page", "--now"] }),
    pause: fc.record({ by: anyText, at: fc.integer({ min: 0, max: 4e12 }) }),
  },
  { requiredKeys: ["cron", "timezone"] },
);
/** Every site there can be. */
const anySite: fc.Arbitrary<SiteDocument> = fc
  .tuple(anyConfiguration, fc.array(fc.tuple(usableName, anyDefinition), { maxLength: 4 }))
  .map(([{ groups, resources }, schedules]) => ({
    groups: new Map([...groups].map(([name, members]) => [name, { members }])),
    resources: new Map([...resources].map(([name, config]) => [name, { isWhole: true, config }])),
    calendars: new Map([
      ["holidays", { days: ["sat", "12-25", "2026-12-24..2027-01-01"], source: "site:web" }],
    ]),
    schedules: new Map(schedules),
  }));

describe.each([
  ["YAML", formatSiteYaml],
  ["JSON", formatSiteJson],
])("a site as %s", (_, format) => {
  it("says everything: what is written is read back", async () => {
    await fc.assert(
      fc.asyncProperty(anySite, async (site) => {
        // JSON has no negative zero.
        const expected = new Map(
          [...(site.schedules ?? [])].map(([id, one]) => [id, JSON.parse(JSON.stringify(one))]),
        );
        expect(await read(format(site))).toEqual({ ...site, schedules: expected });
      }),
    );
  });

  it("can have a key that YAML would merge", async () => {
    const definition = { cron: "@daily", timezone: "UTC", data: { "<<": { a: 1 }, b: ["<<", { "<<": 2 }] } };
    const site = { schedules: new Map([["<<", definition]]) };
    expect((await read(format(site))).schedules).toEqual(site.schedules);
  });

  it("is valid by the schema for editors", async () => {
    const schema = JSON.parse(readFileSync("docs/site.schema.json", "utf8"));
    fc.assert(
      fc.property(anySite, (site) => {
        expect(findMismatches(schema, schema, parse(format(site)))).toEqual([]);
      }),
    );
  });

  it("is the same text for any order of arrival", async () => {
    fc.assert(
      fc.property(anySite, ({ groups = new Map(), resources = new Map(), schedules = new Map() }) => {
        const turned = {
          groups: new Map([...groups].reverse()),
          resources: new Map([...resources].reverse()),
          schedules: new Map([...schedules].reverse()),
        };
        expect(format(turned)).toBe(format({ groups, resources, schedules }));
      }),
    );
  });

  it("shows no terminal what it would act on", async () => {
    const text = format({ groups: new Map([["\u202eweb", { members: ["\u200bx"] }]]) });
    expect(text).toMatch(/^[ -~\n]*$/);
    expect([...((await read(text)).groups ?? [])]).toEqual([["\u202eweb", { members: ["\u200bx"] }]]);
  });
});

it("a schedule without a time zone has UTC, as in schedule add", async () => {
  const { schedules } = await read(
    'schedules: { a: { cron: "@daily" }, b: { cron: "@daily", timezone: Asia/Tokyo } }',
  );
  expect([...(schedules ?? [])].map(([id, { timezone }]) => [id, timezone])).toEqual([
    ["a", "UTC"],
    ["b", "Asia/Tokyo"],
  ]);
});

it("a site is YAML that reads well and differs by lines", async () => {
  const text = formatSiteYaml({
    groups: new Map([
      ["web", { members: ["web1.example.com", "web2.example.com"] }],
      ["db", { members: ["db1"], source: "site:data" }],
    ]),
    resources: new Map([
      ["FQDN_cpu", { isWhole: true, config: { total: "CPU" } }],
      ["db", { isWhole: true, config: { total: "10", order: 1, note: "two for reports" } }],
    ]),
    schedules: new Map([
      ["backup", { timeout: 5_400_000, timezone: "UTC", cron: "*/5 * * * *", end: 1_800_000_000_000 }],
    ]),
  });
  expect(text).toBe(`version: 1
groups:
  db:
    members:
      - db1
    source: site:data
  web:
    - web1.example.com
    - web2.example.com
resources:
  - name: db
    total: 10
    order: 1
    note: two for reports
  - name: FQDN_cpu
    total: CPU
schedules:
  backup:
    cron: "*/5 * * * *"
    timezone: UTC
    end: 2027-01-15T08:00:00.000Z
    timeout: 1h30m
`);
});

it("switchman's document is taken as it is: a host alone, names of resources in their order", async () => {
  const site = await read(
    '{"groups":{"g1":["host1","g3"],"g2":"host1","g3":"host2"},"resources":["FQDN_mem", "db"]}',
  );
  expect([...(site.groups ?? [])].map(([name, { members }]) => [name, members])).toEqual([
    ["g1", ["g3", "host1"]],
    ["g2", ["host1"]],
    ["g3", ["host2"]],
  ]);
  expect([...(site.resources ?? [])]).toEqual([
    ["FQDN_mem", { isWhole: false, config: { order: 1 } }],
    ["db", { isWhole: false, config: { order: 2 } }],
  ]);
});

describe("a document with faults", () => {
  it("says that a number must not be in quotes, or must be", async () => {
    const schedule = 'cron: "@daily", timezone: UTC, command: [sleep, 10]';
    expect(await listFaults(`version: "1"\nschedules: { x: { ${schedule} } }`)).toEqual([
      '1:10 the version must be the number 1; got "1"',
      '2:59 schedule "x": command "[\\"sleep\\",10]" is not a list of words, with numbers in quotes',
    ]);
  });

  it("names them all, each with its place", async () => {
    const text = `{
  "version": 2,
  "groups": {
    "web": ["web1", 7, ""],
    "web": {},
    "db": {"member": []},
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
    expect(await listFaults(text)).toEqual([
      '2:14 the version must be the number 1; got "2"',
      "5:5 this key is listed twice",
      '6:12 group "db": unknown field "member"; did you mean "members"?',
      '7:5 group "\\u0007" cannot be used: it contains a control character',
      '11:5 resource "db" is listed twice',
      '11:30 resource "db": total "0" is 0, it must be 1 or more',
      '12:5 a resource needs a "name", in quotes',
      "13:29 a total must be a number, or an expression over macros in quotes",
      "13:44 an order must be a whole number",
      "13:57 a note must be a string of at most 500 characters",
      '13:60 a resource: unknown field "size"; the fields are name, total, order, note, source',
      '14:5 resource "db" is listed twice',
      '14:11 a resource must be an object; got "5"',
      '16:3 the document: unknown field "resuorces"; did you mean "resources"?',
    ]);
  });

  it("names those of schedules and calendars, in YAML", async () => {
    const text = `version: 1
calendars:
  holidays: {days: [12-25, noday]}
  none: {}
schedules:
  one:
    cron: "0 3 * * *"
    timezone: Mars
    retrys: 3
  two: {cron: "@daily", timezone: UTC, timeout: 5x, x: &a 1}
  three:
    cron: "@daily"
    timezone: UTC
    hooks: {failure: page, late: mailto:a@example.com}
  four: 1
  five: {cron: "@daily", timezone: UTC, data: [.nan]}
  six: {cron: "@daily", timezone: UTC, data: {a: [1, -0.0]}}
`;
    expect(await listFaults(text)).toEqual([
      expect.stringMatching(/^3:28 calendar "holidays": "noday" is not a day/),
      '4:9 calendar "none" needs "days", a list of texts',
      expect.stringMatching(/^8:15 schedule "one": unknown time zone "Mars"/),
      '9:5 schedule "one": unknown field "retrys"; did you mean "retries"?',
      '10:49 schedule "two": timeout "5x" is not a duration in whole ms',
      expect.stringMatching(/^10:53 schedule "two": unknown field "x"; the fields are cron, timezone, /),
      expect.stringMatching(/^14:22 schedule "three": hook failure must be a list of words, or https:/),
      '15:9 schedule "four" must be an object; got "1"',
      '16:47 schedule "five": data[0]: JSON cannot represent NaN; write it as a text, in quotes',
      '17:46 schedule "six": data.a[1]: JSON cannot represent -0; write it as a text, in quotes',
    ]);
  });

  it.each([
    ["{", "1:2 "],
    ["a: b: c", "1:4 Nested mappings are not allowed"],
    ["groups:\n  a: [x]\n  a: [y]", "3:3 this key is listed twice"],
    ["groups:\n  a: *b", "2:6 there is no anchor &b before this alias"],
    ["groups:\n  a: &b\n    - *b", "3:7 there is no anchor &b before this alias"],
    ["groups:\n  a: &b 1\n  c: &b [*b]", "3:10 there is no anchor &b before this alias"],
    [
      "groups:\n  a: [x]\n---\ngroups: {}",
      "3:1 a file has one document; put what follows --- into another file",
    ],
    ["[]", '1:1 the document must be an object; got "[]"'],
    ["{}", '1:1 it has none of "groups", "resources", "calendars", "schedules"'],
    ["", "1:1 the document must be an object"],
    ['{"groups": []}', '1:12 "groups" must be an object: groups by name'],
    ['{"resources": {"db": 1}}', '1:15 "resources" must be a list of names'],
    ['{"resources": [{"name": "a", "total": "RAM"}]}', '1:39 resource "a": total "RAM": there is no macro'],
  ])("%s is told as %s", async (text, told) => {
    expect(await listFaults(text)).toEqual([expect.stringContaining(told)]);
  });

  it("is refused if it is nested very deeply", async () => {
    expect(await listFaults("[".repeat(100_000))).toEqual([
      expect.stringMatching(/^1:\d+ it is nested too deeply$/),
    ]);
  });

  it("may use an anchor often, but not so that it grows without limit", async () => {
    const often = Array.from({ length: 500 }, (_, index) => `  g${index}: *hosts\n`).join("");
    expect((await read(`groups:\n  all: &hosts [web1, web2]\n${often}`)).groups?.size).toBe(501);
    const levels = Array.from(
      { length: 12 },
      (_, at) => `  g${at + 1}: &g${at + 1} [${Array(9).fill(`*g${at}`)}]\n`,
    );
    expect(await listFaults(`groups:\n  g0: &g0 [web1]\n${levels.join("")}`)).toEqual([
      expect.stringMatching(/^8:\d+ aliases make more than 1000000 values of this document$/),
    ]);
  });

  it("is refused with its size if it is too large", async () => {
    expect(await listFaults(`groups:\n  web: [${"web1, ".repeat(2_000_000)}]`)).toEqual([
      "1:1 the document has 12000017 characters; at most 8388608 are read: split it",
    ]);
  });

  it("never throws for any input", async () => {
    const json = fc
      .json({ maxDepth: 4 })
      .map((value) =>
        ["groups", "resources", "calendars", "schedules"].map((kind) => `"${kind}": ${value}`).join(", "),
      )
      .map((text) => `{${text}}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.string(), fc.json(), json), async (text) => {
        const parsed = await parseSiteDocument("site.yaml", text, async () => check);
        expect("value" in parsed || parsed.faults.length > 0).toBe(true);
      }),
    );
  });
});
