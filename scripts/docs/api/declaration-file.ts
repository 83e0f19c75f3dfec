/** A parsed declaration file (`.d.ts`): its declarations, exports and imports. */
import { parseSync } from "@swc/core";
import { findDocstring } from "./docstring.ts";

/** A node of the syntax tree of swc. */
export type SyntaxNode = { type: string; span: { start: number; end: number } } & Record<string, unknown>;

/** A top-level declaration. */
export interface Declaration {
  name: string;
  node: SyntaxNode;
  /** The docstring with its delimiters. */
  comment: string | undefined;
}

/** An export that comes from another file. */
export interface ForwardedExport {
  /** Undefined for `export *`. */
  name: string | undefined;
  source: string;
}

export class DeclarationFile {
  readonly path: string;
  readonly declarations = new Map<string, Declaration>();
  /** Exports in the order of the file. A name that is declared in the file has no source. */
  readonly exports: (string | ForwardedExport)[] = [];
  /** Names that are imported from other files. */
  readonly imports = new Set<string>();
  readonly #bytes: Buffer;
  readonly #base: number;

  /** @param source  text of the file. @throws Error if it does not parse */
  constructor(path: string, source: string) {
    this.path = path;
    const text = `;${source}`; // spans count from the first token, so the first token must be at offset 0
    this.#bytes = Buffer.from(text);
    const ast = parseSync(text, { syntax: "typescript", target: "es2024" }) as unknown as SyntaxNode;
    this.#base = ast.span.start;
    for (const item of ast.body as SyntaxNode[]) this.#addItem(item);
  }

  /** Returns the source text of a node. */
  getText({ span }: SyntaxNode): string {
    return this.#slice(span.start, span.end);
  }

  /** Returns the source text between two nodes, or from the start of the first node to the start of the second. */
  getTextUntil(from: SyntaxNode, to: SyntaxNode): string {
    return this.#slice(from.span.start, to.span.start);
  }

  /** Returns the docstring before a node, with its delimiters. */
  getComment({ span }: SyntaxNode): string | undefined {
    return findDocstring(this.#slice(this.#base, span.start));
  }

  #slice(start: number, end: number): string {
    return this.#bytes.subarray(start - this.#base, end - this.#base).toString();
  }

  #addItem(item: SyntaxNode): void {
    switch (item.type) {
      case "ImportDeclaration":
        for (const { local } of item.specifiers as Record<"local", SyntaxNode>[])
          this.imports.add(String(local.value));
        break;
      case "ExportAllDeclaration":
        this.exports.push({ name: undefined, source: getSource(item) });
        break;
      case "ExportNamedDeclaration":
        for (const { orig } of item.specifiers as Record<"orig", SyntaxNode>[])
          this.exports.push(
            item.source ? { name: String(orig.value), source: getSource(item) } : String(orig.value),
          );
        break;
      case "ExportDeclaration":
        for (const name of this.#declare(item.declaration as SyntaxNode, item)) this.exports.push(name);
        break;
      default:
        this.#declare(item, item);
    }
  }

  #declare(node: SyntaxNode, outer: SyntaxNode): string[] {
    const comment = this.getComment(outer);
    const names = listNames(node);
    for (const name of names) this.declarations.set(name, { name, node, comment });
    return names;
  }
}

function getSource(item: SyntaxNode): string {
  return String((item.source as SyntaxNode).value);
}

function listNames(node: SyntaxNode): string[] {
  const named =
    node.type === "VariableDeclaration"
      ? (node.declarations as Record<"id", SyntaxNode>[]).map(({ id }) => id)
      : [(node.identifier ?? node.id) as SyntaxNode | undefined];
  return named.flatMap((id) => (id === undefined ? [] : [String(id.value)]));
}
