/** The exports of a library, read from its declaration files. */
import { readFileSync } from "node:fs";
import type { Declaration, DeclarationFile, SyntaxNode } from "./declaration-file.ts";
import {
  getMemberKind,
  getMemberName,
  listHeadNodes,
  listMemberNodes,
  listParents,
  listTypeNames,
  type MemberKind,
  measureTypeParams,
} from "./declaration-nodes.ts";
import { type Docstring, parseDocstring } from "./docstring.ts";
import { type Located, ModuleResolver, type ReadDeclarations } from "./module-resolver.ts";

/** A member of a class or an interface. */
export interface ApiMember {
  name: string;
  kind: MemberKind;
  /** For a property, its type; otherwise one line for each overload. */
  signature: string;
  isOptional: boolean;
  doc: Docstring;
}

/** An exported name. */
export interface ApiExport {
  name: string;
  kind: "class" | "function" | "interface" | "type";
  /** Declaration without members: `class ClosedError extends SignalboxError`. */
  signature: string;
  /** Names that it extends. */
  parents: readonly string[];
  doc: Docstring;
  members: readonly ApiMember[];
}

const KINDS: Readonly<Record<string, ApiExport["kind"]>> = {
  ClassDeclaration: "class",
  FunctionDeclaration: "function",
  TsInterfaceDeclaration: "interface",
  TsTypeAliasDeclaration: "type",
};

/**
 * Reads the exports of a library.
 * @param entry  path of the entry's declaration file
 * @returns in the order of the entry
 * @throws Error that lists the exports and members without a docstring, and the types that signatures use but the library does
 *   not export
 */
export function readLibraryApi(
  entry: string,
  read: ReadDeclarations = (path) => readFileSync(path, "utf8"),
): ApiExport[] {
  const located = new ModuleResolver(read).locateExports(entry);
  const faults: string[] = [];
  const exports = [...located.values()].map((one) => new ExportReader(one, located, faults).read());
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return exports;
}

/** Reads one export, and collects its faults. */
class ExportReader {
  readonly #file: DeclarationFile;
  readonly #declaration: Declaration;
  readonly #exported: ReadonlyMap<string, Located>;
  readonly #faults: string[];

  constructor({ file, declaration }: Located, exported: ReadonlyMap<string, Located>, faults: string[]) {
    this.#file = file;
    this.#declaration = declaration;
    this.#exported = exported;
    this.#faults = faults;
  }

  read(): ApiExport {
    const { name, node, comment } = this.#declaration;
    const kind = KINDS[node.type];
    if (kind === undefined) throw new Error(`${name}: a ${node.type} cannot be documented`);
    const members = this.#readMembers();
    const head = [...listHeadNodes(node), ...(kind === "function" || kind === "type" ? [node] : [])];
    this.#checkNames([...listParents(node), ...head.flatMap(listTypeNames)], name);
    return {
      name,
      kind,
      signature: this.#formatDeclaration(kind),
      parents: listParents(node),
      doc: this.#readDoc(name, comment),
      members,
    };
  }

  #formatDeclaration(kind: ApiExport["kind"]): string {
    const { node } = this.#declaration;
    if (kind === "type") return formatType(this.#expandList(node));
    const text = this.#file.getText(node);
    const end = kind === "function" ? text.length : text.indexOf("{", measureTypeParams(this.#file, node));
    return formatType(text.slice(0, end)).replace(/^declare /, "");
  }

  /** Writes `(typeof NAMES)[number]` as the members of the list, because the list itself is not exported. */
  #expandList(node: SyntaxNode): string {
    const text = this.#file.getText(node);
    return text.replace(/\(typeof (\w+)\)\[number\]/, (whole, list) => {
      const [, items] = /: readonly \[(.*?)\]/s.exec(this.#getDeclarationText(list)) ?? [];
      return items === undefined ? whole : items.split(/,\s*/).filter(Boolean).join(" | ");
    });
  }

  #getDeclarationText(name: string): string {
    const declaration = this.#file.declarations.get(name);
    return declaration === undefined ? "" : this.#file.getText(declaration.node);
  }

  #readMembers(): ApiMember[] {
    const members = new Map<string, ApiMember>();
    for (const node of listMemberNodes(this.#declaration.node)) {
      const member = this.#readMember(node);
      if (member === undefined) continue;
      const first = members.get(member.name);
      if (first === undefined) members.set(member.name, member);
      else first.signature += `\n${member.signature}`;
    }
    for (const member of members.values()) this.#checkDoc(member);
    return [...members.values()];
  }

  /** @returns undefined for a member that is not public, and for a constructor without a docstring, which programs do not call */
  #readMember(node: SyntaxNode): ApiMember | undefined {
    const kind = getMemberKind(node);
    const comment = this.#file.getComment(node);
    if (kind === undefined || (kind === "constructor" && comment === undefined)) return undefined;
    const name = getMemberName(this.#file, node);
    this.#checkNames(listTypeNames(node), `${this.#declaration.name}.${name}`);
    const doc = comment === undefined ? this.#inheritDoc(name) : parseDocstring(comment);
    const isOptional = node.optional === true || node.isOptional === true;
    return { name, kind, signature: formatMember(this.#file, node, kind), isOptional, doc };
  }

  /** Reads the docstring of a member, or else of the same member of a parent. */
  #inheritDoc(name: string): Docstring {
    for (const parent of listParents(this.#declaration.node)) {
      const located = this.#exported.get(parent);
      const nodes = located === undefined ? [] : listMemberNodes(located.declaration.node);
      const node = nodes.find((one) => located !== undefined && getMemberName(located.file, one) === name);
      const comment = node && located?.file.getComment(node);
      if (comment !== undefined) return parseDocstring(comment);
      if (located !== undefined) return new ExportReader(located, this.#exported, []).#inheritDoc(name);
    }
    return { text: "", params: [] };
  }

  #checkDoc({ name, doc }: ApiMember): void {
    if (doc.text === "") this.#faults.push(`${this.#declaration.name}.${name} has no docstring`);
  }

  #readDoc(name: string, comment: string | undefined): Docstring {
    const doc = comment === undefined ? { text: "", params: [] } : parseDocstring(comment);
    if (doc.text === "") this.#faults.push(`${name} has no docstring`);
    return doc;
  }

  /** Adds a fault for each type that the file imports or declares, and that the library does not export. */
  #checkNames(names: readonly string[], place: string): void {
    for (const name of new Set(names)) {
      const isOwn = this.#file.imports.has(name) || this.#file.declarations.has(name);
      if (isOwn && !this.#exported.has(name))
        this.#faults.push(`${place} uses ${name}, which the library does not export`);
    }
  }
}

function formatMember(file: DeclarationFile, node: SyntaxNode, kind: MemberKind): string {
  if (kind !== "property") return formatType(file.getText(node));
  const made = node.function as SyntaxNode | undefined; // for a getter
  const type = (node.typeAnnotation ?? made?.returnType) as SyntaxNode | undefined;
  const value = node.value as SyntaxNode | undefined;
  if (type) return formatType(file.getText(type).replace(/^:/, ""));
  return value ? file.getText(value) : "unknown";
}

/** Formats a type or a declaration in one line, without the semicolons at its end and before braces. */
function formatType(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .replace(/; ?\}/g, " }")
    .replace(/;$/, "")
    .replace(/(?<=[=:] )\| /g, "")
    .trim();
}
