import { expect, test } from "vitest";
import { buildPermissionRows, PERMISSION_COLUMNS } from "../../src/views/etcd-users.ts";

test.each([
  [{ key: "/a" }, "/a"],
  [{ key: "/a/", rangeEnd: "/a0" }, "/a/*"],
  [{ key: "/a", rangeEnd: "/c" }, "/a to /c"],
  [{ key: "/a", rangeEnd: "\0" }, "from /a on"],
  [{ key: "", rangeEnd: "\0" }, "all"],
  [{ key: "\0", rangeEnd: "\0" }, "all"],
  [{ key: "\xff" }, "\\xff"],
])("a permission on %j is shown as %s", (range, text) => {
  const rows = buildPermissionRows([{ name: "r", permissions: [{ access: "read", ...range }] }]);
  expect(rows.map((row) => PERMISSION_COLUMNS.map(({ formatCell }) => formatCell(row, 0)))).toEqual([
    ["r", "read", text],
  ]);
});

test("a role without permissions has a row", () => {
  expect(buildPermissionRows([{ name: "r", permissions: [] }])).toEqual([
    { role: "r", permission: undefined },
  ]);
});
