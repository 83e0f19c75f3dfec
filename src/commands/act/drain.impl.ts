import { ConfigError, UsageError } from "../../base/errors.ts";
import { listGroupHosts } from "../../fleet/groups.ts";
import { buildGroupMembers, type Collection, type Snapshot } from "../../model/snapshot/snapshot.ts";
import type { DrainTarget } from "../../protocol/drain.ts";
import { parseDurationFlag } from "../command-line/flags.ts";
import { findUnknownNameNote, parseDrainTarget } from "../drain-target.ts";
import { createActionCommand } from "../outcome/action-command.ts";
import { readSnapshot } from "../read-snapshot.ts";
import type { Call } from "../spec.ts";
import { DrainCommand } from "./drain/drain-command.ts";

const COLLECTIONS: readonly Collection[] = [
  "locks",
  "resources",
  "resourceConfigs",
  "groups",
  "drains",
  "hosts",
];

export const { execute, perform } = createActionCommand(async (context) => {
  const { call } = context;
  const target = parseDrainTarget(call.args);
  checkFlags(call);
  const snapshot = await readSnapshot(context, COLLECTIONS);
  checkGroup(snapshot, target);
  const note = await findUnknownNameNote(context, snapshot, target);
  return await new DrainCommand(context, { snapshot, target, note }).run();
});

function checkFlags(call: Call): void {
  const { flags } = call;
  const isLimited = parseDurationFlag(call, "timeout") !== undefined;
  if (parseDurationFlag(call, "for") === 0) throw new UsageError("--for must be greater than 0; got 0");
  if (isLimited && !flags.wait) throw new UsageError("--timeout needs --wait; add --wait");
  if (flags.reset && !(flags.wait && isLimited))
    throw new UsageError("--reset needs --wait and --timeout; add --wait --timeout DURATION");
  if (flags.keep && flags.for)
    throw new UsageError("--keep and --for exclude each other; leave one of them out");
}

/** Rejects a drain of a group that does not exist or cannot be read: it would drain no host. @throws ConfigError */
function checkGroup(snapshot: Snapshot, { scope, name }: DrainTarget): void {
  if (scope !== "group") return;
  listGroupHosts(buildGroupMembers(snapshot), name);
  const { fault } = snapshot.groups.get(name) ?? {};
  if (fault !== undefined)
    throw new ConfigError(`the group cannot be read, so no host would be drained: ${fault}`);
}
