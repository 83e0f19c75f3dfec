/** Reads what a model of `spec/` says about itself: its title, its worlds and its rules. */
import { readFile } from "node:fs/promises";
import path from "node:path";

/** A part of the specification: a file in Promela. */
export interface Model {
  name: string;
  file: string;
  /** What it models: the first sentence of the file. */
  title: string;
  /** Definitions for the preprocessor, of worlds that are explored to their end. */
  small: readonly (readonly string[])[];
  large: readonly (readonly string[])[];
  rules: readonly Rule[];
}

/** A rule of the protocol. The model leaves it out if `WITHOUT_<id>` is defined. */
export interface Rule {
  id: string;
  text: string;
  /** Definitions of the world in which its absence is found. */
  world: readonly string[];
  /** The mutants without the rule, or the tests that fail without it. */
  shownBy: readonly string[];
}

const RULE = /^(?<id>[A-Z]+\d+[a-z]?)(?: \((?<world>[^)]+)\))?: (?<text>.+) \[(?<shownBy>[^\]]+)\]$/;

export async function readModel(file: string): Promise<Model> {
  const name = path.basename(file, ".pml");
  const model = parseModel(name, file, await readFile(file, "utf8"));
  if (model.title === "" || model.small.length === 0 || model.rules.length === 0)
    throw new Error(`${file} does not begin with a title, a small world and rules`);
  return model;
}

/** @param text  the file, which begins with a comment: a title, `small:` and `large:` lines, and lines of rules */
export function parseModel(name: string, file: string, text: string): Model {
  const [comment = ""] = text.match(/^\/\*.*?\*\//s) ?? [];
  const lines = comment
    .replaceAll(/\n \* {3,}/g, " ") // a line that is continued
    .split("\n")
    .map((line) => line.replace(/^ \* ?/, ""));
  const listWorlds = (size: string) =>
    lines
      .filter((line) => line.startsWith(`${size}:`))
      .map((line) => splitWords(line.slice(size.length + 1)));
  return {
    name,
    file,
    title: lines[1] ?? "",
    small: listWorlds("small"),
    large: listWorlds("large"),
    rules: lines.flatMap((line) => parseRule(line) ?? []),
  };
}

function parseRule(line: string): Rule | undefined {
  const { id, world = "", text, shownBy } = line.match(RULE)?.groups ?? {};
  if (id === undefined || text === undefined || shownBy === undefined) return undefined;
  return { id, text, world: splitWords(world), shownBy: shownBy.split(", ") };
}

function splitWords(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== "");
}
