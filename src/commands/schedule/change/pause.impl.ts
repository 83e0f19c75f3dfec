import { formatOperator } from "../../../work/operate/ports.ts";
import { buildPauseMutation } from "../../../work/schedules/schedule-mutations.ts";
import { parseReasonFlag } from "../../command-line/flags.ts";
import { parseInstantFlag } from "../instant.ts";
import { createKeysCommand } from "./keys-command.ts";

export const { execute, perform } = createKeysCommand("Pause", (ids, context) => {
  const until = parseInstantFlag(context.call, "until", "UTC", context.clock.getWallTime());
  return buildPauseMutation(ids, {
    by: formatOperator(context.operator),
    until,
    why: parseReasonFlag(context.call),
  });
});
