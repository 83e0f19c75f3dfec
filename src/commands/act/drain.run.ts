import { ConfigError, UsageError } from "../../base/errors.ts";
import { hostsOf } from "../../fleet/groups.ts";
import { membersOf, type Picture, type Room } from "../../model/picture.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import { durationFlag } from "../flags.ts";
import { pictureOf } from "../look.ts";
import type { Call } from "../spec.ts";
import { withStore } from "../with-store.ts";
import { targetOf, unknownNote } from "./drain-target.ts";
import { Draining } from "./draining.ts";

const ROOMS: readonly Room[] = ["locks", "resources", "resourceConfigs", "groups", "drains", "hosts"];

export const execute = withStore(async (call, world, desk) => {
  const target = targetOf(call.args);
  checkFlags(call);
  const picture = await pictureOf(desk, ROOMS);
  checkGroup(picture, target);
  const note = await unknownNote(desk, picture, target);
  return await new Draining(call, world, desk, { picture, target, note }).run();
});

function checkFlags(call: Call): void {
  const { flags } = call;
  const isLimited = durationFlag(call, "timeout") !== undefined;
  if (durationFlag(call, "for") === 0) throw new UsageError("--for 0: a drain that ends at once is none");
  if (isLimited && !flags.wait) throw new UsageError("--timeout says how long to wait; add --wait");
  if (flags.reset && !(flags.wait && isLimited))
    throw new UsageError("--reset ends those who remain when --wait is over; add --wait --timeout DURATION");
  if (flags.keep && flags.for)
    throw new UsageError("--keep leaves a drain as it is, --for sets its end: one of them");
}

/** A group that is not there drains nobody: that cannot be meant. @throws ConfigError */
function checkGroup(picture: Picture, { scope, name }: DrainTarget): void {
  if (scope !== "group") return;
  hostsOf(membersOf(picture), name);
  const { fault } = picture.groups.get(name) ?? {};
  if (fault !== undefined)
    throw new ConfigError(`the group cannot be read, so nobody would be drained: ${fault}`);
}
