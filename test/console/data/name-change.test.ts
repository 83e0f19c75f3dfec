/** How a change of the past is named. */
import { expect, it } from "vitest";
import { keys } from "../../../fixtures/protocol/samples.ts";
import { nameChange } from "../../../src/console/data/time-travel.ts";

it.each([
  [[keys.lock("backup", "a".repeat(16))], "lock backup"],
  [[keys.audit("x"), keys.drain("host", "web1")], "drain web1 and 1 more"],
  [[keys.audit("x")], "an action"],
  [[keys.group("web"), keys.group("web")], "group web"],
  [
    [keys.lock("a", "a".repeat(16)), keys.resource("db", "a".repeat(16)), keys.history("a")],
    "lock a and 2 more",
  ],
  [["/signalbox/by/hand"], "by/hand"],
  [[keys.group("\u001b[31mred")], "group"],
  [[], ""],
])("%j is %s", (changed, name) => {
  expect(nameChange(keys, { revision: 5n, keys: changed })).toContain(name);
  expect(nameChange(keys, { revision: 5n, keys: changed })).not.toContain("\u001b");
});
