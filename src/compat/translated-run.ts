/** A line of another tool, translated to `signalbox run`. */
export interface TranslatedRun {
  /**
   * Words after `signalbox run`, before `--`: `["--lock", "cronlock.5f…", "--grace", "40s"]`. Settings are flags
   * where a flag exists.
   */
  options: readonly string[];
  /** Variables that the line needs and that have no flag (passwords), by name. */
  env?: Readonly<Record<string, string>>;
  command: readonly string[];
  /** Changes in meaning, one sentence each, for warnings about the line. */
  notes: readonly string[];
  /** The tool keeps its lock until all processes that the command left behind have ended; signalbox does not. */
  coversChildren?: boolean;
}

/** Texts of the tools' own configuration files, by path. */
export type ToolFiles = Pick<ReadonlyMap<string, string>, "get">;

/** What a tool gets besides its words. */
export interface ToolContext {
  /** Environment variables, by name. */
  variables: ReadonlyMap<string, string>;
  files: ToolFiles;
  /** The tool as it is called, with its path. */
  program: string;
}

/**
 * Translates a line of a tool to `signalbox run`. Pure: files are passed as text, by path.
 * @param words  the words after the tool's name
 * @throws UsageError, ConfigError if the tool would refuse the line
 */
export type LineTranslator = (words: readonly string[], context: ToolContext) => TranslatedRun;
