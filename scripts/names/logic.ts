/** Finds sources with logic of their own, for the script that checks that they have tests. */
import { parseSync } from "@swc/core";

type Node = { type: string; span?: { start: number; end: number } } & Record<string, unknown>;

/** Maximum number of lines of a function that needs no test. */
const SHORT = 10;

const FUNCTIONS = new Set([
  ...["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression", "ClassDeclaration"],
]);
const BRANCHES = new Set([
  ...[
    "IfStatement",
    "ConditionalExpression",
    "SwitchStatement",
    "TryStatement",
    "OptionalChainingExpression",
  ],
  ...["ForStatement", "ForOfStatement", "ForInStatement", "WhileStatement", "DoWhileStatement"],
]);

/** Returns whether the source exports a function or class of more than ten lines that branches or loops. */
export function hasLogic(source: string, isTsx: boolean): boolean {
  const ast = parseSync(source, { syntax: "typescript", tsx: isTsx, target: "es2024" }) as unknown as Node;
  const bytes = Buffer.from(source);
  const base = ast.span?.start ?? 0;
  const countLines = ({ span = { start: base, end: base } }: Node) =>
    bytes.toString("utf8", span.start - base, span.end - base).split("\n").length;
  return listNodes(ast)
    .filter(({ type }) => type === "ExportDeclaration")
    .flatMap(listNodes)
    .some((node) => FUNCTIONS.has(node.type) && countLines(node) > SHORT && hasBranch(node));
}

function hasBranch(node: Node): boolean {
  return listNodes(node).some(({ type }) => BRANCHES.has(type));
}

function listNodes(node: Node): Node[] {
  const inner = Object.values(node).flat();
  return [
    node,
    ...inner
      .filter((value) => typeof value === "object" && value !== null)
      .flatMap((one) => listNodes(one as Node)),
  ];
}
