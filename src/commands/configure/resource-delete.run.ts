import { resourceCommand } from "./resource-change.ts";

export const execute = resourceCommand(() => undefined);
