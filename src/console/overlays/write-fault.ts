import { quoteText } from "../../base/text.ts";

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EROFS: "the file system is read-only",
  ENOENT: "the folder does not exist",
  ENOTDIR: "a part of the path is not a folder",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  ENAMETOOLONG: "the name is too long",
};

/** Describes why a file was not written: its path and the cause. */
export function describeWriteFault(error: unknown, path: string): string {
  const reason =
    REASONS[getErrorCode(error) ?? ""] ?? (error instanceof Error ? error.message : String(error));
  return `cannot write ${quoteText(path, 200)}: ${reason}; nothing was written`;
}

/** Returns the code of a system error: `ENOSPC`. */
export function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
