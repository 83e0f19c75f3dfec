import { buildBuryMutation } from "../../work/schedule/schedule-mutations.ts";
import { createKeysCommand } from "./keys-command.ts";

export const execute = createKeysCommand("Delete the dead letters of", buildBuryMutation);
