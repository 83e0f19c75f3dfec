import { UsageError } from "../../../base/errors.ts";
import { createGroupCommand, getCurrentMembers } from "./group-change.ts";

export const { execute, perform } = createGroupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: the host or group to remove");
  const gone = new Set(given);
  return getCurrentMembers(before, given, where).filter((member) => !gone.has(member));
});
