/** The terminal that a command may have, as far as commands without a screen of their own need it. */
export interface Terminal {
  /** Whether standard output is one: then tables may have colours, and listings may be live. */
  isOutput(): boolean;
  /** Whether somebody is there to be asked: standard input and standard error are terminals. */
  canAsk(): boolean;
  /** Columns and rows of standard output; 80 and 24 where they are not known. */
  size(): { columns: number; rows: number };
  /** Told whenever the size has changed. Returns how to stop. */
  onResize(listener: () => void): () => void;
  /** Asks on standard error. @returns the answer without its line break; undefined when there is none (Ctrl+D) */
  ask(question: string): Promise<string | undefined>;
}
