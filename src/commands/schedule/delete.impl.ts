import { buildDeleteMutation } from "../../work/schedule/schedule-mutations.ts";
import { createKeysCommand } from "./keys-command.ts";

export const execute = createKeysCommand("Delete", buildDeleteMutation);
