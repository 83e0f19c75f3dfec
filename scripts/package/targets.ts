import type { Architecture } from "../build/native.ts";

/** A processor that packages are made for: Debian's name, and that of Node. */
export interface Target {
  debian: string;
  node: Architecture;
}

export const TARGETS: readonly Target[] = [
  { debian: "amd64", node: "x64" },
  { debian: "arm64", node: "arm64" },
];

/** Kinds of packages. */
export const KINDS = ["deb", "tarball", "npm"] as const;
export type Kind = (typeof KINDS)[number];
