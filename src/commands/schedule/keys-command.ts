import { checkedName } from "../../protocol/names.ts";
import type { Amendment } from "../../work/schedule/amend.ts";
import type { Call, Execute } from "../spec.ts";
import { type Desk, withStore } from "../with-store.ts";
import { Amending } from "./amending.ts";

/** The work of a command on schedules that are named: `KEY…`. @param verb  for the question */
export function keysCommand(
  verb: string,
  amendmentOf: (ids: readonly string[], call: Call, desk: Desk) => Amendment,
): Execute {
  return withStore(async (call, world, desk) => {
    const ids = [...new Set(call.args.map((id) => checkedName("schedule", id)))];
    const what = ids.length === 1 ? `schedule ${ids[0]}` : `${ids.length} schedules`;
    const { code } = await new Amending(call, world, desk, {
      amendment: amendmentOf(ids, call, desk),
      nothing: `${what}: nothing to change`,
      question: (changes) => `${verb} ${changes.length === 1 ? what : `${changes.length} schedules`}?`,
    }).run();
    return code;
  });
}
