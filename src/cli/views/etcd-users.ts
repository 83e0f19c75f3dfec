import { formatKey } from "../../core/base/bytes.ts";
import { computePrefixEnd, type KeyRange } from "../../core/protocol/txn.ts";
import { createTextColumn } from "./columns.ts";
import {
  describeBytes,
  describeChoice,
  describeFlag,
  describeObject,
  describeParts,
  describeText,
  describeTexts,
} from "./json.ts";
import type { TableColumn } from "./view.ts";

const ACCESSES = ["read", "write", "readwrite"] as const;

interface Permission extends KeyRange {
  access: (typeof ACCESSES)[number];
}

interface User {
  name: string;
  roles: readonly string[];
}

interface Role {
  name: string;
  permissions: readonly Permission[];
}

interface UserDirectory {
  isEnabled: boolean;
  users: readonly User[];
  roles: readonly Role[];
}

/** A permission of a role; without one for a role that has none. */
interface PermissionRow {
  role: string;
  permission: Permission | undefined;
}

export function buildPermissionRows(roles: readonly Role[]): PermissionRow[] {
  return roles.flatMap(({ name: role, permissions }): PermissionRow[] =>
    permissions.length === 0
      ? [{ role, permission: undefined }]
      : permissions.map((permission) => ({ role, permission })),
  );
}

export const USER_COLUMNS: readonly TableColumn<User>[] = [
  createTextColumn("user", 1, ({ name }) => name),
  createTextColumn("roles", 1, ({ roles }) => roles.join(" ")),
];

/** A user with what its roles allow. */
export interface UserRow extends User {
  permissions: readonly Permission[];
}

export function buildUserRows({ users, roles }: UserDirectory): UserRow[] {
  return users.map((user) => {
    const own = roles.filter(({ name }) => user.roles.includes(name));
    return { ...user, permissions: own.flatMap(({ permissions }) => permissions) };
  });
}

export const USER_ROW_COLUMNS: readonly TableColumn<UserRow>[] = [
  ...USER_COLUMNS,
  createTextColumn(
    "may",
    2,
    ({ permissions }) => permissions.map((one) => `${one.access} ${formatRange(one)}`).join(", "),
    { below: "sentence" },
  ),
];

export const PERMISSION_COLUMNS: readonly TableColumn<PermissionRow>[] = [
  createTextColumn("role", 1, ({ role }) => role),
  createTextColumn("access", 1, ({ permission }) => permission?.access, { title: "MAY" }),
  createTextColumn("keys", 1, ({ permission }) => (permission === undefined ? "" : formatRange(permission))),
];

/** Formats a range: one key, `PREFIX*`, `from KEY on`, or `KEY to KEY`. */
function formatRange({ key, rangeEnd }: KeyRange): string {
  if (rangeEnd === undefined) return formatKey(key);
  if (rangeEnd === "\0") return key === "" || key === "\0" ? "all" : `from ${formatKey(key)} on`;
  if (key !== "" && rangeEnd === computePrefixEnd(key)) return `${formatKey(key)}*`;
  return `${formatKey(key)} to ${formatKey(rangeEnd)}`;
}

export const USER_JSON = describeObject<User>("etcdUser", "A user of etcd.", {
  name: describeText("name of the user", "name"),
  roles: describeTexts("names of its roles", "roles"),
});

const PERMISSION_JSON = describeObject<Permission>("etcdPermission", "A permission of a role.", {
  access: describeChoice(ACCESSES, "what is allowed", "access"),
  ...describeBytes<Permission>("key", "first key", ({ key }) => key),
  ...describeBytes<Permission>(
    "rangeEnd",
    "end of the range (exclusive); missing for a single key",
    ({ rangeEnd }) => rangeEnd,
  ),
  keys: describeText(
    "the same for people: a key, `PREFIX*`, `all`, `from KEY on` or `KEY to KEY`",
    formatRange,
  ),
});

const ROLE_JSON = describeObject<Role>("etcdRole", "A role of etcd.", {
  name: describeText("name of the role", "name"),
  permissions: describeParts(
    PERMISSION_JSON,
    "what users with this role may do",
    ({ permissions }) => permissions,
  ),
});

export const USERS_JSON = describeObject<UserDirectory>("etcd users", "The users of etcd and their roles.", {
  enabled: describeFlag("whether etcd requires a login; if not, users and roles have no effect", "isEnabled"),
  users: describeParts(USER_JSON, "users", ({ users }) => users),
  roles: describeParts(ROLE_JSON, "roles", ({ roles }) => roles),
});
