import { sameRevision } from "../../protocol/guards.ts";
import type { Txn } from "../../protocol/txn.ts";
import { dueText } from "../../schedule/due.ts";
import { firstDue } from "../../schedule/plan.ts";
import { patiently } from "../observe/ports.ts";
import type { Entry } from "./entry.ts";
import type { SchedulePorts } from "./ports.ts";

/** Gives a schedule that was put by hand, without its state, its first occurrence from now on. @throws StoreError */
export async function seed(ports: SchedulePorts, { id, definition, definitionMod }: Entry): Promise<void> {
  if (definition === undefined) return;
  const { keys, store, clock } = ports;
  const value = dueText(firstDue(id, definition, clock.wall()));
  const txn: Txn = {
    compare: [sameRevision(keys.schedule(id), definitionMod), sameRevision(keys.due(id), 0n)],
    success: [{ op: "put", key: keys.due(id), value }],
    failure: [],
  };
  await patiently(ports, (signal) => store.txn(txn, signal));
}
