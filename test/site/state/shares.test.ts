/** Which resources belong to which host, and how much of them is used. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  createHostKey,
  createKeyValue,
  createResourceKey,
  createSnapshot,
  createTicketKey,
} from "../../../fixtures/state/sample-snapshots.ts";
import { formatShare } from "../../../src/cli/views/hosts.ts";
import { computeShares, getShareTone, renderShareBar } from "../../../src/site/state/shares.ts";

const WEB1 = "web1.example.com";
const host = (fqdn: string, cpu: number, macros: object = {}) =>
  createHostKey(fqdn, { cpu, memMb: 7_976, macros, seenAt: 1 });
const used = (name: string, letter: string, on: string, count: number, total: number, state = "held") =>
  createTicketKey(`resource ${name}`, letter, letter.charCodeAt(0), {
    host: on,
    count,
    total,
    state: state as "held",
  });

/** What is shown: `web1.example.com: cpu 3/4, mem 1/2`. */
function texts(...kvs: ReturnType<typeof createKeyValue>[]) {
  const { hosts, others } = computeShares(createSnapshot(kvs));
  return [
    ...hosts.map(({ host: name, parts }) => `${name}: ${parts.map(formatShare).join(", ")}`),
    ...others.map((share) => formatShare(share)),
  ];
}

describe("shares", () => {
  it("of configured templates stand side by side on every host, with its own totals", () => {
    const shown = texts(
      host(WEB1, 4),
      host("db1.example.com", 16),
      createResourceKey("FQDN_cpu", { total: "CPU", order: 1 }),
      createResourceKey("FQDN_a", { total: "int(MEMMB/1000)" }),
      used(`${WEB1}_cpu`, "a", WEB1, 3, 99),
    );
    expect(shown).toEqual(["db1.example.com: cpu 0/16, a 0/7", `${WEB1}: cpu 3/4, a 0/7`]);
  });

  it("belong to a host whose full name stands in theirs", () => {
    const shown = texts(
      used(`${WEB1}/cpu`, "a", WEB1, 1, 4),
      used(`disk:${WEB1}`, "b", "x.example.com", 1, 2),
      used(`${WEB1}-net`, "c", WEB1, 5, 9),
      used(`rack.${WEB1}.gpu`, "d", WEB1, 1, 1),
      used("db", "e", WEB1, 2, 10),
      used("web10.example.com_cpu", "f", WEB1, 1, 1),
    );
    expect(shown).toEqual([
      `${WEB1}: cpu 1/4, disk 1/2, net 5/9, rack_gpu 1/1`,
      "db 2/10",
      "web10.example.com_cpu 1/1",
    ]);
  });

  it("use a host's short name only if it is unique", () => {
    const db = "db.example.com";
    expect(texts(used("db_cpu", "a", db, 1, 4))).toEqual([`${db}: cpu 1/4`]);
    expect(texts(used("db_cpu", "a", db, 1, 4), used("db_cpu", "b", WEB1, 1, 4))).toEqual(["db_cpu 2/4"]);
    expect(texts(used("db", "a", db, 1, 4))).toEqual(["db 1/4"]);
  });

  it("belong to no host if a template means one resource for several hosts", () => {
    const racks = [host(WEB1, 4, { HOST_RACK: "r1" }), host("web1.other.com", 4, { HOST_RACK: "r1" })];
    const configs = [
      createResourceKey("HOST_cpu", { total: 7 }),
      createResourceKey("HOST_RACK_net", { total: 2 }),
    ];
    const shown = texts(
      ...racks,
      ...configs,
      used("web1_cpu", "a", WEB1, 1, 7),
      used("web1_cpu", "b", "b.c", 1, 7),
    );
    expect(shown).toEqual(["HOST_RACK_net 0/2", "web1_cpu 2/7"]);
  });

  it("come without a total where none follows: no processors known, macros that are none, a fault", () => {
    const bad = createKeyValue(keys.host(WEB1), '{"v":1,"macros":{"cpu":1,"FQDN":"x"}}');
    const configs = [
      createResourceKey("FQDN_cpu", { total: "CPU" }),
      createKeyValue(keys.resourceConfig("odd"), '{"v":1,"total":[]}'),
    ];
    expect(texts(bad, ...configs)).toEqual([`${WEB1}: cpu 0/?`, "odd 0/?"]);
  });

  it("mean what they say", () => {
    const share = { waiting: 0, total: 4 };
    expect(getShareTone({ ...share, used: 0 })).toBe("free");
    expect(getShareTone({ ...share, used: 3 })).toBe("held");
    expect(getShareTone({ waiting: 0, total: 10, used: 8 })).toBe("waiting");
    expect(getShareTone({ ...share, used: 4 })).toBe("waiting");
    expect(getShareTone({ ...share, used: 4, waiting: 1 })).toBe("problem");
    expect(getShareTone({ waiting: 0, total: undefined, used: 4 })).toBe("held");
    expect(getShareTone({ ...share, used: 1, waiting: 1 })).toBe("waiting");
    expect(getShareTone({ ...share, used: 5, waiting: 1 })).toBe("problem");
  });
});

it.each([
  [0, 4, "...."],
  [4, 4, "####"],
  [1, 1_000, "#..."],
  [999, 1_000, "###."],
  [1, undefined, "    "],
])("a bar of %d of %s", (units, total, bar) => {
  expect(renderShareBar({ used: units, total }, ["#", "."])).toBe(bar);
});

it("is as wide as it is asked to be", () => {
  expect(renderShareBar({ used: 4, total: 10 }, ["#", "."], 8)).toBe("###.....");
});
