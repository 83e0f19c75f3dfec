import { parseArgs } from "node:util";
import { KINDS, type Kind, TARGETS, type Target } from "./targets.ts";

export const HELP = `npm run package [-- [deb] [rpm] [tarball] [npm] [--arch LIST] [--to FOLDER]]

Builds signalbox and writes packages for hosts without Node.js or a compiler:

  deb      signalbox_VERSION_ARCH.deb, with its own Node.js
  rpm      signalbox-VERSION-1.ARCH.rpm: the same files, for distributions with rpm
  tarball  signalbox-VERSION-linux-ARCH.tar.gz: the same files, to be unpacked in /
  npm      signalbox-VERSION.tgz, for npm, with the native programs for the processors of --arch;
           signalbox.rb, a formula for Homebrew that installs it

Without a kind, all are written. Each call also writes SHA256SUMS, the checksums of all packages in the folder, and
signalbox-VERSION.cdx.json, a list of the software in them (a CycloneDX SBOM).

  --arch LIST    processors: amd64, arm64 (default: both; each other than that of this machine needs a cross compiler)
  --to FOLDER    where to write the packages (default: packages)

The same build gives the same packages, byte for byte. Another build of the same sources differs only in V8's cached code
(*.code). SOURCE_DATE_EPOCH sets the time of all files (default: that of the last commit), DEBFULLNAME and DEBEMAIL the
maintainer of the Debian package, HOMEPAGE the address of the project in the packages for Debian, rpm and npm.`;

/** What to package. */
export interface PackageRequest {
  kinds: readonly Kind[];
  targets: readonly Target[];
  /** Output folder, as given. */
  folder: string;
}

/** @returns undefined if help is wanted. @throws TypeError that says what is wrong */
export function parsePackageArguments(args: readonly string[]): PackageRequest | undefined {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      arch: { type: "string", default: TARGETS.map(({ debian }) => debian).join(",") },
      to: { type: "string", default: "packages" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) return undefined;
  const kinds = positionals.map(parseKind);
  return {
    kinds: kinds.length === 0 ? KINDS : KINDS.filter((kind) => kinds.includes(kind)),
    targets: parseTargets(values.arch),
    folder: values.to,
  };
}

function parseKind(word: string): Kind {
  const kind = KINDS.find((known) => known === word);
  if (kind === undefined) throw new TypeError(`a package must be one of ${KINDS.join(", ")}; got "${word}"`);
  return kind;
}

function parseTargets(list: string): readonly Target[] {
  const names = list.split(",");
  const known = TARGETS.map(({ debian }) => debian);
  if (!names.every((name) => known.includes(name)))
    throw new TypeError(`--arch must be a list of ${known.join(", ")}; got "${list}"`);
  return TARGETS.filter(({ debian }) => names.includes(debian));
}
