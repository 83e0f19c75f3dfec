import { readUserName } from "../process/user.ts";
import type { Operator } from "../work/operate/ports.ts";
import type { CommandIo } from "./spec.ts";

/** Returns the user who runs the command. @param host  full name of this host */
export function getOperator({ env }: CommandIo, host: string): Operator {
  const { SUDO_USER: sudoUser = "" } = env;
  return { user: readUserName(), host, ...(sudoUser !== "" && { sudoUser }) };
}
