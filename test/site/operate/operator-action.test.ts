/** Actions of operators: the change and its audit record are written together, once, or not at all. */
import fc from "fast-check";
import { describe, expect } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import {
  formatAuditTime,
  generateAuditId,
  parseAuditRecord,
  serializeAuditRecord,
} from "../../../src/core/protocol/audit.ts";
import {
  executeAction,
  type OperatorAction,
  updateAuditOutcome,
} from "../../../src/site/operate/operator-action.ts";
import { type Fate, OperatorFixture, test } from "./operator-fixture.ts";

const KEY = keys.drain("lock", "x");
const buildAction = (seen: bigint): OperatorAction => ({
  action: "drain",
  target: "lock x",
  seen,
  reason: "disks",
  outcome: "drained",
  compare: [{ key: KEY, target: "mod", is: "equal", value: 0n }],
  ops: [{ op: "put", key: KEY, value: "{}" }],
});

describe("an action of an operator", () => {
  test.each<Fate[]>([["fine"], ["lost"], ["refused", "lost"], ["lost", "lost", "fine"], ["refused", "fine"]])(
    "is done and recorded once when its answers are %s, %s, %s",
    async (...fates) => {
      const operator = new OperatorFixture();
      operator.store.fates.push(...fates.filter(Boolean));
      const receipt = await operator.advanceUntilSettled(executeAction(operator.ports, buildAction(7n)));
      const { kvs } = await operator.store.readRange({ key: KEY });
      expect(receipt).toMatchObject({ kind: "done", revision: kvs[0]?.modRevision });
      expect(kvs[0]?.modRevision).toBe(kvs[0]?.createRevision); // written once
      expect(await operator.listRecords()).toEqual([
        {
          id: expect.any(String),
          at: 0,
          user: "root",
          host: "ops.example.com",
          sudoUser: "ann",
          action: "drain",
          target: "lock x",
          seen: 7n,
          reason: "disks",
          outcome: "drained",
        },
      ]);
    },
  );

  test("that comes too late changes nothing, and is not recorded", async ({ operator }) => {
    await executeAction(operator.ports, buildAction(0n));
    expect((await executeAction(operator.ports, buildAction(0n))).kind).toBe("changed");
    expect(await operator.listRecords()).toHaveLength(1);
  });

  test("is refused where a later schema version is required", async ({ operator }) => {
    await operator.put(keys.schema("0002"), "");
    await expect(executeAction(operator.ports, buildAction(7n))).rejects.toMatchObject({
      exitCode: 78,
      message: expect.stringContaining("schema version 2"),
    });
    expect(await operator.listKeys()).toEqual(["config/schema/0002"]);
  });

  test("is refused where the configuration is read-only", async ({ operator }) => {
    const ports = { ...operator.ports, settings: { ...operator.ports.settings, readOnly: true } };
    await expect(executeAction(ports, buildAction(0n))).rejects.toMatchObject({ exitCode: 77 });
    expect(await operator.listKeys()).toEqual([]);
  });

  test("has its outcome written later, unless its record was pruned", async ({ operator }) => {
    const receipt = await executeAction(operator.ports, buildAction(0n));
    if (receipt.kind !== "done") throw new Error("not done");
    await updateAuditOutcome(operator.ports, receipt.record, "ended after 2s");
    expect(await operator.listRecords()).toMatchObject([{ outcome: "ended after 2s" }]);
    await operator.delete(keys.audit(receipt.record.id));
    await updateAuditOutcome(operator.ports, receipt.record, "again");
    expect(await operator.listRecords()).toEqual([]);
  });
});

describe("audit records", () => {
  const random = {
    generateBytes: (n: number) => crypto.getRandomValues(new Uint8Array(n)),
    generateFraction: () => 0,
  };

  test("sort by their time", () => {
    const instant = fc.integer({ min: 0, max: 2 ** 49 });
    fc.assert(
      fc.property(instant, instant, (one, other) => {
        const [early, late] = [Math.min(one, other), Math.max(one, other) + 1];
        expect(generateAuditId(early, random) < generateAuditId(late, random)).toBe(true);
        expect(generateAuditId(early, random) >= formatAuditTime(early)).toBe(true);
        expect(keys.parse(keys.audit(generateAuditId(early, random))).kind).toBe("audit");
      }),
    );
  });

  test("are read as they were written", () => {
    const text = fc.string();
    const record = fc.record(
      {
        id: fc.constant("x"),
        at: fc.nat(),
        user: text,
        host: text,
        target: text,
        outcome: text,
        action: fc.constant("reset" as const),
        seen: fc.bigInt({ min: 0n, max: 2n ** 62n }),
        sudoUser: text,
        reason: text,
      },
      { requiredKeys: ["id", "at", "user", "host", "target", "outcome", "action", "seen"] },
    );
    fc.assert(
      fc.property(record, (one) => {
        expect(parseAuditRecord("x", serializeAuditRecord(one))).toEqual(one);
      }),
    );
  });

  test("that are none are taken for none", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(parseAuditRecord("x", text)).toBeUndefined();
      }),
    );
  });
});
