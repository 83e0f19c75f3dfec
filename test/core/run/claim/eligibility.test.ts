import { describe, expect, test } from "vitest";
import { keys } from "../../../../fixtures/protocol/samples.ts";
import {
  createPorts,
  createRequest,
  HOST,
  REQUESTS,
  WALL,
} from "../../../../fixtures/protocol/situations.ts";
import { ConfigError } from "../../../../src/core/base/errors.ts";
import { serializeDrain } from "../../../../src/core/protocol/drain.ts";
import {
  buildInputReads,
  computeEligibility,
  parseClaimInputs,
} from "../../../../src/core/run/eligibility.ts";
import type { ClaimRequest } from "../../../../src/core/run/request.ts";

/** Stores values, reads them as a claim does, and computes the eligibility from that. */
function compute(request: ClaimRequest, values: readonly (readonly [key: string, value: string])[]) {
  const ports = createPorts();
  const { etcd } = ports.store;
  const puts = values.map(([key, value]) => ({ op: "put", key, value }) as const);
  etcd.apply({ compare: [], success: puts, failure: [] });
  const { revision, results } = etcd.apply({
    compare: [],
    failure: [],
    success: buildInputReads(keys, request),
  });
  return computeEligibility(ports, request, parseClaimInputs(keys, revision, results), WALL);
}

const ofDb = keys.resourceConfig("db");
const ofTemplate = keys.resourceConfig("FQDN_db");

describe("the total of a resource", () => {
  test.each<[string, string | undefined, string | undefined, number | undefined, number, number | "error"]>([
    // case, configured, of the template, on the command line, count, total
    ["from the command line", undefined, undefined, 4, 2, 4],
    ["configured", "8", undefined, undefined, 2, 8],
    ["configured and stated alike", "4", undefined, 4, 2, 4],
    ["configured and stated differently", "8", undefined, 4, 2, "error"],
    ["of the template", undefined, "6", undefined, 2, 6],
    ["of the resource before that of the template", "8", "6", undefined, 2, 8],
    ["of the template, where the resource has none", "", "6", undefined, 2, 6],
    ["unknown", undefined, undefined, undefined, 2, "error"],
    ["all of it asked for", "2", undefined, undefined, 2, 2],
    ["less than what is asked for", "1", undefined, undefined, 2, "error"],
    ["stated, and less than what is asked for", undefined, undefined, 1, 2, "error"],
  ])("%s", (_, configured, template, stated, count, expected) => {
    const lease = {
      resource: "db",
      template: "FQDN_db",
      count,
      ...(stated !== undefined && { total: stated }),
    };
    const stored: [string, string | undefined][] = [
      [ofDb, configured],
      [ofTemplate, template],
    ];
    const values = stored.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
    const act = () => compute(createRequest({ leases: [lease] }), values);
    if (expected === "error") expect(act).toThrow(ConfigError);
    else expect(act()).toMatchObject({ kind: "open", totals: [{ total: expected }] });
  });

  test.each([
    ["configured", [[ofDb, "4"]] as const, true],
    ["not configured", [], false],
  ])("of a request for known resources only, %s", (_, values, isOpen) => {
    const act = () => compute({ ...REQUESTS.lease, isKnownOnly: true }, values);
    if (isOpen) expect(act()).toMatchObject({ kind: "open" });
    else expect(act).toThrow(ConfigError);
  });
});

test.each([
  ["none", undefined, true],
  ["that of this program", "0001", true],
  ["a later one", "0002", false],
  ["one that cannot be read", "next", false],
])("which schema version is required: %s", (_, version, isOpen) => {
  const values = version === undefined ? [] : [[keys.schema(version), ""] as const];
  const act = () => compute(REQUESTS.lock, values);
  if (isOpen) expect(act()).toMatchObject({ kind: "open" });
  else expect(act).toThrow(/schema version .* has schema version 1; upgrade signalbox on this host$/);
});

describe("which drains apply", () => {
  const web = JSON.stringify({ members: [HOST] });
  test.each<[string, readonly (readonly [string, string])[], "open" | "drained", boolean]>([
    ["none", [], "open", false],
    ["of the lock", [[keys.drain("lock", "a"), "{}"]], "drained", false],
    ["of another lock", [[keys.drain("lock", "b"), "{}"]], "open", false],
    ["of a resource it leases", [[keys.drain("resource", "db"), "{}"]], "drained", false],
    ["of its host", [[keys.drain("host", HOST), "{}"]], "drained", false],
    ["one that has ended", [[keys.drain("all", "all"), endAt(WALL)]], "open", false],
    ["one that ends later", [[keys.drain("all", "all"), endAt(WALL + 1)]], "drained", false],
    ["one that cannot be parsed", [[keys.drain("lock", "a"), "?"]], "drained", false],
    ["of a group without its host", [[keys.drain("group", "web"), "{}"]], "open", true],
    [
      "of its group",
      [
        [keys.drain("group", "web"), "{}"],
        [keys.group("web"), web],
      ],
      "drained",
      true,
    ],
    ["groups, and no drain of one", [[keys.group("web"), web]], "open", false],
  ])("%s", (_, values, kind, groupsMatter) => {
    expect(compute(REQUESTS.both, values)).toMatchObject({ kind, basis: { groupsMatter } });
  });
});

describe("what the guard of a claim compares", () => {
  test("the configuration of its resources, also where there is none", () => {
    expect(compute(REQUESTS.both, [])).toMatchObject({ basis: { config: [{ key: ofDb, modRevision: 0n }] } });
    expect(compute(REQUESTS.both, [[ofDb, "4"]])).toMatchObject({
      basis: { revision: 2n, config: [{ key: ofDb, modRevision: 2n }] },
    });
  });

  test("the groups that make its host a member, and the key of a group with the host's name", () => {
    const web = JSON.stringify({ members: [HOST] });
    const request = REQUESTS["lock, group"];
    const config = [
      { key: keys.group("web"), modRevision: 2n },
      { key: keys.group(HOST), modRevision: 0n },
    ];
    expect(compute(request, [[keys.group("web"), web]])).toMatchObject({ basis: { config } });
    const other = compute(request, [[keys.group("web"), "[]"]]);
    expect(other).toEqual({ kind: "outside", group: "web" });
    expect(() => compute(request, [])).toThrow(ConfigError);
  });
});

function endAt(until: number) {
  return serializeDrain({ by: "op", at: 1, until });
}
