import type { Terminal } from "../base/terminal.ts";

/** The terminal of this process. Its streams are made, and `node:tty` is loaded, only when one asks: that costs every start. */
export const terminal: Terminal = {
  isOutput: () => process.stdout.isTTY === true,
  canAsk: () => process.stdin.isTTY === true && process.stderr.isTTY === true,
  size: () => ({ columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 }),
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
