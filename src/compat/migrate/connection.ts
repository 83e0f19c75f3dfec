import type { AsRun } from "../as-run.ts";
import type { Edit } from "./edits.ts";
import { hasMark } from "./markers.ts";
import type { Ground, Place } from "./place.ts";

/** Flags that say where etcd is and how to get in, with a value or without. */
const CONNECTION = /^--(?:endpoints|user|cacert|cert|key)$/;
const SWITCH = "--insecure-skip-tls-verify";
/** Tools that name their server, which was another than etcd before a site moved. */
const FOREIGN: readonly string[] = ["cronlock", "golock", "zoo-locked"];

/** Variables of cronlock's that say where its server is and how to get in. */
const SERVER = /^CRONLOCK_(?:HOST|PORT|AUTH|TLS|TLS_SKIP_VERIFY|USE_SENTINEL|SENTINEL_\w+)$/;
const SERVER_LINE = /^[ \t]*(?:export[ \t]+)?(CRONLOCK_\w+)=.*$/gm;

/** What a tool is translated with: for `noConnection` without what is said of its server, which may be one that etcd is not. */
export function unconnected(ground: Ground): Ground {
  if (!ground.noConnection) return ground;
  const variables = new Map([...ground.variables].filter(([name]) => !SERVER.test(name)));
  return { ...ground, variables, files: new WithoutServer(ground.files) };
}

class WithoutServer extends Map<string, string> {
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

/** The same, with where etcd is as it is wanted. */
export function connected(tool: string, asRun: AsRun, { noConnection }: Ground): AsRun {
  const { options, command } = asRun;
  const at = options.indexOf("--endpoints");
  if (noConnection) {
    const isLeft = (word: string, index: number) =>
      !CONNECTION.test(word) && !CONNECTION.test(options[index - 1] ?? "") && word !== SWITCH;
    return { options: options.filter(isLeft), command, notes: asRun.notes };
  }
  if (at < 0 || !FOREIGN.includes(tool)) return asRun;
  const note = `${options[at + 1]} is taken for etcd's address; where it is another server's, --no-connection leaves it to signalbox's own configuration`;
  return { ...asRun, notes: [...asRun.notes, note] };
}

/** Variables that have to stand on the line. A password that is not there yet does not come there: everybody can read it. */
export function credentialsOf({ env = {} }: AsRun, place: Place): { credentials: Edit[]; notes: string[] } {
  const { command, wrapped, markers } = place;
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
        `it needs ${names}, which is not put into the line, where everybody can read it: set it in a line of its own, or use passwordFile`,
      ],
    };
  const at = command.spans[0]?.start ?? 0;
  const assigned = entries.map(([name, value]) => `${name}=${markers.word(value)} `).join("");
  return { credentials: [{ start: at, end: at, text: assigned }], notes: [] };
}
