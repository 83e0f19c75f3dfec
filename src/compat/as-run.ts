/** A line of another tool as a line of `signalbox run`. */
export interface AsRun {
  /** Words after `signalbox run`, before `--`: `["--lock", "cronlock.5f…", "--grace", "40s"]`. Settings as flags where a flag exists. */
  options: readonly string[];
  /** Variables that a line needs and no flag carries (passwords): names and values. */
  env?: Readonly<Record<string, string>>;
  command: readonly string[];
  /** Where the meaning changes, a sentence each, fit for a warning about the line. */
  notes: readonly string[];
}

/**
 * What a line of a tool means to `signalbox run`. Pure: files come in as text, by path.
 * @param words  what follows the tool's name
 * @param variables  the tool's environment
 * @throws UsageError, ConfigError where the tool would refuse the line
 */
export type Translate = (
  words: readonly string[],
  variables: ReadonlyMap<string, string>,
  files?: ReadonlyMap<string, string>,
) => AsRun;
