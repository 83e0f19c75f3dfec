/** Creating and lifting drains exactly as shown, also if answers are lost. */
import { describe, expect } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { type Drain, parseDrain, serializeDrain } from "../../../src/core/protocol/drain.ts";
import { liftDrains, putDrain } from "../../../src/site/operate/drain.ts";
import { type Fate, OperatorFixture, test } from "./operator-fixture.ts";

const target = { scope: "host", name: "web1.example.com" } as const;

async function listDrains(operator: OperatorFixture) {
  const { kvs } = await operator.store.readRange(keys.drains());
  return kvs.flatMap((kv) => parseDrain(keys, kv) ?? []);
}

async function putByHand(operator: OperatorFixture, ...names: string[]) {
  const value = serializeDrain({ by: "ann", at: 1 });
  await operator.put(...names.flatMap((name) => [keys.drain("host", name), value]));
}

const buildOptions = (instead: readonly Drain[]) => ({ target, instead, seen: 1n, outcome: "drained" });

describe("a drain", () => {
  test.each<Fate[]>([["fine"], ["lost"], ["refused", "lost", "lost"]])(
    "is told as it stands when its answers are %s, %s, %s",
    async (...fates) => {
      const operator = new OperatorFixture();
      operator.store.fates.push(...fates.filter(Boolean));
      const put = putDrain(operator.ports, { ...buildOptions([]), reason: "disks", until: 9 });
      const { receipt, drain } = await operator.advanceUntilSettled(put);
      expect(receipt.kind).toBe("done");
      expect(await listDrains(operator)).toEqual([drain]);
      expect(drain).toMatchObject({ by: "ann@ops.example.com", why: "disks", until: 9 });
    },
  );

  test("takes the place of others of the same thing, however they are spelled, as long as they are as they were seen", async ({
    operator,
  }) => {
    await putByHand(operator, "WEB1.example.com", "web1.example.com.");
    const seen = await listDrains(operator);
    const { receipt } = await putDrain(operator.ports, buildOptions(seen));
    expect(receipt.kind).toBe("done");
    expect(await listDrains(operator)).toMatchObject([{ name: "web1.example.com" }]);
    const late = await putDrain(operator.ports, buildOptions(seen));
    expect(late.receipt.kind).toBe("changed");
    expect((await putDrain(operator.ports, buildOptions([]))).receipt.kind).toBe("changed"); // it is there already
  });

  test("does not take the place of one that was renewed, or lifted, since it was seen", async ({
    operator,
  }) => {
    await putByHand(operator, "web1.example.com");
    const seen = await listDrains(operator);
    await putByHand(operator, "web1.example.com");
    expect((await putDrain(operator.ports, buildOptions(seen))).receipt.kind).toBe("changed");
    await liftDrains(operator.ports, { target, drains: await listDrains(operator), seen: 1n });
    expect((await putDrain(operator.ports, buildOptions(seen))).receipt.kind).toBe("changed");
    expect(await listDrains(operator)).toEqual([]);
  });

  test("is not put when something else has moved that it rests on", async ({ operator }) => {
    await operator.put(keys.group("web"), "[]");
    const guard = { ...keys.groups(), target: "mod", is: "less", value: 1n } as const;
    const { receipt } = await putDrain(operator.ports, { ...buildOptions([]), compare: [guard] });
    expect(receipt.kind).toBe("changed");
    expect(await listDrains(operator)).toEqual([]);
  });
});

describe("drains are lifted", () => {
  test.each<Fate[]>([["fine"], ["lost"], ["refused", "lost"]])(
    "once when the answers are %s, %s",
    async (...fates) => {
      const operator = new OperatorFixture();
      await putByHand(operator, "web1.example.com");
      const seen = await listDrains(operator);
      operator.store.fates.push(...fates.filter(Boolean));
      const receipt = await operator.advanceUntilSettled(
        liftDrains(operator.ports, { target, drains: seen, seen: 1n }),
      );
      expect(receipt?.kind).toBe("done");
      expect(await listDrains(operator)).toEqual([]);
      expect((await operator.store.readRange(keys.audits())).count).toBe(1);
    },
  );

  test("not, when one of them was renewed; then none of its transaction is", async ({ operator }) => {
    await putByHand(operator, "WEB1.example.com", "web1.example.com");
    const seen = await listDrains(operator);
    await putByHand(operator, "web1.example.com");
    expect((await liftDrains(operator.ports, { target, drains: seen, seen: 1n }))?.kind).toBe("changed");
    expect(await listDrains(operator)).toHaveLength(2);
  });

  test("however many there are; none is nothing", async ({ operator }) => {
    const many = Array.from({ length: 120 }, (_, index) => `web${index}`);
    await putByHand(operator, ...many);
    expect(
      (await liftDrains(operator.ports, { target, drains: await listDrains(operator), seen: 1n }))?.kind,
    ).toBe("done");
    expect(await listDrains(operator)).toEqual([]);
    expect(await liftDrains(operator.ports, { target, drains: [], seen: 1n })).toBeUndefined();
  });
});
