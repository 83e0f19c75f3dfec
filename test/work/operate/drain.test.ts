/** Drains put and lifted exactly as they were seen, whatever happens to the answers. */
import { describe, expect, it } from "vitest";
import { type Drain, parseDrain, serializeDrain } from "../../../src/protocol/drain.ts";
import { liftDrains, putDrain } from "../../../src/work/operate/drain.ts";
import { keys } from "../../protocol/samples.ts";
import { type Fate, OperatorFixture } from "./operator-fixture.ts";

const target = { scope: "host", name: "web1.example.com" } as const;

async function drains(desk: OperatorFixture): Promise<Drain[]> {
  const { kvs } = await desk.store.readRange(keys.drains());
  return kvs.flatMap((kv) => parseDrain(keys, kv) ?? []);
}

async function putByHand(desk: OperatorFixture, ...names: string[]): Promise<void> {
  const value = serializeDrain({ by: "ann", at: 1 });
  const success = names.map((name) => ({ op: "put" as const, key: keys.drain("host", name), value }));
  await desk.store.commitTxn({ compare: [], success, failure: [] });
}

const wish = (instead: readonly Drain[]) => ({ target, instead, seen: 1n, outcome: "drained" });

describe("a drain", () => {
  it.each<Fate[]>([["fine"], ["lost"], ["refused", "lost", "lost"]])(
    "is told as it stands when its answers are %s, %s, %s",
    async (...fates) => {
      const desk = new OperatorFixture();
      desk.store.fates.push(...fates.filter(Boolean));
      const put = putDrain(desk.ports, { ...wish([]), reason: "disks", until: 9 });
      const { receipt, drain } = await desk.advanceUntilSettled(put);
      expect(receipt.kind).toBe("done");
      expect(await drains(desk)).toEqual([drain]);
      expect(drain).toMatchObject({ by: "ann@ops.example.com", why: "disks", until: 9 });
    },
  );

  it("takes the place of others of the same thing, however they are spelled, as long as they are as they were seen", async () => {
    const desk = new OperatorFixture();
    await putByHand(desk, "WEB1.example.com", "web1.example.com.");
    const seen = await drains(desk);
    const { receipt } = await putDrain(desk.ports, wish(seen));
    expect(receipt.kind).toBe("done");
    expect(await drains(desk)).toMatchObject([{ name: "web1.example.com" }]);
    const late = await putDrain(desk.ports, wish(seen));
    expect(late.receipt.kind).toBe("changed");
    expect((await putDrain(desk.ports, wish([]))).receipt.kind).toBe("changed"); // it is there already
  });

  it("does not take the place of one that was renewed, or lifted, since it was seen", async () => {
    const desk = new OperatorFixture();
    await putByHand(desk, "web1.example.com");
    const seen = await drains(desk);
    await putByHand(desk, "web1.example.com");
    expect((await putDrain(desk.ports, wish(seen))).receipt.kind).toBe("changed");
    await liftDrains(desk.ports, { target, drains: await drains(desk), seen: 1n });
    expect((await putDrain(desk.ports, wish(seen))).receipt.kind).toBe("changed");
    expect(await drains(desk)).toEqual([]);
  });

  it("is not put when something else has moved that it rests on", async () => {
    const desk = new OperatorFixture();
    await desk.store.commitTxn({
      compare: [],
      success: [{ op: "put", key: keys.group("web"), value: "[]" }],
      failure: [],
    });
    const guard = { ...keys.groups(), target: "mod", is: "less", value: 1n } as const;
    const { receipt } = await putDrain(desk.ports, { ...wish([]), compare: [guard] });
    expect(receipt.kind).toBe("changed");
    expect(await drains(desk)).toEqual([]);
  });
});

describe("drains are lifted", () => {
  it.each<Fate[]>([["fine"], ["lost"], ["refused", "lost"]])(
    "once when the answers are %s, %s",
    async (...fates) => {
      const desk = new OperatorFixture();
      await putByHand(desk, "web1.example.com");
      const seen = await drains(desk);
      desk.store.fates.push(...fates.filter(Boolean));
      const receipt = await desk.advanceUntilSettled(
        liftDrains(desk.ports, { target, drains: seen, seen: 1n }),
      );
      expect(receipt?.kind).toBe("done");
      expect(await drains(desk)).toEqual([]);
      expect((await desk.store.readRange(keys.audits())).count).toBe(1);
    },
  );

  it("not, when one of them was renewed; then none of its transaction is", async () => {
    const desk = new OperatorFixture();
    await putByHand(desk, "WEB1.example.com", "web1.example.com");
    const seen = await drains(desk);
    await putByHand(desk, "web1.example.com");
    expect((await liftDrains(desk.ports, { target, drains: seen, seen: 1n }))?.kind).toBe("changed");
    expect(await drains(desk)).toHaveLength(2);
  });

  it("however many there are; none is nothing", async () => {
    const desk = new OperatorFixture();
    const many = Array.from({ length: 120 }, (_, index) => `web${index}`);
    await putByHand(desk, ...many);
    expect((await liftDrains(desk.ports, { target, drains: await drains(desk), seen: 1n }))?.kind).toBe(
      "done",
    );
    expect(await drains(desk)).toEqual([]);
    expect(await liftDrains(desk.ports, { target, drains: [], seen: 1n })).toBeUndefined();
  });
});
