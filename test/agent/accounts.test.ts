import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { Accounts } from "../../src/agent/accounts.ts";

const folder = createTestFolder(afterAll);
writeFileSync(
  join(folder, "passwd"),
  "root:x:0:0::/root:/bin/sh\ndeploy:x:4711:4711::/:/bin/sh\n\n:broken\n",
);
writeFileSync(join(folder, "group"), "cron:x:60:\nweb:x:61:deploy\n");
const accounts = new Accounts(folder);

describe("the list of users that an agent serves", () => {
  const deploy = { uid: 4711, gid: 4711, groups: [60] };
  test.each([
    [[], false],
    [["deploy"], true],
    [["4711"], true],
    [["%cron"], true],
    [["%60"], true],
    [["%4711"], true],
    [["%web"], false], // the groups of the process count, not those of the file
    [["cron"], false],
    [["%deploy"], false],
    [["www-data", "%cron"], true],
  ])("%j", (list, isServed) => {
    expect(accounts.includes(list, deploy)).toBe(isServed);
  });
});

test("a user without a name is named by its number", () => {
  expect([accounts.findUserName(4711), accounts.findUserName(99)]).toEqual(["deploy", "99"]);
});

test("without the files of the system, numbers count", () => {
  const nobody = new Accounts(join(folder, "missing"));
  expect(nobody.includes(["4711"], { uid: 4711, gid: 1, groups: [] })).toBe(true);
  expect(nobody.findUserName(4711)).toBe("4711");
});
