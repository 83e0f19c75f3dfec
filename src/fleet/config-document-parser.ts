import type { JsonFault } from "../base/json.ts";
import { computeLineColumn, type JsonEntry, type JsonNode, parseJsonTree } from "../base/json-tree.ts";
import { findNameFault, findNearest, quoteText } from "../base/text.ts";
import { type ConfigDocument, DOCUMENT_VERSION, type DocumentedResource } from "./config-document.ts";
import { normalizeMembers, normalizeResource } from "./configuration.ts";
import type { ResourceConfig } from "./resources.ts";

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
  const tree = parseJsonTree(text);
  if ("fault" in tree) return { faults: [tree.fault] };
  const reader = new ConfigDocumentParser(checkTotal);
  const value = reader.parseRoot(tree.root);
  if (reader.faults.length === 0) return { value };
  const inOrder = reader.faults.toSorted((a, b) => a.at - b.at);
  return { faults: inOrder.map(({ at, what }) => ({ ...computeLineColumn(text, at), what })) };
}

/** Parses a JSON tree. Continues after a fault, so that the author sees all faults at once. */
class ConfigDocumentParser {
  readonly faults: { at: number; what: string }[] = [];
  readonly #checkTotal: TotalCheck;

  constructor(checkTotal: TotalCheck) {
    this.#checkTotal = checkTotal;
  }

  parseRoot(root: JsonNode): ConfigDocument {
    const fields = this.#collectFields(root, "the document", ["version", "revision", "groups", "resources"]);
    const version = fields.get("version");
    const isOurs = version?.kind === "scalar" && version.value === DOCUMENT_VERSION;
    if (version !== undefined && !isOurs) this.#addFault(version, `the version must be ${DOCUMENT_VERSION}`);
    const [groups, resources] = [fields.get("groups"), fields.get("resources")];
    if (root.kind === "object" && groups === undefined && resources === undefined)
      this.#addFault(root, 'it has neither "groups" nor "resources"');
    return {
      groups: groups && this.#parseGroups(groups),
      resources: resources && this.#parseResources(resources),
    };
  }

  #parseGroups(node: JsonNode): Map<string, readonly string[]> {
    const groups = new Map<string, readonly string[]>();
    for (const entry of this.#collectEntries(node, '"groups"')) {
      this.#checkName("group", entry.key, entry);
      groups.set(entry.key, this.#parseMembers(entry));
    }
    return groups;
  }

  #parseMembers({ key, node }: JsonEntry): readonly string[] {
    const items = node.kind === "list" ? node.items : [node];
    const names = items.flatMap((item) => {
      if (item.kind === "scalar" && typeof item.value === "string") {
        this.#checkName("member", item.value, item);
        return item.value;
      }
      this.#addFault(item, `group ${quoteText(key)}: a member must be a host or a group, in quotes`);
      return [];
    });
    return normalizeMembers(names);
  }

  #parseResources(node: JsonNode): Map<string, DocumentedResource> {
    const resources = new Map<string, DocumentedResource>();
    if (node.kind !== "list")
      this.#addFault(node, '"resources" must be a list of names, or of objects with a name');
    for (const [index, item] of (node.kind === "list" ? node.items : []).entries()) {
      const named = this.#parseResource(item, index);
      if (named === undefined) continue;
      const [name, entry] = named;
      if (resources.has(name)) this.#addFault(item, `resource ${quoteText(name)} is listed twice`);
      resources.set(name, entry);
    }
    return resources;
  }

  #parseResource(item: JsonNode, index: number): [string, DocumentedResource] | undefined {
    if (item.kind === "scalar" && typeof item.value === "string") {
      this.#checkName("resource", item.value, item);
      return [item.value, { isWhole: false, config: { order: index + 1 } }];
    }
    const fields = this.#collectFields(item, "a resource", ["name", "total", "order", "note"]);
    const name = fields.get("name");
    if (name?.kind !== "scalar" || typeof name.value !== "string") {
      if (item.kind === "object") this.#addFault(name ?? item, 'a resource needs a "name", in quotes');
      return undefined;
    }
    this.#checkName("resource", name.value, name);
    return [name.value, { isWhole: true, config: this.#parseConfig(name.value, fields) }];
  }

  #parseConfig(name: string, fields: ReadonlyMap<string, JsonNode>): ResourceConfig {
    const [total, order, note] = ["total", "order", "note"].map((field) => fields.get(field));
    const config = {
      ...(total && { total: this.#parseTotal(name, total) }),
      ...(order && { order: this.#parseOrder(order) }),
      ...(note && { note: this.#parseNote(note) }),
    };
    return normalizeResource(config);
  }

  #parseTotal(name: string, node: JsonNode): string {
    const value = node.kind === "scalar" ? node.value : null;
    if (typeof value !== "number" && typeof value !== "string") {
      this.#addFault(node, "a total must be a number, or an expression over macros in quotes");
      return "";
    }
    const fault = this.#checkTotal(name, String(value));
    if (fault !== undefined) this.#addFault(node, `resource ${quoteText(name)}: total ${fault}`);
    return String(value);
  }

  #parseOrder(node: JsonNode): number {
    const value = node.kind === "scalar" ? node.value : null;
    if (Number.isSafeInteger(value)) return value as number;
    this.#addFault(node, "an order must be a whole number");
    return 0;
  }

  #parseNote(node: JsonNode): string {
    const value = node.kind === "scalar" ? node.value : null;
    if (typeof value === "string" && value.length <= LONGEST_NOTE) return value;
    this.#addFault(node, `a note must be a string of at most ${LONGEST_NOTE} characters`);
    return "";
  }

  /** Collects the fields of an object. Fields other than the known ones are faults. */
  #collectFields(node: JsonNode, what: string, known: readonly string[]): Map<string, JsonNode> {
    const fields = new Map<string, JsonNode>();
    for (const { key, at, node: value } of this.#collectEntries(node, what)) {
      if (known.includes(key)) fields.set(key, value);
      else this.faults.push({ at, what: describeUnknownField(key, what, known) });
    }
    return fields;
  }

  /** Collects the entries of an object. A duplicate key is a fault. */
  #collectEntries(node: JsonNode, what: string): readonly JsonEntry[] {
    if (node.kind !== "object") {
      this.#addFault(node, `${what} must be an object, in braces`);
      return [];
    }
    const seen = new Set<string>();
    for (const { key, at } of node.entries) {
      if (seen.has(key)) this.#addFault({ at }, `${quoteText(key)} is listed twice`);
      seen.add(key);
    }
    return node.entries;
  }

  #checkName(what: string, name: string, where: { at: number }): void {
    const fault = findNameFault(name);
    if (fault !== undefined) this.#addFault(where, `${what} ${quoteText(name)} cannot be used: ${fault}`);
  }

  #addFault({ at }: { at: number }, what: string): void {
    this.faults.push({ at, what });
  }
}

function describeUnknownField(key: string, what: string, known: readonly string[]): string {
  const meant = findNearest(key, known);
  const hint = meant === undefined ? `it may have ${known.join(", ")}` : `did you mean ${quoteText(meant)}?`;
  return `${what} has no field ${quoteText(key)}; ${hint}`;
}
