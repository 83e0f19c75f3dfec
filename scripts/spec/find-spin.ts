/** Finds the model checker Spin: that of this machine, or Debian's package, unpacked into the project's cache. */
import { access } from "node:fs/promises";
import path from "node:path";
import { findOrUnpack, unpackRelease } from "../../fixtures/packages/debian-packages.ts";
import { runTool } from "../../fixtures/run-tool.ts";

const FOLDER = path.resolve(import.meta.dirname, "../../.cache/spin");

/** @throws Error that says what to install */
export async function findSpin(): Promise<string> {
  const { exitCode } = await runTool({ nothrow: true })`spin -V`;
  if (exitCode === 0) return "spin";
  const file = path.join(FOLDER, "usr/bin/spin");
  const find = () =>
    access(file).then(
      () => file,
      () => undefined,
    );
  const unpack = (scratch: string, target: string) => unpackRelease(["spin"], scratch, target);
  const found = await findOrUnpack(FOLDER, find, unpack).catch(() => undefined);
  if (found === undefined) throw new Error("Spin was not found, install it: apt-get install spin");
  return found;
}
