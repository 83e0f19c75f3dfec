import { beforeAll, expect, it } from "vitest";
import { createId, MAX_INT64, put, type Subject, write } from "../../../../fixtures/etcd/store-calls.ts";
import type { Store } from "../../../../src/core/etcd/store.ts";
import { buildPrefixRange, type Compare } from "../../../../src/core/protocol/txn.ts";

/** Two keys to compare: `a` on a session, `b` changed since they were created together. */
const COMPARED = "/contract/compared/";

interface Compared {
  created: bigint;
  changed: bigint;
  session: bigint;
}

async function prepareComparisons(store: Store): Promise<Compared> {
  const session = createId();
  await store.grant(session, 60);
  const a = put(`${COMPARED}a`, "m", session);
  const b = put(`${COMPARED}b`, "m");
  const { revision: created } = await write(store, a, b);
  const { revision: changed } = await write(store, b);
  return { created, changed, session };
}

/** Comparisons over keys and over ranges. */
export function testComparisons(on: Subject): void {
  let compared: Compared;
  beforeAll(async () => {
    compared = await prepareComparisons(on.store);
  });
  const isMet = async (compare: Compare) => {
    return (await on.store.commitTxn({ compare: [compare], success: [], failure: [] })).succeeded;
  };
  const a = { key: `${COMPARED}a` };
  const b = { key: `${COMPARED}b` };
  const both = buildPrefixRange(COMPARED);
  const none = buildPrefixRange("/contract/nothing there/");

  it.each<[expected: boolean, what: string, compare: () => Compare]>([
    [true, "created then", () => ({ ...a, target: "create", is: "equal", value: compared.created })],
    [
      false,
      "created at another time",
      () => ({ ...a, target: "create", is: "notEqual", value: compared.created }),
    ],
    [true, "unchanged since", () => ({ ...a, target: "mod", is: "less", value: compared.changed })],
    [false, "changed since", () => ({ ...b, target: "mod", is: "less", value: compared.changed })],
    [true, "changed after", () => ({ ...b, target: "mod", is: "greater", value: compared.created })],
    [true, "on the session", () => ({ ...a, target: "session", is: "equal", value: compared.session })],
    [true, "on no session", () => ({ ...b, target: "session", is: "equal", value: 0n })],
    [true, "value equal", () => ({ ...a, target: "value", is: "equal", value: "m" })],
    [true, "value less, bytewise", () => ({ ...a, target: "value", is: "less", value: "ä" })],
    [false, "value equal to nothing", () => ({ ...a, target: "value", is: "equal", value: "" })],
    [true, "all of a range", () => ({ ...both, target: "create", is: "equal", value: compared.created })],
    [false, "not all of a range", () => ({ ...both, target: "mod", is: "equal", value: compared.created })],
    [
      true,
      "a range in which nothing is newer",
      () => ({ ...both, target: "mod", is: "less", value: compared.changed + 1n }),
    ],
    [
      true,
      "an empty range is as a key of zeros",
      () => ({ ...none, target: "create", is: "equal", value: 0n }),
    ],
    [false, "an empty range is not newer", () => ({ ...none, target: "mod", is: "greater", value: 0n })],
    [true, "an empty range is older", () => ({ ...none, target: "mod", is: "less", value: 1n })],
    [
      false,
      "a missing value is not unequal",
      () => ({ ...none, target: "value", is: "notEqual", value: "x" }),
    ],
    [false, "a missing value is not empty", () => ({ ...none, target: "value", is: "equal", value: "" })],
    [true, "the largest revision", () => ({ ...a, target: "mod", is: "less", value: MAX_INT64 })],
  ])("compares, %s: %s", async (expected, _what, compare) => {
    expect(await isMet(compare())).toBe(expected);
  });
}
