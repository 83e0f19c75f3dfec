/** The etcd in memory answers what a real cluster has answered in etcd's own robustness test. */
import { expect, test } from "vitest";
import { type History, isTxn, Replay, readHistory } from "../../../../fixtures/histories/robustness.ts";

test("all answers and events are the same", () => {
  expect(new Replay(readHistory()).run()).toEqual({
    reads: 277,
    writes: 537,
    refusals: 269,
    unanswered: 13,
    watches: 55,
  });
});

test.each<[string, string, (history: History) => unknown]>([
  [
    "an event has another value",
    '"tombstone"',
    ({ events }) => events.splice(99, 1, [101, "put", "tombstone", "x"]),
  ],
  ["an event is missing", '"revision":102', ({ events }) => events.splice(99, 1)],
  [
    "a refused transaction has succeeded",
    '"succeeded":false',
    ({ operations }) => {
      const refused = operations.filter(isTxn).find(({ answer }) => answer?.succeeded === false);
      Object.assign(refused?.answer ?? {}, { succeeded: true });
    },
  ],
  [
    "a read has missed a key",
    '"range"',
    ({ operations }) => operations.find((one) => !isTxn(one) && one.answer?.kvs.splice(0, 1)),
  ],
  [
    "a transaction without an answer was never sent",
    "nothing can have written",
    ({ operations }) =>
      operations.splice(0, Number.POSITIVE_INFINITY, ...operations.filter(({ answer }) => answer)),
  ],
])("a history that etcd did not have is refused, if: %s", (_, says, change) => {
  const history = readHistory();
  change(history);
  expect(() => new Replay(history).run()).toThrow(says);
});
