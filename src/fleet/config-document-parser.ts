import type { Node } from "jsonc-parser";
import * as jsonParser from "jsonc-parser";
import { computeLineColumn, findJsonFault, type JsonFault } from "../base/json-fault.ts";
import { findNameFault, findNearest, quoteText } from "../base/text.ts";
import {
  type Configuration,
  compareByCodeUnit,
  compareByResourceOrder,
  normalizeMembers,
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
interface DocumentedResource {
  isWhole: boolean;
  config: ResourceConfig;
}

/** The current document version. A document can omit it. */
const DOCUMENT_VERSION = 1;

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

/** Checks a total. Returns what is wrong with it, or undefined. */
export type TotalCheck = (resource: string, total: string) => string | undefined;

/** Maximum length of a note, in characters. */
export const LONGEST_NOTE = 500;

/**
 * Parses a JSON document: `{"groups": {NAME: HOST or [MEMBER, …]}, "resources": [NAME or {"name", "total", "order",
 * "note"}]}`.
 * @returns all faults, in the order of the text
 */
export function parseConfigDocument(
  text: string,
  checkTotal: TotalCheck,
): { value: ConfigDocument } | { faults: readonly JsonFault[] } {
  const fault = findJsonFault(text, jsonParser);
  const root = jsonParser.parseTree(text);
  if (fault !== undefined || root === undefined) return { faults: fault === undefined ? [] : [fault] };
  const reader = new ConfigDocumentParser(checkTotal);
  const value = reader.parseRoot(root);
  if (reader.faults.length === 0) return { value };
  const inOrder = reader.faults.toSorted((a, b) => a.offset - b.offset);
  return { faults: inOrder.map(({ offset, what }) => ({ ...computeLineColumn(text, offset), what })) };
}

/** A key of an object, its offset in the text, and its value. */
interface DocumentEntry {
  key: string;
  offset: number;
  node: Node;
}

/** Parses a JSON tree. Continues after a fault, so that the author sees all faults at once. */
class ConfigDocumentParser {
  readonly faults: { offset: number; what: string }[] = [];
  readonly #checkTotal: TotalCheck;

  constructor(checkTotal: TotalCheck) {
    this.#checkTotal = checkTotal;
  }

  parseRoot(root: Node): ConfigDocument {
    const fields = this.#collectFields(root, "the document", ["version", "revision", "groups", "resources"]);
    const version = fields.get("version");
    const isOurs = version?.value === DOCUMENT_VERSION;
    if (version !== undefined && !isOurs) this.#addFault(version, `the version must be ${DOCUMENT_VERSION}`);
    const [groups, resources] = [fields.get("groups"), fields.get("resources")];
    if (root.type === "object" && groups === undefined && resources === undefined)
      this.#addFault(root, 'it has neither "groups" nor "resources"');
    return {
      groups: groups && this.#parseGroups(groups),
      resources: resources && this.#parseResources(resources),
    };
  }

  #parseGroups(node: Node): Map<string, readonly string[]> {
    const groups = new Map<string, readonly string[]>();
    for (const entry of this.#collectEntries(node, '"groups"')) {
      this.#checkName("group", entry.key, entry);
      groups.set(entry.key, this.#parseMembers(entry));
    }
    return groups;
  }

  #parseMembers({ key, node }: DocumentEntry): readonly string[] {
    const items = node.type === "array" ? (node.children ?? []) : [node];
    const names = items.flatMap((item) => {
      const name: unknown = item.value;
      if (typeof name === "string") {
        this.#checkName("member", name, item);
        return name;
      }
      this.#addFault(item, `group ${quoteText(key)}: a member must be a host or a group, in quotes`);
      return [];
    });
    return normalizeMembers(names);
  }

  #parseResources(node: Node): Map<string, DocumentedResource> {
    const resources = new Map<string, DocumentedResource>();
    const items = node.type === "array" ? node.children : undefined;
    if (items === undefined)
      this.#addFault(node, '"resources" must be a list of names, or of objects with a name');
    for (const [index, item] of (items ?? []).entries()) {
      const named = this.#parseResource(item, index);
      if (named === undefined) continue;
      const [name, entry] = named;
      if (resources.has(name)) this.#addFault(item, `resource ${quoteText(name)} is listed twice`);
      resources.set(name, entry);
    }
    return resources;
  }

  #parseResource(item: Node, index: number): [string, DocumentedResource] | undefined {
    const alone: unknown = item.value;
    if (typeof alone === "string") {
      this.#checkName("resource", alone, item);
      return [alone, { isWhole: false, config: { order: index + 1 } }];
    }
    const fields = this.#collectFields(item, "a resource", ["name", "total", "order", "note"]);
    const named = fields.get("name");
    const name: unknown = named?.value;
    if (named === undefined || typeof name !== "string") {
      if (item.type === "object") this.#addFault(named ?? item, 'a resource needs a "name", in quotes');
      return undefined;
    }
    this.#checkName("resource", name, named);
    return [name, { isWhole: true, config: this.#parseConfig(name, fields) }];
  }

  #parseConfig(name: string, fields: ReadonlyMap<string, Node>): ResourceConfig {
    const [total, order, note] = ["total", "order", "note"].map((field) => fields.get(field));
    const config = {
      ...(total && { total: this.#parseTotal(name, total) }),
      ...(order && { order: this.#parseOrder(order) }),
      ...(note && { note: this.#parseNote(note) }),
    };
    return normalizeResource(config);
  }

  #parseTotal(name: string, node: Node): string {
    const value: unknown = node.value;
    if (typeof value !== "number" && typeof value !== "string") {
      this.#addFault(node, "a total must be a number, or an expression over macros in quotes");
      return "";
    }
    const fault = this.#checkTotal(name, String(value));
    if (fault !== undefined) this.#addFault(node, `resource ${quoteText(name)}: total ${fault}`);
    return String(value);
  }

  #parseOrder(node: Node): number {
    const value: unknown = node.value;
    if (Number.isSafeInteger(value)) return value as number;
    this.#addFault(node, "an order must be a whole number");
    return 0;
  }

  #parseNote(node: Node): string {
    const value: unknown = node.value;
    if (typeof value === "string" && value.length <= LONGEST_NOTE) return value;
    this.#addFault(node, `a note must be a string of at most ${LONGEST_NOTE} characters`);
    return "";
  }

  /** Collects the fields of an object. Fields other than the known ones are faults. */
  #collectFields(node: Node, what: string, known: readonly string[]): Map<string, Node> {
    const fields = new Map<string, Node>();
    for (const { key, offset, node: value } of this.#collectEntries(node, what)) {
      if (known.includes(key)) fields.set(key, value);
      else this.faults.push({ offset, what: describeUnknownField(key, what, known) });
    }
    return fields;
  }

  /** Collects the entries of an object. A duplicate key is a fault. */
  #collectEntries(node: Node, what: string): readonly DocumentEntry[] {
    if (node.type !== "object") {
      this.#addFault(node, `${what} must be an object, in braces`);
      return [];
    }
    const entries = (node.children ?? []).flatMap(toEntry);
    const seen = new Set<string>();
    for (const { key, offset } of entries) {
      if (seen.has(key)) this.#addFault({ offset }, `${quoteText(key)} is listed twice`);
      seen.add(key);
    }
    return entries;
  }

  #checkName(what: string, name: string, where: { offset: number }): void {
    const fault = findNameFault(name);
    if (fault !== undefined) this.#addFault(where, `${what} ${quoteText(name)} cannot be used: ${fault}`);
  }

  #addFault({ offset }: { offset: number }, what: string): void {
    this.faults.push({ offset, what });
  }
}

/** Converts a property of an object. Its children are the key and the value. */
function toEntry({ children: [key, node] = [] }: Node): DocumentEntry[] {
  return key === undefined || node === undefined ? [] : [{ key: key.value, offset: key.offset, node }];
}

function describeUnknownField(key: string, what: string, known: readonly string[]): string {
  const meant = findNearest(key, known);
  const hint = meant === undefined ? `it may have ${known.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `${what} has no field ${quoteText(key)}; ${hint}`;
}
