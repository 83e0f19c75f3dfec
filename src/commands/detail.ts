import { clean } from "../base/text.ts";
import type { Detail } from "../model/detail/detail.ts";
import { table } from "./table.ts";

/** A detail as text: heading, facts, tables. */
export function detailText({ heading, facts, tables }: Detail): string {
  const width = Math.max(0, ...facts.map(([label]) => label.length));
  return [
    `${clean(heading)}\n`,
    ...facts.map(([label, value]) => `  ${label.padEnd(width)}  ${clean(value)}\n`),
    ...tables.map(({ title, head, rows }) => `\n${clean(title)}\n${indented(table(head, rows))}`),
  ].join("");
}

function indented(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}
