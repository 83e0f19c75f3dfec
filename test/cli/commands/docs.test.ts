/** The pages that are generated from the declarations: docs/commands.md and the manual pages. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { everyKind } from "../../../fixtures/cli/sample-commands.ts";
import { createTestFolder } from "../../../fixtures/test-folder.ts";
import { renderCommandsPage } from "../../../scripts/docs/markdown.ts";
import { renderManualPages } from "../../../scripts/docs/roff.ts";
import { ALL_COMMANDS } from "../../../src/bin/commands.ts";
import { COMMON_FLAGS } from "../../../src/cli/frame/command.ts";
import { renderUsage } from "../../../src/cli/frame/command-line/help.ts";
import { EXIT_CODES } from "../../../src/cli/frame/command-line/help-topics.ts";
import { describeSettings } from "../../../src/core/config/config.ts";

const hostile = {
  ...everyKind,
  brief: "has <b>signs</b> that *mean* something",
  about: [".SH NOT A SECTION", '\'nor this \\fBthat\\fR "quoted" `code <x>` and a|b', "- 1–2 …"],
  examples: [["signalbox every kind 'a\\b' | cat -", ".TP is no request"]] as const,
};

const has = (program: string) => spawnSync("sh", ["-c", `command -v ${program}`]).status === 0;

describe("docs/commands.md", () => {
  const page = renderCommandsPage(ALL_COMMANDS);

  test("has each command, with its usage, flags, arguments and examples, and a link that leads there", () => {
    for (const command of ALL_COMMANDS) {
      const [, section = ""] = page.split(`\n### signalbox ${command.id}\n`);
      const own = section.split("\n### ")[0] ?? "";
      expect(own).toContain(`\n${renderUsage(command)}\n`);
      for (const { name } of command.flags ?? [])
        expect(own).toMatch(new RegExp(`^- \`(-\\w, )?--${name}\\b`, "m"));
      for (const { name } of command.args ?? []) expect(own).toContain(`\n- \`${name}\`: `);
      for (const [name] of command.variables ?? []) expect(own).toContain(`\n- \`${name}\`: `);
      for (const [line, what] of command.examples) expect(own).toContain(`\n# ${what}\n${line}\n`);
      expect(page).toContain(`](#signalbox-${command.id.replaceAll(" ", "-")})`);
    }
    for (const { name } of COMMON_FLAGS) expect(page).toContain(`--${name}`);
  });

  test("has each setting, with a flag only where a command takes it, and each exit code", () => {
    const common = COMMON_FLAGS.map(({ setting }) => setting);
    const taken = new Set([...ALL_COMMANDS.flatMap(({ settings = [] }) => settings), ...common]);
    for (const { key, flag, variables } of describeSettings()) {
      const row = page.split("\n").find((line) => line.startsWith(`| \`${key}\` |`)) ?? "";
      for (const variable of variables) expect(row).toContain(`\`${variable}\``);
      expect(row.includes(`${flag}\``)).toBe(flag !== undefined && taken.has(key));
    }
    for (const [code, meaning] of EXIT_CODES) expect(page).toContain(`| ${code} | ${meaning} |`);
  });

  test("says what it means where Markdown would mean something else", () => {
    const odd = renderCommandsPage([hostile]);
    expect(odd).toContain("Has &lt;b>signs&lt;/b> that \\*mean\\* something.");
    expect(odd).toContain("`code <x>` and a|b");
  });

  test("is checked: stale, it is an error that says what to do; made anew, it is the same each time", () => {
    const file = join(createTestFolder(), "commands.md");
    const docs = (...args: string[]) =>
      spawnSync(process.execPath, [resolve(import.meta.dirname, "../../../scripts/docs.ts"), ...args, file], {
        encoding: "utf8",
      });
    expect(docs("--check")).toMatchObject({ status: 1, stderr: expect.stringContaining("npm run docs") });
    expect(docs()).toMatchObject({ status: 0, stderr: "" });
    expect(readFileSync(file, "utf8")).toBe(page);
    expect(docs("--check").status).toBe(0);
  });
});

describe("the manual pages", () => {
  const pages = renderManualPages([...ALL_COMMANDS, hostile], "1.2.3");
  const page = pages.get("signalbox") ?? "";
  const odd = pages.get("signalbox-every-kind") ?? "";
  const plain = (roff: string) => roff.replaceAll("\\-", "-").replaceAll(/\\f[BR]/g, "");
  const listSections = (roff: string) => roff.match(/(?<=^\.SH ).*/gm);

  test("have the usual sections, in their order", () => {
    expect(listSections(page)).toEqual([
      "NAME",
      "SYNOPSIS",
      "DESCRIPTION",
      "COMMANDS",
      "OPTIONS",
      "SETTINGS",
      "ENVIRONMENT",
      "FILES",
      "EXIT STATUS",
      "EXAMPLES",
      "SEE ALSO",
    ]);
    expect(listSections(odd)).toEqual(["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"]);
    for (const roff of pages.values()) expect(roff.split("\n", 1)[0]).toContain("signalbox 1.2.3");
  });

  test("are one for each command, with each of its flags and variables, and one that names all", () => {
    for (const { id, flags = [], variables = [] } of ALL_COMMANDS) {
      const name = `signalbox-${id.replaceAll(" ", "-")}`;
      const own = plain(pages.get(name) ?? "");
      for (const { name } of flags) expect(own).toMatch(new RegExp(`^\\.TP\n(-\\w, )?--${name}\\b`, "m"));
      for (const [name] of variables) expect(own).toContain(`\n.TP\n${name}\n`);
      expect(plain(page)).toContain(`\n.TP\n${name}\n`);
    }
  });

  test("are ASCII, in lines of 80, and nothing in them is taken for a request or an escape", () => {
    for (const roff of pages.values()) {
      expect(roff).toMatch(/^[\n -~]*$/);
      for (const line of roff.split("\n"))
        expect(line).toMatch(/^(\.(TH|nh|ad|SH|nf|fi|TP|PP|BR)\b|[^.']|$)/);
    }
    expect(odd).toContain("\n\\&.SH NOT A SECTION\n");
    expect(odd).toContain("\\efBthat\\efR");
  });

  /** Writes the pages into a folder that is removed at the end of the test. @returns their paths */
  function writePages() {
    const folder = createTestFolder();
    return [...pages].map(([name, roff]) => {
      const file = join(folder, `${name}.1`);
      writeFileSync(file, roff);
      return file;
    });
  }

  test.skipIf(!has("mandoc"))("mandoc finds no fault in them, but that they have no date", () => {
    const { stdout } = spawnSync("mandoc", ["-Tlint", "-W", "all", ...writePages()], { encoding: "utf8" });
    expect(stdout.split("\n").filter((line) => line !== "" && !line.includes("missing date"))).toEqual([]);
  });

  test.skipIf(!has("groff"))("groff, which man calls for each page, shows every word of them", () => {
    const env = { PATH: process.env.PATH, GROFF_NO_SGR: "1" };
    const words = ["-mandoc", "-Tutf8", "-k", "-rLL=100n", ...writePages()];
    const { stdout, stderr } = spawnSync("groff", words, { env, encoding: "utf8" });
    expect(stderr).toBe("");
    const shown = stdout.replace(/.\x08/g, "").replace(/\s+/g, " ");
    for (const { about = [] } of [...ALL_COMMANDS, { about: hostile.about }])
      for (const paragraph of about)
        expect(shown).toContain(paragraph.replaceAll("`", "").replaceAll("…", "...").replace(/\s+/g, " "));
  });
});
