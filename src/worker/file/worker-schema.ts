import * as v from "valibot";
import { parseDuration } from "../../core/base/clock.ts";
import { isCount, isJsonObject } from "../../core/base/parse-json.ts";
import { parseWith, quoteInput, refuseFault } from "../../core/base/schema.ts";
import { type ParseResult, quoteText, quoteValue } from "../../core/base/text.ts";
import {
  HOOK_ADDRESS_FORM,
  HOOK_NAMES,
  isSecretName,
  isUserName,
  parseHookAddress,
  resemblesHookAddress,
} from "../../schedule/definition-values.ts";
import { isText, isTexts } from "../../schedule/json-fields.ts";
import { HTTP } from "./http-schema.ts";
import { createFields, createText, findPatternFault, IGNORED_KEYS } from "./schema-parts.ts";
import { SECRET } from "./secret-schema.ts";

const FLAG = v.boolean(quoteInput("is neither true nor false"));
const COUNT = v.custom<number>(
  (value) => isCount(value) && value >= 1 && value <= 10_000,
  quoteInput("is not a whole number from 1 to 10000"),
);
const TEXTS = v.custom<readonly string[]>(isTexts, quoteInput("is not a list of strings"));
const TEXT_OR_NUMBER = v.union(
  [v.pipe(v.number(), v.toString()), createText("is not a string")],
  quoteInput("is not a string"),
);
const DURATION = v.pipe(
  v.string(quoteInput("is not a duration such as 30s or 5m")),
  parseWith(parseDuration),
);
const MILLIS_OF_SECONDS = v.pipe(
  v.number(),
  v.minValue(0),
  v.maxValue(1e9),
  v.transform((seconds) => Math.round(seconds * 1000)),
);
const SECONDS_OR_DURATION = v.lazy((input) =>
  v.is(MILLIS_OF_SECONDS, input) ? MILLIS_OF_SECONDS : DURATION,
);

/** A command line, or a list of words. In both cases argv. */
const COMMAND_LINE = v.pipe(v.string(), parseWith(parseArgv));
const WORDS = v.custom<readonly string[]>(
  (value) => isTexts(value) && (value[0] ?? "") !== "",
  quoteInput("is neither a command line nor a list of words"),
);
const COMMAND = v.lazy((input) => (isText(input) ? COMMAND_LINE : WORDS));
const HOOK_ADDRESS = v.custom<string>(
  (value) => isText(value) && parseHookAddress(value) !== undefined,
  quoteInput(`is not an address: ${HOOK_ADDRESS_FORM}`),
);
const HOOK = v.lazy((input) => (isText(input) && resemblesHookAddress(input) ? HOOK_ADDRESS : COMMAND));

const ENV = v.pipe(
  v.custom<Readonly<Record<string, string>>>(isJsonObject, quoteInput("is not an object of strings")),
  refuseFault(findEnvFault),
);

/** A handler for tasks of a type: a command, a module, or a request to a web server. Durations in ms. */
const HANDLER = v.pipe(
  createFields(
    {
      /** Exact, or a `/regular expression/`. */
      type: v.pipe(createText("is not a type"), refuseFault(findPatternFault)),
      command: v.exactOptional(COMMAND),
      module: v.exactOptional(createText("is not a path")),
      export: v.exactOptional(createText("is not a string")),
      http: v.exactOptional(HTTP),
      env: v.exactOptional(ENV),
      timeout: v.exactOptional(DURATION),
      retryWait: v.exactOptional(DURATION),
    },
    { missing: 'it has no type; write one, or "/./" for every type' },
  ),
  v.check(
    ({ command, module, http }) => [command, module, http].filter((one) => one !== undefined).length === 1,
    "it needs exactly one of command, module and http",
  ),
  v.forward(
    v.check(
      (handler) => handler.module !== undefined || handler.export === undefined,
      "only a module can have an export",
    ),
    ["export"],
  ),
  v.forward(
    v.check(({ http, env }) => http === undefined || env === undefined, "a request has no variables"),
    ["env"],
  ),
  v.forward(
    v.check(
      ({ http, retryWait }) => http === undefined || retryWait === undefined,
      "a request is repeated after the time in Retry-After, or as the schedule's retries say",
    ),
    ["retryWait"],
  ),
);
export type HandlerSpec = v.InferOutput<typeof HANDLER>;

const WORKER_FILE_ENTRIES = {
  /** In order of precedence: the first handler whose type matches runs the task. */
  handlers: v.exactOptional(v.array(HANDLER, quoteInput("is not a list")), []),
  /** Whether the worker runs schedules with a command in their definition. Default: if the file has no handlers. */
  commands: v.exactOptional(FLAG),
  /** Names of the users as whom it runs commands of schedules. Default: only its own user. */
  users: v.exactOptional(
    v.array(
      v.custom<string>(isUserName, quoteInput("is not the name of a user")),
      quoteInput("is not a list of names"),
    ),
  ),
  /** What commands of schedules may ask for by name. */
  secrets: v.exactOptional(
    v.record(
      v.custom<string>(isSecretName, quoteInput("is not a name of letters, digits, _, . and -")),
      SECRET,
      quoteInput("is not an object of names with paths"),
    ),
    {},
  ),
  concurrency: v.exactOptional(COUNT),
  tags: v.exactOptional(TEXTS, []),
  /** In ms. */
  retryWait: v.exactOptional(DURATION),
  /** The same in PerfectSched's files, where a number is in seconds. */
  retry_wait: v.exactOptional(SECONDS_OR_DURATION),
  /** Same format as `--metrics`. */
  metrics: v.exactOptional(TEXT_OR_NUMBER),
  hooks: v.exactOptional(createFields(v.entriesFromList(HOOK_NAMES, v.exactOptional(HOOK)))),
};

/** All keys that a worker's file may contain. */
export const WORKER_FILE_KEYS = [...Object.keys(WORKER_FILE_ENTRIES), ...Object.keys(IGNORED_KEYS)];

export const WORKER_FILE = v.pipe(
  createFields(WORKER_FILE_ENTRIES, { ignored: Object.keys(IGNORED_KEYS), filled: ["handlers"] }),
  v.transform(({ retry_wait, commands, ...file }) => ({
    ...(retry_wait !== undefined && { retryWait: retry_wait }),
    ...file,
    commands: commands ?? file.handlers.length === 0,
  })),
);

function findEnvFault(env: Readonly<Record<string, string>>): string | undefined {
  const bad = Object.entries(env).find(
    ([name, text]) => !/^[^=\0]+$/.test(name) || !isText(text) || text.includes("\0"),
  );
  return bad && `${quoteValue(bad[0])} is not a variable with a string; put numbers in quotes`;
}

/** A part of a word: quoted text, an escaped character, or plain text. */
const WORD_PIECE = /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^\s'"\\]+)/y;
const SHELL_CHARACTERS = /[|&;<>()$`*?[\]{}]|^[~#]/;

/**
 * Splits a command line into argv by quotes and backslashes only. Rejects shell syntax, which would otherwise be passed
 * on literally without notice.
 */
export function parseArgv(line: string): ParseResult<string[]> {
  const words: string[] = [];
  let at = 0;
  for (;;) {
    while (/\s/.test(line.charAt(at))) at += 1;
    if (at >= line.length) break;
    let word = "";
    while (at < line.length && !/\s/.test(line.charAt(at))) {
      WORD_PIECE.lastIndex = at;
      const piece = WORD_PIECE.exec(line);
      if (piece === null) return { fault: `${quoteText(line)} has a quote that is not closed` };
      const [all, single, double, escaped, plain] = piece;
      if (plain !== undefined && SHELL_CHARACTERS.test(plain))
        return { fault: describeShellFault(line, plain) };
      if (double !== undefined && /[$`]/.test(double)) return { fault: describeShellFault(line, double) };
      word += single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain ?? "";
      at += all.length;
    }
    words.push(word);
  }
  return words.length === 0 ? { fault: `${quoteText(line)} is an empty command` } : { value: words };
}

function describeShellFault(line: string, part: string): string {
  return `${quoteText(line)} contains ${quoteText(part)}, which needs a shell; write ["sh", "-c", "..."], or put it in single quotes`;
}
