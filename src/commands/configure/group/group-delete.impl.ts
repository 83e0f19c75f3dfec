import { createGroupCommand } from "./group-change.ts";

export const execute = createGroupCommand(() => undefined);
