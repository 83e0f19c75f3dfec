import { signature } from "../../work/operate/ports.ts";
import { pausing } from "../../work/schedule/deeds.ts";
import { reasonFlag } from "../flags.ts";
import { instantFlag } from "./instant.ts";
import { keysCommand } from "./keys-command.ts";

export const execute = keysCommand("Pause", (ids, call, desk) => {
  const until = instantFlag(call, "until", "UTC", desk.clock.wall());
  return pausing(ids, { by: signature(desk.operator), until, why: reasonFlag(call) });
});
