/**
 * Returns the sources that a test names in the comments at its head, over as many lines as they need:
 * `// Covers src/a.ts, src/b.ts`.
 */
export function listCovered(test: string): string[] {
  const [head = ""] = /^(?:\s*\/\/.*\n|\s*\/\*[\s\S]*?\*\/\s*\n)*/.exec(test) ?? [];
  const [, list = ""] = /\bCovers((?:[\s,/*]|src\/[\w./-]+)*)/.exec(head) ?? [];
  return [...list.matchAll(/src\/[\w./-]*\w/g)].map(([path]) => path);
}
