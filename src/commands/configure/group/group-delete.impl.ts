import { createGroupCommand } from "./group-change.ts";

export const { execute, perform } = createGroupCommand(() => undefined);
