import { isJsonObject, parseJson } from "../base/parse-json.ts";
import { findMacroFault, type ParseResult } from "../base/text.ts";
import { buildValueFault, type SettingKind } from "./setting-kinds.ts";

type MacroValues = Readonly<Record<string, number | string>>;

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
