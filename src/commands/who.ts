import { userInfo } from "node:os";
import type { Operator } from "../work/operate/ports.ts";
import type { Surroundings } from "./spec.ts";

/** The name of the user we run as; its number where the system knows no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}

/** Who acts. @param host  full name of this host */
export function operatorOf({ env }: Surroundings, host: string): Operator {
  const { SUDO_USER: sudoUser = "" } = env;
  return { user: userName(), host, ...(sudoUser !== "" && { sudoUser }) };
}
