/** Interactive sessions of real shells in a terminal, for tests of completion. */

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUNDLE, NO_STATE } from "../../../fixtures/signalbox.ts";
import { waitUntil } from "../../../fixtures/wait-until.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** What makes each shell complete, and ring no bell and ask nothing. */
const START: Record<Shell, { file: string; text: string; command(file: string): string }> = {
  bash: {
    file: "rc.bash",
    text: "PS1='ready> '; bind 'set bell-style none'; source <(signalbox completion bash)",
    command: (file) => `exec bash --noprofile --rcfile '${file}' -i`,
  },
  zsh: {
    file: ".zshrc",
    text: "PS1='ready> '; LISTMAX=10000; autoload -Uz compinit; compinit -u -D; source <(signalbox completion zsh)",
    command: (file) => `ZDOTDIR='${join(file, "..")}' exec zsh -d -i`,
  },
  fish: {
    file: "rc.fish",
    text: "function fish_prompt; echo 'ready> '; end; signalbox completion fish | source",
    command: (file) => `exec fish --no-config -i -C 'source ${file}'`,
  },
};

export function isInstalled(shell: string): boolean {
  return spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;
}

/** A place to type at: `signalbox` is on the PATH there, and only notes what it was called with. */
export class ShellSession {
  readonly folder = mkdtempSync(join(tmpdir(), "signalbox-shell-"));
  readonly #notes = join(this.folder, "notes");
  readonly #env: Record<string, string>;

  /** @param env  settings for completions */
  constructor(env: Record<string, string>) {
    const bin = join(this.folder, "bin");
    mkdirSync(join(this.folder, "home"));
    mkdirSync(bin);
    appendFileSync(this.#notes, "");
    this.#env = {
      HOME: join(this.folder, "home"),
      TERM: "xterm",
      LC_ALL: "C.UTF-8",
      NOTES: this.#notes,
      PATH: `${bin}:${process.env.PATH}`,
      SIGNALBOX_COMPLETION_TIMEOUT: "20s",
      XDG_STATE_HOME: NO_STATE,
      ...env,
    };
    const program = `#!/bin/sh
case $1 in
  completion|__complete) exec '${process.execPath}' '${BUNDLE}' "$@" ;;
  *) { printf '%s\\037' "$@"; printf '\\036'; } >> "$NOTES" ;;
esac
`;
    writeFileSync(join(bin, "signalbox"), program);
    chmodSync(join(bin, "signalbox"), 0o755);
  }

  get home(): string {
    return this.#env.HOME ?? "";
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Types lines, each with tabulators in it, and sends them off. @returns what signalbox was called with, a line each */
  async type(shell: Shell, lines: readonly string[]): Promise<string[][]> {
    const before = this.#called().length;
    const { file, text, command } = START[shell];
    writeFileSync(join(this.folder, file), `${text}\n`);
    const child = spawn("script", ["-qec", command(join(this.folder, file)), "/dev/null"], {
      env: this.#env,
      cwd: this.home,
      stdio: ["pipe", "pipe", "inherit"],
    });
    try {
      await this.#dialogue(child, lines, before);
    } finally {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
    }
    return this.#called().slice(before);
  }

  async #dialogue(child: ChildProcess, lines: readonly string[], before: number): Promise<void> {
    let shown = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      shown += text;
    });
    const tell = () => shown;
    await waitUntil("the shell to be ready", () => shown.includes("ready> "), { describe: tell });
    for (const [index, line] of lines.entries()) {
      child.stdin?.write(`${line}\r`);
      await waitUntil(`an answer to ${line}`, () => this.#called().length > before + index, {
        describe: tell,
      });
    }
  }

  #called(): string[][] {
    const calls = readFileSync(this.#notes, "utf8").split("\x1e").slice(0, -1);
    return calls.map((call) => call.split("\x1f").slice(0, -1));
  }
}
