/** The texts of a Debian package that depend on its version or contents. @see deb-control(5), deb-changelog(5) */

export interface DebianFields {
  version: string;
  /** Debian's name of the processor. */
  architecture: string;
  /** Name and address. */
  maintainer: string;
  /** Address of the project's page, if it has one. */
  homepage?: string | undefined;
  /** KiB. */
  installedSize: number;
}

/** What Node.js is linked with. `npm run test:packages` starts it where nothing else is installed. */
const DEPENDS = "libc6 (>= 2.28), libgcc-s1, libstdc++6 (>= 8), passwd";

export const PACKAGE_SUMMARY = "locks, leases and highly available cron jobs over etcd";

/** Paragraphs, as lines. */
export const PACKAGE_DESCRIPTION = [
  "signalbox runs a job on one host of many, with locks and leases in etcd, and",
  "ends it before another host can get them. It also has a highly available cron,",
  "and a console that shows who holds and who waits.",
  "",
  "This package contains its own Node.js. Nothing is downloaded or compiled.",
];

/** @returns who answers for a package, as Debian's tools take it from the environment */
export function findMaintainer(env: NodeJS.ProcessEnv = process.env): string {
  return `${env.DEBFULLNAME || "the signalbox authors"} <${env.DEBEMAIL || "signalbox@packages.invalid"}>`;
}

/** For dpkg and rpm, a pre-release sorts before its release if it follows a tilde: 1.0.0-rc.1 is 1.0.0~rc.1. */
export function toDebianVersion(version: string): string {
  return version.replace("-", "~");
}

export function renderControl(fields: DebianFields): string {
  const { version, architecture, maintainer, homepage, installedSize } = fields;
  return `Package: signalbox
Version: ${version}
Architecture: ${architecture}
Maintainer: ${maintainer}
Installed-Size: ${installedSize}
Depends: ${DEPENDS}
Suggests: bash-completion, logrotate, man-db
Section: admin
Priority: optional
${homepage ? `Homepage: ${homepage}\n` : ""}Description: ${PACKAGE_SUMMARY}
${PACKAGE_DESCRIPTION.map((line) => ` ${line || "."}\n`).join("")}`;
}

/** @param time  of the release, s since 1970 */
export function renderChangelog(version: string, maintainer: string, time: number): string {
  const date = new Date(time * 1_000).toUTCString().replace("GMT", "+0000");
  return `signalbox (${version}) unstable; urgency=medium

  * See CHANGELOG.md.gz in this folder.

 -- ${maintainer}  ${date}
`;
}

/** @param licence  the text of the project's licence */
export function renderCopyright(head: string, licence: string): string {
  const lines = licence.trim().split("\n").slice(1); // without its title
  const indented = lines.map((line) => (line.trim() === "" ? " ." : ` ${line}`));
  return `${head}${indented.join("\n")}\n`;
}

/** @returns the files in /etc, which dpkg keeps as the administrator has changed them */
export function renderConffiles(paths: readonly string[]): string {
  const files = paths.filter((path) => path.startsWith("etc/"));
  return files.map((path) => `/${path}\n`).join("");
}
