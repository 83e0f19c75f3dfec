/**
 * A token of an arithmetic expression. `at` is its offset in the text, from 0. The last token is `end`, with empty
 * text.
 */
export interface ExpressionToken {
  kind: "number" | "name" | "sign" | "end";
  text: string;
  at: number;
}

const TOKEN = /(\d+(?:\.\d+)?|\.\d+)|([A-Za-z_][A-Za-z0-9_]*)|([^ \t])/gu;

/** Splits an expression into tokens. Never fails: an unknown character becomes a `sign` that no rule accepts. */
export function tokenizeExpression(text: string): ExpressionToken[] {
  const found = Array.from(text.matchAll(TOKEN), (match): ExpressionToken => {
    const kind = match[1] !== undefined ? "number" : match[2] !== undefined ? "name" : "sign";
    return { kind, text: match[0], at: match.index };
  });
  return [...found, { kind: "end", text: "", at: text.length }];
}
