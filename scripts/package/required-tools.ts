import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Kind } from "./targets.ts";

/** Programs that packaging starts, and the packages of Debian that contain them. */
const TOOLS: readonly { command: string; debian: string; kinds: readonly Kind[] }[] = [
  { command: "npm", debian: "npm", kinds: ["deb", "rpm", "tarball", "npm"] },
  { command: "tar", debian: "tar", kinds: ["deb", "rpm", "tarball"] },
  { command: "gzip", debian: "gzip", kinds: ["deb", "tarball"] },
  { command: "dpkg-deb", debian: "dpkg", kinds: ["deb"] },
  { command: "rpmbuild", debian: "rpm", kinds: ["rpm"] },
];

/**
 * Checks that the tools are there, before anything is built. The build itself checks the compilers.
 * @param path  value of PATH
 * @throws Error that names the missing ones and their Debian packages
 */
export function checkTools(kinds: readonly Kind[], path: string): void {
  const folders = path.split(delimiter);
  const needed = TOOLS.filter((tool) => tool.kinds.some((kind) => kinds.includes(kind)));
  const missing = needed.filter(
    ({ command }) => !folders.some((folder) => isExecutable(join(folder, command))),
  );
  if (missing.length === 0) return;
  const commands = missing.map(({ command }) => command).join(", ");
  const packages = missing.map(({ debian }) => debian).join(" ");
  throw new Error(
    `packaging needs ${commands}, which PATH does not contain; install: apt-get install ${packages}`,
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
