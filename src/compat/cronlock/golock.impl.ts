import { createFrontEnd } from "./front-end.ts";

export const execute = createFrontEnd("golock");
