import { EventEmitter } from "node:events";
import { setImmediate as waitForTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { toBootTime } from "../../../../src/core/base/clock.ts";
import type { CallRequest } from "../../../../src/core/process/agent-socket/call-request.ts";
import { openAgentListener } from "../../../../src/core/process/agent-socket/listener.ts";
import type { SocketNews } from "../../../../src/core/process/agent-socket/socket-messages.ts";

const PEER = { pid: 1, uid: 1, gid: 1, groups: [] };
const REQUEST: CallRequest = {
  pid: 1,
  directory: "/",
  words: [],
  settings: {},
  note: undefined,
  hasConfig: false,
  state: "new",
  connectionNumber: 0,
  bootTime: toBootTime(0),
  length: 0,
};

test("calls that arrive together have turns of their own, so that timers have theirs in between", async () => {
  const thread = new EventEmitter();
  const report = (...news: SocketNews[]) => thread.emit("message", news);
  const port = { postMessage: () => {}, on: thread.on.bind(thread) };
  const ids: number[] = [];
  const opening = openAgentListener({
    port,
    readBootTime: () => toBootTime(0),
    onCall: ({ request }) => ids.push(request.pid),
    onFault: () => {},
  });
  report({ kind: "opened" });
  await opening;
  const createCall = (id: number): SocketNews => ({
    kind: "call",
    id,
    peer: PEER,
    request: { ...REQUEST, pid: id },
  });
  report(createCall(1));
  report(createCall(2), createCall(3));
  expect(ids).toEqual([1]);
  await waitForTurn();
  expect(ids).toEqual([1, 2]);
  await waitForTurn();
  expect(ids).toEqual([1, 2, 3]);
});
