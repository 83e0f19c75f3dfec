import { ConfigError } from "../base/errors.ts";
import { BUILT_IN_MACROS, findMacroFault } from "../base/text.ts";
import type { MacroLookup } from "./arithmetic.ts";

/**
 * The values of the built-in macros and the host's own macros. `cpu` and `memMb` may be getters; they are read only if
 * a macro needs them.
 */
export interface MacroFacts {
  readonly fqdn: string;
  readonly host: string;
  readonly cpu: number;
  readonly memMb: number;
  /** The host's own macros. */
  readonly macros: Readonly<Record<string, number | string>>;
}

/** The macros of one host. */
export interface Macros {
  /** Returns the value of a macro; undefined if there is no macro with this name. */
  readonly lookup: MacroLookup;
  expand(name: string): string;
  /**
   * Finds the name with the macro of this host in which a literal name may be configured: `FQDN_cpu` for
   * `web1.example.com_cpu`. Undefined if the name does not contain the host's.
   */
  findTemplate(name: string): string | undefined;
}

const BUILT_IN: Readonly<Record<(typeof BUILT_IN_MACROS)[number], (facts: MacroFacts) => number | string>> = {
  FQDN: (facts) => facts.fqdn,
  HOST: (facts) => facts.host,
  CPU: (facts) => facts.cpu,
  MEMMB: (facts) => facts.memMb,
};

/**
 * Creates the macros of a host: `FQDN`, `HOST`, `CPU`, `MEMMB` and its own.
 *
 * In a name, a macro is expanded if no capital letter or digit is next to it: in `FQDN_mem`, `disk:HOST`, `webFQDN`,
 * but not in `CPUSET` or `HOST2`. An underscore does separate, because switchman's `FQDN_mem` must work. If two macros
 * match at one position, the longer one is used: if the host defines `HOST_RACK`, `HOST_RACK_db` is not `HOST` followed
 * by `_RACK_db`. Inserted values are not expanded again. switchman expands every occurrence, including `CPUSET`;
 * signalbox does not.
 * @throws ConfigError if a macro of the host has an invalid name or value, or the name of a built-in macro
 */
export function createMacros(facts: MacroFacts): Macros {
  for (const [name, value] of Object.entries(facts.macros)) {
    const fault = findMacroFault(name, value);
    if (fault !== undefined) throw new ConfigError(`macros: ${fault}`);
  }
  const own = new Map(Object.entries(facts.macros));
  const lookup: MacroLookup = (name) => (isBuiltIn(name) ? BUILT_IN[name](facts) : own.get(name));
  // Macro names contain no special characters of regular expressions. Built once per process, so it is not cached.
  const names = [...BUILT_IN_MACROS, ...own.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![A-Z0-9])(?:${names.join("|")})(?![A-Z0-9])`, "g");
  const expand = (name: string) => name.replace(pattern, (macro) => String(lookup(macro)));
  const findTemplate = (name: string) =>
    (["FQDN", "HOST"] as const)
      .map((macro) => name.replace(String(lookup(macro)), macro))
      .find((template) => template !== name && expand(template) === name);
  return { lookup, expand, findTemplate };
}

function isBuiltIn(name: string): name is (typeof BUILT_IN_MACROS)[number] {
  return Object.hasOwn(BUILT_IN, name);
}
