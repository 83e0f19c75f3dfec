/** Each command of signalbox in the shell examples of README.md and docs/ is one that signalbox understands. */
import { globSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { ALL_COMMANDS } from "../../../src/bin/commands.ts";
import { parseCall } from "../../../src/cli/frame/command-line/parse-call.ts";
import { moveLeadingOptions } from "../../../src/cli/syntax/leading-options.ts";
import { parseShellCommands } from "../../../src/cli/syntax/shell-parser.ts";

const ROOT = resolve(import.meta.dirname, "../../..");

/** Lists the words of each call of signalbox in the shell blocks of a page. The text of here-documents is no command. */
function listCalls(page: string) {
  const text = readFileSync(join(ROOT, page), "utf8");
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
  return blocks.flatMap((block) => {
    const parsed = parseShellCommands(
      block.replaceAll(/<<-?\s*'?(\w+)'?(.*\n)(?:.|\n)*?^\s*\1$/gm, "$2"),
      new Map(),
    );
    const commands = "value" in parsed ? parsed.value : [];
    return commands.flatMap(({ words }) => (words[0] === "signalbox" ? [words.slice(1)] : []));
  });
}

const PAGES = ["README.md", ...globSync("docs/**/*.md", { cwd: ROOT })].filter(
  (page) => !page.includes("decisions/"),
);

test.each(PAGES.map((page) => ({ page, calls: listCalls(page) })).filter(({ calls }) => calls.length > 0))(
  "$page",
  ({ calls }) => {
    for (const given of calls) {
      const words = moveLeadingOptions(given, []);
      const spec = ALL_COMMANDS.find(({ id }) => id === words.slice(0, id.split(" ").length).join(" "));
      expect(spec, given.join(" ")).toBeDefined();
      if (spec === undefined) continue;
      expect(() => parseCall(spec, words.slice(spec.id.split(" ").length)), given.join(" ")).not.toThrow();
    }
  },
);
