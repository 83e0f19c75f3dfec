import { createGroupCommand } from "./group-change.ts";

export const { execute, perform } = createGroupCommand((_, given) => given);
