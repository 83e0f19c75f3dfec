/** Forgetting what is old, and nothing else. */
import { describe, expect, it } from "vitest";
import { generateAuditId, serializeAuditRecord } from "../../../src/protocol/audit.ts";
import { prune, readPruneCandidates } from "../../../src/work/operate/prune.ts";
import { keys } from "../../protocol/samples.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const DAY = 86_400_000;

async function furnished(): Promise<OperatorFixture> {
  const desk = new OperatorFixture();
  await desk.clock.advance(100 * DAY);
  for (const day of [1, 50, 99]) {
    const record = {
      ...{ id: generateAuditId(day * DAY, desk.ports.random), at: day * DAY, user: "ann", host: "ops" },
      ...({ action: "drain", target: "all", seen: 1n, outcome: "drained" } as const),
    };
    await put(desk, keys.audit(record.id), serializeAuditRecord(record));
    await put(desk, keys.host(`web${day}`), JSON.stringify({ v: 1, seenAt: day * DAY }));
  }
  await put(desk, keys.host("strange"), "{");
  await put(desk, keys.drain("all", "all"), "{}");
  return desk;
}

const put = (desk: OperatorFixture, key: string, value: string) =>
  desk.store.commitTxn({ compare: [], success: [{ op: "put", key, value }], failure: [] });

const left = async (desk: OperatorFixture) =>
  (await desk.store.readRange(keys.getFullRange())).kvs.map(({ key }) => key.slice(keys.prefix.length));

describe("pruning", () => {
  it("forgets audit records before an instant, and keeps its own", async () => {
    const desk = await furnished();
    const found = await readPruneCandidates(desk.ports, { audit: 60 * DAY, hosts: undefined });
    expect([found.audit.count, found.hosts]).toEqual([2, []]);
    expect((await prune(desk.ports, found)).kind).toBe("done");
    const keysLeft = await left(desk);
    expect(keysLeft.filter((key) => key.startsWith("audit/"))).toHaveLength(2);
    expect(keysLeft.filter((key) => key.startsWith("hosts/"))).toHaveLength(4);
    expect(keysLeft).toContain("drains/all/all");
  });

  it("forgets hosts that were not seen since, also those that never said when", async () => {
    const desk = await furnished();
    const found = await readPruneCandidates(desk.ports, { audit: undefined, hosts: 60 * DAY });
    expect(found.hosts.map(({ record }) => record.fqdn).sort()).toEqual(["strange", "web1", "web50"]);
    await prune(desk.ports, found);
    const keysLeft = await left(desk);
    expect(keysLeft.filter((key) => key.startsWith("hosts/"))).toEqual(["hosts/web99"]);
    expect(keysLeft.filter((key) => key.startsWith("audit/"))).toHaveLength(4);
  });

  it("refuses when such a host was seen meanwhile", async () => {
    const desk = await furnished();
    const found = await readPruneCandidates(desk.ports, { audit: 60 * DAY, hosts: 60 * DAY });
    await put(desk, keys.host("web1"), JSON.stringify({ v: 1, seenAt: 100 * DAY }));
    const before = await left(desk);
    expect((await prune(desk.ports, found)).kind).toBe("changed");
    expect(await left(desk)).toEqual(before);
  });

  it("finds nothing in an instant long ago", async () => {
    const desk = await furnished();
    const found = await readPruneCandidates(desk.ports, { audit: 0, hosts: 0 });
    expect([found.audit.count, found.hosts]).toEqual([0, []]);
  });
});
