/** The terminal of a command, with the parts that commands without a full-screen interface need. */
export interface Terminal {
  /** Whether standard output is a terminal. If it is, tables can use colours and listings can be live. */
  isOutput(): boolean;
  /** Whether the user can be asked: standard input and standard error are terminals. */
  canAsk(): boolean;
  /** Columns and rows of standard output; 80 and 24 if they are unknown. */
  getSize(): { columns: number; rows: number };
  /** Calls the listener after each size change. Returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
  /**
   * Asks a question on standard error.
   * @returns the answer without its line break; undefined if there is none (Ctrl+D)
   */
  ask(question: string): Promise<string | undefined>;
}
