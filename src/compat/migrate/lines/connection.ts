import type { TranslatedRun } from "../../translated-run.ts";
import type { TextEdit } from "./edits.ts";
import type { LocatedCommand, TranslationContext } from "./located-command.ts";
import { hasMark } from "./markers.ts";

/** Flags for the address of etcd and the login, except the one without a value. */
const CONNECTION = /^--(?:endpoints|user|cacert|cert|key)$/;
const SWITCH = "--insecure-skip-tls-verify";
/** Tools whose configuration names a server other than etcd before the migration. */
const FOREIGN: readonly string[] = ["cronlock", "golock", "zoo-locked"];

/** Variables of cronlock for its server and the login. */
const SERVER = /^CRONLOCK_(?:HOST|PORT|AUTH|TLS|TLS_SKIP_VERIFY|USE_SENTINEL|SENTINEL_\w+)$/;
const SERVER_LINE = /^[ \t]*(?:export[ \t]+)?(CRONLOCK_\w+)=.*$/gm;

/** Removes the settings of the tool's server if `noConnection` is set, because that server may not be etcd. */
export function removeServerSettings(context: TranslationContext): TranslationContext {
  if (!context.noConnection) return context;
  const variables = new Map([...context.variables].filter(([name]) => !SERVER.test(name)));
  return { ...context, variables, files: new FilesWithoutServer(context.files) };
}

class FilesWithoutServer extends Map<string, string> {
  readonly #files: ReadonlyMap<string, string>;

  constructor(files: ReadonlyMap<string, string>) {
    super();
    this.#files = files;
  }

  override get(path: string): string | undefined {
    return this.#files.get(path)?.replace(SERVER_LINE, (line, name) => (SERVER.test(name) ? "" : line));
  }

  override has(path: string): boolean {
    return this.#files.has(path);
  }
}

/** Applies the connection options: removes the connection flags, or adds a note about the endpoints. */
export function applyConnectionOptions(
  tool: string,
  asRun: TranslatedRun,
  { noConnection }: TranslationContext,
): TranslatedRun {
  const { options, command } = asRun;
  const at = options.indexOf("--endpoints");
  if (noConnection) {
    const isLeft = (word: string, index: number) =>
      !CONNECTION.test(word) && !CONNECTION.test(options[index - 1] ?? "") && word !== SWITCH;
    return { options: options.filter(isLeft), command, notes: asRun.notes };
  }
  if (at < 0 || !FOREIGN.includes(tool)) return asRun;
  const note = `${options[at + 1]} is used as etcd's address; if it is the address of another server, use --no-connection, and signalbox's own configuration applies`;
  return { ...asRun, notes: [...asRun.notes, note] };
}

/**
 * Builds edits that put variables on the line. A password that is not in the line yet is not added, because everybody
 * can read the line.
 */
export function buildCredentialEdits(
  { env = {} }: TranslatedRun,
  located: LocatedCommand,
): { credentials: TextEdit[]; notes: string[] } {
  const { command, wrapped, markers } = located;
  const entries = Object.entries(env);
  const isSeen = entries.every(
    ([, value]) => hasMark(value) || command.words.some((word) => word.includes(value)),
  );
  if (entries.length === 0) return { credentials: [], notes: [] };
  const names = entries.map(([name]) => name).join(", ");
  if (!isSeen || wrapped.isApart)
    return {
      credentials: [],
      notes: [
        `it needs ${names}, which is not put into the line, where every user can read it: set it in a line of its own, or use passwordFile`,
      ],
    };
  const at = command.spans[0]?.start ?? 0;
  const assigned = entries.map(([name, value]) => `${name}=${markers.formatWord(value)} `).join("");
  return { credentials: [{ start: at, end: at, text: assigned }], notes: [] };
}
