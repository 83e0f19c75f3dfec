import { expect, test } from "vitest";
import { createView, HOST, LOCK_KEY, REQUESTS } from "../../../../fixtures/protocol/situations.ts";
import { describeRefusal } from "../../../../src/core/run/claim.ts";
import type { ClaimRefusal } from "../../../../src/core/run/step.ts";

const [holder, unreadable] = createView({ ahead: "held broken" }).lockQueues.get(LOCK_KEY)?.queue ?? [];
const { drains } = createView({ drains: "lock:a host:web1" }).inputs;

test.each<[string, ClaimRefusal, string[]]>([
  ["a holder", { kind: "busy", lock: "a", holder }, ['"a"', "held", holder?.run ?? ""]],
  ["an unreadable ticket", { kind: "busy", lock: "a", holder: unreadable }, ['"a"', unreadable?.run ?? ""]],
  ["an unknown holder", { kind: "busy", lock: "a", holder: undefined }, ['"a"']],
  ["drains", { kind: "drained", drains }, ['lock "a"', 'host "web1"', '"op"', ";"]],
  ["a group", { kind: "outside", group: "web" }, [`"${HOST}"`, '"web"']],
  ["a wait that timed out", { kind: "timeout", why: "the lock is taken" }, ["the lock is taken"]],
  ["an operator", { kind: "evicted", by: "op" }, ['"op"']],
  ["missing tickets", { kind: "gone" }, ["session"]],
  ["a condition", { kind: "unmet", why: "the load is high" }, ["the load is high"]],
  ["a lapsed session", { kind: "lapsed" }, ["session"]],
])("a refusal names what stands in the way: %s", (_, refusal, parts) => {
  const text = describeRefusal(REQUESTS.lock, refusal);
  for (const part of parts) expect(text).toContain(part);
});
