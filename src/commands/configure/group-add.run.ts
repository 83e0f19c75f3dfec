import { UsageError } from "../../base/errors.ts";
import { groupCommand, membersNow } from "./group-change.ts";

export const execute = groupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: say who is to be added");
  return [...membersNow(before, given, where), ...given];
});
