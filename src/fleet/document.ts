import { quoted } from "../base/text.ts";
import { byCode, byOrder, type Configuration, normalResource } from "./configuration.ts";
import type { ResourceConfig } from "./resources.ts";

/**
 * A configuration as somebody wrote it down, in our words or in switchman's. What it does not mention it says nothing
 * of: undefined groups are not "no groups".
 */
export interface ConfigDocument {
  groups: ReadonlyMap<string, readonly string[]> | undefined;
  resources: ReadonlyMap<string, ResourceEntry> | undefined;
}

/** `isWhole`: everything about the resource; otherwise, as in switchman's list of names, only its place in the order. */
export interface ResourceEntry {
  isWhole: boolean;
  config: ResourceConfig;
}

/** The version of the document, where it says one. */
export const DOCUMENT_VERSION = 1;

/** What a document makes of a configuration. @param replace  also take away what the document does not have */
export function asDocumented(
  current: Configuration,
  { groups, resources }: ConfigDocument,
  replace: boolean,
): Configuration {
  const whole = [...(resources ?? [])].map(([name, { isWhole, config }]) => {
    const kept = isWhole ? {} : (current.resources.get(name) ?? {});
    return [name, normalResource({ ...kept, ...config })] as const;
  });
  return {
    groups: new Map([...(replace && groups !== undefined ? [] : current.groups), ...(groups ?? [])]),
    resources: new Map([...(replace && resources !== undefined ? [] : current.resources), ...whole]),
  };
}

/** A configuration as a document: the same text for the same configuration, a line for what changes by itself. */
export function documentText({ groups, resources }: Configuration, revision: bigint): string {
  const named = [...groups]
    .sort(([a], [b]) => byCode(a, b))
    .map(([name, members]) => groupLines(name, members));
  const listed = [...resources].sort(byOrder).map((one) => `    ${resourceLine(one)}`);
  return [
    "{",
    `  "version": ${DOCUMENT_VERSION},`,
    `  "revision": "${revision}",`,
    `  "groups": ${block("{", named, "}")},`,
    `  "resources": ${block("[", listed, "]")}`,
    "}\n",
  ].join("\n");
}

function block(opening: string, parts: readonly string[], closing: string): string {
  return parts.length === 0 ? opening + closing : `${opening}\n${parts.join(",\n")}\n  ${closing}`;
}

function groupLines(name: string, members: readonly string[]): string {
  const lines = members.map((member) => `      ${inJson(member)}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n    ]`;
  return `    ${inJson(name)}: ${list}`;
}

function resourceLine([name, { total, order, note }]: readonly [string, ResourceConfig]): string {
  const isNumber = total !== undefined && /^[1-9]\d{0,14}$/.test(total);
  const fields = { name, total: isNumber ? Number(total) : total, order, note };
  const texts = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : `"${field}": ${typeof value === "string" ? inJson(value) : value}`,
  );
  return `{ ${texts.join(", ")} }`;
}

/** A text in JSON. What a terminal would act on is escaped: a document is looked at as well as read. */
function inJson(text: string): string {
  return quoted(text, Number.POSITIVE_INFINITY);
}
