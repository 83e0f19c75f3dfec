import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CommandIo } from "../cli/frame/command.ts";
import { formatLink } from "./terminal/output-sequences.ts";
import { detectColourDepth } from "./theme/theme.ts";

/** Oldest versions of programs that show links, by `TERM_PROGRAM`. */
const PROGRAMS: Readonly<Record<string, string>> = {
  "iTerm.app": "3.1",
  WezTerm: "20200620",
  WarpTerminal: "",
  ghostty: "",
  tmux: "3.4",
  vscode: "1.72",
  zed: "",
};
const TERMS = /^(?:alacritty|contour|foot|wezterm|xterm-ghostty|xterm-kitty)/;

/** Whether a terminal is known to show links. Others may print the sequence. */
export function canShowLinks(env: CommandIo["env"]): boolean {
  const { FORCE_HYPERLINK = "", TERM = "", TERM_PROGRAM = "", TERM_PROGRAM_VERSION = "" } = env;
  if (FORCE_HYPERLINK !== "") return FORCE_HYPERLINK !== "0";
  if (detectColourDepth(env) === undefined) return false;
  // tmux or screen draws the screen then, and the other variables are those of the terminal around it.
  if ((env.TMUX || env.STY || /^(?:screen|tmux)/.test(TERM)) && TERM_PROGRAM !== "tmux") return false;
  const oldest = PROGRAMS[TERM_PROGRAM];
  if (oldest !== undefined) return TERM_PROGRAM_VERSION.localeCompare(oldest, "en", { numeric: true }) >= 0;
  return TERMS.test(TERM) || env.WT_SESSION !== undefined || Number(env.VTE_VERSION) > 5_000;
}

/** A page of the documentation in a message. It must not be the end of another path, but may follow a colour sequence. */
const PAGE = /(?<=^|[^\w./-]|\[[\d;]*m)docs\/[a-z0-9-]+\.md(?![\w/-])/g;

/** Turns names of files into links (OSC 8) in what is written to the terminal. A link takes as many columns as its name. */
export class FileLinks {
  readonly #folder: string;
  readonly #host: string;
  /** Links by the name of the page. The name itself, if there is no such file. */
  readonly #pages = new Map<string, string>();

  /** @param folder  the one that contains `docs/` @param host  the host of the files: the terminal may be on another one */
  constructor(folder: string, host: string) {
    this.#folder = folder;
    this.#host = host;
  }

  /** @param output  a frame, or changes of one */
  link(output: string): string {
    return output.replace(PAGE, (page) => this.#linkPage(page));
  }

  #linkPage(page: string): string {
    const path = join(this.#folder, page);
    const linked = this.#pages.get(page) ?? (existsSync(path) ? this.#format(page, path) : page);
    this.#pages.set(page, linked);
    return linked;
  }

  /** Formats a link. The path becomes a URL, which has no control characters that could end the sequence. */
  #format(text: string, path: string): string {
    const url = pathToFileURL(path);
    url.hostname = this.#host;
    return formatLink(text, `${url}`);
  }
}
