import { frontEnd } from "./front.ts";

export const execute = frontEnd("golock");
