import { burying } from "../../work/schedule/deeds.ts";
import { keysCommand } from "./keys-command.ts";

export const execute = keysCommand("Forget the dead letters of", burying);
