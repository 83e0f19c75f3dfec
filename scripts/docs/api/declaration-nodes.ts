/** Functions that read the syntax trees of declarations. */
import type { DeclarationFile, SyntaxNode } from "./declaration-file.ts";

export type MemberKind = "constructor" | "method" | "property";

/** Lists the names that a class or an interface extends. */
export function listParents(node: SyntaxNode): string[] {
  const { superClass, extends: list = [] } = node as { superClass?: SyntaxNode; extends?: SyntaxNode[] };
  const interfaces = list.map(({ expression }) => expression as SyntaxNode);
  return [...(superClass ? [superClass] : []), ...interfaces].map(({ value }) => String(value));
}

/** Lists the parts of a class or an interface before its members that can refer to types. */
export function listHeadNodes(node: SyntaxNode): SyntaxNode[] {
  const parts = [node.typeParams, node.superTypeParams, node.extends];
  return parts.flatMap((part) => (part as SyntaxNode | SyntaxNode[] | undefined) ?? []);
}

/** Returns where the type parameters end, as an index; 0 without type parameters. They may contain braces. */
export function measureTypeParams(file: DeclarationFile, node: SyntaxNode): number {
  const params = node.typeParams as SyntaxNode | undefined;
  return params ? file.getTextUntil(node, params).length + file.getText(params).length : 0;
}

/** Lists the members of a class or an interface; an empty list for other declarations. */
export function listMemberNodes(node: SyntaxNode): SyntaxNode[] {
  const { body } = node as { body?: SyntaxNode[] | { body: SyntaxNode[] } };
  if (body === undefined || body === null) return [];
  return Array.isArray(body) ? body : body.body;
}

const MEMBER_KINDS: Readonly<Record<string, MemberKind>> = {
  ClassProperty: "property",
  ClassMethod: "method",
  Constructor: "constructor",
  TsPropertySignature: "property",
  TsGetterSignature: "property",
  TsMethodSignature: "method",
};

/** @returns undefined for a private member. @throws Error for a member that cannot be documented */
export function getMemberKind(node: SyntaxNode): MemberKind | undefined {
  const isHidden = node.accessibility === "private" || node.accessibility === "protected";
  if (isHidden || node.type === "PrivateProperty") return undefined;
  const kind = node.kind === "getter" ? "property" : MEMBER_KINDS[node.type];
  if (kind === undefined) throw new Error(`a member of the kind ${node.type} cannot be documented`);
  return kind;
}

/** @returns `[Symbol.asyncDispose]` for a computed name */
export function getMemberName(file: DeclarationFile, { key }: SyntaxNode): string {
  const node = key as SyntaxNode;
  if (node.type === "Computed") return file.getText(node);
  return node.type === "Identifier" ? String(node.value) : `[${file.getText(node)}]`;
}

/** Lists the names of the types that a node refers to. */
export function listTypeNames(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(listTypeNames);
  if (typeof node !== "object" || node === null) return [];
  const { type, typeName, expression } = node as Partial<Record<string, unknown>>;
  const name =
    type === "TsTypeReference" ? typeName : type === "TsExpressionWithTypeArguments" ? expression : undefined;
  const own = (name as SyntaxNode | undefined)?.value;
  return [...(typeof own === "string" ? [own] : []), ...Object.values(node).flatMap(listTypeNames)];
}
