import { deleting } from "../../work/schedule/deeds.ts";
import { keysCommand } from "./keys-command.ts";

export const execute = keysCommand("Delete", deleting);
