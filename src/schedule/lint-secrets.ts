import { quoteText } from "../core/base/text.ts";
import { createFinding, type LintFinding } from "./cron/lint.ts";
import type { Definition } from "./definition.ts";

/** Characters of a command or a hook that are searched: anyone may write a long one, and some searches take its square. */
const MAX_SEARCHED_CHARACTERS = 8_000;
const NAME = "[\\w-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|api[-_]?key)";
/** Not a variable of the shell. */
const VALUE = "[\"']?[^\\s\"'$]";
/** Words that have a secret, up to its value. */
const SECRETS = [
  `--(?!no-)${NAME}(?:=| +(?!-))(?=${VALUE})`,
  `\\b${NAME}=(?=${VALUE})`,
  `\\bmysql_pwd=(?=${VALUE})`,
  `\\bauthorization: *(?:basic|bearer) (?=${VALUE})`,
  `\\b[a-z][\\w+.-]*://[^\\s/:@]*:(?=${VALUE}[^\\s/@]*@)`,
  `\\b(?:mysql|mariadb)[\\w-]*(?: .*)? -p(?=${VALUE})`,
  `\\bsshpass -p *(?=${VALUE})`,
  `\\bcurl (?:.* )?(?:-u|--user)[= ]*[^\\s:]+:(?=${VALUE})`,
].map((text) => new RegExp(text, "i"));

/** Finds what looks like a password in a command or a hook. The findings do not repeat it. */
export function lintSecrets({ command = [], hooks = {} }: Definition): LintFinding[] {
  const texts = [
    ["command", command] as const,
    ...Object.entries(hooks).map(([event, hook]) => [`hook ${event}`, [hook].flat()] as const),
  ];
  return texts.flatMap(([about, words]) => {
    const text = words.join(" ").slice(0, MAX_SEARCHED_CHARACTERS);
    const found = SECRETS.map((secret) => secret.exec(text)?.[0]).find((part) => part !== undefined);
    if (found === undefined) return [];
    return createFinding(
      "warning",
      about,
      `${quoteText(`${found.trim().split(" ").at(-1)}…`)} looks like a secret: everyone who may read schedules can see it`,
      "let the command read it from a file of the worker's user",
    );
  });
}
