import type { Architecture } from "../build/native.ts";

/** A processor that packages are made for: its names. */
export interface Target {
  debian: string;
  rpm: string;
  node: Architecture;
}

export const TARGETS: readonly Target[] = [
  { debian: "amd64", rpm: "x86_64", node: "x64" },
  { debian: "arm64", rpm: "aarch64", node: "arm64" },
];

/** Kinds of packages. */
export const KINDS = ["deb", "rpm", "tarball", "npm"] as const;
export type Kind = (typeof KINDS)[number];
