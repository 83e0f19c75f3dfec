import { clean, displayWidth } from "../base/text.ts";

/** A table for people: columns as wide as they need be, other people's text made harmless. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => clean(cell) || "-"));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => displayWidth(line[column] ?? ""))));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => padded(cell, widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function padded(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - displayWidth(cell)));
}

/** A document for programs: one line, with the version of its shape. */
export function json(document: object): string {
  return jsonLine({ version: 1, ...document });
}

/** One line of JSON, bigint as decimal text. What a terminal would act on is escaped, which programs read all the same. */
export function jsonLine(document: object): string {
  return `${jsonText(document)}\n`;
}

/** As `jsonLine`, without the line's end. */
export function jsonText(document: object): string {
  const plain = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return withEscapes(JSON.stringify(document, plain));
}

/** A JSON text in which what is not seen, or what a terminal would act on, is written as an escape. */
export function withEscapes(text: string): string {
  const unseen = /[\x7f-\x9f\u2028\u2029\p{Default_Ignorable_Code_Point}]/gu; // not made before it is needed
  return text.replace(unseen, escaped);
}

function escaped(char: string): string {
  const units = char.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}
