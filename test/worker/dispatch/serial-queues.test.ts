/** Which states of a serial queue have to wait. */

import { expect, it } from "vitest";
import { RUNNING_PLACE, SerialQueues } from "../../../src/worker/dispatch/serial-queues.ts";

it("a place is kept while those that cannot run any more are forgotten", () => {
  const queues = new SerialQueues();
  queues.update("held", "q", () => ({ until: 100, order: 10 }));
  queues.wait("q", "deleted", 5);
  expect(queues.takeNext(0, (name) => name !== "deleted")).toEqual([]);
  expect(queues.isBusy("q", 20, 0)).toBe(true);
  expect(queues.isBusy("q", 20, 100)).toBe(false);
});

it("a state that runs is in the queue in which it began, until it has ended", () => {
  const queues = new SerialQueues();
  queues.update("moved", "before", () => RUNNING_PLACE);
  queues.update("moved", "after", () => RUNNING_PLACE);
  expect([queues.isBusy("before", 0, 0), queues.isBusy("after", 0, 0)]).toEqual([true, false]);
  queues.update("moved", undefined, () => undefined);
  expect(queues.isBusy("before", 0, 0)).toBe(false);
});
