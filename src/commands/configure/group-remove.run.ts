import { UsageError } from "../../base/errors.ts";
import { groupCommand, membersNow } from "./group-change.ts";

export const execute = groupCommand((before, given, where) => {
  if (given.length === 0) throw new UsageError("MEMBER is missing: say who is to be taken out");
  const gone = new Set(given);
  return membersNow(before, given, where).filter((member) => !gone.has(member));
});
