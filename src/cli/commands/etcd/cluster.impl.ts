import { EXIT, SignalboxError } from "../../../core/base/errors.ts";
import { quoteText } from "../../../core/base/text.ts";
import { StoreError } from "../../../core/etcd/store.ts";
import { buildStoreOptions } from "../../../core/etcd/store-options.ts";
import { readCluster, readSessions } from "../../../site/observe/etcd-cluster.ts";
import type { JsonFlags } from "../../frame/command-line/flags.ts";
import { formatJsonDocument } from "../../frame/json-output.ts";
import { type CommandContext, createStoreCommand } from "../../frame/store-command.ts";
import { buildMemberRows, MEMBER_COLUMNS, MEMBERS_JSON } from "../../views/etcd-members.ts";
import { buildSessionRows, SESSION_COLUMNS, SESSIONS_JSON } from "../../views/etcd-sessions.ts";
import { buildPermissionRows, PERMISSION_COLUMNS, USER_COLUMNS, USERS_JSON } from "../../views/etcd-users.ts";
import { printTable } from "../see/grid.ts";
import { DEFAULT_LIMIT, type SessionsFlags } from "./etcd.ts";

/** Reads the members of the cluster of a context. @throws the signal's reason */
export function readMembers(context: CommandContext, signal: AbortSignal): ReturnType<typeof readCluster> {
  return readCluster(context, buildStoreOptions(context.settings), signal);
}

export const showMembers = createStoreCommand<JsonFlags>(async (context) => {
  const reading = await readMembers(context, context.signal);
  const rows = buildMemberRows(reading);
  if (context.flags.json) context.io.writeOutput(formatJsonDocument(MEMBERS_JSON.toJson(rows)));
  else printTable(context.io, MEMBER_COLUMNS, rows);
  const { roster } = reading;
  if (roster instanceof Error)
    context.printMessage(`the list of members could not be read: ${roster.message}`);
  return rows.every(({ state }) => state === "unreachable") ? EXIT.unreachable : EXIT.ok;
});

export const showSessions = createStoreCommand<SessionsFlags>(async (context) => {
  const { limit = DEFAULT_LIMIT, json } = context.flags;
  const reading = readSessions(context, limit, context.signal);
  const { count, sessions } = await readAsRoot(context, "the sessions of this etcd", reading);
  const rows = buildSessionRows(context.keys, sessions);
  if (json) context.io.writeOutput(formatJsonDocument(SESSIONS_JSON.toJson({ count, rows })));
  else if (rows.length > 0) printTable(context.io, SESSION_COLUMNS, rows);
  if (count === 0) context.printMessage("etcd has no sessions");
  if (count > rows.length)
    context.printMessage(`note: ${rows.length} of ${count} sessions are shown; --limit ${count} shows all`);
});

export const showUsers = createStoreCommand<JsonFlags>(async (context) => {
  const { flags, io } = context;
  const directory = await readAsRoot(context, "users and roles", context.store.readUsers(context.signal));
  if (flags.json) {
    io.writeOutput(formatJsonDocument(USERS_JSON.toJson(directory)));
    return;
  }
  const { isEnabled, users, roles } = directory;
  io.writeOutput(
    isEnabled
      ? "authentication is on\n"
      : "authentication is off: everybody who can reach etcd may do everything; users and roles have no effect\n",
  );
  if (users.length > 0) printTable(io, USER_COLUMNS, users);
  if (roles.length > 0) printTable(io, PERMISSION_COLUMNS, buildPermissionRows(roles));
});

/**
 * Reads what etcd may show only to its root.
 * @param what  a noun in the plural
 * @throws SignalboxError 77 that says so; StoreError
 */
async function readAsRoot<T>({ settings }: CommandContext, what: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.kind !== "permission") throw cause;
    const who = settings.user === undefined ? "the user of this client" : `user ${quoteText(settings.user)}`;
    const message = `${who} may not read ${what}: etcd shows them only to users with the role root`;
    throw new SignalboxError(EXIT.permission, message, { cause });
  }
}
