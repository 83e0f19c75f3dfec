import { buildDeleteMutation } from "../../../work/schedules/schedule-mutations.ts";
import { createKeysCommand } from "./keys-command.ts";

export const { execute, perform } = createKeysCommand("Delete", buildDeleteMutation);
