import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeLine, changesBetween, withChanges } from "../../src/fleet/changes.ts";
import { type Configuration, NOTHING_CONFIGURED, normalMembers } from "../../src/fleet/configuration.ts";
import { anyConfiguration } from "./configurations.ts";

describe("changes", () => {
  it("between two configurations turn the one into the other", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (one, other) => {
        expect(withChanges(one, changesBetween(one, other))).toEqual(other);
      }),
    );
  });

  it("are none between equal ones, and each is of something that differs", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (one, other) => {
        expect(changesBetween(one, structuredClone(one))).toEqual([]);
        for (const { before, after } of changesBetween(one, other)) expect(before).not.toEqual(after);
      }),
    );
  });

  it("can be undone", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (one, other) => {
        const changes = changesBetween(one, other);
        expect(changesBetween(other, one)).toEqual(
          changes.map(({ before, after, ...rest }) => ({ ...rest, before: after, after: before })),
        );
      }),
    );
  });
});

describe("a change in a line", () => {
  const before: Configuration = {
    groups: new Map([
      ["web", normalMembers(["web1", "web2"])],
      ["old", []],
    ]),
    resources: new Map([
      ["db", { total: "10", note: "x" }],
      ["disk", { total: "CPU" }],
    ]),
  };
  const after: Configuration = {
    groups: new Map([
      ["web", normalMembers(["web2", "web3", "all"])],
      ["all", []],
    ]),
    resources: new Map<string, { total?: string; order?: number }>([
      ["db", { total: "8", order: 2 }],
      ["tape", {}],
    ]),
  };

  it("says what comes, goes and becomes another", () => {
    const lines = changesBetween(before, after).map((change) => changeLine(change, after.groups));
    expect(lines).toEqual([
      "+ group all: empty",
      "- group old (empty)",
      "~ group web: + all (a group), + web3, - web1",
      "~ resource db: total 10 -> 8, order none -> 2, note x -> none",
      "- resource disk (total CPU)",
      "+ resource tape: no total of its own",
    ]);
  });

  it("names the first of very many members", () => {
    const hosts = Array.from({ length: 500 }, (_, index) => `h${String(index).padStart(3, "0")}`);
    const full = { ...NOTHING_CONFIGURED, groups: new Map([["web", hosts]]) };
    const [change] = changesBetween(NOTHING_CONFIGURED, full);
    expect(change && changeLine(change, full.groups)).toMatch(/^\+ group web: h000, .*h007, 492 more$/);
  });
});
