import { expect, it } from "vitest";
import type { PastRun } from "../../src/protocol/history.ts";
import { EventLog, listEarlierEvents } from "../../src/views/event-log.ts";
import { NOW, pictureOf } from "../state/pictures.ts";

const past = (run: string, endedAt: number, exit = 0): PastRun => ({
  run,
  host: "web1.example.com",
  pid: 7,
  command: "true",
  token: "1",
  enqueuedAt: 0,
  grantedAt: 0,
  endedAt,
  waited: 0,
  held: 2_000,
  exit,
});
const snapshot = {
  ...pictureOf([]),
  revision: 5n,
  histories: new Map([
    ["a", [2, 3, 4, 5].map((at) => past(`a${at}`, NOW - at * 1_000))],
    ["b", [past("b", NOW - 1_000, 3)]],
  ]),
};

it("tells what has ended before the console began, newest first, the last three of each lock", () => {
  const events = listEarlierEvents(snapshot, NOW);
  expect(events.map(({ at }) => (NOW - at) / 1_000)).toEqual([1, 2, 3, 4]);
  expect(events[0]).toMatchObject({ words: ["lock b", "web1:7", "exit 3 after 2s"], tone: "problem" });
  expect(events[1]).toMatchObject({ words: ["lock a", "web1:7", "exit 0 after 2s"], tone: "quiet" });
});

it("comes below what happens later, and is no event of its own", () => {
  const log = new EventLog();
  log.addSnapshot(snapshot, NOW);
  expect([log.list.length, log.length]).toEqual([0, 4]);
  const histories = new Map([...snapshot.histories, ["c", [past("c", NOW + 1_000)]]]);
  log.addSnapshot({ ...snapshot, revision: 6n, histories }, NOW + 1_000);
  expect([log.list.length, log.length]).toEqual([1, 5]);
  expect(log.slice(0, 2).map(({ words }) => words[0])).toEqual(["lock c", "lock b"]);
  expect(log.slice(1, 5)).toEqual(log.earlier);
  expect(log.slice(2, 4)).toEqual(log.earlier.slice(1, 3));
});
