import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Creates a folder, and those above it that are missing. Node's `recursive` tries for ever where a folder exists in which nothing can be
 * created, such as /proc.
 * @returns false if it exists
 * @throws the system's error
 */
export async function createFolder(path: string, mode: number): Promise<boolean> {
  try {
    return await createOneFolder(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || parent === path) throw error;
    await createFolder(parent, mode);
    return await createOneFolder(path, mode);
  }
}

async function createOneFolder(path: string, mode: number): Promise<boolean> {
  try {
    await mkdir(path, { mode });
    return true;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === "EEXIST" && (await stat(path)).isDirectory();
    if (!isThere) throw error;
    return false;
  }
}
