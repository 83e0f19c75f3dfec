import type { Settings } from "../config/settings.ts";
import { getDefaultOutputDirectory } from "../output/output-directory.ts";
import type { OutputStorage } from "../output/output-keeper.ts";
import { parseMasks } from "../output/output-mask.ts";
import type { CommandIo } from "./command.ts";

/**
 * Builds where and how much output is kept.
 * @returns undefined if none is kept: the size is 0, or the user has no directory for it
 * @throws UsageError if a mask is wrong
 */
export function buildOutputStorage(
  call: { flags: { readonly mask?: readonly string[] } },
  { outputDirectory, outputSize: size, outputAge: age }: Settings,
  env: CommandIo["env"],
): OutputStorage | undefined {
  const masks = parseMasks(call.flags.mask ?? []);
  const directory = findOutputDirectory(outputDirectory, env);
  return directory === undefined || size === 0 ? undefined : { directory, size, age, masks };
}

/** Returns the directory of kept output of this user, if there is one. */
export function findOutputDirectory(set: string | undefined, env: CommandIo["env"]): string | undefined {
  return set ?? getDefaultOutputDirectory(env, process.getuid?.());
}
