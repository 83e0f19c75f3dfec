/** Deleting old records, and nothing else. */
import { describe, expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { type AuditRecord, generateAuditId, serializeAuditRecord } from "../../../src/core/protocol/audit.ts";
import { prune, readPruneCandidates } from "../../../src/site/operate/retention.ts";
import { OperatorFixture } from "./operator-fixture.ts";

const DAY = 86_400_000;

async function createSampleFixture() {
  const operator = new OperatorFixture();
  await operator.clock.advance(100 * DAY);
  for (const day of [1, 50, 99]) {
    const record: AuditRecord = {
      id: generateAuditId(day * DAY, operator.ports.random),
      at: day * DAY,
      user: "ann",
      host: "ops",
      action: "drain",
      target: "all",
      seen: 1n,
      outcome: "drained",
    };
    await operator.put(keys.audit(record.id), serializeAuditRecord(record));
    await operator.put(keys.host(`web${day}`), JSON.stringify({ v: 1, seenAt: day * DAY }));
  }
  await operator.put(keys.host("strange"), "{");
  await operator.put(keys.drain("all", "all"), "{}");
  return operator;
}

describe("pruning", () => {
  it("forgets audit records before an instant, and keeps its own", async () => {
    const operator = await createSampleFixture();
    const found = await readPruneCandidates(operator.ports, { audit: 60 * DAY, hosts: undefined });
    expect([found.audit.count, found.hosts]).toEqual([2, []]);
    expect((await prune(operator.ports, found)).kind).toBe("done");
    const keysLeft = await operator.listKeys();
    expect(keysLeft.filter((key) => key.startsWith("audit/"))).toHaveLength(2);
    expect(keysLeft.filter((key) => key.startsWith("hosts/"))).toHaveLength(4);
    expect(keysLeft).toContain("drains/all/all");
  });

  it("forgets hosts that were not seen since, also those that never said when", async () => {
    const operator = await createSampleFixture();
    const found = await readPruneCandidates(operator.ports, { audit: undefined, hosts: 60 * DAY });
    expect(found.hosts.map(({ record }) => record.fqdn).sort()).toEqual(["strange", "web1", "web50"]);
    await prune(operator.ports, found);
    const keysLeft = await operator.listKeys();
    expect(keysLeft.filter((key) => key.startsWith("hosts/"))).toEqual(["hosts/web99"]);
    expect(keysLeft.filter((key) => key.startsWith("audit/"))).toHaveLength(4);
  });

  it("refuses when such a host was seen meanwhile", async () => {
    const operator = await createSampleFixture();
    const found = await readPruneCandidates(operator.ports, { audit: 60 * DAY, hosts: 60 * DAY });
    await operator.put(keys.host("web1"), JSON.stringify({ v: 1, seenAt: 100 * DAY }));
    const before = await operator.listKeys();
    expect((await prune(operator.ports, found)).kind).toBe("changed");
    expect(await operator.listKeys()).toEqual(before);
  });
});
