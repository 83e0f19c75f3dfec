/** Old words of commands, and the words that do the same today. What follows them on a command line is unchanged. */
const ALIASES: Readonly<Record<string, string>> = {
  "group list": "ls groups",
  "resource list": "ls resources --all",
  "schedule list": "ls schedules",
  "schedule show": "show schedule",
  history: "ls history",
  stats: "ls statistics",
  collisions: "schedule lint --collisions",
  "schedule import json": "apply",
  "schedule diff json": "diff",
  "schedule export": "export --only calendars --only schedules",
  import: "apply",
};

/** The format that old words had without `--format`. */
const DEFAULTS: Readonly<Record<string, readonly string[]>> = { "schedule export": ["--format", "json"] };

/** Commands that begin with an old word. */
const CURRENT: readonly string[] = ["import switchman", "import perfectsched"];

/** Options that old words had: the beginning of a filter, or another option. */
const OLD_OPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "schedule list": { "--tag": "tag:" },
  "schedule import json": { "--source": "--owner=" },
  "schedule diff json": { "--source": "--owner=" },
};

/** Replaces old words at the start of a command line, and options that only they had. */
export function replaceAliases(words: readonly string[]): readonly string[] {
  if (CURRENT.includes(words.slice(0, 2).join(" "))) return words;
  for (const length of [3, 2, 1]) {
    const alias = words.slice(0, length).join(" ");
    if (!Object.hasOwn(ALIASES, alias)) continue;
    const options = replaceOptions(words.slice(length), OLD_OPTIONS[alias] ?? {});
    const rest =
      alias === "import" ? options.map((word) => (word === "--replace" ? "--prune" : word)) : options;
    const hasFormat = rest.some((word) => /^--format(=|$)/.test(word));
    return [...(ALIASES[alias]?.split(" ") ?? []), ...(hasFormat ? [] : (DEFAULTS[alias] ?? [])), ...rest];
  }
  return words;
}

function replaceOptions(words: readonly string[], options: Readonly<Record<string, string>>): string[] {
  const replaced: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const [option = "", value] = (words[at] ?? "").split(/=(.*)/s);
    const prefix = options[option];
    if (prefix === undefined) replaced.push(words[at] ?? "");
    else if (value === undefined) {
      at += 1;
      replaced.push(`${prefix}${words[at] ?? ""}`);
    } else replaced.push(`${prefix}${value}`);
  }
  return replaced;
}
