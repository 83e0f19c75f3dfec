import { formatDuration, parseDuration } from "../base/duration.ts";
import { clean, nameFault, type Parsed, quoted } from "../base/text.ts";

/** One kind of value: how it is read from a flag, a variable or JSON, and shown again. */
export interface Kind<T> {
  /** What it is, for the docs. */
  readonly name: string;
  /**
   * @param given  a string from a flag or a variable, a list of them where a flag was repeated, `true` for a flag
   * without value, or whatever stands in the JSON file
   * @returns the value; or what is wrong with it, quoting it
   */
  parse(given: unknown): Parsed<T>;
  show(value: T): string;
  /** A path: one in a configuration file is relative to that file. */
  readonly isPath?: true;
}

/** The usual complaint. */
export function wrong(given: unknown, wanted: string): { fault: string } {
  const shown = typeof given === "string" ? quoted(given) : clean(JSON.stringify(given) ?? "nothing", 60);
  return { fault: `${shown} is not ${wanted}` };
}

/** A text that passes a check, which says what is wrong with it. */
function checkedText(
  name: string,
  fault: (text: string) => string | undefined,
  edit = (text: string) => text,
): Kind<string> {
  return {
    name,
    parse(given) {
      if (typeof given !== "string") return wrong(given, `a text (${name})`);
      const found = fault(given);
      return found === undefined
        ? { value: edit(given) }
        : { fault: `${quoted(given)} cannot be used: ${found}` };
    },
    show: (value) => value,
  };
}

export const text: Kind<string> = checkedText("TEXT", nameFault);
export const file: Kind<string> = {
  ...checkedText("FILE", (path) => (path === "" || path.includes("\0") ? "it is not a path" : undefined)),
  isPath: true,
};

/** A text that is never shown, neither as a value nor in an error. */
export const secret: Kind<string> = {
  name: "TEXT",
  parse(given) {
    if (typeof given !== "string") return { fault: "it is not a text (not shown here)" };
    if (given === "" || /[\0\r\n]/.test(given))
      return { fault: "it is empty or holds a line break (not shown here)" };
    return { value: given };
  },
  show: () => "***",
};

export const host: Kind<string> = checkedText("HOST", (name) =>
  /^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9_.])?$/.test(name)
    ? undefined
    : "a host's name has letters, digits, dots and hyphens, 253 at most",
);

export const prefix: Kind<string> = checkedText(
  "PREFIX",
  (path) => {
    if (!path.startsWith("/")) return 'it must begin with "/", e.g. "/signalbox/"';
    if (!/^[!-~]+$/.test(path)) return "only printable ASCII characters without spaces may stand in it";
    if (path.includes("//")) return 'it holds "//"';
    return path.length > 256 ? "it is longer than 256 characters" : undefined;
  },
  (path) => (path.endsWith("/") ? path : `${path}/`),
);

export const flag: Kind<boolean> = {
  name: "true|false",
  parse(given) {
    if (typeof given === "boolean") return { value: given };
    const word = typeof given === "string" ? given.toLowerCase() : "";
    if (["true", "1", "yes", "on"].includes(word)) return { value: true };
    if (["false", "0", "no", "off"].includes(word)) return { value: false };
    return wrong(given, "true or false");
  },
  show: String,
};

/** A duration in ms from `least` upwards; `whole`: of which it must be a multiple. */
export function duration({ least = 0, whole = 1 } = {}): Kind<number> {
  return {
    name: "DURATION",
    parse(given) {
      if (typeof given !== "string" && given !== 0)
        return wrong(given, 'a duration in quotes, such as "30s" or "1h30m"');
      const parsed = parseDuration(String(given));
      if ("fault" in parsed) return parsed;
      if (parsed.value < least)
        return { fault: `${quoted(String(given))} is too short; at least ${formatDuration(least)}` };
      if (parsed.value % whole !== 0)
        return { fault: `${quoted(String(given))} is not a multiple of ${formatDuration(whole)}` };
      return parsed;
    },
    show: formatDuration,
  };
}

/** As another kind, for a setting that need not have a value. */
export function optional<T>(kind: Kind<T>): Kind<T | undefined> {
  return { ...kind, show: (value) => (value === undefined ? "-" : kind.show(value)) };
}

/** A duration in ms that can be absent: 0 means none, and so takes back what a file sets. */
export const limit: Kind<number | undefined> = {
  name: "DURATION",
  parse(given) {
    const parsed = duration().parse(given);
    return "value" in parsed && parsed.value === 0 ? { value: undefined } : parsed;
  },
  show: (value) => (value === undefined ? "-" : formatDuration(value)),
};

export function integer(least: number, most: number): Kind<number> {
  return {
    name: `${least}-${most}`,
    parse(given) {
      const digits = typeof given === "string" && /^\d{1,9}$/.test(given);
      const value = digits || typeof given === "number" ? Number(given) : Number.NaN;
      const fits = Number.isInteger(value) && value >= least && value <= most;
      return fits ? { value } : wrong(given, `a whole number from ${least} to ${most}`);
    },
    show: String,
  };
}

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
  return {
    name: words.join("|"),
    parse(given) {
      const word = words.find((one) => one === given);
      return word === undefined ? wrong(given, `one of ${words.join(", ")}`) : { value: word };
    },
    show: (value) => value,
  };
}
