import { lstatSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Finds why a launcher of this user does not trust a socket: as launcher/trust.c, by the owners of the socket and its
 * directory.
 * @returns `missing` if there is no file
 */
export function findSocketDistrust(path: string): "missing" | string | undefined {
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined) return "missing";
  if (!status.isSocket()) return "it is not a socket";
  if (!isTrusted(status.uid)) return `it belongs to user ${status.uid}`;
  return findFolderDistrust(dirname(path), statSync(dirname(path)));
}

/** Whether a user could pretend to be an agent towards this user. */
export function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.getuid?.();
}

function findFolderDistrust(folder: string, { uid, mode }: Stats): string | undefined {
  if (!isTrusted(uid)) return `its folder ${folder} belongs to user ${uid}`;
  const isSticky = (mode & 0o1000) !== 0;
  return (mode & 0o022) !== 0 && !isSticky ? `other users can write to its folder ${folder}` : undefined;
}
