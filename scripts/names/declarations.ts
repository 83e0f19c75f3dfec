/** Finds the functions and the exported names of a file, for the names script. */
import { parseSync } from "@swc/core";

/** A name in the source. `offset` is in bytes. */
export interface NameInSource {
  name: string;
  offset: number;
}

export interface Declarations {
  /** Functions, methods and function-valued constants. */
  functions: NameInSource[];
  /** All names of parameters, locals and properties, wherever they stand. */
  identifiers: NameInSource[];
  /** Names that are declared and exported here, without re-exports from other files. */
  exports: string[];
  /** Names that are exported under another name: `export { a as b }`. */
  aliases: string[];
}

type Node = { type: string } & Record<string, unknown>;
type Span = { start: number };

/** @param source  TypeScript, or TSX */
export function findDeclarations(source: string, isTsx: boolean): Declarations {
  // Offsets count from an unknown base. A statement in front has the first one, whatever comments the source begins with.
  const ast = parseSync(`;${source.replace(/^#!/, "//")}`, {
    syntax: "typescript",
    tsx: isTsx,
    target: "es2024",
  });
  const found: Declarations = { functions: [], identifiers: [], exports: [], aliases: [] };
  visit(ast as unknown as Node, found, (ast.body[0]?.span.start ?? 0) + 1);
  return found;
}

function visit(node: Node, found: Declarations, base: number): void {
  const add = (identifier: unknown) => addFunction(identifier as Node | undefined, found, base);
  switch (node.type) {
    case "Identifier":
      found.identifiers.push({ name: node.value as string, offset: (node.span as Span).start - base });
      break;
    case "FunctionDeclaration":
      add(node.identifier);
      break;
    case "ClassMethod":
    case "PrivateMethod":
      if (node.kind === "method") add(node.key);
      break;
    case "TsMethodSignature":
    case "MethodProperty":
      add(node.key);
      break;
    case "VariableDeclarator":
      if (isFunction(node.init)) add(node.id);
      break;
    case "ExportDeclaration":
      found.exports.push(...listDeclaredNames(node.declaration as Node));
      break;
    case "ExportSpecifier":
      found.aliases.push(...listAliases(node));
      break;
  }
  for (const value of Object.values(node)) visitValue(value, found, base);
}

function visitValue(value: unknown, found: Declarations, base: number): void {
  if (Array.isArray(value)) for (const one of value) visitValue(one, found, base);
  else if (typeof value === "object" && value !== null) visit(value as Node, found, base);
}

function isFunction(init: unknown): boolean {
  const type = (init as Node | null)?.type;
  return type === "ArrowFunctionExpression" || type === "FunctionExpression";
}

function addFunction(identifier: Node | undefined, found: Declarations, base: number): void {
  const inner = identifier?.type === "PrivateName" ? (identifier.id as Node | undefined) : undefined;
  const name = identifier?.value ?? inner?.value;
  if (identifier === undefined || typeof name !== "string") return; // computed, as [Symbol.asyncDispose] is
  found.functions.push({ name, offset: (identifier.span as Span).start - base });
}

function listAliases({ orig, exported }: Node): string[] {
  const [from, to] = [orig, exported].map((name) => (name as Node | null)?.value);
  return typeof to === "string" && to !== from ? [to] : [];
}

/** Lists the names that a declaration such as `const { a, b: c } = …` binds. */
function listBoundNames(id: Node): string[] {
  if (id.type !== "ObjectPattern") return [id.value as string];
  return (id.properties as Node[]).map(({ key, value }) => ((value ?? key) as Node).value as string);
}

function listDeclaredNames(declaration: Node): string[] {
  if (declaration.type === "VariableDeclaration")
    return (declaration.declarations as Node[]).flatMap(({ id }) => listBoundNames(id as Node));
  const { value } = (declaration.identifier ?? declaration.id) as Node;
  return [value as string];
}
