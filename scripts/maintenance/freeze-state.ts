import { StateFile } from "./state-file.ts";

/** State of a freeze, for thaw.mjs, which finds the drain by its reason. */
export interface Freeze {
  reason: string;
}

export const FREEZE_FILE = new StateFile<Freeze>("freeze");
