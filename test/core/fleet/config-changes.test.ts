import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyConfiguration, EMPTY_CONFIGURATION } from "../../../fixtures/protocol/configurations.ts";
import {
  applyConfigChanges,
  type Configuration,
  computeConfigChanges,
  formatConfigChange,
  normalizeMembers,
} from "../../../src/core/fleet/configuration.ts";

describe("changes", () => {
  it("between two configurations turn the one into the other", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (one, other) => {
        expect(applyConfigChanges(one, computeConfigChanges(one, other))).toEqual(other);
      }),
    );
  });

  it("are none between equal ones, and each is of something that differs", () => {
    fc.assert(
      fc.property(anyConfiguration, anyConfiguration, (one, other) => {
        expect(computeConfigChanges(one, structuredClone(one))).toEqual([]);
        for (const { before, after } of computeConfigChanges(one, other)) expect(before).not.toEqual(after);
      }),
    );
  });
});

describe("a change in a line", () => {
  const before: Configuration = {
    groups: new Map([
      ["web", normalizeMembers(["web1", "web2"])],
      ["old", []],
    ]),
    resources: new Map([
      ["db", { total: "10", note: "x" }],
      ["disk", { total: "CPU" }],
    ]),
  };
  const after: Configuration = {
    groups: new Map([
      ["web", normalizeMembers(["web2", "web3", "all"])],
      ["all", []],
    ]),
    resources: new Map<string, { total?: string; order?: number }>([
      ["db", { total: "8", order: 2 }],
      ["tape", {}],
    ]),
  };

  it("says what comes, goes and becomes another", () => {
    const lines = computeConfigChanges(before, after).map((change) =>
      formatConfigChange(change, after.groups),
    );
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
    const full = { ...EMPTY_CONFIGURATION, groups: new Map([["web", hosts]]) };
    const [change] = computeConfigChanges(EMPTY_CONFIGURATION, full);
    expect(change && formatConfigChange(change, full.groups)).toMatch(
      /^\+ group web: h000, .*h007, 492 more$/,
    );
  });
});
