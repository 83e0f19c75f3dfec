import { UsageError } from "../../../base/errors.ts";
import { createGroupCommand, getCurrentMembers } from "./group-change.ts";

export const execute = createGroupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: say who is to be added");
  return [...getCurrentMembers(before, given, where), ...given];
});
