import { expect, test } from "vitest";
import { extractZnodeJson } from "../../../../src/cli/commands/configure/site.impl.ts";

const JSON_LINE = '{"groups":{"g":["a.example.com"]},"resources":["db"]}';
const PRINTED = `Connecting to localhost:2181
2026-01-01 00:00:00,000 [myid:] - INFO  [main:Environment@100] - Client environment:zookeeper.version=3.4.13

WATCHER::

WatchedEvent state:SyncConnected type:None path:null
${JSON_LINE}
cZxid = 0x2
dataLength = 53
`;

test.each([
  ["nothing else", JSON_LINE, JSON_LINE, []],
  ["over several lines", '{\n "a":\n {}\n}\n', '{\n "a":\n {}\n}\n', []],
  ["all that zkCli prints", PRINTED, `\n\n\n\n\n\n${JSON_LINE}\n\n\n`, [1, 2, 4, 6, 8, 9]],
  ["another brace before", `{x}\n${JSON_LINE}`, `\n${JSON_LINE}`, [1]],
  ["cut off", '{"groups":\n', undefined, []],
  ["none", "cZxid = 0x2\n", undefined, []],
  ["a list", "[1]", undefined, []],
])("the JSON in what ZooKeeper's shell prints: %s", (_, printed, text, passedOver) => {
  expect(extractZnodeJson(printed)).toEqual(text === undefined ? undefined : { text, passedOver });
});
