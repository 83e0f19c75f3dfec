/** Links of OSC 8 to files of this host. In a real terminal: test/safety/console/modern-terminal.long.test.ts. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createTestFolder } from "../../fixtures/test-folder.ts";
import { findPage } from "../../src/cli/views/problems.ts";
import { canShowLinks, FileLinks } from "../../src/console/file-links.ts";
import { PROBLEM_KINDS } from "../../src/site/state/problem.ts";

describe("a terminal", () => {
  const colours = { TERM: "xterm-256color" };

  it.each([
    [{ ...colours, VTE_VERSION: "7006" }],
    [{ ...colours, TERM_PROGRAM: "WezTerm", TERM_PROGRAM_VERSION: "20240203-110809-5046fc22" }],
    [{ ...colours, TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.10.1" }],
    [{ ...colours, TERM_PROGRAM: "ghostty", TERM_PROGRAM_VERSION: "1.1.0" }],
    [{ TERM: "xterm-kitty" }],
    [{ TERM: "foot" }],
    [{ TERM: "tmux-256color", TMUX: "x", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4" }],
    [{ TERM: "dumb", FORCE_HYPERLINK: "1" }],
  ])("with %j shows links", (env) => {
    expect(canShowLinks(env)).toBe(true);
  });

  it.each([
    [{}],
    [colours],
    [{ TERM: "dumb", VTE_VERSION: "7006" }],
    [{ ...colours, VTE_VERSION: "5000" }],
    [{ ...colours, VTE_VERSION: "7006", NO_COLOR: "1" }],
    [{ ...colours, VTE_VERSION: "7006", FORCE_HYPERLINK: "0" }],
    [{ ...colours, TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.0.15" }],
    [
      {
        TERM: "tmux-256color",
        TMUX: "x",
        TERM_PROGRAM: "tmux",
        TERM_PROGRAM_VERSION: "3.3a",
        VTE_VERSION: "7006",
      },
    ],
    [{ TERM: "screen-256color", STY: "x", VTE_VERSION: "7006" }],
    [{ TERM: "screen", VTE_VERSION: "7006" }],
  ])("with %j gets none", (env) => {
    expect(canShowLinks(env)).toBe(false);
  });
});

it("every page about a problem is there", () => {
  const ofDoctor = ["agent", "crontab", "etcd", "output", "permissions"];
  const pages = [...PROBLEM_KINDS, ...ofDoctor].flatMap((kind) => findPage(kind) ?? []);
  expect(new Set(pages).size).toBe(10);
  for (const page of pages) expect(existsSync(join(import.meta.dirname, "../..", page)), page).toBe(true);
});

describe("a link", () => {
  const folder = join(createTestFolder(afterAll), "a b;\x1b]52;c;YQ==\x07");
  mkdirSync(join(folder, "docs"), { recursive: true });
  writeFileSync(join(folder, "docs/etcd.md"), "");
  const links = new FileLinks(folder, "web1");
  const link = "\x1b]8;;file://web1";

  it("leads to a page that is there, at its host; nothing in the path ends it", () => {
    const linked = links.link("\x1b[38;5;1mdocs/etcd.md\x1b[39m, see docs/etcd.md.");
    expect(linked.split(link)).toHaveLength(3);
    expect(linked.replaceAll(/\x1b\]8;;[!-~]*\x1b\\/g, "")).toBe(
      "\x1b[38;5;1mdocs/etcd.md\x1b[39m, see docs/etcd.md.",
    );
  });

  it.each(["docs/none.md", "/tmp/docs/etcd.md", "docs/../etcd.md", "docs/etcd.md/x", "mydocs/etcd.md"])(
    "is not made of %s",
    (text) => {
      expect(links.link(text)).toBe(text);
    },
  );
});
