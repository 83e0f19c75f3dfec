/** The parts of a docstring. Texts are Markdown without line breaks. */
export interface Docstring {
  text: string;
  /** Parameters and their texts, in the order of the docstring. */
  params: readonly (readonly [name: string, text: string])[];
  returns?: string;
  throws?: string;
}

const TAGS = ["param", "returns", "throws"] as const;
type Tag = (typeof TAGS)[number];

/**
 * Parses a docstring.
 * @param comment  the comment with its delimiters
 * @throws Error for a tag other than `@param`, `@returns` and `@throws`, so that its text is not lost
 */
export function parseDocstring(comment: string): Docstring {
  const plain = comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^\s*\* ?/gm, "")
    .replace(/\s+/g, " ");
  const [text = "", ...rest] = plain.split(/(?:^| )@(?=[a-z]+)/);
  const doc: Docstring & { params: [string, string][] } = { text: text.trim(), params: [] };
  for (const part of rest) {
    const [, tag = "", body = ""] = /^([a-z]+)\s*(.*?)\s*$/.exec(part) ?? [];
    if (!isTag(tag)) throw new Error(`unknown tag @${tag} in the docstring: ${plain.trim()}`);
    if (tag === "param") doc.params.push(splitParam(body));
    else doc[tag] = body;
  }
  return doc;
}

function isTag(tag: string): tag is Tag {
  return (TAGS as readonly string[]).includes(tag);
}

function splitParam(body: string): [string, string] {
  const [, name = "", text = ""] = /^(\S+)\s*(.*)$/.exec(body) ?? [];
  return [name, text];
}

/**
 * Finds the docstring directly before a position.
 * @returns the last `/** … *\/` if only white space follows it, otherwise undefined
 */
export function findDocstring(before: string): string | undefined {
  const trimmed = before.trimEnd();
  if (!trimmed.endsWith("*/")) return undefined;
  const comment = trimmed.slice(trimmed.lastIndexOf("/*"));
  return comment.startsWith("/**") ? comment : undefined;
}
