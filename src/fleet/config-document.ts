import { quoteText } from "../base/text.ts";
import {
  type Configuration,
  compareByCodeUnit,
  compareByResourceOrder,
  normalizeResource,
} from "./configuration.ts";
import type { ResourceConfig } from "./resources.ts";

/**
 * A configuration as written in a document, in signalbox's or switchman's format. The document leaves unmentioned parts
 * unspecified: undefined groups do not mean "no groups".
 */
export interface ConfigDocument {
  groups: ReadonlyMap<string, readonly string[]> | undefined;
  resources: ReadonlyMap<string, DocumentedResource> | undefined;
}

/**
 * `isWhole`: the entry has the whole configuration of the resource. Otherwise, as in switchman's list of names, it only
 * has the order.
 */
export interface DocumentedResource {
  isWhole: boolean;
  config: ResourceConfig;
}

/** The current document version. A document can omit it. */
export const DOCUMENT_VERSION = 1;

/**
 * Applies a document to a configuration and returns the result.
 * @param replace  also remove groups and resources that the document does not have
 */
export function applyConfigDocument(
  current: Configuration,
  { groups, resources }: ConfigDocument,
  replace: boolean,
): Configuration {
  const whole = [...(resources ?? [])].map(([name, { isWhole, config }]) => {
    const kept = isWhole ? {} : (current.resources.get(name) ?? {});
    return [name, normalizeResource({ ...kept, ...config })] as const;
  });
  return {
    groups: new Map([...(replace && groups !== undefined ? [] : current.groups), ...(groups ?? [])]),
    resources: new Map([...(replace && resources !== undefined ? [] : current.resources), ...whole]),
  };
}

/**
 * Formats a configuration as a document. Equal configurations give equal texts. Each item that can change on its own
 * has its own line.
 */
export function formatConfigDocument({ groups, resources }: Configuration, revision: bigint): string {
  const named = [...groups]
    .sort(([a], [b]) => compareByCodeUnit(a, b))
    .map(([name, members]) => formatGroup(name, members));
  const listed = [...resources].sort(compareByResourceOrder).map((one) => `    ${formatResource(one)}`);
  return [
    "{",
    `  "version": ${DOCUMENT_VERSION},`,
    `  "revision": "${revision}",`,
    `  "groups": ${formatBlock("{", named, "}")},`,
    `  "resources": ${formatBlock("[", listed, "]")}`,
    "}\n",
  ].join("\n");
}

function formatBlock(opening: string, parts: readonly string[], closing: string): string {
  return parts.length === 0 ? opening + closing : `${opening}\n${parts.join(",\n")}\n  ${closing}`;
}

function formatGroup(name: string, members: readonly string[]): string {
  const lines = members.map((member) => `      ${quoteJson(member)}`);
  const list = lines.length === 0 ? "[]" : `[\n${lines.join(",\n")}\n    ]`;
  return `    ${quoteJson(name)}: ${list}`;
}

function formatResource([name, { total, order, note }]: readonly [string, ResourceConfig]): string {
  const isNumber = total !== undefined && /^[1-9]\d{0,14}$/.test(total);
  const fields = { name, total: isNumber ? Number(total) : total, order, note };
  const texts = Object.entries(fields).flatMap(([field, value]) =>
    value === undefined ? [] : `"${field}": ${typeof value === "string" ? quoteJson(value) : value}`,
  );
  return `{ ${texts.join(", ")} }`;
}

/**
 * Quotes a text as JSON. Characters that a terminal would interpret are escaped, because people also view documents in
 * a terminal.
 */
function quoteJson(text: string): string {
  return quoteText(text, Number.POSITIVE_INFINITY);
}
