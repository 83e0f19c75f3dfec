import { UsageError } from "../../../base/errors.ts";
import { createGroupCommand, getCurrentMembers } from "./group-change.ts";

export const { execute, perform } = createGroupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to add");
  return [...getCurrentMembers(before, given, where), ...given];
});
