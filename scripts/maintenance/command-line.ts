import { parseArgs } from "node:util";

/** An error that ends a script, with its exit code. */
export class ScriptError extends Error {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

type Options = NonNullable<Parameters<typeof parseArgs>[0]>["options"];

export interface CommandLine {
  /** Values of the options: a text, or true for a switch. */
  values: Readonly<Record<string, string | boolean | undefined>>;
  args: readonly string[];
  /** Words after `--`. */
  command: readonly string[];
}

/**
 * Runs a script: parses its command line, prints the help, and prints an error as one line.
 * @param spec.takes  required number of arguments
 */
export async function runScript(
  spec: { help: string; options: Options; takes: number },
  work: (line: CommandLine) => Promise<void>,
): Promise<void> {
  try {
    const line = parseCommandLine(spec.options, process.argv.slice(2));
    if (line.values.help) return console.log(spec.help.trim());
    if (line.args.length !== spec.takes)
      throw new ScriptError(64, `see --help: ${spec.help.trim().split("\n")[2]?.trim()}`);
    await work(line);
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    printMessage(error.message);
    process.exitCode = error.exitCode;
  }
}

function parseCommandLine(options: Options, argv: readonly string[]): CommandLine {
  const end = argv.indexOf("--");
  const words = end < 0 ? argv : argv.slice(0, end);
  const known = { ...options, help: { type: "boolean", short: "h" } } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...words], options: known, allowPositionals: true });
    return {
      values: values as CommandLine["values"],
      args: positionals,
      command: end < 0 ? [] : argv.slice(end + 1),
    };
  } catch (error) {
    throw new ScriptError(64, `${(error as Error).message}; see --help`);
  }
}

/** Prints a message to standard error, because standard output belongs to the command. */
export function printMessage(line: string): void {
  console.error(`== ${line}`);
}
