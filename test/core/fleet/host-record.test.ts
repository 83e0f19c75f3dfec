import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  HOST_RECORD_INTERVAL,
  parseHostRecord,
  serializeHostRecord,
} from "../../../src/core/fleet/host-record.ts";

const FACTS = {
  fqdn: "web1.example.com",
  host: "web1",
  cpu: 4,
  memMb: 2048,
  macros: { DISKS: 12, ZONE: "b" },
};
const NOON = 1_800_000_000_000 - (1_800_000_000_000 % HOST_RECORD_INTERVAL);

describe("what a host says", () => {
  test("is read again as it was said", () => {
    expect(parseHostRecord("web1.example.com", serializeHostRecord(FACTS, "1.2.3", NOON))).toEqual({
      fqdn: "web1.example.com",
      cpu: 4,
      memMb: 2048,
      macros: FACTS.macros,
      version: "1.2.3",
      seenAt: NOON,
    });
  });

  test("is the same text until it is time to say it again", () => {
    fc.assert(
      fc.property(fc.nat(10 * HOST_RECORD_INTERVAL), fc.nat(10 * HOST_RECORD_INTERVAL), (one, other) => {
        const texts = [one, other].map((after) => serializeHostRecord(FACTS, "1", NOON + after));
        const steps = [one, other].map((after) => Math.floor(after / HOST_RECORD_INTERVAL));
        expect(texts[0] === texts[1]).toBe(steps[0] === steps[1]);
      }),
    );
  });

  test("is never said to be later than it is", () => {
    fc.assert(
      fc.property(fc.integer({ min: HOST_RECORD_INTERVAL, max: 4e12 }), (wall) => {
        const { seenAt } = parseHostRecord("h", serializeHostRecord(FACTS, "1", wall));
        expect(wall - seenAt).toBeGreaterThanOrEqual(0);
        expect(wall - seenAt).toBeLessThan(HOST_RECORD_INTERVAL);
      }),
    );
  });
});

describe("what somebody else wrote there", () => {
  const NOTHING = {
    fqdn: "h",
    cpu: undefined,
    memMb: undefined,
    macros: {},
    version: undefined,
    seenAt: 0,
  };

  test.each(["", "{", "null", "[]", "7", '"text"', '{"cpu":"4","memMb":null,"macros":7,"seenAt":"now"}'])(
    "%j says nothing",
    (text) => {
      expect(parseHostRecord("h", text)).toEqual(NOTHING);
    },
  );

  test("what can be read of it counts", () => {
    const text = '{"cpu":4,"memMb":[],"macros":{"A":1,"B":{},"C":"x"},"version":3,"seenAt":5,"later":true}';
    expect(parseHostRecord("h", text)).toEqual({ ...NOTHING, cpu: 4, macros: { A: 1, C: "x" }, seenAt: 5 });
  });

  test("no text can break a reader", () => {
    const text = fc.oneof(fc.string({ unit: "binary" }), fc.json());
    fc.assert(
      fc.property(text, (one) => {
        const { fqdn, seenAt } = parseHostRecord("h", one);
        expect([fqdn, Number.isFinite(seenAt)]).toEqual(["h", true]);
      }),
    );
  });
});
