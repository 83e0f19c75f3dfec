import { createResourceCommand } from "./resource-change.ts";

export const { execute, perform } = createResourceCommand(() => undefined);
