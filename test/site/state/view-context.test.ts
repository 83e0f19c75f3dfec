import { expect, test } from "vitest";
import {
  createDrainKey,
  createGroupKey,
  createSnapshot,
  NOW,
} from "../../../fixtures/state/sample-snapshots.ts";
import { buildViewContext, listStoppingDrains } from "../../../src/site/state/view-context.ts";

test("the groups are read once for all runs of a view", () => {
  const viewContext = buildViewContext(
    createSnapshot([createGroupKey("g", "a.x"), createDrainKey("group", "g")]),
    NOW,
  );
  const { groups } = viewContext;
  let readings = 0;
  const counted = Object.assign(new Map(groups), {
    [Symbol.iterator]: () => {
      readings += 1;
      return groups.entries();
    },
  });
  const count = (host: string) =>
    listStoppingDrains({ host, queues: [] }, { ...viewContext, groups: counted }).length;
  expect(["a.x", "b.x", "A.x"].map(count)).toEqual([1, 0, 1]);
  expect(readings).toBe(1);
});
