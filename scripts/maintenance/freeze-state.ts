import { StateFile } from "./state-file.ts";

/** What thaw.ts must know of a freeze: its drain is found by its reason. */
export interface Freeze {
  reason: string;
}

export const FREEZE_FILE = new StateFile<Freeze>("freeze");
