import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { measureProcessorMs } from "../../../fixtures/steady.ts";
import { ConfigError } from "../../../src/core/base/errors.ts";
import { canonicalizeHost } from "../../../src/core/base/text.ts";
import {
  createHostGroupLookup,
  findGroupCycles,
  findMembership,
  type Groups,
  listGroupHosts,
  listGroupNotes,
  listHostGroups,
  parseGroup,
  parseGroupMembers,
  serializeGroup,
} from "../../../src/core/fleet/groups.ts";

const groups = (all: Record<string, string[]>): Groups => new Map(Object.entries(all));

const fleet = groups({
  web: ["web1.example.com", "web2.example.com"],
  db: ["db1.example.com"],
  all: ["web", "db", "web", "spare.example.com"],
  loop: ["pool", "a.example.com"],
  pool: ["loop", "b.example.com"],
  self: ["self"],
  empty: [],
});

describe("membership", () => {
  test.each([["web", "WEB1.Example.COM.", ["web"]]])("%s, asked for %s: %j", (group, host, path) => {
    expect(findMembership(fleet, group, host)).toEqual(path);
  });

  test("the chain is the shortest", () => {
    const deep = groups({ top: ["long", "short"], long: ["longer"], longer: ["h.x"], short: ["h.x"] });
    expect(findMembership(deep, "top", "h.x")).toEqual(["top", "short"]);
  });

  test("a group that is not there is an error, with the one that was probably meant", () => {
    expect(() => findMembership(fleet, "wep", "web1.example.com")).toThrow(ConfigError);
    expect(() => findMembership(fleet, "wep", "web1.example.com")).toThrow(
      'there is no group "wep"; did you mean "web"?',
    );
    expect(() => listGroupHosts(fleet, "nothing like it")).toThrow("see: signalbox ls groups");
  });
});

/** Small random fleets: names g0…g5 are groups where they stand as keys, else hosts, as h0…h3 always are. */
const name = fc.constantFrom("g0", "g1", "g2", "g3", "g4", "g5", "h0", "h1", "h2", "h3");
const anyFleet = fc.dictionary(
  fc.constantFrom("g0", "g1", "g2", "g3", "g4", "g5"),
  fc.array(name, { maxLength: 4 }),
);

/** Hosts of a group by repeating what a group is until nothing changes. */
function closure(all: Record<string, string[]>, group: string) {
  let reached = new Set([group]);
  for (;;) {
    const more = new Set([...reached].flatMap((one) => [one, ...(all[one] ?? [])]));
    if (more.size === reached.size) return new Set([...reached].filter((one) => all[one] === undefined));
    reached = more;
  }
}

describe("against the closure", () => {
  test("membership, groupsOf and hostsOf say the same as it does", () => {
    fc.assert(
      fc.property(anyFleet, name, (all, host) => {
        const known = Object.keys(all);
        const holding = known.filter((group) => closure(all, group).has(host));
        expect(listHostGroups(groups(all), host).toSorted()).toEqual(holding.toSorted());
        for (const group of known) {
          expect(findMembership(groups(all), group, host) !== undefined).toBe(holding.includes(group));
          expect(new Set(listGroupHosts(groups(all), group))).toEqual(closure(all, group));
        }
      }),
      { numRuns: 500 },
    );
  });

  test("a chain is a proof: each group names the next, the last one the host, and no group twice", () => {
    fc.assert(
      fc.property(anyFleet, name, (all, host) => {
        for (const group of Object.keys(all)) {
          const path = findMembership(groups(all), group, host) ?? [];
          if (path.length === 0) continue;
          expect(path[0]).toBe(group);
          expect(new Set(path).size).toBe(path.length);
          for (const [index, one] of path.entries()) expect(all[one]).toContain(path[index + 1] ?? host);
        }
      }),
    );
  });

  test("there are cycles exactly when some group reaches itself, and each is one", () => {
    fc.assert(
      fc.property(anyFleet, (all) => {
        const reachesItself = Object.keys(all).some((group) =>
          (all[group] ?? []).some((member) => all[member] !== undefined && reaches(all, member, group)),
        );
        const found = findGroupCycles(groups(all));
        expect(found.length > 0).toBe(reachesItself);
        for (const cycle of found) {
          expect(cycle.at(0)).toBe(cycle.at(-1));
          for (const [index, one] of cycle.slice(0, -1).entries())
            expect(all[one]).toContain(cycle[index + 1]);
        }
      }),
    );
  });
});

function reaches(all: Record<string, string[]>, from: string, to: string) {
  const seen = new Set([from]);
  for (const one of seen)
    for (const member of all[one] ?? []) if (all[member] !== undefined) seen.add(member);
  return seen.has(to);
}

test("10,000 groups deep, and one named by 10,000 others, need neither stack nor time", () => {
  const size = 10_000;
  const chain = new Map(
    Array.from({ length: size }, (_, i) => [`g${i}`, [`g${(i + 1) % size}`]] as [string, string[]]),
  );
  chain.set("end", ["h.x"]);
  chain.set(`g${size - 1}`, ["end", "g0"]);
  const star = new Map(Array.from({ length: size }, (_, i) => [`s${i}`, ["hub"]] as [string, string[]]));
  star.set("hub", Array.from({ length: size }, (_, i) => `s${i}`).concat("h.x"));
  const ms = measureProcessorMs(() => {
    expect(findMembership(chain, "g0", "h.x")).toHaveLength(size + 1);
    expect(listHostGroups(chain, "h.x")).toHaveLength(size + 1);
    expect(findGroupCycles(chain)[0]).toHaveLength(size + 1);
    expect(listHostGroups(star, "h.x")).toHaveLength(size + 1);
    expect(findGroupCycles(star)).not.toHaveLength(0);
  });
  expect(ms).toBeLessThan(2_000);
});

test("groups that are nested in several groups are searched once each", () => {
  const ladder = new Map(
    Array.from({ length: 60 }, (_, i): [string, string[]] => [`g${i}`, [`g${i + 1}`, `x${i}`]]).concat(
      Array.from({ length: 60 }, (_, i): [string, string[]] => [`x${i}`, [`g${i + 1}`]]),
    ),
  );
  // There are 2^60 ways: who searched them all would never come to an end.
  expect(findGroupCycles(ladder)).toEqual([]);
  expect(findMembership(ladder, "g0", "g60")).toHaveLength(60);
  expect(listHostGroups(ladder, "g60")).toHaveLength(120);
});

describe("a group's value", () => {
  test.each([
    ['["web1.example.com", "db"]', ["web1.example.com", "db"]],
    ['"web1.example.com"', ["web1.example.com"]],
    ["[]", []],
    ['{"v": 1, "members": ["a"], "note": "later"}', ["a"]],
    ['{"members": "a"}', ["a"]],
  ])("%s", (text, members) => {
    expect(parseGroup(text)).toEqual(members);
  });

  test.each([
    ["", "not a JSON list"],
    ["null", "not a JSON list"],
    ["[4]", '"4" is not a name'],
    ['[""]', 'member "" cannot be used: it is empty'],
    ['["a\\nb"]', 'member "a\\nb" cannot be used: it contains a control character'],
  ])("%j: %s", (text, why) => {
    expect(parseGroup(text)).toBeUndefined();
    expect(parseGroupMembers(text)).toHaveProperty("fault", expect.stringContaining(why));
  });

  test("is read back as it was written, each member once", () => {
    const members = fc.array(fc.string({ minLength: 1, unit: fc.constantFrom("a", "b", "é", '"', ".") }));
    fc.assert(
      fc.property(members, (some) => {
        expect(parseGroup(serializeGroup(some))).toEqual([...new Set(some)]);
      }),
    );
  });
});

test("notes: tell of circles, of empty groups, and of groups named like hosts", () => {
  const notes = listGroupNotes(groups({ a: ["b"], b: ["a"], none: [], "web1.example.com": ["x.y"] }));
  expect(notes).toEqual([
    'group "none" is empty: no run that is limited to it can start',
    'group "web1.example.com" is named like a host: a member "web1.example.com" means the group',
    'groups contain each other in a circle ("a" > "b" > "a"): all of them have the same hosts',
  ]);
});

test("a host's name is compared without case and last dot", () => {
  expect(["Web1.Example.COM", "web1.example.com.", "."].map(canonicalizeHost)).toEqual([
    "web1.example.com",
    "web1.example.com",
    ".",
  ]);
});

test("the groups of many hosts are found with one reading of the groups", () => {
  let readings = 0;
  class CountedGroups extends Map<string, readonly string[]> {
    override [Symbol.iterator]() {
      readings += 1;
      return super[Symbol.iterator]();
    }
  }
  const listGroups = createHostGroupLookup(
    new CountedGroups([
      ["web", ["h1.x", "h2.x"]],
      ["all", ["web", "h3.x"]],
    ]),
  );
  expect(["h1.x", "H2.x", "h3.x", "h4.x"].map(listGroups)).toEqual([
    ["web", "all"],
    ["web", "all"],
    ["all"],
    [],
  ]);
  expect(readings).toBe(1);
});
