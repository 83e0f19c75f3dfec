import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { ConfigError } from "../base/errors.ts";
import { quoteText } from "../base/text.ts";
import type { CommandUser } from "./guarded-command/command.ts";

/** An account of this host. */
export interface UserAccount extends CommandUser {
  name: string;
  home: string;
}

type ProgramEnv = Readonly<Record<string, string | undefined>>;

const runProgram = promisify(execFile);
/** A directory service may not answer, ms. */
const ANSWER_TIMEOUT_MS = 10_000;
/** The highest id; the one above means "unchanged" to the system. */
const MAX_ID = 0xffff_fffe;

/** Returns whether this process may start processes of other users. */
export function canBecomeUsers(): boolean {
  return process.getuid?.() === 0;
}

/**
 * Reads an account, with its groups, from the system's name service, which may be a directory in the network.
 * @param name  as `isUserName` in the room schedule accepts it: neither a number nor an option
 * @throws ConfigError if this host has no such account
 */
export async function readUserAccount(
  name: string,
  env: ProgramEnv,
  signal: AbortSignal,
): Promise<UserAccount> {
  const read = async (program: string, ...args: string[]) => {
    const options = { env, signal, timeout: ANSWER_TIMEOUT_MS, encoding: "utf8" } as const;
    return (await runProgram(program, args, options)).stdout.trim();
  };
  try {
    const entry = await read("getent", "passwd", name);
    const groups = await read("id", "-G", name); // not beside it: if one failed, the other would be left behind
    const [found, , uid, gid, , home = ""] = entry.split(":");
    const [user = -1, group = -1, ...others] = [uid, gid, ...groups.split(" ")].map(parseId);
    // The name service takes numbers for names, and may ignore case.
    if (found === name && !entry.includes("\n") && [user, group, ...others].every((id) => id >= 0))
      return { name, uid: user, gid: group, groups: others, home };
  } catch (cause) {
    signal.throwIfAborted();
    throw new ConfigError(`${describeMissingUser(name)}: ${(cause as Error).message.trim()}`, { cause });
  }
  throw new ConfigError(describeMissingUser(name));
}

function describeMissingUser(name: string): string {
  return `user ${quoteText(name)} cannot be found on this host`;
}

/** @returns -1 if it is none */
function parseId(text = ""): number {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : -1;
  return id <= MAX_ID ? id : -1;
}
