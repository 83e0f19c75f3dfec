import { ConfigError } from "../base/errors.ts";
import { BUILT_IN_MACROS, macroFault } from "../base/text.ts";
import type { Lookup } from "./arithmetic.ts";

/** What macros are made of; `cpu` and `memMb` may be getters, and are read only when a macro asks for them. */
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
  /** Value of a macro; undefined where there is none of this name. */
  readonly lookup: Lookup;
  /** A name with its macros expanded. */
  expand(name: string): string;
}

const BUILT_IN: Readonly<Record<(typeof BUILT_IN_MACROS)[number], (facts: MacroFacts) => number | string>> = {
  FQDN: (facts) => facts.fqdn,
  HOST: (facts) => facts.host,
  CPU: (facts) => facts.cpu,
  MEMMB: (facts) => facts.memMb,
};

/**
 * The macros of a host: `FQDN`, `HOST`, `CPU`, `MEMMB` and its own.
 *
 * In a name, a macro is expanded where no capital letter or digit touches it: `FQDN_mem`, `disk:HOST`, `webFQDN`, but
 * neither `CPUSET` nor `HOST2`. An underscore does not bind (switchman's `FQDN_mem` must work), so of two macros that
 * fit at one place the longer wins: with an own `HOST_RACK`, `HOST_RACK_db` is not `HOST` and `_RACK_db`. What was
 * put in is not looked at again. switchman expands every occurrence, `CPUSET` included; that is not kept.
 * @throws ConfigError when an own macro has a bad name or value, or that of a built-in one
 */
export function macrosOf(facts: MacroFacts): Macros {
  for (const [name, value] of Object.entries(facts.macros)) {
    const fault = macroFault(name, value);
    if (fault !== undefined) throw new ConfigError(`macros: ${fault}`);
  }
  const own = new Map(Object.entries(facts.macros));
  const lookup: Lookup = (name) => (isBuiltIn(name) ? BUILT_IN[name](facts) : own.get(name));
  // Names hold nothing that is special in a pattern. Built once a process, hence not cached.
  const names = [...BUILT_IN_MACROS, ...own.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`(?<![A-Z0-9])(?:${names.join("|")})(?![A-Z0-9])`, "g");
  return { lookup, expand: (name) => name.replace(pattern, (macro) => String(lookup(macro))) };
}

function isBuiltIn(name: string): name is (typeof BUILT_IN_MACROS)[number] {
  return Object.hasOwn(BUILT_IN, name);
}
