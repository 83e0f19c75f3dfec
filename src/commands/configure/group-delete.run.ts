import { groupCommand } from "./group-change.ts";

export const execute = groupCommand(() => undefined);
