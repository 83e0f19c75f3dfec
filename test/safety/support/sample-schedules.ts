/** Keys of schedules in a namespace, as workers and operators write them. */
import type { TestNamespace } from "../../../fixtures/cluster/test-namespace.ts";
import type { KeyValue } from "../../../src/core/protocol/txn.ts";
import { memory, running, schedule, worker } from "../../cli/views/schedules.ts";
import { keys as sampleKeys } from "../../core/protocol/samples.ts";

const HOUR = 3_600_000;

/** Puts keys under the prefix of the namespace, all at once. */
export async function putKeys(namespace: TestNamespace, kvs: readonly KeyValue[]): Promise<void> {
  const success = kvs.map(({ key, value }) => ({
    op: "put" as const,
    key: namespace.keys.prefix + key.slice(sampleKeys.prefix.length),
    value,
  }));
  await namespace.write(...success);
}

/** A worker that runs `backup`; `mail` failed and waits, `bill` has no worker, `old` should have run. */
export async function putSampleSchedules(namespace: TestNamespace): Promise<void> {
  const now = Date.now();
  const times = {
    scheduled: now - HOUR,
    startedAt: now - HOUR + 250,
    endedAt: now - HOUR + 9_000,
    late: 250,
  };
  const last = { ...times, run: "r1", result: "failed" } as const;
  const tail = "no \x1b]0;title\x07space\n";
  const letter = { ...last, host: "web1.example.com", code: 7, tail };
  await putKeys(namespace, [
    worker("w1", { running: 1 }),
    ...schedule("mail", { note: "to \x1b[31mall" }, { runAt: now + 2 * HOUR, last, dead: 1 }),
    ...schedule("bill", { type: "bill" }, { runAt: now + 3 * HOUR }),
    ...schedule("old", {}, { runAt: now - HOUR }),
    ...schedule("backup", { command: ["db-dump", "--all"] }, { runAt: now + HOUR / 2 }),
    running("backup", { since: now - 5_000, scheduled: now - 6_000 }),
    memory("mail", { runs: [letter], dead: [letter] }),
  ]);
}
