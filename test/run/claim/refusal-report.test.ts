import { describe, expect, test } from "vitest";
import type { LogLevel } from "../../../src/base/log.ts";
import { describeRefusal, reportRefusal } from "../../../src/run/claim.ts";
import type { RunRequest } from "../../../src/run/request.ts";
import type { ClaimRefusal } from "../../../src/run/step.ts";
import { createPorts, createView, HOST, LOCK_KEY, REQUESTS } from "./situations.ts";

const [holder, unreadable] = createView({ ahead: "held broken" }).lockQueues.get(LOCK_KEY)?.queue ?? [];
const { drains } = createView({ drains: "lock:a host:web1" }).inputs;

describe("a refusal names what stands in the way", () => {
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
  ])("%s", (_, refusal, parts) => {
    const text = describeRefusal(REQUESTS.lock, refusal);
    for (const part of parts) expect(text).toContain(part);
  });
});

test("it is logged as information only, and gives the exit code that the user has chosen", () => {
  const logged: LogLevel[] = [];
  const add = (level: LogLevel) => () => logged.push(level);
  const log = { ...createPorts().log, info: add("info"), warn: add("warn"), error: add("error") };
  const request = { ...REQUESTS.lock, busyExitCode: 3 } as unknown as RunRequest;
  expect(reportRefusal({ ...createPorts(), log }, request, { kind: "gone" })).toBe(3);
  expect(logged).toEqual(["info"]);
});
