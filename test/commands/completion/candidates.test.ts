/** Candidates at the cursor. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ALL_COMMANDS } from "../../../src/bin/commands.ts";
import {
  type CompletionOffer,
  findCandidates,
  type NameQuery,
} from "../../../src/commands/completion/candidates.ts";
import { SCRIPTS } from "../../../src/commands/completion/completion.impl.ts";

/** Answers with what it was asked for, so that it can be read. */
const lookup = async ({ kinds, prefix, scope, queue }: NameQuery) => {
  const within = kinds.includes("drain") ? `@${scope}` : kinds.includes("run") ? `@${queue?.name}` : "";
  return kinds.map((kind) => `${prefix}${kind}${within}`);
};
const offered = async (...words: string[]) => await findCandidates(ALL_COMMANDS, words, lookup);
const at = async (...words: string[]) => wordsOf(await offered(...words));

function wordsOf(offer: CompletionOffer): readonly string[] {
  return offer.kind === "words" ? offer.words : [`(${offer.kind})`];
}

describe("what is offered", () => {
  it.each([
    { words: ["re"], has: ["reset", "release", "resource"], lacks: ["run"] },
    { words: ["-"], has: ["--help", "--version"], lacks: ["run"] },
    { words: ["group", ""], has: ["set", "add"], lacks: ["run", "help"] },
    { words: ["help", ""], has: ["run", "group", "all", "connection", "exit-codes"], lacks: ["help"] },
    { words: ["help", "group", ""], has: ["set"], lacks: ["run", "crontab", "exit-codes"] },
    { words: ["ls", ""], has: ["locks", "problems"], lacks: [] },
    { words: ["ls", "lo"], has: ["locks"], lacks: ["problems"] },
    { words: ["ls", "--"], has: ["--json", "--watch", "--endpoints", "--help"], lacks: ["--force"] },
    { words: ["ls", "--json", "--"], has: ["--watch"], lacks: ["--json"] },
    { words: ["reset", "-ny", "--"], has: ["--force"], lacks: ["--yes", "--dry-run"] },
    { words: ["run", "--lease", "a=1", "--le"], has: ["--lease"], lacks: [] },
    { words: ["ls", "--output", "c"], has: ["csv"], lacks: ["markdown"] },
    { words: ["ls", "--transport", ""], has: ["auto", "http", "grpc"], lacks: [] },
    { words: ["ls", "--transport=g"], has: ["--transport=grpc"], lacks: ["grpc"] },
    { words: ["ls", "--connect-timeout", ""], has: [], lacks: ["--json"] },
    { words: ["nothing", ""], has: [], lacks: ["run"] },
    { words: ["switchman", "--"], has: ["--lockname", "--help"], lacks: ["--quiet"] },
    { words: ["perfectsched", ""], has: ["list", "add"], lacks: [] },
  ])("behind $words: $has", async ({ words, has, lacks }) => {
    const found = await at(...words);
    expect(found).toEqual(expect.arrayContaining(has));
    for (const word of lacks) expect(found).not.toContain(word);
  });

  it.each([
    { words: ["reset", ""], offer: ["lock", "resource"] },
    { words: ["reset", "lock", "in"], offer: ["inlock"] },
    { words: ["reset", "resource", "d"], offer: ["dresource"] },
    { words: ["reset", "--yes", "lock", ""], offer: ["lock"] },
    { words: ["reset", "--reason", "why not", "lock", ""], offer: ["lock"] },
    { words: ["reset", "--reason=lock", "resource", ""], offer: ["resource"] },
    { words: ["reset", "--run", ""], offer: ["run@undefined"] },
    { words: ["reset", "lock", "x", "--run", ""], offer: ["run@x"] },
    { words: ["reset", "lock", "x", "--run=a"], offer: ["--run=arun@x"] },
    { words: ["reset", "lock", "x", ""], offer: [] },
    { words: ["show", "host", "w"], offer: ["whost"] },
    { words: ["why", ""], offer: ["lock", "resource", "schedule"] },
    { words: ["drain", "host", "w"], offer: ["whost"] },
    { words: ["drain", "all", ""], offer: [] },
    { words: ["undrain", "host", "w"], offer: ["wdrain@host"] },
    { words: ["undrain", "all", ""], offer: [] },
    { words: ["group", "add", "web", ""], offer: ["host", "group"] },
    { words: ["group", "add", "web", "host", ""], offer: ["group"] },
    { words: ["run", "--lock", "in"], offer: ["inlock"] },
    { words: ["run", "-g", "w"], offer: ["wgroup"] },
    { words: ["run", "--lease", "d"], offer: ["dresource="] },
    { words: ["run", "--log-file", ""], offer: ["(files)"] },
    { words: ["config", "-c", ""], offer: ["(files)"] },
    { words: ["config", "--config=x"], offer: ["(files)"] },
    { words: ["apply", ""], offer: ["(files)"] },
    { words: ["run", "--lock", "x", "--", ""], offer: ["(command)"] },
    { words: ["switchman", "-g", "web", "--", ""], offer: ["(command)"] },
    { words: ["cronlock", ""], offer: ["(files)"] },
    { words: ["cronlock", "./mail.sh", "a"], offer: ["(files)"] },
    { words: ["cronlock", "--"], offer: [] },
    { words: ["zoo-locked", ""], offer: [] },
    { words: ["zoo-locked", "etcd1:2379", "/a", "./"], offer: ["(files)"] },
    { words: ["run", "--lock", "x", "--", "cat", "--"], offer: ["(command)"] },
  ])("behind $words nothing but $offer", async ({ words, offer }) => {
    expect(await at(...words)).toEqual(offer);
  });

  it("of a resource to lease goes on with its count", async () => {
    expect(await offered("run", "--lease", "d")).toMatchObject({ isOpen: true });
    expect(await offered("run", "--lock", "d")).not.toHaveProperty("isOpen");
  });

  it("as a name is never a flag, unless flags are over", async () => {
    const evil = async () => ["--yes", "-n", "mail"];
    const names = async (...words: string[]) => wordsOf(await findCandidates(ALL_COMMANDS, words, evil));
    expect(await names("reset", "lock", "")).toEqual(["mail"]);
    expect(await names("reset", "lock", "--", "")).toEqual(["--yes", "-n", "mail"]);
    expect(await names("reset", "lock", "--", "-")).toEqual(["--yes", "-n"]);
    expect(await names("run", "--lock", "")).toEqual(["--yes", "-n", "mail"]); // the flag takes it for its value
  });

  it("begins with what was typed, whatever that was", async () => {
    const word = fc.oneof(
      fc.constantFrom("ls", "reset", "lock", "group", "help", "--run", "--run=", "--", "-x", "=", ":files"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 5 }), async (words) => {
        const offer = await offered(...words);
        for (const one of offer.kind === "words" ? offer.words : [])
          expect(one.startsWith(words.at(-1) ?? "")).toBe(true);
      }),
    );
  });

  it("is what the parser takes: every flag of every command", async () => {
    for (const { id, flags = [] } of ALL_COMMANDS) {
      const found = await at(...id.split(" "), "--");
      for (const { name } of flags) expect(found).toContain(`--${name}`);
    }
  });
});

describe("the scripts", () => {
  it.each(Object.keys(SCRIPTS))("of %s call the hidden command, and evaluate nothing", (shell) => {
    expect(SCRIPTS[shell]).toMatch(/\$\{?program\}?"? __complete/);
    expect(SCRIPTS[shell]).not.toMatch(/\beval\b/);
  });
});
