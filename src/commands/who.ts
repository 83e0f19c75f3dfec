import { userName } from "../process/user.ts";
import type { Operator } from "../work/operate/ports.ts";
import type { Surroundings } from "./spec.ts";

/** Who acts. @param host  full name of this host */
export function operatorOf({ env }: Surroundings, host: string): Operator {
  const { SUDO_USER: sudoUser = "" } = env;
  return { user: userName(), host, ...(sudoUser !== "" && { sudoUser }) };
}
