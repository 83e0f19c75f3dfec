import { createResourceCommand } from "./resource-change.ts";

export const execute = createResourceCommand(() => undefined);
