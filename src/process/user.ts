import { userInfo } from "node:os";

/** The name of the user we run as; its number where the system knows no name. */
export function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
