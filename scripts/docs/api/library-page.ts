/** Generates docs/library-api.md from the types and docstrings of the library. */
import { escapeMarkdown, renderMarkdownTable } from "../markdown.ts";
import type { Docstring } from "./docstring.ts";
import type { ApiExport, ApiMember } from "./library-api.ts";

const INTRODUCTION = `# Library reference

Made from the types that \`src/library/index.ts\` exports by \`npm run docs\`; changes go into their docstrings.
[library.md](library.md) explains how to use the library.

Properties of objects that the library returns are read-only. A name with \`?\` is optional.
`;

type LinkNames = (text: string) => string;

/** @param exports  in any order; the page has them in groups, by name */
export function renderLibraryPage(exports: readonly ApiExport[]): string {
  const link = createNameLinker(exports.map(({ name }) => name));
  const sections = groupExports(exports).filter(([, group]) => group.length > 0);
  const contents = sections.map(([title, group]) => [
    title,
    group.map(({ name }) => renderLink(name)).join(" · "),
  ]);
  return [
    INTRODUCTION,
    ...renderMarkdownTable(["", "names"], contents),
    ...sections.flatMap(([title, group]) => [
      `## ${title}`,
      "",
      ...group.flatMap((one) => renderExport(one, exports, link)),
    ]),
  ].join("\n");
}

/** Errors are the classes that extend `Error`, possibly through others. */
function groupExports(exports: readonly ApiExport[]): [title: string, exports: ApiExport[]][] {
  const byName = new Map(exports.map((one) => [one.name, one]));
  const isError = ({ parents }: ApiExport): boolean =>
    parents.some((name) => {
      const parent = byName.get(name);
      return name === "Error" || (parent !== undefined && isError(parent));
    });
  const sorted = exports.toSorted((a, b) => a.name.localeCompare(b.name, "en"));
  const selectKinds = (...kinds: ApiExport["kind"][]) =>
    sorted.filter((one) => kinds.includes(one.kind) && !isError(one));
  return [
    ["Functions and classes", selectKinds("function", "class")],
    ["Interfaces", selectKinds("interface")],
    ["Types", selectKinds("type")],
    ["Errors", sorted.filter(isError)],
  ];
}

function renderLink(name: string, shown = name): string {
  return `[${shown}](#${name.toLowerCase()})`;
}

/** Links exported names in text. Names that are also English words (`Task`) stay as they are. */
function createNameLinker(names: readonly string[]): LinkNames {
  const linked = new Set(names.filter((name) => /[a-z][A-Z]/.test(name)));
  const linkPart = (part: string) =>
    part.replace(/\b[A-Z]\w+/g, (word) => (linked.has(word) ? renderLink(word) : word));
  return (text) =>
    text
      .split("`")
      .map((part, index) => (index % 2 === 1 ? part : linkPart(part)))
      .join("`");
}

function renderExport(one: ApiExport, exports: readonly ApiExport[], link: LinkNames): string[] {
  const { name, doc, members } = one;
  const properties = members.filter(({ kind }) => kind === "property");
  const calls = members.filter(({ kind }) => kind !== "property");
  return [
    `### ${name}`,
    "",
    ...renderHead(one, exports),
    ...renderDoc(doc, link),
    ...renderProperties(properties, exports, link),
    ...calls.flatMap((call) => renderCall(name, call, link)),
  ];
}

/** A class or an interface without type parameters needs no code: its name is in the heading. */
function renderHead({ kind, signature, parents }: ApiExport, exports: readonly ApiExport[]): string[] {
  if (kind === "function" || kind === "type" || signature.includes("<")) return renderCode(signature);
  const links = parents.map((name) => (hasExport(exports, name) ? renderLink(name) : `\`${name}\``));
  return links.length === 0 ? [] : [`Extends ${links.join(", ")}.`, ""];
}

function hasExport(exports: readonly ApiExport[], name: string): boolean {
  return exports.some((one) => one.name === name);
}

function renderCode(code: string): string[] {
  return ["```ts", code, "```", ""];
}

function renderDoc({ text, params, returns, throws }: Docstring, link: LinkNames): string[] {
  const rows = [
    ...params.map(([name, meaning]) => `- \`${name}\`: ${link(escapeMarkdown(meaning))}`),
    ...(returns === undefined ? [] : [`- returns: ${link(escapeMarkdown(returns))}`]),
    ...(throws === undefined ? [] : [`- throws: ${link(escapeMarkdown(throws))}`]),
  ];
  return [
    ...(text === "" ? [] : [link(escapeMarkdown(text)), ""]),
    ...(rows.length === 0 ? [] : [...rows, ""]),
  ];
}

function renderProperties(
  properties: readonly ApiMember[],
  exports: readonly ApiExport[],
  link: LinkNames,
): string[] {
  if (properties.length === 0) return [];
  const rows = properties.map(({ name, isOptional, signature, doc }) => [
    `\`${name}${isOptional ? "?" : ""}\``,
    hasExport(exports, signature) ? renderLink(signature, `\`${signature}\``) : `\`${signature}\``,
    link(doc.text),
  ]);
  return renderMarkdownTable(["property", "type", "meaning"], rows);
}

function renderCall(owner: string, { name, kind, signature, doc }: ApiMember, link: LinkNames): string[] {
  const title = kind === "constructor" ? `new ${owner}` : `${owner}${name.startsWith("[") ? "" : "."}${name}`;
  const code = kind === "constructor" ? signature.replace(/^constructor/, `new ${owner}`) : signature;
  return [`#### ${title}`, "", ...renderCode(code), ...renderDoc(doc, link)];
}
