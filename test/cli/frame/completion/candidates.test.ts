/** Candidates at the cursor. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ALL_COMMANDS } from "../../../../src/bin/commands.ts";
import {
  type CompletionOffer,
  findCandidates,
  type NameQuery,
} from "../../../../src/cli/frame/completion/complete.ts";
import { SCRIPTS } from "../../../../src/cli/frame/completion/completion.impl.ts";

/** Answers with what it was asked for, so that it can be read. */
const lookup = async ({ kinds, prefix, scope, queue }: NameQuery) => {
  const within = kinds.includes("drain") ? `@${scope}` : kinds.includes("run") ? `@${queue?.name}` : "";
  return kinds.map((kind) => `${prefix}${kind}${within}`);
};
/** The offer at the end of a line; a blank there begins a new word. */
const offered = async (line: string) => await findCandidates(ALL_COMMANDS, line.split(" "), lookup);
const at = async (line: string) => wordsOf(await offered(line));

function wordsOf(offer: CompletionOffer) {
  return offer.kind === "words" ? offer.words : [`(${offer.kind})`];
}

const listWords = (text: string) => text.split(" ").filter(Boolean);

describe("what is offered", () => {
  it.each([
    ["re", "reset resource", "run release"],
    ["-", "--help --version", "run"],
    ["group ", "set add", "run help"],
    ["help ", "run group all connection exit-codes", "help"],
    ["help group ", "set", "run crontab exit-codes"],
    ["ls ", "locks problems", ""],
    ["ls lo", "locks", "problems"],
    ["ls --", "--json --watch --endpoints --help", "--force"],
    ["ls --json --", "--watch", "--json"],
    ["reset -ny --", "--force", "--yes --dry-run"],
    ["run --lease a=1 --le", "--lease", ""],
    ["ls --output c", "csv", "markdown"],
    ["ls --transport ", "auto http grpc", ""],
    ["ls --transport=g", "--transport=grpc", "grpc"],
    ["ls --connect-timeout ", "", "--json"],
    ["nothing ", "", "run"],
    ["switchman --", "--lockname --help", "--quiet"],
    ["perfectsched ", "list add", ""],
  ])("behind %j: %s, and not %s", async (line, has, lacks) => {
    const found = await at(line);
    expect(found).toEqual(expect.arrayContaining(listWords(has)));
    for (const word of listWords(lacks)) expect(found).not.toContain(word);
  });

  it.each([
    ["reset ", "lock resource run"],
    ["reset lock in", "inlock"],
    ["reset resource d", "dresource"],
    ["reset --yes lock ", "lock"],
    ["reset --reason why lock ", "lock"],
    ["reset --reason=lock resource ", "resource"],
    ["reset --run ", "run@undefined"],
    ["reset lock x --run ", "run@x"],
    ["reset lock x --run=a", "--run=arun@x"],
    ["reset lock x ", ""],
    ["show host w", "whost"],
    ["why ", "lock resource schedule"],
    ["drain host w", "whost"],
    ["drain all ", ""],
    ["undrain host w", "wdrain@host"],
    ["undrain all ", ""],
    ["group add web ", "host group"],
    ["group add web host ", "group"],
    ["run --lock in", "inlock"],
    ["run -g w", "wgroup"],
    ["run --lease d", "dresource="],
    ["run --log-file ", "(files)"],
    ["config -c ", "(files)"],
    ["config --config=x", "(files)"],
    ["apply ", "(files)"],
    ["run --lock x -- ", "(command)"],
    ["switchman -g web -- ", "(command)"],
    ["cronlock ", "(files)"],
    ["cronlock ./mail.sh a", "(files)"],
    ["cronlock --", ""],
    ["zoo-locked ", ""],
    ["zoo-locked etcd1:2379 /a ./", "(files)"],
    ["run --lock x -- cat --", "(command)"],
  ])("behind %j nothing but %j", async (line, offer) => {
    expect(await at(line)).toEqual(listWords(offer));
  });

  it("of a resource to lease goes on with its count", async () => {
    expect(await offered("run --lease d")).toMatchObject({ isOpen: true });
    expect(await offered("run --lock d")).not.toHaveProperty("isOpen");
  });

  it("as a name is never a flag, unless flags are over", async () => {
    const evil = async () => ["--yes", "-n", "mail"];
    const names = async (line: string) => wordsOf(await findCandidates(ALL_COMMANDS, line.split(" "), evil));
    expect(await names("reset lock ")).toEqual(["mail"]);
    expect(await names("reset lock -- ")).toEqual(["--yes", "-n", "mail"]);
    expect(await names("reset lock -- -")).toEqual(["--yes", "-n"]);
    expect(await names("run --lock ")).toEqual(["--yes", "-n", "mail"]); // the flag takes it for its value
  });

  it("begins with what was typed", async () => {
    const word = fc.oneof(
      fc.constantFrom("ls", "reset", "lock", "group", "help", "--run", "--run=", "--", "-x", "=", ":files"),
      fc.string(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 5 }), async (words) => {
        const offer = await findCandidates(ALL_COMMANDS, words, lookup);
        for (const one of offer.kind === "words" ? offer.words : [])
          expect(one.startsWith(words.at(-1) ?? "")).toBe(true);
      }),
    );
  });

  it("is what the parser takes: every flag of every command", async () => {
    for (const { id, flags = [] } of ALL_COMMANDS) {
      const found = await at(`${id} --`);
      for (const { name } of flags) expect(found).toContain(`--${name}`);
    }
  });
});

it.each(Object.keys(SCRIPTS))("the scripts of %s call the hidden command, and evaluate nothing", (shell) => {
  expect(SCRIPTS[shell]).toMatch(/\$\{?program\}?"? __complete/);
  expect(SCRIPTS[shell]).not.toMatch(/\beval\b/);
});
