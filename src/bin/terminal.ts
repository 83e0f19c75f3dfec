import type { Terminal } from "../base/terminal.ts";

/**
 * The terminal of this process. Opens its streams and loads `node:tty` only on first use, because that would slow down
 * every start.
 */
export const terminal: Terminal = {
  isOutput: () => process.stdout.isTTY === true,
  canAsk: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
  getSize: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
  onResize(listener) {
    process.stdout.on("resize", listener);
    return () => process.stdout.off("resize", listener);
  },
  ask,
};

async function ask(question: string): Promise<string | undefined> {
  const { createInterface } = await import("node:readline");
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  try {
    return await new Promise((answered) => {
      lines.once("close", () => answered(undefined));
      lines.once("SIGINT", () => answered(undefined));
      lines.question(question, answered);
    });
  } finally {
    lines.close();
  }
}
