import { type ParseArgsOptionsConfig, parseArgs } from "node:util";

/** The options and the other words of a script's command line. */
type ScriptArguments<Options extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: Options; allowPositionals: true }>
>;

/**
 * Reads the arguments of a script. With `--help`, and with an option that is unknown or has no value, the script prints how it is used, and
 * ends with 0 or 64.
 */
export function readArguments<const Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
): ScriptArguments<Options> {
  if (process.argv.some((word) => word === "--help" || word === "-h")) {
    console.log(help);
    process.exit();
  }
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    return refuseArguments(help, (error as Error).message);
  }
}

/** Ends the script because of a wrong argument. */
export function refuseArguments(help: string, why: string): never {
  console.error(`${why}\n\n${help}`);
  process.exit(64);
}

/** Reads a whole number of an option, from 0. */
export function readNumber(help: string, name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  return refuseArguments(help, `--${name} must be a whole number; got ${JSON.stringify(text)}`);
}
