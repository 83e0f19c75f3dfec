import { userInfo } from "node:os";

/** Reads the name of the current user; its number when the system has no name for it. */
export function readUserName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
