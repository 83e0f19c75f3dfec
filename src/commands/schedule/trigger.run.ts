import { triggering } from "../../work/schedule/deeds.ts";
import { instantFlag } from "./instant.ts";
import { keysCommand } from "./keys-command.ts";

export const execute = keysCommand("Trigger", (ids, call, desk) =>
  triggering(ids, instantFlag(call, "dead", "UTC", desk.clock.wall())),
);
