import { macroFault, type Parsed } from "../base/text.ts";
import { type Kind, wrong } from "./kinds.ts";

export type Macros = Readonly<Record<string, number | string>>;

const ENDPOINT = /^(?:(https?):\/\/)?((?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+))(?::(\d{1,5}))?\/?$/;
const ENDPOINT_EXAMPLE = "http://etcd1.example.com:2379";

/** Addresses of etcd, in a list or with commas between. One without scheme keeps none: TLS settings decide on it. */
export const endpoints: Kind<readonly string[]> = {
  name: "URL,...",
  parse(given) {
    const lists = Array.isArray(given) ? given : [given];
    const addresses: string[] = [];
    for (const address of lists.flatMap((one) => (typeof one === "string" ? one.split(",") : [one]))) {
      if (typeof address !== "string") return wrong(given, `a list of addresses such as ${ENDPOINT_EXAMPLE}`);
      const parsed = endpoint(address.trim());
      if ("fault" in parsed) return parsed;
      addresses.push(parsed.value);
    }
    return addresses.length === 0 ? { fault: "no address is given" } : { value: [...new Set(addresses)] };
  },
  show: (value) => value.join(","),
};

function endpoint(address: string): Parsed<string> {
  // An address may hold a password where a browser takes one: it must not be repeated.
  if (address.includes("@"))
    return { fault: "an address holds user and password (not shown here); use user and passwordFile" };
  const [, scheme, name, port] = ENDPOINT.exec(address) ?? [];
  if (name === undefined || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535) {
    return wrong(address, `an address such as ${ENDPOINT_EXAMPLE}`);
  }
  if (scheme === undefined && port === undefined)
    return wrong(address, `an address with a port, such as ${name}:2379`);
  return {
    value: `${scheme === undefined ? "" : `${scheme}://`}${name.toLowerCase()}${port === undefined ? "" : `:${port}`}`,
  };
}

/** A host's own macros: a JSON object, or `NAME=VALUE,NAME=VALUE`, where a value that looks like a number is one. */
export const macros: Kind<Macros> = {
  name: "NAME=VALUE,...",
  parse(given) {
    const object = typeof given === "string" ? pairs(given) : given;
    if (typeof object !== "object" || object === null || Array.isArray(object)) {
      return wrong(given, 'a set of macros such as {"DISKS": 4, "RACK": "r12"}');
    }
    for (const [name, value] of Object.entries(object)) {
      const fault = macroFault(name, value);
      if (fault !== undefined) return { fault };
    }
    return { value: { ...object } as Macros };
  },
  show: (value) =>
    Object.entries(value)
      .map(([name, one]) => `${name}=${one}`)
      .join(",") || "-",
};

type KeyBindings = Readonly<Record<string, string | readonly string[]>>;

/** Keys of the console by what they do: a JSON object of texts, or lists of them. Keys can be `,` and `=`: no list could tell. */
export const keyBindings: Kind<KeyBindings> = {
  name: '{"ACTION": "KEY"}',
  parse(given) {
    const object = typeof given === "string" ? json(given) : given;
    if (!isKeyBindings(object))
      return wrong(given, 'a set of keys such as {"drain": "d", "palette": ["Ctrl+P", ":"]}');
    return { value: { ...object } };
  },
  show: (value) => (Object.keys(value).length === 0 ? "-" : JSON.stringify(value)),
};

function isKeyBindings(given: unknown): given is KeyBindings {
  const isText = (one: unknown) => typeof one === "string";
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  return Object.values(given).every((keys) => isText(keys) || (Array.isArray(keys) && keys.every(isText)));
}

/** @returns undefined for what is no JSON */
function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pairs(given: string): Record<string, number | string> | undefined {
  const found = given.split(",").map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair));
  if (found.includes(null)) return undefined;
  return Object.fromEntries(
    found.map((match) => {
      const [, name = "", value = ""] = match ?? [];
      return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value];
    }),
  );
}
