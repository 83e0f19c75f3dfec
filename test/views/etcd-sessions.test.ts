import { describe, expect, test } from "vitest";
import { formatAgentSession } from "../../src/protocol/agent-record.ts";
import { createKeys } from "../../src/protocol/keys.ts";
import { serializeTicket } from "../../src/protocol/ticket.ts";
import { buildSessionRows, SESSION_COLUMNS, SESSIONS_JSON } from "../../src/views/etcd-sessions.ts";
import { ticketWith } from "../protocol/samples.ts";

type Reading = Parameters<typeof buildSessionRows>[1][number];

const keys = createKeys("/s/");
const RUN = "0123456789abcdef";
const read = (id: bigint, more: Partial<Reading>): Reading => ({
  id,
  time: { left: 20, ttl: 30 },
  keys: [],
  keyCount: more.keys?.length ?? 0,
  owner: undefined,
  fault: undefined,
  ...more,
});
const own = (key: string, value: string) => ({ keys: [key], owner: { key, value } });
const describeRow = (reading: Reading) => {
  const [row] = buildSessionRows(keys, [reading]);
  return SESSION_COLUMNS.map(({ formatCell }) => (row === undefined ? "" : formatCell(row, 0))).join(" | ");
};

describe("whose a session is", () => {
  test.each([
    [
      "an agent",
      own(keys.agentSession("web1", 0xan), formatAgentSession({ agent: RUN, pid: 7, version: "1" })),
      "agent | web1:7 | 1 | session of the agent of web1 | ",
    ],
    ["a worker", own(keys.worker("w"), '{"v":1,"host":"web2","pid":8}'), "worker | web2:8 | 1 | worker w | "],
    [
      "a run",
      own(keys.lock("x", RUN), serializeTicket(ticketWith({ run: RUN, host: "web3", pid: 9 }))),
      `run | web3:9 | 1 | ticket for lock x of run ${RUN} | `,
    ],
    [
      "a run whose ticket cannot be read",
      own(keys.lock("x", RUN), "?"),
      `run |  | 1 | ticket for lock x of run ${RUN} | `,
    ],
    [
      "a viewer",
      own(keys.outputRequest("web1", RUN, RUN), "{}"),
      `viewer |  | 1 | request for the output of run ${RUN} | `,
    ],
    [
      "another program",
      { keys: ["/other\x1b", "/b", "/c", "/d"], keyCount: 120 },
      "foreign |  | 120 | /other\\x1b, /b, /c and 117 more | ",
    ],
    ["nobody", {}, "empty |  | 0 |  | "],
    ["somebody whose keys may not be read", { fault: "no" }, "hidden |  | 0 |  | no"],
  ])("%s", (_, more, text) => {
    expect(describeRow(read(10n, more))).toBe(`a | 20 s | 30 s | ${text}`);
  });

  test("one that has ended meanwhile has no time left", () => {
    expect(describeRow(read(10n, { time: undefined }))).toBe(
      "a |  |  | empty |  | 0 |  | it has ended meanwhile",
    );
  });
});

test("those that end soonest come first, and those left out are counted", () => {
  const rows = buildSessionRows(keys, [
    read(1n, {}),
    read(2n, { time: { left: 1, ttl: 30 } }),
    read(3n, { time: undefined }),
  ]);
  expect(rows.map(({ id }) => id)).toEqual([3n, 2n, 1n]);
  expect(SESSIONS_JSON.toJson({ count: 10, rows })).toMatchObject({ count: 10, more: 7 });
});
