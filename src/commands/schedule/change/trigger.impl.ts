import { buildTriggerMutation } from "../../../work/schedules/schedule-mutations.ts";
import { parseInstantFlag } from "../instant.ts";
import { createKeysCommand } from "./keys-command.ts";

export const { execute, perform } = createKeysCommand("Trigger", (ids, context) =>
  buildTriggerMutation(ids, parseInstantFlag(context.call, "dead", "UTC", context.clock.getWallTime())),
);
