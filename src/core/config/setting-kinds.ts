import { formatDuration, type Millis, parseDuration } from "../base/clock.ts";
import { isJsonObject, parseJson } from "../base/parse-json.ts";
import { formatSize, parseSize } from "../base/size.ts";
import { clean, findMacroFault, findNameFault, type ParseResult, quoteText } from "../base/text.ts";

/** One kind of value. Parses it from a flag, a variable or JSON, and formats it for display. */
export interface SettingKind<T> {
  /** The name of the kind, for the docs. */
  readonly name: string;
  /**
   * @param given  a string from a flag or a variable, a list of strings for a repeated flag, `true` for a flag without
   *   a value, or any JSON value from the configuration file
   * @returns the value, or a message that quotes the given value and says what is wrong
   */
  parse(given: unknown): ParseResult<T>;
  show(value: T): string;
  /** The only allowed words. */
  readonly choices?: readonly string[];
  /** The value is a path. In a configuration file it is relative to that file. */
  readonly isPath?: true;
}

/** Builds the usual error: VALUE is not WANTED. */
export function buildValueFault(given: unknown, wanted: string): { fault: string } {
  const shown = typeof given === "string" ? quoteText(given) : clean(JSON.stringify(given) ?? "nothing", 60);
  return { fault: `${shown} is not ${wanted}` };
}

/** Creates a kind for texts. `findFault` returns what is wrong with a text, or undefined. */
function createTextKind(
  name: string,
  findFault: (text: string) => string | undefined,
  edit = (text: string) => text,
): SettingKind<string> {
  return {
    name,
    parse(given) {
      if (typeof given !== "string") return buildValueFault(given, `a string (${name})`);
      const found = findFault(given);
      return found === undefined
        ? { value: edit(given) }
        : { fault: `${quoteText(given)} cannot be used: ${found}` };
    },
    show: (value) => value,
  };
}

export const text: SettingKind<string> = createTextKind("TEXT", findNameFault);
export const file: SettingKind<string> = {
  ...createTextKind("FILE", (path) => (path === "" || path.includes("\0") ? "it is not a path" : undefined)),
  isPath: true,
};

/** A text that is never displayed, neither as a value nor in an error. */
export const secret: SettingKind<string> = {
  name: "TEXT",
  parse(given) {
    if (typeof given !== "string") return { fault: "it is not a string (not shown here)" };
    if (given === "" || /[\0\r\n]/.test(given))
      return { fault: "it is empty or contains a line break (not shown here)" };
    return { value: given };
  },
  show: () => "***",
};

export const host: SettingKind<string> = createTextKind("HOST", (name) =>
  /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?$/.test(name)
    ? undefined
    : "a host name has letters, digits, dots and hyphens, and at most 253 characters",
);

/** The name of a context. It is shown in terminals and typed in shells, so it has few characters. */
export const contextName: SettingKind<string> = createTextKind("NAME", (name) =>
  /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name)
    ? undefined
    : "the name of a context has letters, digits and . _ @ -, begins with a letter or digit, and has at most 64 characters",
);

/** The largest 64-bit id. */
const ID_MAX = 2n ** 64n - 1n;

/**
 * A cluster id. Hexadecimal, as etcd logs it and signalbox prints it: 16 digits at most. Or decimal, as etcdctl prints
 * it: 17 digits or more, because a shorter text could also be hexadecimal.
 */
export const clusterId: SettingKind<string> = {
  name: "ID",
  parse(given) {
    if (typeof given !== "string")
      return buildValueFault(given, 'a cluster\'s id in quotes, such as "cdf818194e3a8c32"');
    const isHex = /^(0x)?[0-9a-f]{1,16}$/i.test(given);
    if (!isHex && !/^\d{17,20}$/.test(given))
      return buildValueFault(given, "a cluster's id, such as cdf818194e3a8c32; signalbox init prints it");
    const id = BigInt(isHex ? `0x${given.replace(/^0x/i, "")}` : given);
    return id <= ID_MAX
      ? { value: id.toString(16) }
      : buildValueFault(given, "a cluster's id: it has more than 64 bits");
  },
  show: (value) => value,
};

export const prefix: SettingKind<string> = createTextKind(
  "PREFIX",
  (path) => {
    if (!path.startsWith("/")) return 'it must begin with "/", e.g. "/signalbox/"';
    if (!/^[!-~]+$/.test(path)) return "it must have printable ASCII characters only, without spaces";
    if (path.includes("//")) return 'it contains "//"';
    return path.length > 256 ? "it is longer than 256 characters" : undefined;
  },
  (path) => (path.endsWith("/") ? path : `${path}/`),
);

export const flag: SettingKind<boolean> = {
  name: "true|false",
  parse(given) {
    if (typeof given === "boolean") return { value: given };
    const word = typeof given === "string" ? given.toLowerCase() : "";
    if (["true", "1", "yes", "on"].includes(word)) return { value: true };
    if (["false", "0", "no", "off"].includes(word)) return { value: false };
    return buildValueFault(given, "true or false");
  },
  show: String,
};

/** Creates a kind for durations. `least` is the minimum; the value must be a multiple of `whole`. */
export function createDurationKind({ least = 0, whole = 1 } = {}): SettingKind<Millis> {
  return {
    name: "DURATION",
    parse(given) {
      if (typeof given !== "string" && given !== 0)
        return buildValueFault(given, 'a duration in quotes, such as "30s" or "1h30m"');
      const parsed = parseDuration(String(given));
      if ("fault" in parsed) return parsed;
      if (parsed.value < least)
        return { fault: `${quoteText(String(given))} is too short; at least ${formatDuration(least)}` };
      if (parsed.value % whole !== 0)
        return { fault: `${quoteText(String(given))} is not a multiple of ${formatDuration(whole)}` };
      return parsed;
    },
    show: formatDuration,
  };
}

/** Wraps a kind for a setting that can be unset. */
export function createOptionalKind<T>(kind: SettingKind<T>): SettingKind<T | undefined> {
  return { ...kind, show: (value) => (value === undefined ? "-" : kind.show(value)) };
}

/** An optional duration. 0 means none, which overrides a value from a file. */
export const limit: SettingKind<Millis | undefined> = {
  name: "DURATION",
  parse(given) {
    const parsed = createDurationKind().parse(given);
    return "value" in parsed && parsed.value === 0 ? { value: undefined } : parsed;
  },
  show: (value) => (value === undefined ? "-" : formatDuration(value)),
};

/** A size in bytes; 0, or at least `least`. */
export function createSizeKind(least: number): SettingKind<number> {
  return {
    name: "SIZE",
    parse(given) {
      if (typeof given !== "string" && given !== 0)
        return buildValueFault(given, 'a size in quotes, such as "512K" or "1M"');
      const parsed = parseSize(String(given));
      const isSmall = "value" in parsed && parsed.value > 0 && parsed.value < least;
      return isSmall
        ? { fault: `${quoteText(String(given))} is too small; at least ${formatSize(least)}` }
        : parsed;
    },
    show: formatSize,
  };
}

export function createIntegerKind(least: number, most: number): SettingKind<number> {
  return {
    name: `${least}-${most}`,
    parse(given) {
      const digits = typeof given === "string" && /^\d{1,9}$/.test(given);
      const value = digits || typeof given === "number" ? Number(given) : Number.NaN;
      const fits = Number.isInteger(value) && value >= least && value <= most;
      return fits ? { value } : buildValueFault(given, `a whole number from ${least} to ${most}`);
    },
    show: String,
  };
}

export function createEnumKind<const T extends string>(...words: readonly T[]): SettingKind<T> {
  return {
    name: words.join("|"),
    choices: words,
    parse(given) {
      const word = words.find((one) => one === given);
      return word === undefined ? buildValueFault(given, `one of ${words.join(", ")}`) : { value: word };
    },
    show: (value) => value,
  };
}

const ENDPOINT = /^(?:(https?):\/\/)?((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/;
const ENDPOINT_EXAMPLE = "http://etcd1.example.com:2379";

/**
 * etcd addresses, as a list or separated by commas. An address without a scheme stays without one: the TLS settings
 * determine it.
 */
export const endpoints: SettingKind<readonly string[]> = {
  name: "URL,...",
  parse(given) {
    const addresses: string[] = [];
    for (const address of splitLists(given)) {
      if (typeof address !== "string")
        return buildValueFault(given, `a list of addresses such as ${ENDPOINT_EXAMPLE}`);
      const parsed = parseEndpoint(address.trim());
      if ("fault" in parsed) return parsed;
      addresses.push(parsed.value);
    }
    return addresses.length === 0 ? { fault: "no address is given" } : { value: [...new Set(addresses)] };
  },
  show: (value) => value.join(","),
};

/** Splits a text, or each text of a list, at commas. Other values stay, for the caller to refuse. */
export function splitLists(given: unknown): unknown[] {
  return [given].flat().flatMap((one) => (typeof one === "string" ? one.split(",") : [one]));
}

function parseEndpoint(address: string): ParseResult<string> {
  // An address may contain a password, as in a browser URL. Do not repeat it.
  if (address.includes("@"))
    return { fault: "an address contains user and password (not shown here); use user and passwordFile" };
  const [, scheme, name, port] = ENDPOINT.exec(address) ?? [];
  if (name === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    return buildValueFault(address, `an address such as ${ENDPOINT_EXAMPLE}`);
  }
  if (scheme === undefined && port === undefined)
    return buildValueFault(address, `an address with a port, such as ${name}:2379`);
  return {
    value: `${scheme === undefined ? "" : `${scheme}://`}${name.toLowerCase()}${port === undefined ? "" : `:${port}`}`,
  };
}

const USER = /^%?[A-Za-z0-9_][A-Za-z0-9_.-]*\$?$/;

/** Names or numbers of users, and of groups with `%` before them, as a list or separated by commas. */
export const users: SettingKind<readonly string[]> = {
  name: "USER,...",
  parse(given) {
    const names = splitLists(given).filter((name) => name !== "");
    const isName = (name: unknown): name is string => typeof name === "string" && USER.test(name.trim());
    const bad = names.find((name) => !isName(name));
    if (bad !== undefined) return buildValueFault(bad, "a user such as deploy, or a group such as %cron");
    return { value: [...new Set(names.filter(isName).map((name) => name.trim()))] };
  },
  show: (value) => value.join(","),
};

type MacroValues = Readonly<Record<string, number | string>>;

/**
 * A host's own macros: a JSON object, or `NAME=VALUE,NAME=VALUE`. In the second form, a value that looks like a number
 * becomes a number.
 */
export const macros: SettingKind<MacroValues> = {
  name: "NAME=VALUE,...",
  parse(given) {
    const object = typeof given === "string" ? parsePairs(given) : given;
    if (!isJsonObject(object)) {
      return buildValueFault(given, 'a set of macros such as {"DISKS": 4, "RACK": "r12"}');
    }
    for (const [name, value] of Object.entries(object)) {
      const fault = findMacroFault(name, value);
      if (fault !== undefined) return { fault };
    }
    return { value: { ...object } as MacroValues };
  },
  show: (value) =>
    Object.entries(value)
      .map(([name, one]) => `${name}=${one}`)
      .join(",") || "-",
};

function parsePairs(given: string): Record<string, number | string> | undefined {
  const found = given.split(",").map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair));
  if (found.includes(null)) return undefined;
  return Object.fromEntries(
    found.map((match) => {
      const [, name = "", value = ""] = match ?? [];
      return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value];
    }),
  );
}

type KeyBindings = Readonly<Record<string, string | readonly string[]>>;

/**
 * Key bindings of the console by action: a JSON object of texts or lists of texts. There is no comma-separated form,
 * because `,` and `=` can be keys.
 */
export const keyBindings: SettingKind<KeyBindings> = {
  name: '{"ACTION": "KEY"}',
  parse(given) {
    const object = typeof given === "string" ? parseJson(given) : given;
    if (!isKeyBindings(object))
      return buildValueFault(given, 'a set of keys such as {"drain": "d", "palette": ["Ctrl+P", ":"]}');
    return { value: { ...object } };
  },
  show: (value) => (Object.keys(value).length === 0 ? "-" : JSON.stringify(value)),
};

function isKeyBindings(given: unknown): given is KeyBindings {
  const isText = (one: unknown) => typeof one === "string";
  const isKeys = (keys: unknown) => isText(keys) || (Array.isArray(keys) && keys.every(isText));
  return isJsonObject(given) && Object.values(given).every(isKeys);
}
