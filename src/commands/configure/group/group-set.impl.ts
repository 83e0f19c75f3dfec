import { createGroupCommand } from "./group-change.ts";

export const execute = createGroupCommand((_, given) => given);
