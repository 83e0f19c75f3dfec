/** A piece of an arithmetic expression; `at` = its place in the text, from 0. The last one is `end`, with empty text. */
export interface Token {
  kind: "number" | "name" | "sign" | "end";
  text: string;
  at: number;
}

const TOKEN = /(\d+(?:\.\d+)?|\.\d+)|([A-Za-z_][A-Za-z0-9_]*)|([^ \t])/gu;

/** Cuts an expression into tokens. Never fails: a character that means nothing is a `sign` that no rule accepts. */
export function tokens(text: string): Token[] {
  const found = Array.from(text.matchAll(TOKEN), (match): Token => {
    const kind = match[1] !== undefined ? "number" : match[2] !== undefined ? "name" : "sign";
    return { kind, text: match[0], at: match.index };
  });
  return [...found, { kind: "end", text: "", at: text.length }];
}
