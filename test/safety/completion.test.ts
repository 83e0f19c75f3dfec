/** Completions in real shells, against a real etcd. */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUNDLE, signalbox } from "../../fixtures/signalbox.ts";
import { ticketText } from "../../src/protocol/ticket.ts";
import { ticketWith } from "../protocol/samples.ts";
import { type Stage, Theatre } from "./support/theatre.ts";

const theatre = new Theatre();
const folder = mkdtempSync(join(tmpdir(), "signalbox-completion-"));
const has = (shell: string) => spawnSync("sh", ["-c", `command -v ${shell}`]).status === 0;

beforeAll(() => {
  // The program as it is installed, on the Node that runs the tests.
  writeFileSync(join(folder, "signalbox"), `#!/bin/sh\nexec '${process.execPath}' '${BUNDLE}' "$@"\n`);
  chmodSync(join(folder, "signalbox"), 0o755);
  symlinkSync(process.execPath, join(folder, "node"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function furnished(...names: string[]): Promise<Stage> {
  const stage = await theatre.stage("http");
  const ticket = ticketWith({ state: "held" });
  const puts = names.map((name) => ({
    op: "put" as const,
    key: stage.keys.lock(name, ticket.run),
    value: ticketText(ticket),
  }));
  await stage.store.txn({ compare: [], success: puts, failure: [] });
  return stage;
}

/** What a shell offers for a line with the cursor at its end. */
function offered(
  shell: string,
  line: string,
  env: Record<string, string>,
): { words: string[]; stderr: string } {
  const scripts: Record<string, string> = {
    bash: `source <(signalbox completion bash); COMP_LINE=${quoted(line)}; COMP_POINT=\${#COMP_LINE}; compopt() { :; }
      _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`,
    fish: `signalbox completion fish | source; complete -C ${quoted(line)}`,
  };
  const result = spawnSync(shell, ["-c", scripts[shell] ?? ""], {
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: "xterm", ...env },
    encoding: "utf8",
    cwd: folder,
    timeout: 20_000,
  });
  return { words: result.stdout.split("\n").filter(Boolean), stderr: result.stderr };
}

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const envOf = (stage: Stage) => ({
  SIGNALBOX_ENDPOINTS: stage.etcd.clientUrl,
  SIGNALBOX_PREFIX: stage.keys.prefix,
});

describe.each(["bash", "fish"].map((shell) => ({ shell, isThere: has(shell) })))(
  "in $shell",
  ({ shell, isThere }) => {
    it.skipIf(!isThere)("commands, flags and names in etcd are completed", async () => {
      const stage = await furnished("invoices", "inner", "mail");
      const words = (line: string) => offered(shell, line, envOf(stage)).words;
      expect(words("signalbox rel")).toEqual(["release"]);
      expect(words("signalbox reset lock in")).toEqual(["inner", "invoices"]);
      expect(words("signalbox ls --wat")).toEqual(["--watch"]);
      expect(words("signalbox group ").sort()).toEqual(expect.arrayContaining(["list", "set"]));
    });

    it.skipIf(!isThere)("a name that is a command to a shell runs nothing", async () => {
      const evil = "$(touch pwned)`touch pwned`;touch pwned";
      const stage = await furnished(evil);
      const { words } = offered(shell, "signalbox reset lock ", envOf(stage));
      expect(words.join("")).toContain("touch");
      expect(has(join(folder, "pwned"))).toBe(false);
      expect(spawnSync("ls", [folder], { encoding: "utf8" }).stdout).not.toContain("pwned");
    });
  },
);

describe.skipIf(!has("zsh"))("in zsh", () => {
  it("the script is one, and loads", () => {
    const check =
      "autoload -Uz compinit && compinit -u && source <(signalbox completion zsh) && print $_comps[signalbox]";
    const env = { PATH: `${folder}:${process.env.PATH}`, HOME: folder, TERM: "xterm" };
    const { stdout, stderr } = spawnSync("zsh", ["-fc", check], { env, encoding: "utf8" });
    expect({ stdout, stderr }).toEqual({ stdout: "_signalbox\n", stderr: "" });
  });
});

describe("somebody who types", () => {
  let mute: Server;
  let endpoint = "";
  beforeAll(async () => {
    mute = createServer(() => {}); // takes connections, and never says a word
    await new Promise<void>((ready) => mute.listen(0, "127.0.0.1", ready));
    endpoint = `http://127.0.0.1:${(mute.address() as { port: number }).port}`;
  });
  afterAll(() => mute.close());

  it("does not wait for an etcd that is mute or away, nor reads about it", async () => {
    for (const endpoints of [[endpoint], ["http://127.0.0.1:1"]]) {
      const started = performance.now();
      const end = await signalbox(["__complete", "--", "reset", "lock", ""], { endpoints }).ended;
      expect(end).toMatchObject({ code: 0, stdout: "", stderr: "" });
      // Far beyond the 300 ms that are meant, on a machine that does much else; a connection would take 10 s to give up.
      expect(performance.now() - started).toBeLessThan(5_000);
    }
  });

  it("gets names from where the line says", async () => {
    const stage = await furnished("invoices");
    const words = ["reset", "--endpoints", stage.etcd.clientUrl, `--prefix=${stage.keys.prefix}`, "lock", ""];
    expect(await signalbox(["__complete", "--", ...words]).ended).toMatchObject({
      code: 0,
      stdout: "invoices\n",
    });
  });

  it("is not told about mistakes", async () => {
    const env = { SIGNALBOX_TTL: "nonsense" };
    for (const words of [["reset", "lock", ""], ["ls", "--endpoints", "///", ""], []])
      expect(await signalbox(["__complete", "--", ...words], { env }).ended).toMatchObject({
        code: 0,
        stderr: "",
      });
  });
});
