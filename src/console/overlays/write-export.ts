import type { Stats } from "node:fs";
import { link, lstat, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { getErrorMessage } from "../../core/base/errors.ts";
import { quoteText } from "../../core/base/text.ts";

/** The result of an export. `exists`: nothing was written, because the file exists. */
type ExportResult = { kind: "written" } | { kind: "exists" } | { kind: "fault"; text: string };

/** Number of drafts of this process. Each has its own name. */
let drafts = 0;

/**
 * Writes a text to a file that only the user can read, as a whole or not at all.
 * @param mayReplace  whether an existing file is replaced; something other than a file never is
 */
export async function writeExport(path: string, text: string, mayReplace: boolean): Promise<ExportResult> {
  drafts += 1;
  const draft = join(dirname(path), `.${basename(path).slice(0, 60)}.${process.pid}.${drafts}.part`);
  try {
    const before = await readStats(path);
    if (before !== undefined && !before.isFile())
      return { kind: "fault", text: `${quoteText(path, 200)} exists and is not a file` };
    if (before !== undefined && !mayReplace) return { kind: "exists" };
    await writeDraft(draft, text);
    if (mayReplace) await rename(draft, path);
    else await link(draft, path); // unlike a rename, fails if the file was created meanwhile
    return { kind: "written" };
  } catch (error) {
    if (!mayReplace && getErrorCode(error) === "EEXIST") return { kind: "exists" };
    return { kind: "fault", text: describeWriteFault(error, path) };
  } finally {
    await rm(draft, { force: true }).catch(() => {}); // the folder may have gone
  }
}

async function readStats(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path);
  } catch (error) {
    if (getErrorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes the draft to the disk. Replaces a draft of the same name, which a killed process has left. */
async function writeDraft(draft: string, text: string): Promise<void> {
  await rm(draft, { force: true });
  const file = await open(draft, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

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
  const reason = REASONS[getErrorCode(error) ?? ""] ?? getErrorMessage(error);
  return `cannot write ${quoteText(path, 200)}: ${reason}; nothing was written`;
}

/** Returns the code of a system error: `ENOSPC`. */
function getErrorCode(error: unknown): string | undefined {
  return error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
}
