import type { JsonFault } from "../base/json.ts";
import { type JsonEntry, type JsonNode, jsonTree, placeIn } from "../base/json-tree.ts";
import { nameFault, nearest, quoted } from "../base/text.ts";
import { normalMembers, normalResource } from "./configuration.ts";
import { type ConfigDocument, DOCUMENT_VERSION, type ResourceEntry } from "./document.ts";
import type { ResourceConfig } from "./resources.ts";

/** Says what is wrong with a total, or undefined. */
export type TotalCheck = (resource: string, total: string) => string | undefined;

/** Longest note in characters. */
export const LONGEST_NOTE = 500;

/**
 * A document in JSON: `{"groups": {NAME: HOST or [MEMBER, …]}, "resources": [NAME or {"name", "total", "order", "note"}]}`.
 * @returns all that is wrong with it, in the order of the text
 */
export function parseDocument(
  text: string,
  checkTotal: TotalCheck,
): { value: ConfigDocument } | { faults: readonly JsonFault[] } {
  const tree = jsonTree(text);
  if ("fault" in tree) return { faults: [tree.fault] };
  const reader = new Reader(checkTotal);
  const value = reader.document(tree.root);
  if (reader.faults.length === 0) return { value };
  const inOrder = reader.faults.toSorted((a, b) => a.at - b.at);
  return { faults: inOrder.map(({ at, what }) => ({ ...placeIn(text, at), what })) };
}

/** Reads a tree, and goes on after a fault: whoever wrote it wants to know them all. */
class Reader {
  readonly faults: { at: number; what: string }[] = [];
  readonly #checkTotal: TotalCheck;

  constructor(checkTotal: TotalCheck) {
    this.#checkTotal = checkTotal;
  }

  document(root: JsonNode): ConfigDocument {
    const fields = this.#fields(root, "the document", ["version", "revision", "groups", "resources"]);
    const version = fields.get("version");
    const isOurs = version?.kind === "scalar" && version.value === DOCUMENT_VERSION;
    if (version !== undefined && !isOurs) this.#fault(version, `the version must be ${DOCUMENT_VERSION}`);
    const [groups, resources] = [fields.get("groups"), fields.get("resources")];
    if (root.kind === "object" && groups === undefined && resources === undefined)
      this.#fault(root, 'it has neither "groups" nor "resources"');
    return { groups: groups && this.#groups(groups), resources: resources && this.#resources(resources) };
  }

  #groups(node: JsonNode): Map<string, readonly string[]> {
    const groups = new Map<string, readonly string[]>();
    for (const entry of this.#entries(node, '"groups"')) {
      this.#checkName("group", entry.key, entry);
      groups.set(entry.key, this.#members(entry));
    }
    return groups;
  }

  #members({ key, node }: JsonEntry): readonly string[] {
    const items = node.kind === "list" ? node.items : [node];
    const names = items.flatMap((item) => {
      if (item.kind === "scalar" && typeof item.value === "string") {
        this.#checkName("member", item.value, item);
        return item.value;
      }
      this.#fault(item, `group ${quoted(key)}: a member is a host or a group, in quotes`);
      return [];
    });
    return normalMembers(names);
  }

  #resources(node: JsonNode): Map<string, ResourceEntry> {
    const resources = new Map<string, ResourceEntry>();
    if (node.kind !== "list")
      this.#fault(node, '"resources" must be a list of names, or of objects with a name');
    for (const [index, item] of (node.kind === "list" ? node.items : []).entries()) {
      const named = this.#resource(item, index);
      if (named === undefined) continue;
      const [name, entry] = named;
      if (resources.has(name)) this.#fault(item, `resource ${quoted(name)} stands here for the second time`);
      resources.set(name, entry);
    }
    return resources;
  }

  #resource(item: JsonNode, index: number): [string, ResourceEntry] | undefined {
    if (item.kind === "scalar" && typeof item.value === "string") {
      this.#checkName("resource", item.value, item);
      return [item.value, { isWhole: false, config: { order: index + 1 } }];
    }
    const fields = this.#fields(item, "a resource", ["name", "total", "order", "note"]);
    const name = fields.get("name");
    if (name?.kind !== "scalar" || typeof name.value !== "string") {
      if (item.kind === "object") this.#fault(name ?? item, 'a resource needs a "name", in quotes');
      return undefined;
    }
    this.#checkName("resource", name.value, name);
    return [name.value, { isWhole: true, config: this.#config(name.value, fields) }];
  }

  #config(name: string, fields: ReadonlyMap<string, JsonNode>): ResourceConfig {
    const [total, order, note] = ["total", "order", "note"].map((field) => fields.get(field));
    const config = {
      ...(total && { total: this.#total(name, total) }),
      ...(order && { order: this.#order(order) }),
      ...(note && { note: this.#note(note) }),
    };
    return normalResource(config);
  }

  #total(name: string, node: JsonNode): string {
    const value = node.kind === "scalar" ? node.value : null;
    if (typeof value !== "number" && typeof value !== "string") {
      this.#fault(node, "a total is a number, or an expression over macros in quotes");
      return "";
    }
    const fault = this.#checkTotal(name, String(value));
    if (fault !== undefined) this.#fault(node, `resource ${quoted(name)}: total ${fault}`);
    return String(value);
  }

  #order(node: JsonNode): number {
    const value = node.kind === "scalar" ? node.value : null;
    if (Number.isSafeInteger(value)) return value as number;
    this.#fault(node, "an order is a whole number");
    return 0;
  }

  #note(node: JsonNode): string {
    const value = node.kind === "scalar" ? node.value : null;
    if (typeof value === "string" && value.length <= LONGEST_NOTE) return value;
    this.#fault(node, `a note is a text of ${LONGEST_NOTE} characters at most`);
    return "";
  }

  /** The fields of an object that may have these. */
  #fields(node: JsonNode, what: string, known: readonly string[]): Map<string, JsonNode> {
    const fields = new Map<string, JsonNode>();
    for (const { key, at, node: value } of this.#entries(node, what)) {
      if (known.includes(key)) fields.set(key, value);
      else this.faults.push({ at, what: unknownField(key, what, known) });
    }
    return fields;
  }

  /** The entries of an object; a key that stands twice is a fault. */
  #entries(node: JsonNode, what: string): readonly JsonEntry[] {
    if (node.kind !== "object") {
      this.#fault(node, `${what} must be an object, in braces`);
      return [];
    }
    const seen = new Set<string>();
    for (const { key, at } of node.entries) {
      if (seen.has(key)) this.#fault({ at }, `${quoted(key)} stands here for the second time`);
      seen.add(key);
    }
    return node.entries;
  }

  #checkName(what: string, name: string, where: { at: number }): void {
    const fault = nameFault(name);
    if (fault !== undefined) this.#fault(where, `${what} ${quoted(name)} cannot be used: ${fault}`);
  }

  #fault({ at }: { at: number }, what: string): void {
    this.faults.push({ at, what });
  }
}

function unknownField(key: string, what: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  const hint = meant === undefined ? `it may have ${known.join(", ")}` : `did you mean ${quoted(meant)}?`;
  return `${what} has no field ${quoted(key)}; ${hint}`;
}
